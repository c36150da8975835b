"""Chords: every spelling becomes one canonical form; what is no key is an error before anything is pressed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anovax.desktop.chords import KEYS, MAX_CHORDS, MODIFIERS, Chord, parse_chords
from anovax.desktop.x11_keyboard import keysym_for
from anovax.errors import ToolError


@pytest.mark.parametrize(
    ("said", "chords"),
    [
        ("control shift t", "ctrl+shift+t"),
        ("ctrl + shift + t", "ctrl+shift+t"),
        ("Shift-Ctrl-T", "ctrl+shift+t"),
        ("page down twice", "pagedown pagedown"),
        ("up arrow three times", "up up up"),
        ("alt f4", "alt+f4"),
        ("alt f 4", "alt+f4"),
        ("capital b", "shift+b"),
        ("B", "shift+b"),
        ("b", "b"),
        ("windows", "win"),
        ("super d", "win+d"),
        ("ctrl+a ctrl+c", "ctrl+a ctrl+c"),
        ("control a and then control c", "ctrl+a ctrl+c"),
        ("the enter key", "enter"),
        ("return", "enter"),
        ("ctrl++", "ctrl++"),
        ("control plus", "ctrl++"),
        ("ctrl plus c", "ctrl+c"),
        ("ctrl+-", "ctrl+-"),
        ("volume up", "volumeup"),
        ("XF86AudioRaiseVolume", "volumeup"),
        ("next track", "nexttrack"),
        ("mute", "volumemute"),
        ("play pause", "playpause"),
        ("ctrl+alt+delete", "ctrl+alt+delete"),
        ("five", "5"),
        ("\n", "enter"),
        ("\t", "tab"),
    ],
)
def test_spoken_and_written_forms(said: str, chords: str) -> None:
    assert " ".join(map(str, parse_chords(said))) == chords


@pytest.mark.parametrize("said", ["banana", "ctrl+foo", "a+b", "ctrl+", "control banana", "", "f99"])
def test_what_is_no_key_is_an_error(said: str) -> None:
    with pytest.raises(ToolError):
        parse_chords(said)


def test_near_names_are_offered() -> None:
    with pytest.raises(ToolError) as caught:
        parse_chords("ctrl+entr")
    assert "enter" in caught.value.candidates


def test_too_many_presses_are_refused() -> None:
    with pytest.raises(ToolError, match="too many"):
        parse_chords(f"enter {MAX_CHORDS + 1} times")


@given(st.lists(st.sampled_from(MODIFIERS), max_size=4, unique=True), st.sampled_from(sorted(set(KEYS.values()))))
def test_the_canonical_form_reads_back(mods: list[str], key: str) -> None:
    chord = Chord(mods=tuple(name for name in MODIFIERS if name in mods), key=key)
    assert parse_chords(str(chord)) == (chord,)


@given(st.text(max_size=30))
def test_any_text_gives_chords_or_one_clear_error(text: str) -> None:
    problem = ""
    try:
        assert parse_chords(text)
    except ToolError as error:
        problem = str(error)
    assert not problem or problem.endswith(".")


def test_every_key_has_a_keysym() -> None:
    for key in set(KEYS.values()):
        assert keysym_for(key)
