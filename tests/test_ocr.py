"""Text on the screen: lines found, read, searched; unchanged text not read twice. The recogniser is the real one."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageDraw, ImageFont

from anovax.desktop.ocr import Ocr, TextBox, as_lines, matches, reading_order, relevant
from anovax.desktop.recogniser import FULL, Recogniser
from anovax.desktop.text_lines import text_lines
from anovax.desktop.word_shapes import likeness
from anovax.errors import DesktopError

Place = tuple[str, int, int]  # text, x, y
WORDS = "copper valley index harbour of minutes the winter ledger to clerk notice storage a bridge permit hall".split()


def picture(
    places: Sequence[Place],
    size: tuple[int, int] = (640, 400),
    ink: str = "black",
    paper: str = "white",
    height: int = 16,
) -> npt.NDArray[np.uint8]:
    """A screen with text on it, height x width x 3 RGB."""
    image = Image.new("RGB", size, paper)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(height)
    for text, x, y in places:
        draw.text((x, y), text, fill=ink, font=font)
    return np.asarray(image)


@pytest.fixture(scope="module")
def ocr() -> Ocr:
    return Ocr()


DIALOG: tuple[Place, ...] = (
    ("Save changes before closing?", 60, 60),
    ("Do not Save", 60, 200),
    ("Cancel", 250, 200),
    ("Save", 400, 200),
)


def plain(text: str) -> str:
    return text.replace(" ", "").casefold()


@pytest.mark.parametrize(
    ("ink", "paper"), [("black", "white"), ("#dddddd", "#202428"), ("white", "#3465a4"), ("#555555", "#f4f4f4")]
)
@pytest.mark.parametrize("height", [13, 16, 28])
def test_reads_light_and_dark_and_several_sizes(ocr: Ocr, ink: str, paper: str, height: int) -> None:
    places = [(text, x * height // 16, y * height // 16) for text, x, y in DIALOG]
    read = ocr.read(picture(places, (1200, 700), ink, paper, height))
    text = plain(" ".join(box.text for box in read))
    for wanted, _, _ in DIALOG:
        assert plain(wanted).strip("?") in text, (wanted, text)


def test_the_box_stands_where_the_text_does(ocr: Ocr) -> None:
    found = ocr.find(picture(DIALOG), "cancel")
    assert len(found) == 1
    x, y = found[0].centre
    assert 250 <= x <= 300
    assert 200 <= y <= 220


def test_an_exact_button_comes_before_lines_that_contain_it(ocr: Ocr) -> None:
    found = ocr.find(picture(DIALOG), "Save")
    assert found[0].x >= 395
    assert found[0].score == 1.0


def test_two_alike_are_both_found(ocr: Ocr) -> None:
    found = ocr.find(picture([("Delete", 40, 40), ("Delete", 300, 240), ("Keep", 40, 240)]), "delete")
    assert len([box for box in found if box.score > 0.95]) == 2


def test_part_of_a_longer_line_is_found_at_its_place(ocr: Ocr) -> None:
    found = ocr.find(picture([("The quick brown fox jumps over the lazy dog", 40, 100)], height=18), "lazy dog")
    assert found
    assert found[0].x > 250
    assert found[0].w < 150


def test_what_is_not_there_is_not_found(ocr: Ocr) -> None:
    assert ocr.find(picture(DIALOG), "Print") == ()
    assert ocr.find(picture(()), "Print") == ()
    assert ocr.read(picture(())) == ()


def test_buttons_with_frames_and_menus(ocr: Ocr) -> None:
    image = Image.fromarray(
        picture([("File", 10, 8), ("Edit", 60, 8), ("View", 110, 8), ("OK", 215, 110), ("7", 330, 110)])
    )
    draw = ImageDraw.Draw(image)
    draw.rectangle((190, 100, 260, 135), outline="grey")
    draw.rounded_rectangle((310, 100, 360, 135), 6, outline="grey")
    read = {box.text for box in ocr.read(np.asarray(image))}
    assert {"File", "Edit", "View", "OK"} <= read


def test_pixels_of_any_kind_do_not_break_it(ocr: Ocr) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (60, 200, 3), dtype=np.uint8)
    ocr.read(noise)
    ocr.read(np.zeros((1, 1, 3), np.uint8))
    ocr.read(picture(DIALOG)[::-1, ::-1])  # not contiguous


@pytest.mark.parametrize(
    "wrong", [np.zeros((5, 5), np.uint8), np.zeros((5, 5, 4), np.uint8), np.zeros((5, 5, 3), np.float32)]
)
def test_another_kind_of_array_is_refused(ocr: Ocr, wrong: npt.NDArray[np.uint8]) -> None:
    with pytest.raises(DesktopError, match="OCR needs an RGB picture"):
        ocr.read(wrong)


def test_unchanged_text_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    real = Recogniser.read
    monkeypatch.setattr(
        Recogniser, "read", lambda self, crops, height=FULL: (counted.append(len(crops)), real(self, crops, height))[1]
    )
    fresh = Ocr()
    first = fresh.read(picture(DIALOG))
    assert fresh.read(picture(DIALOG)) == first
    before = sum(counted)
    fresh.read(picture((*DIALOG, ("Help", 500, 300))))
    assert sum(counted) - before == 1


ROWS = [
    ("annual report of the river committee", 20 + 560 * (n % 2), 12 + 24 * (n // 2)) if n in (21, 50) else
    (" ".join(WORDS[n * k % len(WORDS)] for k in range(1, 3 + n % 5)), 20 + 560 * (n % 2), 12 + 24 * (n // 2))
    for n in range(60)
]  # fmt: skip


def test_on_a_full_page_only_what_looks_like_the_text_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    real = Recogniser.read
    monkeypatch.setattr(
        Recogniser, "read", lambda self, crops, height=FULL: (looked.append(len(crops)), real(self, crops, height))[1]
    )
    found = Ocr().find(picture(ROWS, (1200, 760)), "Annual report of the river committee")
    assert len([box for box in found if box.score > 0.95]) == 2
    assert sum(looked) < 40


def test_the_place_of_words_tells_lines_apart() -> None:
    """The right line is among the likeliest few, without reading any."""
    image = picture(ROWS, (1200, 760))
    crops = [image[y - 2 : y + 20, x - 4 : x + 540] for _, x, y in ROWS]
    for wanted in (3, 21, 34, 57):
        alike = likeness(crops, ROWS[wanted][0])
        assert (alike > alike[wanted]).sum() <= 12, ROWS[wanted]
    assert likeness([np.full((20, 60, 3), 250, np.uint8)], "anything")[0] < 0


def test_many_threads_one_engine(ocr: Ocr) -> None:
    results: list[tuple[TextBox, ...]] = []
    image = picture(DIALOG)
    threads = [threading.Thread(target=lambda: results.append(ocr.read(image))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1


def test_long_lines_of_a_full_screen_are_separate() -> None:
    rows = [(f"line number {n} of a page that is full of words", 20, 10 + 24 * n) for n in range(16)]
    assert len(text_lines(picture(rows))) >= 16


# --- pure parts ------------------------------------------------------------------------------------------------------


def box(text: str, x: int, y: int, w: int = 50, h: int = 16, score: float = 0.9) -> TextBox:
    return TextBox(text=text, x=x, y=y, w=w, h=h, score=score)


def test_reading_order_and_lines() -> None:
    boxes = (box("world", 100, 12), box("below", 10, 40), box("hello", 40, 10), box("far", 400, 11))
    assert [b.text for b in reading_order(boxes)] == ["hello", "world", "far", "below"]
    assert as_lines(boxes) == ("hello world  far", "below")


def test_words_beside_one_another_match_together() -> None:
    found = matches((box("Sign", 10, 10), box("in", 70, 10, 20), box("Sign", 10, 80)), "sign in")
    assert found[0].text == "Sign in"
    assert (found[0].x, found[0].w) == (10, 80)


def test_relevant_lines() -> None:
    lines = ("Order 66 shipped", "Total:", "42.50 EUR", "Thank you")
    assert relevant(lines, "what is the total") == ("Total:", "42.50 EUR")
    assert relevant(lines, "weather") == ()
    assert relevant(lines, "what does it say") == lines
