"""Keysyms, key maps as the X server sends them, and how a text is cut into parts. No display needed."""

from __future__ import annotations

import ctypes
import ctypes.util
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anovax.desktop.keysyms import char_of, keysym_of
from anovax.desktop.x11_keymap import Stroke, parse_keymap, wire_key
from anovax.desktop.x11_typing import bursts, parts

SHIFT, LEVEL3 = 1, 128


def reply(keys: dict[int, bytes], modifiers: dict[int, int]) -> bytes:
    """The body of an XkbGetMap reply with the types ONE_LEVEL, TWO_LEVEL, FOUR_LEVEL."""
    entry = struct.Struct("=4BH2x")
    types = [
        struct.pack("=2BH4B", 0, 0, 0, 1, 0, 0, 0),
        struct.pack("=2BH4B", SHIFT, SHIFT, 0, 2, 1, 0, 0) + entry.pack(1, SHIFT, 1, SHIFT, 0),
        struct.pack("=2BH4B", SHIFT | LEVEL3, SHIFT | LEVEL3, 0, 4, 3, 0, 0)
        + entry.pack(1, SHIFT, 1, SHIFT, 0)
        + entry.pack(1, LEVEL3, 2, LEVEL3, 0)
        + entry.pack(1, SHIFT | LEVEL3, 3, SHIFT | LEVEL3, 0),
    ]
    low, high = min(keys), max(keys)
    symbols = b"".join(keys.get(code, wire_key(0)) for code in range(low, high + 1))
    head = bytearray(32)
    head[2], head[3], head[7], head[8] = low, high, len(types), len(types)
    head[9], head[12], head[23], head[25] = low, high - low + 1, low, len(modifiers)
    pairs = b"".join(struct.pack("2B", *pair) for pair in modifiers.items())
    return bytes(head) + b"".join(types) + symbols + pairs


def key(kind: int, *symbols: int, groups: int = 1) -> bytes:
    width = len(symbols) // groups
    return struct.pack(f"=4B2BH{len(symbols)}I", kind, kind, kind, kind, groups, width, len(symbols), *symbols)


MAP = parse_keymap(
    reply(
        {
            10: key(1, 0xFFE1, 0xFFE1),
            11: key(2, 0x71, 0x51, 0x40, 0x7D9),  # q Q @ Omega
            12: key(1, 0x61, 0x41, 0x6C6, 0x6E6, groups=2),  # a A, Cyrillic ef
            13: key(0, 0xFE03),
            14: key(0, 0xFF0D),
            15: wire_key(0),
            16: key(0, 0xFE52),  # dead circumflex
        },
        {10: SHIFT, 13: LEVEL3},
    )
)


def test_levels_come_from_the_key_types() -> None:
    chars = MAP.characters(0)
    assert chars["q"] == Stroke(11)
    assert chars["Q"] == Stroke(11, SHIFT)
    assert chars["@"] == Stroke(11, LEVEL3)
    assert chars["Ω"] == Stroke(11, SHIFT | LEVEL3)
    assert chars["\n"] == Stroke(14)


def test_groups_are_layouts_and_single_ones_serve_all() -> None:
    assert MAP.characters(1)["ф"] == Stroke(12)
    assert MAP.characters(1)["q"] == Stroke(11)
    assert "ф" not in MAP.characters(0)


def test_dead_keys_type_nothing_and_empty_keys_are_spare() -> None:
    assert "^" not in MAP.characters(0)
    assert MAP.spare == (15,)


def test_a_written_key_reads_back() -> None:
    again = parse_keymap(reply({10: key(0, 0x61), 11: wire_key(0x1000142)}, {}))
    assert again.characters(0)["ł"] == Stroke(11)


@given(st.characters(min_codepoint=0x20, exclude_categories=["Cs", "Cc"]))
def test_every_character_has_one_keysym_that_means_it(char: str) -> None:
    assert char_of(keysym_of(char)) == char


def test_legacy_keysyms_agree_with_xkbcommon() -> None:
    name = ctypes.util.find_library("xkbcommon")
    if name is None:
        pytest.skip("libxkbcommon, which this compares with, is not installed")
    library = ctypes.CDLL(name)
    library.xkb_keysym_to_utf32.restype = ctypes.c_uint32
    wrong = {
        hex(keysym): (char_of(keysym), chr(code))
        for keysym in range(0x100, 0x20AD)
        if (code := library.xkb_keysym_to_utf32(keysym)) and char_of(keysym) not in ("", chr(code))
    }
    assert wrong == {}


@given(st.text(alphabet="abcäöü漢字\n", max_size=80), st.integers(1, 4))
def test_parts_keep_the_text_and_the_room(text: str, room: int) -> None:
    cut = list(parts(text, ["ä", "ö", "ü", "漢", "字"], room))
    assert "".join(part for part, _ in cut) == text
    for part, foreign in cut:
        assert len(foreign) <= room
        assert {char for char in part if char in "äöü漢字"} == set(foreign)


@given(st.text(alphabet="ab \n", max_size=200))
def test_a_newline_is_a_burst_of_its_own(text: str) -> None:
    cut = list(bursts(text))
    assert "".join(cut) == text
    assert all(burst == "\n" or "\n" not in burst for burst in cut)
    assert all(len(burst) <= 16 for burst in cut)
