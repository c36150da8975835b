// Consent: the exact effect, Deny and Allow, and the time that is left. No answer means no.
import { post } from "./api.js";
import { say } from "./words.js";

const TOO_SOON_MS = 500; // a tap that was meant for what stood here before is no answer
const shown = new Map();

/** `now()` is the computer's time in epoch seconds; `trouble(text)` shows a failure. */
export function drawQuestions(state, now, trouble) {
  for (const [id, question] of state.questions) {
    if (!question.answer && left(question, now()) > 0 && !shown.has(id)) shown.set(id, build(question, trouble));
  }
  for (const [id, node] of shown) {
    const question = state.questions.get(id);
    if (question && !question.answer && left(question, now()) > 0) tickOne(node, question, now());
    else remove(id, node);
  }
}

export function anyOpen() {
  return shown.size > 0;
}

function remove(id, node) {
  const focused = node.contains(document.activeElement);
  node.remove();
  shown.delete(id);
  if (focused) document.getElementById("turn").focus({ preventScroll: true }); // the text field would open the keyboard
}

function left(question, now) {
  return question.at + question.expires_s - now;
}

function build(question, trouble) {
  const node = document.createElement("article");
  node.className = "question";
  node.dataset.consent = question.consent;
  const title = add(node, "h2", "", say("question_title"));
  title.id = `question-${question.consent}`;
  node.setAttribute("aria-labelledby", title.id);
  add(node, "pre", "", question.exact).dir = "auto";
  if (question.reason) add(node, "p", "", question.reason).dir = "auto";
  const time = document.createElement("meter");
  Object.assign(time, { min: 0, max: question.expires_s });
  time.setAttribute("aria-hidden", "true");
  node.append(time);
  add(node, "p", "small left", "");
  const both = add(node, "div", "pair-of", "");
  choice(both, "no", say("deny"), () => answer(node, question, false, trouble));
  choice(both, "yes", say("allow"), () => answer(node, question, true, trouble));
  document.getElementById("questions").append(node);
  const buttons = both.querySelectorAll("button");
  buttons.forEach((button) => { button.disabled = true; });
  setTimeout(() => buttons.forEach((button) => { button.disabled = false; }), TOO_SOON_MS);
  node.scrollIntoView({ block: "nearest" });
  navigator.vibrate?.([30, 60, 30]);
  return node;
}

async function answer(node, question, allow, trouble) {
  const buttons = node.querySelectorAll("button");
  buttons.forEach((button) => { button.disabled = true; });
  try {
    await post("/api/consent", { consent: question.consent, allow });
  } catch (error) {
    trouble(error.message);
    buttons.forEach((button) => { button.disabled = error.code === "consent_over"; });
  }
}

function tickOne(node, question, now) {
  const seconds = Math.ceil(left(question, now));
  node.querySelector("meter").value = seconds;
  const line = node.querySelector(".left");
  const spoken = seconds > 10 ? Math.ceil(seconds / 10) * 10 : seconds; // a live region that speaks each second is noise
  if (line.dataset.spoken !== String(spoken)) {
    line.dataset.spoken = String(spoken);
    line.textContent = say("question_left", { n: spoken });
  }
}

function choice(parent, kind, text, act) {
  const button = add(parent, "button", `choice ${kind}`, text);
  button.type = "button";
  button.addEventListener("click", act);
}

function add(parent, tag, name, text) {
  const node = document.createElement(tag);
  node.className = name;
  node.textContent = text;
  return parent.appendChild(node);
}
