// Draws the current turn. Cards are kept and changed, not made anew, so that a screen reader and the eye keep their place.
import { cards } from "./turn.js";
import { duration, say } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

/** `now()` is the computer's time in epoch seconds. */
export function draw(state, now) {
  drawHeard(state);
  const shown = cards(state);
  const list = $("cards");
  while (list.children.length > shown.length) list.lastChild.remove();
  shown.forEach((card, index) => drawCard(list.children[index] ?? list.appendChild(blank()), card, now()));
  drawReply(state);
  $("hearing").hidden = !state.hearing;
  put($("hearing-text"), state.hearing);
  $("hint").hidden = Boolean(state.text || shown.length || state.said || state.hearing);
}

/** Only the running clocks, of cards that are drawn: an event may have come whose drawing has not. */
export function tick(state, now) {
  cards(state).forEach((card, index) => {
    const item = $("cards").children[index];
    if (card.state === "running" && item?.dataset.state === "running") put(item.querySelector(".time"), elapsed(card, now()));
  });
}

function drawHeard(state) {
  $("heard").hidden = !state.text;
  put($("heard-text"), state.text);
  put($("heard-who"), state.source ? say(`heard_by.${state.source}`) : say("heard"));
}

function drawReply(state) {
  const text = state.said || (state.recovering ? say("recovering") : "") || (state.refused ? say("refused_by", { reason: state.refused }) : "")
    || (state.stopped && !state.busy ? say("stopped") : "");
  $("reply").hidden = !text;
  $("reply").classList.toggle("bad", Boolean(text) && !state.ok);
  put($("reply-text"), text);
}

function blank() {
  const item = document.createElement("li");
  item.className = "card";
  const state = part(item, "span", "state");
  state.setAttribute("aria-hidden", "true");
  const icon = document.createElementNS(SVG, "svg");
  icon.append(document.createElementNS(SVG, "use"));
  state.append(icon);
  part(item, "span", "label").dir = "auto";
  part(item, "span", "time");
  part(item, "span", "what").dir = "auto";
  return item;
}

function drawCard(item, card, now) {
  const [state, label, time, what] = item.children;
  const name = say(`state.${card.state}`, { lock: say(`lock.${card.lock}`), attempt: card.attempt });
  if (item.dataset.state !== card.state) {
    const said = { running: "news.started", verified: "news.finished", failed: "news.finished", refused: "news.finished", timed_out: "news.finished" };
    if (item.dataset.state && said[card.state]) put($("news"), say(said[card.state], { label: card.label, state: name }));
    item.dataset.state = card.state;
    state.querySelector("use").setAttribute("href", `#i-${card.state}`);
  }
  put(label, card.label);
  put(time, card.ms !== undefined ? duration(card.ms) : card.state === "running" ? elapsed(card, now) : "");
  const tries = card.attempts > 1 ? say("attempts", { n: card.attempts }) : "";
  put(what, [name, tries, card.error || card.evidence].filter(Boolean).join(" · "));
}

function elapsed(card, now) {
  return duration(Math.max(0, (now - card.since) * 1000));
}

function part(parent, tag, name) {
  const node = document.createElement(tag);
  node.className = name;
  return parent.appendChild(node);
}

function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
