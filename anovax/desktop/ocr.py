"""Text on the screen, found offline: RapidOCR (PP-OCR detection and recognition, ONNX weights inside its package)."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict
from rapidfuzz import fuzz

from anovax.desktop.recogniser import FULL, GLIMPSE, Recogniser
from anovax.desktop.text_lines import Boxes, text_lines
from anovax.desktop.word_shapes import likeness
from anovax.errors import DesktopError

Picture = npt.NDArray[np.uint8]  # height x width x 3

_KEPT = 4096  # crops whose text is remembered
_LEAST_SCORE = 0.5
_GLIMPSED = 4  # letters from which a glimpse is worth it
_MAYBE = 60  # likeness of a glimpse from which the line is read in full
_SAME = 0.8  # likeness from which a line is the text that was meant
_EXACT = 0.97  # a find that needs no further look
_AT_ONCE = 12  # lines that are looked at together, the likeliest first
_UNLIKE = 0.05  # what looks by so much less like the text than the place where it was found cannot be it as well
_LETTERS_PER_HEIGHT = 1.7  # letters that fit into a stretch as long as the line's box is high


class TextBox(BaseModel):
    """One line of text. ``x``, ``y``: top left corner, ``w``, ``h``: size, in pixels of the picture that was read;
    ``score`` 0..1 is the recogniser's own."""

    model_config = ConfigDict(frozen=True)

    text: str
    x: int
    y: int
    w: int
    h: int
    score: float

    @property
    def centre(self) -> tuple[int, int]:
        return self.x + self.w // 2, self.y + self.h // 2


class Ocr:
    """Reads pictures. The recogniser is built on the first read, and kept; one read at a time (thread-safe). What was
    read once and looks the same is not read again (bounded)."""

    def __init__(self, threads: int = 2) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._recogniser: Recogniser | None = None
        self._read: OrderedDict[bytes, tuple[str, float]] = OrderedDict()

    def read(self, image: Picture) -> tuple[TextBox, ...]:
        """Lines of text in ``image`` (uint8, shape (height, width, 3), RGB), in reading order."""
        return reading_order(self._recognised(image, text_lines(_checked(image))))

    def find(self, image: Picture, text: str) -> tuple[TextBox, ...]:
        """The places where ``text`` stands, best first. Lines of a fitting length come first, of these the ones whose
        words look as long as the text's, and the longer ones only when none of these is it; each is glimpsed at, and
        read in full where it may be the one."""
        boxes = text_lines(_checked(image))
        letters = boxes[:, 2] / np.maximum(boxes[:, 3], 1) * _LETTERS_PER_HEIGHT
        want = max(1, len(text.replace(" ", "")))
        least = 0.5 * min((len(word) for word in text.split()), default=1) - 1  # a line may fall into its words
        near = (letters > least) & (letters < 2.2 * want + 4)
        read = self._likely_first(image, boxes[near], text)
        found = matches(read, text)
        if found and found[0].score >= _EXACT:
            return found
        longer = self._worth(image, boxes[letters >= 2.2 * want + 4], text)
        return matches((*read, *self._recognised(image, longer)), text)

    def _likely_first(self, image: Picture, boxes: Boxes, text: str) -> tuple[TextBox, ...]:
        """What was read of ``boxes``, in order of likelihood: up to the text itself and all that look as it does."""
        alike = likeness(_crops(image, boxes), text)
        order, least, read = np.argsort(-alike), -np.inf, tuple[TextBox, ...]()
        for start in range(0, len(order), _AT_ONCE):
            some = order[start : start + _AT_ONCE]
            some = some[alike[some] >= least]
            if not len(some):
                break
            read += self._recognised(image, self._worth(image, boxes[some], text))
            found = matches(read, text)
            if least == -np.inf and found and found[0].score >= _EXACT:
                least = alike[_place(boxes, found[0])].min(initial=np.inf) - _UNLIKE
        return read

    def _worth(self, image: Picture, boxes: Boxes, text: str) -> Boxes:
        """The boxes that may carry ``text`` by a glimpse at each; of a very short text a glimpse tells nothing."""
        if len(_plain(text)) < _GLIMPSED:
            return boxes
        with self._lock:
            seen = self._texts(_crops(image, boxes), GLIMPSE)
        fits = [score < _LEAST_SCORE or _may_be(_plain(line), text) for line, score in seen]
        return np.asarray(boxes[np.array(fits, dtype=bool)], dtype=np.int32)

    def _recognised(self, image: Picture, boxes: Boxes) -> tuple[TextBox, ...]:
        with self._lock:
            texts = self._texts(_crops(image, boxes), FULL)
        return tuple(
            TextBox(text=text.strip(), x=int(x), y=int(y), w=int(w), h=int(h), score=round(score, 3))
            for (x, y, w, h), (text, score) in zip(boxes, texts, strict=True)
            if text.strip() and score >= _LEAST_SCORE
        )

    def _texts(self, crops: list[Picture], height: int) -> list[tuple[str, float]]:
        """Text and score of each crop (BGR), from the memory of earlier reads where it looks the same."""
        keys = [
            hashlib.blake2b(crop.tobytes(), digest_size=16, salt=bytes((height, *divmod(crop.shape[1], 256)))).digest()
            for crop in crops
        ]
        new = {key: crop for key, crop in zip(keys, crops, strict=True) if key not in self._read}
        if new:
            if self._recogniser is None:
                self._recogniser = Recogniser(self._threads)
            self._read.update(zip(new, self._recogniser.read(list(new.values()), height), strict=True))
        for key in keys:
            self._read.move_to_end(key)
        out = [self._read[key] for key in keys]
        while len(self._read) > _KEPT:
            self._read.popitem(last=False)
        return out


def _place(boxes: Boxes, found: TextBox) -> npt.NDArray[np.bool_]:
    """Which of the boxes ``found`` was read from."""
    x, y, w, h = boxes.T
    across = np.minimum(x + w, found.x + found.w) - np.maximum(x, found.x)
    down = np.minimum(y + h, found.y + found.h) - np.maximum(y, found.y)
    return np.asarray((across > 0) & (down > 0))


def _crops(image: Picture, boxes: Boxes) -> list[Picture]:
    """The boxes cut out, as BGR."""
    return [np.ascontiguousarray(image[y : y + h, x : x + w, ::-1]) for x, y, w, h in boxes]


def _may_be(line: str, text: str) -> bool:
    """Whether a glimpsed line may carry ``text``, or is a word of it that stands by itself."""
    wanted = _plain(text)
    if len(line) >= 0.7 * len(wanted):
        return fuzz.partial_ratio(wanted, line) >= _MAYBE
    return any(fuzz.ratio(_plain(word), line) >= _MAYBE for word in text.split()) or line in wanted


def _checked(image: Picture) -> Picture:
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise DesktopError(f"OCR needs an RGB picture of bytes, not {image.dtype} of shape {image.shape}")
    return image


def matches(boxes: tuple[TextBox, ...], text: str) -> tuple[TextBox, ...]:
    """Places that carry ``text``, best first; ``score`` is then how well it fits, 0..1. Words that stand beside one
    another are tried together; in a longer line the box is cut down to where the text stands in it."""
    wanted = _plain(text)
    found = [fit for box in _with_neighbours(boxes, len(text.split())) if (fit := _match(box, wanted)) is not None]
    best: list[TextBox] = []
    for box in sorted(found, key=lambda box: (-box.score, box.w)):
        if not any(_overlap(box, other) for other in best):
            best.append(box)
    return tuple(best)


def _match(box: TextBox, wanted: str) -> TextBox | None:
    line = _plain(box.text)
    whole = fuzz.ratio(wanted, line) / 100
    if whole >= _SAME:
        return box.model_copy(update={"score": whole})
    if not len(line) > len(wanted) >= 3:
        return None
    at = fuzz.partial_ratio_alignment(wanted, line, score_cutoff=88)
    if at is None:
        return None
    return _cut(box, at.dest_start / len(line), at.dest_end / len(line), at.score / 100 * 0.95)


def _with_neighbours(boxes: tuple[TextBox, ...], words: int) -> tuple[TextBox, ...]:
    """The boxes, and runs of up to ``words`` that stand beside one another, joined."""
    ordered = reading_order(boxes)
    joined = list(ordered)
    for start in range(len(ordered)):
        run = ordered[start]
        for following in ordered[start + 1 : start + words]:
            if not _beside(run, following):
                break
            run = _join(run, following)
            joined.append(run)
    return tuple(joined)


def _beside(left: TextBox, right: TextBox) -> bool:
    near = 0 <= right.x - left.x - left.w + 4 <= 1.5 * max(left.h, right.h)
    return near and abs(left.centre[1] - right.centre[1]) < 0.5 * min(left.h, right.h)


def _join(left: TextBox, right: TextBox) -> TextBox:
    top, bottom = min(left.y, right.y), max(left.y + left.h, right.y + right.h)
    text = f"{left.text} {right.text}"
    score = min(left.score, right.score)
    return TextBox(text=text, x=left.x, y=top, w=right.x + right.w - left.x, h=bottom - top, score=score)


def _overlap(one: TextBox, two: TextBox) -> bool:
    across = min(one.x + one.w, two.x + two.w) - max(one.x, two.x)
    down = min(one.y + one.h, two.y + two.h) - max(one.y, two.y)
    return across > 0 and down > 0


def _cut(box: TextBox, start: float, end: float, score: float) -> TextBox:
    left, right = box.x + round(start * box.w), box.x + round(end * box.w)
    return box.model_copy(update={"x": left, "w": max(1, right - left), "score": score})


def _plain(text: str) -> str:
    return "".join(re.findall(r"\w+", text.casefold())) or text.strip().casefold()


def reading_order(boxes: tuple[TextBox, ...]) -> tuple[TextBox, ...]:
    """Top to bottom, and left to right within a line (boxes whose centres lie within half a line's height)."""
    lines: list[list[TextBox]] = []
    for box in sorted(boxes, key=lambda b: b.y + b.h / 2):
        if lines and abs(box.y + box.h / 2 - lines[-1][0].y - lines[-1][0].h / 2) < 0.5 * min(box.h, lines[-1][0].h):
            lines[-1].append(box)
        else:
            lines.append([box])
    return tuple(box for line in lines for box in sorted(line, key=lambda b: b.x))


def as_lines(boxes: tuple[TextBox, ...]) -> tuple[str, ...]:
    """Boxes in reading order, joined into the lines that they stand on; a wide gap stays visible as two spaces."""
    lines: list[tuple[str, TextBox]] = []
    for box in reading_order(boxes):
        text, last = lines[-1] if lines else ("", None)
        if last is not None and box.x >= last.x and abs(box.centre[1] - last.centre[1]) < 0.5 * min(box.h, last.h):
            lines[-1] = (f"{text}{' ' if _beside(last, box) else '  '}{box.text}", box)
        else:
            lines.append((box.text, box))
    return tuple(text for text, _ in lines)


def relevant(lines: tuple[str, ...], query: str) -> tuple[str, ...]:
    """The lines that bear on ``query``, best first, at most five; a line that ends in a colon brings the next along."""
    wanted = [word for word in re.findall(r"\w+", query.casefold()) if word not in _ASKING]
    if not wanted:
        return lines
    scored = [(sum(_has(line, word) for word in wanted) / len(wanted), place) for place, line in enumerate(lines)]
    chosen = [place for fit, place in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:5] if fit >= 0.5]
    out: list[str] = []
    for place in chosen:
        out += [lines[place], *(lines[place + 1 : place + 2] if lines[place].rstrip().endswith(":") else ())]
    return tuple(dict.fromkeys(out))


_ASKING = frozenset(
    "what which who does do is are the a an it this that my on in of say says tell me read screen "
    "window show shows about".split()
)


def _has(line: str, word: str) -> bool:
    return fuzz.partial_ratio(word, line.casefold()) >= 85
