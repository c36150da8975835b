"""What is read aloud instead of what is written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anovax.voice.speakable import sentences, speakable


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("I opened **Firefox** and ran `ls`.", "I opened Firefox and ran ls."),
        ("# Result\nIt is *done*", "Result. It is done"),
        ("- eggs\n- milk", "eggs. milk"),
        ("Text with a [link](http://x.org).", "Text with a link."),
        ("See https://www.example.com/docs/setup?x=1&y=2.", "See example dot com slash docs setup."),
        ("Mail joe@example.org", "Mail joe at example dot org"),
        ("Saved to /home/me/Pictures/shot_1.png.", "Saved to shot 1 dot png."),
        ("Press ctrl+shift+t.", "Press control shift t."),
        ("21 + 21 = 42", "21 plus 21 equals 42"),
        ("It is 14:05.", "It is 14 oh 5."),
        ("At 10:00", "At 10 o'clock"),
        ("21°C, 12% of 3.5 GB", "21 degrees Celsius, 12 percent of 3.5 gigabytes"),
        ("1 km", "1 kilometre"),
        ("$1,250", "1250 dollars"),
        ("-5 and 3-4", "minus 5 and 3 to 4"),
        ("cats & dogs, e.g. Rex", "cats and dogs, for example Rex"),
        ("done 😀 ✔", "done"),
        ("```python\nprint(1)\n```", "print, 1"),
        ("", ""),
        ("*** --- ***", ""),
    ],
)
def test_written_becomes_spoken(written: str, spoken: str) -> None:
    assert speakable(written) == spoken


@given(st.text(max_size=300))
def test_nothing_unspeakable_is_left_and_nothing_breaks(text: str) -> None:
    said = speakable(text)
    assert not re.search(r"[*`|{}\[\]\\\n]|https?://", said)
    assert "  " not in said
    assert " ".join(sentences(text)).split() == said.split()


def test_the_first_piece_is_short_and_ends_at_a_phrase() -> None:
    pieces = sentences("I opened the calculator and typed twenty one plus twenty one for you. The result is 42.")
    assert pieces == ["I opened the calculator", "and typed twenty one plus twenty one for you.", "The result is 42."]


def test_a_long_sentence_is_cut_at_commas() -> None:
    pieces = sentences("first, " + ", ".join(f"word{i} and more of it" for i in range(20)) + ".")
    assert all(len(piece.split()) <= 28 for piece in pieces)
    assert all(piece[-1] in ",." for piece in pieces[1:])


def test_long_runs_of_nothing_and_control_signs_are_passed_over() -> None:
    assert speakable("Here it is." + "\n \n" * 20_000 + "That is all.") == "Here it is. That is all."
    assert speakable("a \x00b\u202ec \ud800d\x07") == "a bc d"
