// Audio thread: collects a tenth of a second of 16 kHz sound and hands it over as 16-bit samples.
const SIZE = 1600;

class Pcm extends AudioWorkletProcessor {
  constructor() {
    super();
    this.samples = new Int16Array(SIZE);
    this.filled = 0;
  }

  process([[channel]]) {
    for (const value of channel ?? []) {
      this.samples[this.filled++] = Math.max(-1, Math.min(1, value)) * 32767;
      if (this.filled === SIZE) {
        this.port.postMessage(this.samples.buffer, [this.samples.buffer]);
        this.samples = new Int16Array(SIZE);
        this.filled = 0;
      }
    }
    return true;
  }
}

registerProcessor("pcm", Pcm);
