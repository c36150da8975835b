"""The wake word: openWakeWord's networks behind a gate that costs next to nothing while the room is quiet.

openWakeWord (Scripka 2023, github.com/dscripka/openWakeWord) turns each 80 ms frame into 8 mel frames, the last 76 mel
frames into one speech embedding (Lin et al. 2020, arXiv:2002.01322), and the last 16 embeddings into a score. The
networks are its own, run here directly: its Python front end copies a list of 10 s of sound for every frame.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anovax.config import WakeConfig
from anovax.errors import WeightsError
from anovax.voice import FRAME, FRAME_S, Detection, Samples

MEL_OVERLAP = 480  # samples before a frame that its first mel windows reach back to
MEL_WINDOW = 76
MEL_STEP = 8
REFRACTORY_S = 1.6


class Features:
    """Speech embeddings of a stream. ``push(int16[1280])`` gives float32[96] for the last 76 mel frames."""

    def __init__(self, folder: Path) -> None:
        self._mel = _session(folder / "melspectrogram.onnx")
        self._embed = _session(folder / "embedding_model.onnx")
        self._mel_in = self._mel.get_inputs()[0].name
        self._embed_in = self._embed.get_inputs()[0].name
        self.reset()

    def reset(self) -> None:
        self._tail = np.zeros(MEL_OVERLAP, np.int16)
        self._mels = np.ones((MEL_WINDOW, 32), np.float32)

    def push(self, frame: Samples) -> NDArray[np.float32]:
        sound = np.concatenate([self._tail, frame])
        self._tail = sound[-MEL_OVERLAP:]
        mels = self._mel.run(None, {self._mel_in: sound[None].astype(np.float32)})[0].reshape(-1, 32) / 10 + 2
        self._mels = np.concatenate([self._mels, mels])[-MEL_WINDOW:]
        window = self._mels[None, :, :, None]
        embedding: NDArray[np.float32] = self._embed.run(None, {self._embed_in: window})[0].reshape(96)
        return embedding


class Gate:
    """Opens when something stands out of the room, stays open for ``hold_s``; costs some 20 microseconds a frame.

    Compares the loudest 20 ms of a frame, after a first difference that takes hum away, with a floor that follows the
    room: down at once, up by ``rise_db`` a second.
    """

    def __init__(self, margin_db: float = 3.0, hold_s: float = 1.6, rise_db: float = 1.0) -> None:
        self._margin, self._rise = margin_db, rise_db * FRAME_S
        self._hold = round(hold_s / FRAME_S)
        self.reset()

    def reset(self) -> None:
        self._floor: float | None = None
        self._open_for = self._hold

    def feed(self, frame: Samples) -> bool:
        """Whether the frame (int16[1280]) is worth a closer look."""
        steps = np.diff(frame.astype(np.float32), prepend=np.float32(frame[0]))
        blocks = steps.reshape(4, -1)
        powers = 10.0 * np.log10(np.einsum("ij,ij->i", blocks, blocks) / blocks.shape[1] + 1.0)
        loud, quiet = float(powers.max()), float(powers.mean())
        floor = quiet if self._floor is None else min(quiet, self._floor + self._rise)
        self._open_for = self._hold if loud > floor + self._margin else max(0, self._open_for - 1)
        self._floor = floor
        return self._open_for > 0


class WakeDetector:
    """Scores a stream of frames against one wake word.

    ``model_path`` is an openWakeWord ONNX classifier, ``features_dir`` holds melspectrogram.onnx and
    embedding_model.onnx. While the gate is shut frames only go into a look-back buffer; when it opens they are scored
    first, so that the first syllable is not lost. ``gate=None`` scores every frame. One thread. Raises WeightsError.
    """

    def __init__(
        self,
        config: WakeConfig,
        model_path: Path,
        features_dir: Path,
        gate: Gate | None = None,
        look_back_s: float = 0.4,
    ) -> None:
        self.word = Path(model_path).stem.split("_v0")[0]
        self.threshold = config.threshold
        self.score = 0.0
        self._gate = gate
        self._features = Features(Path(features_dir))
        self._model = _session(Path(model_path))
        self._input = self._model.get_inputs()[0]
        self._depth = int(self._input.shape[1])
        self._missed: deque[Samples] = deque(maxlen=round(look_back_s / FRAME_S))
        self._blank = self._noise_embeddings()
        self.reset()

    def reset(self) -> None:
        """Forget the sound so far; start as if noise had been heard, which is what openWakeWord does."""
        self._features.reset()
        self._embeddings: deque[NDArray[np.float32]] = deque(self._blank, maxlen=self._depth)
        if self._gate:
            self._gate.reset()
        self._missed.clear()
        self._frames = 0
        self._quiet_until = 5 * FRAME_S  # openWakeWord, too, ignores its first five frames
        self.score = 0.0

    def feed(self, frame: Samples) -> Detection | None:
        """Take one frame (int16[1280]); a Detection when the word has just been heard, else None."""
        self._frames += 1
        if self._gate and not self._gate.feed(frame):
            self._missed.append(frame)
            self.score = 0.0
            return None
        late = [*self._missed, frame]
        self._missed.clear()
        self.score = max(self._score(part) for part in late)
        now = self._frames * FRAME_S
        if self.score < self.threshold or now < self._quiet_until:
            return None
        self._quiet_until = now + REFRACTORY_S
        return Detection(self.word, round(self.score, 4), round(now, 2))

    def _noise_embeddings(self) -> list[NDArray[np.float32]]:
        noise = np.random.default_rng(0).integers(-1000, 1000, (self._depth + 10, FRAME)).astype(np.int16)
        return [self._features.push(frame) for frame in noise][-self._depth :]

    def _score(self, frame: Samples) -> float:
        self._embeddings.append(self._features.push(frame))
        window = np.stack(self._embeddings)[None]
        return float(self._model.run(None, {self._input.name: window})[0].reshape(-1)[0])

    def detections(self, samples: Samples) -> list[Detection]:
        """All detections in a recording (int16[n]), with a second of silence after it; starts from scratch."""
        self.reset()
        return list(self.scan([samples]))

    def scan(self, blocks: Iterable[Samples]) -> Iterator[Detection]:
        """Detections in a recording that comes in blocks (int16[any]), padded with one second of silence."""
        for frame in frames_of(blocks, pad_s=1.0):
            if found := self.feed(frame):
                yield found


def frames_of(blocks: Iterable[Samples], pad_s: float = 0.0) -> Iterator[Samples]:
    """Cut blocks of any length into frames (int16[1280]), followed by ``pad_s`` seconds of zeros."""
    rest = np.zeros(0, np.int16)
    for block in blocks:
        rest = np.concatenate([rest, block])
        whole = len(rest) // FRAME * FRAME
        yield from rest[:whole].reshape(-1, FRAME)
        rest = rest[whole:]
    tail = np.concatenate([rest, np.zeros(round(pad_s * 16_000), np.int16)])
    tail = np.pad(tail, (0, -len(tail) % FRAME))
    yield from tail.reshape(-1, FRAME)


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions share no base class
        reason = str(error).splitlines()[0]
        raise WeightsError(
            f"{path} cannot be loaded as an ONNX network ({reason})", "run: anovax models verify"
        ) from error
