// The picture of the screen: one stream, only while it is wanted and the page is visible; a snapshot when that fails.
import { say } from "./words.js";

const RETRY_MS = 2000;

export class Screen {
  constructor(section, picture, note, button) {
    Object.assign(this, { section, picture, note, button, wanted: false, allowed: false });
    button.addEventListener("click", () => this.want(!this.wanted));
    picture.addEventListener("load", () => { note.textContent = ""; });
    picture.addEventListener("error", () => this.failed());
    section.addEventListener("click", () => section.classList.toggle("big"));
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") section.classList.remove("big"); });
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
    this.section.classList.remove("big");
    this.apply();
  }

  /** Call when the connection comes back: a picture stream does not mend itself. */
  apply() {
    clearTimeout(this.timer);
    const on = this.wanted && this.allowed && !document.hidden;
    this.section.hidden = !(this.wanted && this.allowed);
    if (!on) return this.picture.removeAttribute("src");
    this.note.textContent = say("screen_wait");
    this.picture.src = this.address("/screen.mjpg");
  }

  failed() {
    if (!this.picture.hasAttribute("src")) return;
    this.note.textContent = say("screen_gone");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { if (this.wanted && !document.hidden) this.picture.src = this.address("/screen.jpg"); }, RETRY_MS);
  }

  address(path) {
    const width = Math.round((this.section.clientWidth || innerWidth) * devicePixelRatio);
    return `${path}?width=${Math.min(width, 9999)}&t=${Date.now()}`;
  }
}
