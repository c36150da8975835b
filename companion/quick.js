// Quick requests: buttons whose text the user edits, kept on this phone only. And the other choices of this phone.
import { LANGUAGES, say, speak } from "./words.js";

const $ = (id) => document.getElementById(id);
const KEPT = ["language", "theme", "quick"];

export function choice(name, otherwise = "auto") {
  try {
    return localStorage.getItem(name) ?? otherwise;
  } catch {
    return otherwise; // storage may be blocked; the page works without
  }
}

function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch { /* see above */ }
}

export function forgetChoices() {
  try {
    KEPT.forEach((name) => localStorage.removeItem(name));
  } catch { /* see above */ }
}

export function applyTheme() {
  const wish = choice("theme");
  const dark = wish === "dark" || (wish === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

/** `send(text)` is called with a button's text; `redraw()` after the language has changed. */
export function startChoices(send, redraw) {
  applyTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
  fillLanguages();
  $("language").onchange = () => { keep("language", $("language").value); speak(choice("language")); fillLanguages(); drawQuick(send); redraw(); };
  $("theme").value = choice("theme");
  $("theme").onchange = () => { keep("theme", $("theme").value); applyTheme(); };
  $("quick-edit").onchange = () => { keep("quick", $("quick-edit").value); drawQuick(send); };
  drawQuick(send);
}

function fillLanguages() {
  const entries = [["auto", say("language_auto")], ...Object.entries(LANGUAGES)];
  $("language").replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  $("language").value = choice("language");
}

function drawQuick(send) {
  const lines = choice("quick", say("quick_first").join("\n")).split("\n").map((line) => line.trim()).filter(Boolean).slice(0, 12);
  $("quick-edit").value = lines.join("\n");
  $("quick").replaceChildren(...lines.map((line) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    const [name, ...request] = line.split(" = "); // the assistant understands English, the button may say it otherwise
    button.textContent = name;
    button.dir = "auto";
    button.onclick = () => send(request.join(" = ") || name);
    item.append(button);
    return item;
  }));
  $("quick").hidden = !lines.length;
}
