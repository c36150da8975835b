// Push to talk. The recording goes by POST when the button is let go; meanwhile the sound itself goes through a socket,
// only to show what has been understood so far. A short tap starts, the next one ends.
import { Trouble, upload } from "./api.js";
import { say } from "./words.js";

const TAP_MS = 350;
const SHORTEST_MS = 250;
const LONGEST_MS = 60_000;
const KINDS = ["audio/webm;codecs=opus", "audio/mp4", "audio/ogg;codecs=opus", "audio/webm"];

export class Talk {
  /** `on.partial(text)`, `on.trouble(text, again)`: `again`, where given, sends the recording once more. */
  constructor(button, label, on) {
    Object.assign(this, { button, label, on, recorder: undefined, wanted: false, busy: false, attempt: undefined });
    this.show();
    button.addEventListener("pointerdown", (event) => { if (event.button === 0) { event.preventDefault(); button.focus(); button.setPointerCapture(event.pointerId); this.press(); } });
    button.addEventListener("pointerup", () => this.release());
    button.addEventListener("pointercancel", () => this.finish());
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    button.addEventListener("keydown", (event) => { if ([" ", "Enter"].includes(event.key)) { event.preventDefault(); if (!event.repeat) this.press(); } });
    button.addEventListener("keyup", (event) => { if ([" ", "Enter"].includes(event.key)) this.release(); });
    button.addEventListener("click", (event) => { if (event.detail === 0 && event.isTrusted) this.toggle(); }); // a screen reader's activation
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.finish(); });
  }

  toggle() {
    if (this.wanted) this.finish();
    else this.start();
  }

  press() {
    this.pressed = performance.now();
    this.ending = this.wanted; // the second tap of two
    if (!this.wanted) this.start();
  }

  release() {
    if (this.ending || performance.now() - this.pressed > TAP_MS) this.finish();
  }

  async start() {
    if (this.busy) return;
    this.wanted = true;
    navigator.vibrate?.(15);
    const attempt = (this.attempt = Symbol()); // while the browser asks for the microphone the button may be pressed again
    let stream;
    try {
      if (!navigator.mediaDevices?.getUserMedia) throw new Trouble("", say("mic_insecure"));
      stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true } });
      if (!this.wanted || attempt !== this.attempt) return release(stream);
      this.record(stream);
    } catch (error) {
      release(stream);
      if (attempt !== this.attempt) return;
      this.wanted = false;
      this.on.trouble(error instanceof Trouble ? error.message : say(error.name === "NotFoundError" ? "mic_none" : "mic_denied"));
    }
    this.show();
  }

  record(stream) {
    const type = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind)) ?? "";
    const chunks = [];
    const recorder = new MediaRecorder(stream, { mimeType: type, audioBitsPerSecond: 48_000 });
    recorder.ondataavailable = (event) => chunks.push(event.data);
    recorder.onstop = () => this.send(new Blob(chunks, { type: recorder.mimeType || type }));
    recorder.start();
    Object.assign(this, { recorder, stream });
    this.began = performance.now();
    this.limit = setTimeout(() => this.finish(), LONGEST_MS);
    this.preview().catch(() => {}); // only a preview: without it the recording still counts
  }

  async preview() {
    const context = (this.context = new AudioContext({ sampleRate: 16_000 }));
    await context.audioWorklet.addModule("/pcm.js");
    if (this.context !== context) return;
    const socket = (this.socket = new WebSocket(`wss://${location.host}/api/live`));
    socket.binaryType = "arraybuffer";
    socket.onmessage = (message) => { if (this.wanted) this.on.partial(JSON.parse(message.data).partial); };
    const node = new AudioWorkletNode(context, "pcm");
    node.port.onmessage = (message) => { if (socket.readyState === 1 && socket.bufferedAmount < 64_000) socket.send(message.data); };
    context.createMediaStreamSource(this.stream).connect(node);
  }

  finish() {
    if (!this.wanted) return;
    this.wanted = false;
    if (this.recorder?.state === "recording") {
      this.busy = true; // until it is sent: a new recording would mix with this one
      this.recorder.stop();
    }
    this.show();
  }

  /** The recording is over: it was ended here, or the microphone was unplugged. */
  async send(blob) {
    const ms = performance.now() - this.began;
    this.wanted = this.busy = false;
    this.clear();
    this.show();
    if (ms < SHORTEST_MS || !blob.size) return this.on.trouble(say("mic_short"));
    await this.upload(blob);
  }

  async upload(blob) {
    this.busy = true;
    this.show();
    try {
      const { heard } = await upload("/api/audio", blob);
      this.on.partial("");
      if (!heard) this.on.trouble(say("no_speech"));
    } catch (error) {
      this.on.trouble(error.message, error.code === "unreachable" ? () => this.upload(blob) : undefined); // nothing said is lost
    } finally {
      this.busy = false;
      this.show();
    }
  }

  clear() {
    clearTimeout(this.limit);
    release(this.stream);
    this.socket?.close();
    this.context?.close().catch(() => {});
    this.stream = this.socket = this.context = this.recorder = undefined;
  }

  show() {
    this.button.setAttribute("aria-pressed", String(this.wanted));
    this.label.textContent = say(this.wanted ? "talking" : this.busy ? "sending" : "talk");
  }
}

function release(stream) {
  stream?.getTracks().forEach((track) => track.stop());
}
