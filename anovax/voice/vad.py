"""Speech or not: Silero VAD (the ONNX file that ships inside faster-whisper), run on a stream."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from anovax.errors import WeightsError
from anovax.voice import Samples, to_float

CHUNK = 512
CONTEXT = 64


class SileroVad:
    """Silero VAD with its recurrent state kept from call to call (github.com/snakers4/silero-vad, MIT).

    Each 512-sample chunk is judged together with the 64 samples before it. One thread; not thread-safe.
    """

    def __init__(self, path: Path | None = None) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.inter_op_num_threads = options.intra_op_num_threads = 1
        options.log_severity_level = 4
        self._session = onnxruntime.InferenceSession(
            str(path or silero_path()), sess_options=options, providers=["CPUExecutionProvider"]
        )
        self.reset()

    def reset(self) -> None:
        self._h = np.zeros((1, 1, 128), np.float32)
        self._c = np.zeros((1, 1, 128), np.float32)
        self._context = np.zeros(CONTEXT, np.float32)
        self._rest = np.zeros(0, np.float32)
        self._last = 0.0

    def __call__(self, samples: Samples) -> float:
        """The highest probability of the chunks that ``samples`` (int16[n]) complete; if none, the last one again."""
        sound = np.concatenate([self._rest, to_float(samples)])
        whole = len(sound) // CHUNK * CHUNK
        self._rest = sound[whole:]
        scores = [self._judge(sound[i : i + CHUNK]) for i in range(0, whole, CHUNK)]
        if scores:
            self._last = max(scores)
        return self._last

    def _judge(self, chunk: np.ndarray) -> float:
        batch = np.concatenate([self._context, chunk])[None]
        out, self._h, self._c = self._session.run(None, {"input": batch, "h": self._h, "c": self._c})
        self._context = chunk[-CONTEXT:]
        return float(out.reshape(-1)[0])


def silero_path() -> Path:
    """The newest silero_vad*.onnx inside the installed faster-whisper. Raises WeightsError."""
    spec = importlib.util.find_spec("faster_whisper")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if found := sorted(Path(place, "assets").glob("silero_vad*.onnx")):
            return found[-1]
    raise WeightsError("The voice activity detector is missing", "install faster-whisper again")
