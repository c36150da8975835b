"""Reading the screen, measured: time to find a text and to read all, on 1920 x 1080 pictures of three kinds."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import numpy as np
from pydantic import BaseModel, ConfigDict

from anovax.bench.table import percentile
from anovax.desktop.ocr import Ocr, Picture

_WORDS = "file edit view help save open search settings account window document print close share export import".split()
SIZE = (1920, 1080)


class OcrFigures(BaseModel):
    """Milliseconds. ``find``: one text on a screen never seen before; ``read``: everything on it; ``again``: everything
    on a screen of which nothing has changed. ``right``: share of the texts that were read as drawn, spaces aside."""

    model_config = ConfigDict(frozen=True)

    screen: str
    texts: int
    find_p50_ms: float
    find_max_ms: float
    read_ms: float
    again_ms: float
    right: float


def measure(finds: int = 5, progress: Callable[[int, int], None] = lambda done, of: None) -> tuple[OcrFigures, ...]:
    """Draw the screens and read them; the recogniser is built before the clock starts."""
    kinds = (("a dialog", 12, 1), ("an application", 60, 2), ("a page full of text", 160, 5))
    out = []
    for number, (name, count, words) in enumerate(kinds):
        out.append(_measured(name, count, words, finds))
        progress(number + 1, len(kinds))
    return tuple(out)


def _measured(name: str, count: int, words: int, finds: int) -> OcrFigures:
    picture, texts = screen(count, words)
    times = []
    for number in range(finds):
        fresh = _warm()
        wanted = texts[number * len(texts) // finds]
        times.append(_ms(lambda fresh=fresh, wanted=wanted: fresh.find(picture, wanted)))  # type: ignore[misc]
    ocr = _warm()
    read_ms = _ms(lambda: ocr.read(picture))
    again_ms = _ms(lambda: ocr.read(picture))
    got = {box.text.replace(" ", "") for box in ocr.read(picture)}
    right = sum(text.replace(" ", "") in got for text in texts) / len(texts)
    return OcrFigures(
        screen=name,
        texts=count,
        find_p50_ms=round(percentile(times, 0.5), 1),
        find_max_ms=round(max(times), 1),
        read_ms=round(read_ms, 1),
        again_ms=round(again_ms, 1),
        right=round(right, 3),
    )


def screen(count: int, words: int, seed: int = 4) -> tuple[Picture, list[str]]:
    """A 1080p picture (height x width x 3, RGB) with ``count`` texts of ``words`` words, and the texts."""
    from PIL import Image, ImageDraw, ImageFont

    chance = random.Random(seed)
    image = Image.new("RGB", SIZE, "#f6f5f4")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(15)
    columns = max(1, SIZE[0] // (90 * words + 60))
    rows = -(-count // columns)
    texts = []
    for place in range(count):
        text = " ".join(chance.choices(_WORDS, k=words)).capitalize()
        at = (30 + place % columns * SIZE[0] // columns, 20 + place // columns * (SIZE[1] - 40) // rows)
        draw.text(at, text, fill="#2e3436", font=font)
        texts.append(text)
    return np.asarray(image), texts


def _warm() -> Ocr:
    ocr = Ocr()
    ocr.read(screen(2, 1, seed=9)[0])
    return ocr


def _ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - started)
