// Pairing: a code from the QR (in the address's fragment, which no server sees) or typed; then the laptop decides.
import { post } from "./api.js";
import { say } from "./words.js";

const $ = (id) => document.getElementById(id);

/** Read the fragment once and remove it from the address. */
export function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("pair")) history.replaceState(null, "", location.pathname);
  return { code: given.get("pair") ?? "", print: given.get("ca") ?? "" };
}

/** Show the form; `done()` is called once this phone is paired. */
export function startPairing({ code, print }, done, first = "") {
  $("pair-name").value ||= guessName();
  $("pair-status").textContent = first;
  if (print) {
    $("pair-print").hidden = false;
    $("pair-print").textContent = say("pair_print", { print: print.toUpperCase().match(/.{2}/g).join(":") });
  }
  const form = $("pair-form");
  form.onsubmit = (event) => { event.preventDefault(); pair($("pair-code").value, done); };
  if (code) {
    $("pair-code").value = code;
    pair(code, done);
  }
}

async function pair(code, done) {
  const button = $("pair-form").querySelector("button");
  const name = $("pair-name").value;
  button.disabled = true;
  try {
    const { claim } = await post("/api/pair", { code, name });
    $("pair-status").textContent = say("pair_wait", { name });
    const result = await answered(claim);
    $("pair-status").textContent = say(result === "allowed" ? "pair_done" : "pair_denied");
    if (result === "allowed") done();
  } catch (error) {
    $("pair-status").textContent = error.message;
  } finally {
    $("pair-code").value = "";
    button.disabled = false;
  }
}

/** Ask until the laptop has answered; a break of the network in between is nothing. */
async function answered(claim) {
  for (let failures = 0; ; ) {
    try {
      const { result } = await post("/api/claim", { claim }, 20);
      if (result !== "waiting") return result;
      failures = 0;
    } catch (error) {
      if (error.code !== "unreachable" || ++failures > 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

function guessName() {
  const agent = navigator.userAgent;
  const found = ["iPhone", "iPad", "Android", "Mac", "Windows", "Linux"].find((name) => agent.includes(name));
  return found ?? "Phone";
}
