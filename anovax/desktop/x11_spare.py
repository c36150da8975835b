"""Spare keycodes: characters that the layout lacks are put on keycodes that no physical key uses.

This types into any window without touching the clipboard. A mapping stays until its slot is needed or the desktop is
closed, because an application looks a key up only when it gets round to it; changing the map too early is what makes
other tools drop characters. What is mapped is noted on the root window, so that the next start can clear up after a
crash.
"""

from __future__ import annotations

from collections.abc import Sequence

from anovax.desktop.x11_connection import Connection
from anovax.desktop.x11_keymap import Keymap
from anovax.errors import ToolError

_NOTE = "_ANOVAX_SPARE_KEYS"  # pairs of keycode and keysym


class SpareKeys:
    """Hands out keycodes for keysyms. All methods are called with the connection held."""

    def __init__(self, connection: Connection) -> None:
        self._x = connection
        self._mine: dict[int, int] = {}  # keycode -> keysym, oldest first
        with connection:
            self._clear_leftovers()

    def slots(self, keymap: Keymap) -> tuple[int, ...]:
        """Keycodes that may carry our symbols: the free ones and those that still carry them."""
        self._forget_overwritten(keymap)
        return tuple(sorted({*keymap.spare, *self._mine}))

    @property
    def mine(self) -> frozenset[int]:
        """The keycodes that carry our symbols."""
        return frozenset(self._mine)

    def evicts(self, keysyms: Sequence[int], keymap: Keymap) -> bool:
        """Whether providing these would take a keycode from another symbol of ours."""
        free = len(self.slots(keymap)) - len(self._mine)
        return len(set(keysyms) - set(self._mine.values())) > free

    def provide(self, keysyms: Sequence[int], keymap: Keymap) -> bool:
        """Map these keysyms now; the oldest of ours give way. Whether the keymap had to change for it."""
        slots = self.slots(keymap)
        wanted = [keysym for keysym in dict.fromkeys(keysyms) if keysym not in self._mine.values()]
        free = [code for code in slots if code not in self._mine]
        free += [code for code, keysym in self._mine.items() if keysym not in keysyms]
        if len(wanted) > len(free):
            raise ToolError(
                "This keyboard layout has no free key for these characters", "switch to a layout that has them"
            )
        chosen = dict(zip(free, wanted, strict=False))
        self._mine = {code: keysym for code, keysym in self._mine.items() if code not in chosen} | chosen
        self._note()
        if chosen:
            self._x.write_keys(keymap, chosen)
        return bool(chosen)

    def _forget_overwritten(self, keymap: Keymap) -> None:
        for code, keysym in list(self._mine.items()):
            if code not in keymap.keys or keymap.keys[code].symbol(0, 0) != keysym:
                del self._mine[code]

    def _note(self) -> None:
        from Xlib import Xatom

        words = [number for pair in self._mine.items() for number in pair]
        self._x.root.change_property(self._x.atom(_NOTE), Xatom.CARDINAL, 32, words)

    def _clear_leftovers(self) -> None:
        noted = self._x.cardinals(self._x.root.id, _NOTE)
        self._mine = dict(zip(noted[::2], noted[1::2], strict=False))
        self.restore()

    def restore(self) -> None:
        """Free every keycode again. Safe twice."""
        if self._mine:
            keymap = self._x.read_keymap()
            self._forget_overwritten(keymap)
            if self._mine:
                self._x.write_keys(keymap, dict.fromkeys(self._mine, 0))
        self._mine.clear()
        self._x.root.delete_property(self._x.atom(_NOTE))
        self._x.display.sync()
