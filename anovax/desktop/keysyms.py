"""Keysyms and the characters they stand for. Pure.

Latin-1 keysyms are their code points; Unicode keysyms are 0x01000000 plus the code point; the legacy ranges follow
8-bit charsets (X Window System Protocol, appendix A). A legacy keysym that is not listed here yields no character,
which only means that the character is typed through a spare keycode instead.
"""

from __future__ import annotations

BACKSPACE, TAB, RETURN, SHIFT_L, CAPS_LOCK = 0xFF08, 0xFF09, 0xFF0D, 0xFFE1, 0xFFE5
ISO_LEVEL3_SHIFT = 0xFE03
UNICODE = 0x01000000

# high byte of the keysym -> charset whose upper half it follows
_CHARSETS = {
    0x1: "iso8859-2",
    0x2: "iso8859-3",
    0x3: "iso8859-4",
    0x5: "iso8859-6",
    0x6: "koi8-r",
    0xC: "iso8859-8",
    0xD: "tis-620",
}
_CYRILLIC = {0xA1: "ђ", 0xA2: "ѓ", 0xA3: "ё", 0xA4: "є", 0xA5: "ѕ", 0xA6: "і", 0xA7: "ї", 0xA8: "ј", 0xA9: "љ",
    0xAA: "њ",
             0xAB: "ћ", 0xAC: "ќ", 0xAD: "ґ", 0xAE: "ў", 0xAF: "џ"}  # fmt: skip
_GREEK = {0xA1: "Ά", 0xA2: "Έ", 0xA3: "Ή", 0xA4: "Ί", 0xA7: "Ό", 0xA8: "Ύ", 0xAB: "Ώ", 0xB1: "ά", 0xB2: "έ", 0xB3: "ή",
          0xB4: "ί", 0xB7: "ό", 0xB8: "ύ", 0xBB: "ώ", 0xF2: "σ", 0xF3: "ς"}  # fmt: skip
_SINGLE = {0x20AC: "€", 0x13BC: "Œ", 0x13BD: "œ", 0x13BE: "Ÿ", 0xAA9: "—", 0xAAA: "–", 0xAD0: "‘", 0xAD1: "’",
    0xAD2: "“",
           0xAD3: "”", 0xAFD: "‚", 0xAFE: "„", 0xAAE: "…", 0xAC9: "™", 0x6B0: "№", 0xAB8: "℅"}  # fmt: skip


def keysym_of(char: str) -> int:
    """The keysym that means exactly this character: newline and tab are keys, the rest Latin-1 or Unicode keysyms."""
    if char in "\n\r":
        return RETURN
    if char == "\t":
        return TAB
    code = ord(char)
    return code if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF else UNICODE + code


def char_of(keysym: int) -> str:
    """The character that a keysym produces, or an empty string (function keys, dead keys, unknown ranges)."""
    if 0x20 <= keysym <= 0x7E or 0xA0 <= keysym <= 0xFF:
        return chr(keysym)
    if UNICODE + 0xA0 <= keysym <= UNICODE + 0x10FFFF:
        return chr(keysym - UNICODE)
    if keysym in _SINGLE:
        return _SINGLE[keysym]
    return _legacy(keysym >> 8, keysym & 0xFF)


def _legacy(page: int, low: int) -> str:
    if page == 0x7:
        return _greek(low)
    if page == 0x6 and low < 0xC0:
        lower = low if low < 0xB0 else low - 0x10
        char = _CYRILLIC.get(lower, "")
        return char if lower == low else char.upper()
    charset = _CHARSETS.get(page)
    if charset is None or low < 0xA0:
        return ""
    return bytes([low]).decode(charset, errors="ignore")


def _greek(low: int) -> str:
    if low in _GREEK:
        return _GREEK[low]
    if 0xC1 <= low <= 0xD9 and low != 0xD2:
        return bytes([low]).decode("iso8859-7", errors="ignore")
    return bytes([low]).decode("iso8859-7", errors="ignore") if 0xE1 <= low <= 0xF9 else ""
