// Puts the parts of the page together. State flows one way: events -> turn.js -> drawing.
import { Trouble, get, post } from "./api.js";
import { draw, tick } from "./cards.js";
import { Link } from "./link.js";
import { fromAddress, startPairing } from "./pair.js";
import { showPast } from "./past.js";
import { anyOpen, drawQuestions } from "./questions.js";
import { choice, forgetChoices, startChoices } from "./quick.js";
import { Screen } from "./screen.js";
import { Talk } from "./talk.js";
import { empty, fold } from "./turn.js";
import { duration, say, speak } from "./words.js";

const DOUBLE_MS = 1000; // the same request again within this time is a double tap
const $ = (id) => document.getElementById(id);
let state = empty();
let ahead = 0; // seconds by which the computer's clock is ahead of this phone's
let known = { device: "" };
let drawing = false;
let sent = { text: "", at: 0 };

const now = () => Date.now() / 1000 + ahead;
/** Say what went wrong; `again`, where given, is offered as a button. */
const trouble = (text, again) => {
  $("trouble-text").textContent = text;
  $("trouble").hidden = !text;
  $("again").hidden = !again;
  $("again").onclick = () => { trouble(""); again(); };
};

function redraw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    draw(state, now);
    drawQuestions(state, now, trouble);
    drawNotices();
  });
}

function drawNotices() {
  const fresh = state.notices.filter((notice) => now() - notice.at < 60);
  if (state.muted) fresh.push({ text: say("muted"), level: "info" });
  $("notices").replaceChildren(...fresh.map((notice) => {
    const node = document.createElement("p");
    node.className = `notice ${notice.level}`;
    node.dir = "auto";
    node.textContent = notice.text;
    return node;
  }));
}

function connection(name) {
  $("link").dataset.state = name;
  $("link-text").textContent = say(`link.${name}`);
  if (name === "unpaired") showPairing({ code: "", print: "" }, say("paired_elsewhere"));
  if (name === "live" && $("again").hidden) trouble("");
}

async function send(text) {
  if (text === sent.text && performance.now() - sent.at < DOUBLE_MS) return true;
  sent = { text, at: performance.now() };
  trouble("");
  try {
    await post("/api/command", { text });
    return true;
  } catch (error) {
    sent.text = "";
    trouble(error.message);
    return false;
  }
}

async function stop() {
  trouble("");
  navigator.vibrate?.(40);
  talk.finish();
  try {
    await post("/api/stop", {}, 4);
  } catch (error) {
    trouble(error instanceof Trouble && error.code !== "unreachable" ? error.message : say("error.stop_failed"));
  }
}

function takeSnapshot(data) {
  state = Object.assign(empty(), { muted: data.state.muted === true, notices: state.notices });
  setClock(data.now);
  screen.allow(data.state.screen === true);
  if (screen.wanted) screen.apply();
  redraw();
}

function setClock(computer) {
  ahead = computer - Date.now() / 1000;
  if (Math.abs(ahead) > 60) trouble(say("clock", { n: duration(Math.abs(ahead) * 1000) }));
}

function showPairing(given, first) {
  link.stop();
  screen.want(false);
  for (const id of ["main", "bar"]) $(id).hidden = true;
  for (const id of ["open-menu", "open-history"]) $(id).hidden = true;
  $("pair").hidden = false;
  $("link").dataset.state = "unpaired";
  $("link-text").textContent = say("link.unpaired");
  startPairing(given, begin, first);
}

function showMain() {
  $("pair").hidden = true;
  for (const id of ["main", "bar", "open-menu", "open-history"]) $(id).hidden = false;
  $("about").textContent = known.device ? say("about", { device: known.device }) : "";
}

async function begin() {
  const given = fromAddress();
  try {
    known = await get("/api/hello");
  } catch {
    known = { paired: true, device: "" }; // the computer is away: show the page and keep trying
  }
  if (!known.paired) return showPairing(given);
  showMain();
  link.start();
}

async function forget() {
  if (!confirm(say("forget_sure"))) return;
  try {
    await post("/api/forget");
    forgetChoices();
    $("menu").close();
    showPairing({ code: "", print: "" });
  } catch (error) {
    trouble(error.message);
    $("menu").close();
  }
}

function registerWorker() {
  const policy = window.trustedTypes?.createPolicy("anovax", { createScriptURL: () => "/sw.js" });
  navigator.serviceWorker?.register(policy ? policy.createScriptURL("") : "/sw.js").catch(() => {}); // needs a trusted certificate
}

/** With large text the bar would cover the page: then only the big buttons stay in place. */
function fitBar() {
  const root = document.documentElement;
  root.classList.remove("loose");
  root.classList.toggle("loose", $("bar").offsetHeight > innerHeight * 0.42);
  const kept = root.classList.contains("loose") ? $("bar").querySelector(".thumb") : $("bar");
  root.style.setProperty("--bar", `${kept.offsetHeight + 12}px`);
}

speak(choice("language"));
const link = new Link({
  event: (event) => { fold(state, event); redraw(); },
  resync: takeSnapshot,
  beat: (computer) => { if (Math.abs(computer - now()) > 1) setClock(computer); }, // a clock was set in between
  state: connection,
});
const screen = new Screen($("screen"), $("picture"), $("picture-note"), $("watch"));
const talk = new Talk($("talk"), $("talk-text"), {
  partial: (text) => { fold(state, { kind: "PartialTranscribed", text }); redraw(); },
  trouble: (text, again) => { fold(state, { kind: "PartialTranscribed", text: "" }); trouble(text, again); redraw(); },
});
startChoices(send, () => { talk.show(); connection(link.state || "connecting"); showMain(); redraw(); });

$("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = $("text").value.trim();
  if (text && (await send(text))) $("text").value = "";
});
$("stop").addEventListener("click", stop);
$("open-history").addEventListener("click", showPast);
$("open-menu").addEventListener("click", () => $("menu").showModal());
$("forget").addEventListener("click", forget);
for (const button of document.querySelectorAll("[data-close]")) button.addEventListener("click", () => button.closest("dialog").close());
for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
addEventListener("keydown", (event) => { if (event.key === "Escape" && !event.isComposing && !document.querySelector("dialog[open]") && state.busy) stop(); });
setInterval(() => { if (!document.hidden) { tick(state, now); if (anyOpen()) drawQuestions(state, now, trouble); } }, 250);
addEventListener("resize", fitBar);
new ResizeObserver(fitBar).observe($("quick"));
registerWorker();
begin();
