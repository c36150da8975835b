"""What the X server's keymap can type: characters and keysyms to keycode plus modifiers. Pure; parsed from XkbGetMap.

XKB protocol 1.0, sections 9 (key types and levels) and 16 (wire format). Levels are found by asking each key's own type
what it yields under Shift and AltGr, so no layout is ever assumed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from anovax.desktop.keysyms import ISO_LEVEL3_SHIFT, RETURN, TAB, char_of

SHIFT, LOCK, CONTROL = 1, 2, 4


@dataclass(frozen=True)
class Stroke:
    """One key: ``keycode`` with the real modifier bits ``mods`` held."""

    keycode: int
    mods: int = 0


@dataclass(frozen=True)
class KeyType:
    """Which modifier bits matter (``mask``) and which combination of them selects which level."""

    mask: int
    levels: dict[int, int]

    def level(self, mods: int) -> int:
        return self.levels.get(mods & self.mask, 0)


@dataclass(frozen=True)
class Key:
    """One keycode's symbols: ``groups[g]`` is (key type, keysyms by level); ``wire`` the same as the protocol has
    it."""

    groups: tuple[tuple[KeyType, tuple[int, ...]], ...] = ()
    wire: bytes = b""

    def symbol(self, group: int, mods: int) -> int:
        """The keysym under these modifiers; a group beyond the last wraps, as the server does by default."""
        if not self.groups:
            return 0
        kind, symbols = self.groups[group % len(self.groups)]
        level = kind.level(mods)
        return symbols[level] if level < len(symbols) else 0


@dataclass(frozen=True)
class Keymap:
    """The server's keymap at one moment. ``modifier_of`` gives each keycode's real modifier bits."""

    keys: dict[int, Key]
    modifier_of: dict[int, int] = field(default_factory=dict)

    def find_keycodes(self, keysym: int) -> tuple[int, ...]:
        """Keycodes that carry ``keysym`` unmodified in any group."""
        return tuple(code for code, key in self.keys.items() if any(group[1][:1] == (keysym,) for group in key.groups))

    @property
    def level3(self) -> int:
        """The modifier bits that AltGr sets; 0 where the layout has none."""
        return next((self.modifier_of[c] for c in self.find_keycodes(ISO_LEVEL3_SHIFT) if self.modifier_of.get(c)), 0)

    @property
    def spare(self) -> tuple[int, ...]:
        """Keycodes without any symbol or modifier: free to be mapped for a while. The lowest is left alone (toolkits
        treat keycode 8 as "none")."""
        first = min(self.keys, default=0)
        return tuple(
            code
            for code, key in self.keys.items()
            if code > max(first, 8)
            and code not in self.modifier_of
            and not any(any(symbols) for _, symbols in key.groups)
        )

    def strokes(self, group: int) -> dict[int, Stroke]:
        """Every keysym that can be typed in ``group`` with its cheapest stroke (no modifier before Shift before
        AltGr)."""
        combinations = (0, SHIFT, self.level3, SHIFT | self.level3) if self.level3 else (0, SHIFT)
        found: dict[int, Stroke] = {}
        for mods in combinations:
            for code, key in self.keys.items():
                symbol = key.symbol(group, mods)
                if symbol and code not in self.modifier_of:
                    found.setdefault(symbol, Stroke(code, mods))
        return found

    def characters(self, group: int) -> dict[str, Stroke]:
        """Every character that the current map types directly in ``group``. Dead keys are not characters; keypad keys
        are left out because Num Lock changes them."""
        found: dict[str, Stroke] = {}
        for keysym, stroke in self.strokes(group).items():
            if char := char_of(keysym):
                found.setdefault(char, stroke)
            elif keysym in (RETURN, TAB) and not stroke.mods:
                found["\n" if keysym == RETURN else "\t"] = stroke
        return found


def parse_keymap(data: bytes) -> Keymap:
    """A Keymap from the body of an XkbGetMap reply (the bytes after its first 8: pad, key range, counts, then
    parts)."""
    low, count_types, first_key, count_keys, count_modmap = data[2], data[7], data[9], data[12], data[25]
    kinds, at = _types(data, 32, count_types)
    keys: dict[int, Key] = {}
    for code in range(first_key or low, (first_key or low) + count_keys):
        keys[code], at = _key(data, at, kinds)
    pairs = data[at : at + 2 * count_modmap]
    return Keymap(keys, {pairs[i]: pairs[i + 1] for i in range(0, len(pairs), 2) if pairs[i + 1]})


def _types(data: bytes, at: int, count: int) -> tuple[list[KeyType], int]:
    kinds = []
    for _ in range(count):
        mask, entries, preserve = data[at], data[at + 5], data[at + 6]
        at += 8
        levels = {}
        for _ in range(entries):
            active, mods, level = data[at], data[at + 1], data[at + 2]
            if active:
                levels[mods] = level
            at += 8
        at += 4 * entries if preserve else 0
        kinds.append(KeyType(mask, levels))
    return kinds, at


def _key(data: bytes, at: int, kinds: list[KeyType]) -> tuple[Key, int]:
    type_of, info, width = data[at : at + 4], data[at + 4], data[at + 5]
    (count,) = struct.unpack_from("=H", data, at + 6)
    symbols, end = struct.unpack_from(f"={count}I", data, at + 8), at + 8 + 4 * count
    groups = tuple((kinds[type_of[g]], tuple(symbols[g * width : (g + 1) * width])) for g in range(info & 0x0F))
    return Key(groups, data[at:end]), end


def wire_key(keysym: int) -> bytes:
    """One key in the protocol's form: a single symbol of the canonical type ONE_LEVEL, or (0) none at all."""
    return struct.pack("=4x2BHI", 1, 1, 1, keysym) if keysym else struct.pack("=4x2BH", 0, 0, 0)
