// One event stream per visible tab. It says the truth about the connection: "live" only while events or heartbeats
// arrive; a silent stream counts as broken. Hidden tabs hold no connection (a browser has six for each computer).
import { get } from "./api.js";

const SILENT_MS = 22_000; // the computer's heart beats every 15 s
const FIRST_MS = 500;
const LONGEST_MS = 8_000;

export class Link {
  /** `on.event(event)`, `on.resync(data)`, `on.beat(computer's time)`, `on.state(name)`: connecting, live, reconnecting, offline, unpaired. */
  constructor(on) {
    this.on = on;
    this.last = "";
    this.pause = FIRST_MS;
    this.state = "";
    this.wanted = false;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.close() : this.open()));
    addEventListener("online", () => this.open());
    addEventListener("offline", () => this.broken());
    addEventListener("pagehide", () => this.close());
    addEventListener("pageshow", (event) => { if (event.persisted) this.open(); });
  }

  start() {
    this.wanted = true;
    this.open();
  }

  /** Until start(): a page that is not paired asks for nothing, whatever it comes back from. */
  stop() {
    this.wanted = false;
    this.attempt = undefined;
    this.close();
  }

  open() {
    if (document.hidden || !this.wanted) return;
    this.close();
    this.tell(this.last ? "reconnecting" : "connecting");
    const source = new EventSource(`/api/events${this.last ? `?after=${this.last}` : ""}`);
    source.onmessage = (message) => this.take(message, () => {
      this.last = message.lastEventId || this.last;
      this.on.event(JSON.parse(message.data));
    });
    source.addEventListener("resync", (message) => this.take(message, () => this.on.resync(JSON.parse(message.data))));
    source.addEventListener("beat", (message) => this.take(message, () => this.on.beat(Number(message.data))));
    source.onopen = () => this.alive();
    source.onerror = () => this.broken();
    this.source = source;
    this.watch();
  }

  close() {
    this.source?.close();
    this.source = undefined;
    clearTimeout(this.timer);
    clearTimeout(this.silence);
  }

  take(message, act) {
    if (message.target !== this.source) return;
    this.alive();
    act();
  }

  alive() {
    this.pause = FIRST_MS;
    this.tell("live");
    this.watch();
  }

  watch() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.broken(), SILENT_MS);
  }

  /** Find out why, say so, and try again a little later each time. */
  async broken() {
    if (!this.wanted) return;
    this.close();
    this.tell("reconnecting"); // not navigator.onLine: on the computer itself it says no wherever there is no network
    const attempt = (this.attempt = Symbol());
    try {
      const hello = await get("/api/hello", 4);
      if (attempt !== this.attempt) return;
      if (!hello.paired) return this.tell("unpaired");
    } catch {
      if (attempt !== this.attempt) return;
      this.tell("offline");
    }
    if (this.source) return;
    this.timer = setTimeout(() => this.open(), this.pause * (0.75 + Math.random() / 2));
    this.pause = Math.min(this.pause * 2, LONGEST_MS);
  }

  tell(state) {
    if (state === "reconnecting" && this.state === "offline") return; // not reached is not reached until it is
    if (state !== this.state) this.on.state((this.state = state));
  }
}
