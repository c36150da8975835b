// Requests to the computer. Every failure becomes a Trouble with a sentence in the user's language.
import { known, say } from "./words.js";

export class Trouble extends Error {
  constructor(code, sentence, gaps = {}) {
    super(known(`error.${code}`) ? say(`error.${code}`, gaps) : sentence);
    this.code = code;
  }
}

const HEADERS = { "X-AnovaX": "1" };

export async function get(path, seconds = 8) {
  return answer(fetch(path, { signal: AbortSignal.timeout(seconds * 1000), cache: "no-store" }));
}

export async function post(path, value = {}, seconds = 8) {
  const headers = { ...HEADERS, "Content-Type": "application/json" };
  const body = JSON.stringify(value);
  return answer(fetch(path, { method: "POST", headers, body, signal: AbortSignal.timeout(seconds * 1000), keepalive: true }));
}

export async function upload(path, blob, seconds = 40) {
  const headers = { ...HEADERS, "Content-Type": blob.type };
  return answer(fetch(path, { method: "POST", headers, body: blob, signal: AbortSignal.timeout(seconds * 1000) }));
}

async function answer(pending) {
  let response, value;
  try {
    response = await pending;
    value = await response.json();
  } catch {
    throw new Trouble("unreachable", say("error.unreachable"));
  }
  if (!response.ok) throw new Trouble(value.error, value.sentence, value);
  return value;
}
