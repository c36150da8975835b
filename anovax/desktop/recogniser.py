"""Reads one line of text from a small picture: PP-OCRv4's recogniser (CTC), whose ONNX weights rapidocr-onnxruntime
ships, run directly: crops of like width go together, unpadded, and waiting threads do not spin."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anovax.errors import DesktopError

Crop = npt.NDArray[np.uint8]  # height x width x 3, BGR
FULL = 48  # the model's own input height in pixels
GLIMPSE = 32  # less than half the work: spaces and some letters get lost
_STEP = 32  # widths are rounded up to this
_BATCH = 4
_ALONE = 200  # pixels from which a crop goes alone: measured, a batch of wide ones takes longer than each by itself
_MAX_WIDTH = 2400
_WEIGHTS = "models/ch_PP-OCRv4_rec_infer.onnx"


class Recogniser:
    """Built once; not thread-safe."""

    def __init__(self, threads: int = 2) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(str(_weights()), options, providers=["CPUExecutionProvider"])
        self._input = self._session.get_inputs()[0].name
        characters = self._session.get_modelmeta().custom_metadata_map["character"].splitlines()
        self._characters = ["", *characters, " "]  # 0 is CTC's blank

    def read(self, crops: Sequence[Crop], height: int = FULL) -> list[tuple[str, float]]:
        """(text, mean probability 0..1) of each crop."""
        scaled = [_scaled(crop, height) for crop in crops]
        order = sorted(range(len(scaled)), key=lambda i: scaled[i].shape[1])
        out: list[tuple[str, float]] = [("", 0.0)] * len(scaled)
        for batch in _batches(order, [image.shape[1] for image in scaled]):
            width = max(scaled[i].shape[1] for i in batch)
            tensor = np.stack([_normalised(scaled[i], width) for i in batch])
            for i, probabilities in zip(batch, self._session.run(None, {self._input: tensor})[0], strict=True):
                out[i] = self._decode(probabilities)
        return out

    def _decode(self, probabilities: Any) -> tuple[str, float]:
        """Greedy CTC: the best class of each frame, repeats merged, blanks dropped. Input: frames x classes."""
        best = probabilities.argmax(axis=1)
        kept = (best != 0) & np.append(True, best[1:] != best[:-1])
        if not kept.any():
            return "", 0.0
        text = "".join(self._characters[place] for place in best[kept])
        return text, float(probabilities.max(axis=1)[kept].mean())


def _weights() -> Path:
    spec = importlib.util.find_spec("rapidocr_onnxruntime")  # its code is not imported: only its weights are used
    if spec is None or not spec.submodule_search_locations:
        raise DesktopError(
            "Text on the screen cannot be read: rapidocr-onnxruntime is not installed",
            "pip install rapidocr-onnxruntime",
        )
    return Path(spec.submodule_search_locations[0]) / _WEIGHTS


def _scaled(crop: Crop, high: int) -> Crop:
    import cv2

    height, width = crop.shape[:2]
    wide = min(_MAX_WIDTH, max(8, round(width * high / height)))
    return np.asarray(cv2.resize(crop, (wide, high)), dtype=np.uint8)


def _normalised(image: Crop, width: int) -> npt.NDArray[np.float32]:
    """3 x height x width in -1..1, padded on the right with the crop's own last column (no edge that is not there)."""
    width = -(-width // _STEP) * _STEP
    padded = np.pad(image, ((0, 0), (0, width - image.shape[1]), (0, 0)), mode="edge")
    return np.ascontiguousarray(padded.transpose(2, 0, 1), dtype=np.float32) / 127.5 - 1.0


def _batches(order: list[int], widths: list[int]) -> list[list[int]]:
    """Indices in groups of at most ``_BATCH`` narrow crops of like width; wide ones alone."""
    groups: list[list[int]] = []
    for i in order:
        first = widths[groups[-1][0]] if groups else 0
        if groups and len(groups[-1]) < _BATCH and widths[i] < _ALONE and widths[i] <= first + _STEP:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups
