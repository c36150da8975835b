// The picture of the screen, only while it is wanted and the page is visible: one stream, or, in a browser where streams
// do not show, one snapshot after the other.
import { say } from "./words.js";

const PATIENCE_MS = 6000; // for the first picture of a stream
const SNAPSHOT_MS = 600;
const RETRY_MS = 2000;

export class Screen {
  constructor(section, picture, note, button) {
    Object.assign(this, { section, picture, note, button, wanted: false, allowed: false, streams: true });
    button.addEventListener("click", () => this.want(!this.wanted));
    picture.addEventListener("load", () => this.shown());
    picture.addEventListener("error", () => this.failed());
    section.addEventListener("click", () => this.enlarge(!section.classList.contains("big")));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !section.classList.contains("big")) return;
      this.enlarge(false);
      event.stopPropagation(); // this Escape is not the one that stops the request
    });
    document.addEventListener("visibilitychange", () => this.apply());
  }

  /** What the computer permits. */
  allow(allowed) {
    this.allowed = allowed;
    this.button.hidden = !allowed;
    this.apply();
  }

  want(wanted) {
    this.wanted = wanted;
    this.button.setAttribute("aria-pressed", String(wanted));
    this.enlarge(false);
    this.apply();
  }

  enlarge(big) {
    this.section.classList.toggle("big", big);
    this.section.querySelector("button").setAttribute("aria-pressed", String(big));
  }

  /** Call when the connection comes back: a picture stream does not mend itself. */
  apply() {
    clearTimeout(this.timer);
    this.section.hidden = !(this.wanted && this.allowed);
    if (this.section.hidden || document.hidden) return this.picture.removeAttribute("src");
    this.note.textContent = say("screen_wait");
    this.ask();
    if (this.streams) this.timer = setTimeout(() => this.giveUpStreams(), PATIENCE_MS);
  }

  ask() {
    const width = Math.round((this.section.clientWidth || innerWidth) * devicePixelRatio);
    this.picture.src = `${this.streams ? "/screen.mjpg" : "/screen.jpg"}?width=${Math.min(width, 9999)}&t=${Date.now()}`;
  }

  shown() {
    clearTimeout(this.timer);
    this.note.textContent = "";
    if (!this.streams) this.timer = setTimeout(() => this.ask(), SNAPSHOT_MS);
  }

  failed() {
    if (!this.picture.hasAttribute("src")) return;
    this.note.textContent = say("screen_gone");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.apply(), RETRY_MS);
  }

  giveUpStreams() {
    this.streams = false;
    this.apply();
  }
}
