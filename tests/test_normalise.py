"""Spoken forms to written forms: numbers, sums, addresses, chords, courtesies."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anovax.planner.normalise import (
    address,
    arithmetic,
    courtesy_free,
    email,
    tidy,
    without_lead,
    without_pauses,
    without_tail,
    written,
)
from anovax.planner.numbers import number, spoken_numbers
from anovax.planner.rules.keys import chord, how_often

# Text as people say it and as nobody says it: words that the functions look for, mixed with any characters.
_SAID = """
please can you could hey now then for me thanks one two twenty thirty hundred thousand and a point zero five
third dot com org slash underscore at sign dash plus minus times divided by percent control shift alt t f four
enter page down open it want to i need let's right 21 3.5 1,000 million , . ! ' " - -- www http:// café ½ ① ﬁ
…
"""
_WORDS = _SAID.split()
spoken = st.lists(st.one_of(st.sampled_from(_WORDS), st.text(max_size=6)), max_size=14).map(" ".join)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("twenty one", "21"),
        ("twenty-one", "21"),
        ("a hundred and five", "105"),
        ("two thousand twenty six", "2026"),
        ("one million two hundred thousand and three", "1200003"),
        ("three point one four", "3.14"),
        ("seventeen plus thirty-two", "17 plus 32"),
        ("one two three", "one two three"),
        ("twenty twelve", "twenty twelve"),
        ("press tab three times", "press tab 3 times"),
        ("no one knows", "no 1 knows"),
        ("someone often weighs stone", "someone often weighs stone"),
        ("zero", "0"),
        ("hundred", "100"),
    ],
)
def test_number_words_become_digits(said: str, meant: str) -> None:
    assert spoken_numbers(said) == meant


@given(st.integers(0, 10**12))
@settings(deadline=None)
def test_every_number_survives_being_spoken(value: int) -> None:
    assert spoken_numbers(in_words(value)) == str(value)


_UNITS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))


def in_words(value: int) -> str:
    """English number words, for the round trip."""
    units, tens = _UNITS.split(), _TENS.split()
    if value < 20:
        return units[value]
    if value < 100:
        return tens[value // 10 - 2] + (f" {units[value % 10]}" if value % 10 else "")
    for size, name in _SCALES:
        if value >= size:
            rest = value % size
            return f"{in_words(value // size)} {name}" + (f" {in_words(rest)}" if rest else "")
    raise AssertionError(value)


@pytest.mark.parametrize(
    ("said", "meant"),
    [("third", 3), ("21st", 21), ("twice", 2), ("forty two", 42), ("7", 7), ("", None), ("a lot", None), ("3.5", None)],
)
def test_whole_numbers(said: str, meant: int | None) -> None:
    assert number(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("21 plus 21", "21+21"),
        ("twenty one plus twenty one", "21+21"),
        ("12 times 3", "12*3"),
        ("6 x 7", "6*7"),
        ("a hundred divided by four", "100/4"),
        ("three point five minus 1", "3.5-1"),
        ("2 to the power of 8", "2^8"),
        ("15 percent", None),
        ("1,200 plus 1", "1200+1"),
        ("five squared plus one", "5^2+1"),
        ("2 plus 2 equals", "2+2="),
        ("21", None),
        ("plus plus", None),
        ("one plus one is too easy", None),
        ("hello 2 plus 2", None),
    ],
)
def test_sums_are_written_as_they_are_typed(said: str, meant: str | None) -> None:
    assert arithmetic(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("wikipedia dot org", "wikipedia.org"),
        ("Wikipedia.org", "wikipedia.org"),
        ("new york times dot com", "newyorktimes.com"),
        ("example dot co dot uk slash help", "example.co.uk/help"),
        ("my dash site dot net", "my-site.net"),
        ("https://example.com/A?b=C", "https://example.com/A?b=C"),
        ("www dot example dot com", "www.example.com"),
        ("localhost colon 8080", "localhost:8080"),
        ("192.168.1.1", "192.168.1.1"),
        ("the end", None),
        ("dot com", None),
        ("report.txt", None),
        ("javascript:alert(1)", None),
    ],
)
def test_web_addresses(said: str, meant: str | None) -> None:
    assert address(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("jane underscore doe at example dot com", "jane_doe@example.com"),
        ("info at sign example dot org", "info@example.org"),
        ("meet me at noon", None),
        ("write to tom at example dot com", None),
    ],
)
def test_mail_addresses(said: str, meant: str | None) -> None:
    assert email(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("snake underscore case", "snake_case"),
        ("hash tag news", "#news"),
        ("notes dot txt", "notes.txt"),
        ("me at sign home", "me@home"),
        ("a dot on a line", "a dot on a line"),
        ("Hello, World", "Hello, World"),
    ],
)
def test_spoken_symbols_in_typed_text(said: str, meant: str) -> None:
    assert written(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("control shift t", "ctrl+shift+t"),
        ("Ctrl+Alt+Delete", "ctrl+alt+delete"),
        ("alt f four", "alt+f4"),
        ("windows e", "win+e"),
        ("capital b", "shift+b"),
        ("page down", "pagedown"),
        ("the left arrow", "left"),
        ("volume up", "volumeup"),
        ("control plus", "ctrl+plus"),
        ("shift plus a", "shift+a"),
        ("f twelve", "f12"),
        ("enter control", None),
        ("t control", None),
        ("control banana", None),
        ("shift shift", None),
        ("f99", None),
        ("", None),
    ],
)
def test_chords(said: str, meant: str | None) -> None:
    assert chord(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("tab three times", ("tab", 3)),
        ("tab twice", ("tab", 2)),
        ("down twenty one times", ("down", 21)),
        ("tab key 4 times", ("tab key", 4)),
        ("enter", ("enter", 1)),
        ("enter many times", ("enter", None)),
    ],
)
def test_how_often(said: str, meant: tuple[str, int | None]) -> None:
    assert how_often(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Hey, could you please open Firefox for me, please?", "open Firefox"),
        ("um, okay, so can you just scroll down", "scroll down"),
        ("I'd like you to close this tab now", "close this tab"),
        ("please", "please"),
        ("Hello", "Hello"),
        ("thank you", "thank you"),
        ("“Take a screenshot.”", "Take a screenshot"),
    ],
)
def test_courtesies_fall_away(said: str, meant: str) -> None:
    assert courtesy_free(tidy(said)) == meant


@pytest.mark.parametrize("rewrite", [tidy, without_lead, without_tail, courtesy_free, spoken_numbers, written])
@given(text=spoken)
@settings(deadline=None, max_examples=100)
def test_a_second_time_changes_nothing(rewrite: Callable[[str], str], text: str) -> None:
    once = rewrite(text)
    assert rewrite(once) == once


@pytest.mark.parametrize("rewrite", [address, email, arithmetic, chord])
@given(text=spoken)
@settings(deadline=None, max_examples=100)
def test_what_is_written_stays_as_it_is(rewrite: Callable[[str], str | None], text: str) -> None:
    once = rewrite(text)
    assert once is None or rewrite(once) == once


@given(text=spoken)
@settings(deadline=None, max_examples=100)
def test_courtesies_never_empty_a_request(text: str) -> None:
    line = tidy(text)
    assert bool(courtesy_free(line)) == bool(line)


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("Open, Mousepad", "Open Mousepad"),
        ("open, the editor, and, type, hello", "open the editor, and type hello"),
        ("Open Firefox. Close, Mousepad", "Open Firefox. Close Mousepad"),
        ("open files and then, press, enter", "open files and then press enter"),
        ("type bread, butter, and cheese", "type bread, butter, and cheese"),
        ("type the words open, close and stop", "type the words open, close and stop"),
        ("open", "open"),
        ("open,", "open,"),
    ],
)
def test_a_pause_after_the_verb_is_no_comma(heard: str, meant: str) -> None:
    assert without_pauses(heard) == meant
    assert without_pauses(meant) == meant
