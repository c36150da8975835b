"""JPEG encoders compared on one 720p desktop picture, each at quality 70 with halved colour (4:2:0)."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

QUALITY = 70

Encode = Callable[[NDArray[np.uint8]], bytes]


class Encoded(BaseModel):
    """What one encoder costs: CPU milliseconds a picture (median and 95th percentile), and the picture's size."""

    model_config = ConfigDict(frozen=True)

    name: str
    ms: float
    p95_ms: float
    kib: float


def compare(frame: NDArray[np.uint8], rounds: int = 60) -> list[Encoded]:
    """Each encoder that is here, in turns, so that a busy machine slows all alike. ``frame``: uint8 (h, w, 3)."""
    from anovax.bench.table import percentile

    found = encoders()
    sizes = {name: len(encode(frame)) for name, encode in found.items()}
    times: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds):
        for name, encode in found.items():
            began = time.process_time()
            encode(frame)
            times[name].append((time.process_time() - began) * 1000)
    return [
        Encoded(name=name, ms=percentile(ms, 0.5), p95_ms=percentile(ms, 0.95), kib=sizes[name] / 1024)
        for name, ms in times.items()
    ]


def encoders() -> dict[str, Encode]:
    """By name. PyTurboJPEG is not a dependency: it is compared where somebody has installed it."""
    import simplejpeg
    from PIL import Image

    def pillow(frame: NDArray[np.uint8]) -> bytes:
        out = io.BytesIO()
        Image.fromarray(frame).save(out, "JPEG", quality=QUALITY)
        return out.getvalue()

    def simple(frame: NDArray[np.uint8]) -> bytes:
        colours = {"colorspace": "RGB", "colorsubsampling": "420"}
        return bytes(simplejpeg.encode_jpeg(frame, quality=QUALITY, fastdct=True, **colours))

    found: dict[str, Encode] = {"Pillow": pillow, "simplejpeg": simple}
    with suppress(ImportError, RuntimeError, OSError):  # RuntimeError: its system library is not here, or too old
        from turbojpeg import (  # type: ignore[import-not-found,unused-ignore]
            TJFLAG_FASTDCT,
            TJPF_RGB,
            TJSAMP_420,
            TurboJPEG,
        )

        turbo = TurboJPEG()
        found["PyTurboJPEG"] = lambda frame: bytes(turbo.encode(frame, QUALITY, TJPF_RGB, TJSAMP_420, TJFLAG_FASTDCT))
    return found
