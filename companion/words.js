// Every sentence of the page, by language. `say("state.running")`; `{names}` are filled in.
import ar from "./words-ar.js";
import de from "./words-de.js";
import en from "./words-en.js";

const TABLES = { en, de, ar };
export const LANGUAGES = { en: "English", de: "Deutsch", ar: "العربية" };
let table = en;
export let language = "en";

/** Choose a language: a key of LANGUAGES, or "auto" for the phone's own. Fills in the whole document. */
export function speak(wish = "auto") {
  const tags = wish === "auto" ? navigator.languages : [wish];
  language = tags.map((tag) => tag.slice(0, 2)).find((tag) => tag in TABLES) ?? "en";
  table = TABLES[language];
  document.documentElement.lang = language;
  document.documentElement.dir = language === "ar" ? "rtl" : "ltr";
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = say(node.dataset.t);
  for (const [mark, attribute] of [["tLabel", "aria-label"], ["tHint", "placeholder"], ["tAlt", "alt"]]) {
    const name = mark.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    for (const node of document.querySelectorAll(`[data-${name}]`)) node.setAttribute(attribute, say(node.dataset[mark]));
  }
}

/** The sentence for a key, with its gaps filled; the key itself where there is none. */
export function say(key, gaps = {}) {
  const found = look(table, key) ?? look(en, key) ?? key;
  return typeof found === "string" ? found.replace(/\{(\w+)\}/g, (_, name) => String(gaps[name] ?? "")) : found;
}

export function known(key) {
  return look(en, key) !== undefined;
}

/** A time of day as this language writes it; `at` in epoch seconds. */
export function clock(at) {
  return new Intl.DateTimeFormat(language, { dateStyle: "short", timeStyle: "short" }).format(at * 1000);
}

/** A duration in words, from milliseconds. */
export function duration(ms) {
  const number = (value, digits) => new Intl.NumberFormat(language, { maximumFractionDigits: digits, minimumFractionDigits: digits }).format(value);
  return ms < 60_000 ? say("seconds", { n: number(ms / 1000, ms < 10_000 ? 1 : 0) }) : say("minutes", { n: number(ms / 60_000, 0) });
}

function look(words, key) {
  return key.split(".").reduce((at, part) => at?.[part], words);
}
