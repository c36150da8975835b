"""Keys on X11: each key press is atomic with its checks, so focus cannot move in between and nothing stays down.

The server is grabbed, focus and modifiers are read, and then modifier, key, release, release and the end of the grab go
out in one write. A process that is killed at any moment has either sent all of it or nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anovax.desktop.chords import Chord
from anovax.desktop.keysyms import ISO_LEVEL3_SHIFT, keysym_of
from anovax.desktop.x11_connection import Connection
from anovax.desktop.x11_keymap import LOCK, SHIFT, Keymap, Stroke
from anovax.desktop.x11_keysyms import BROWSERS, MODIFIER_KEYSYMS, NAMED_KEYSYMS, POSITIONS
from anovax.desktop.x11_spare import SpareKeys
from anovax.desktop.x11_windows import Windows
from anovax.errors import FocusLost, ToolError
from anovax.tool import StepContext, WindowRef

_HARMLESS = LOCK | 0x10  # Caps Lock is handled, Num Lock changes only the keypad
_SETTLE_S = 10.0
_UNSURE_S = 0.04  # more time for an application that cannot say whether it has caught up
_TAKEN_S = 0.5  # how long a changed keymap is waited for to be read; one that never rests is not waited for longer
_PATIENCE_S = 2.0  # how long the user may take to let go of a modifier
_NAMES = {1: "Shift", 4: "Control", 8: "Alt", 0x20: "a modifier", 0x40: "the Windows key", 0x80: "AltGr"}


@dataclass(frozen=True)
class _Now:
    """The keyboard's state at one moment: top-level window with the focus, modifier bits, layout group."""

    window: int
    mods: int
    group: int


_Find = Callable[[_Now], Stroke | None]


class ModifierHeld(ToolError):
    """The user holds a modifier, which would turn typed text into shortcuts."""

    def __init__(self, mods: int) -> None:
        held = " and ".join(name for bit, name in _NAMES.items() if mods & bit) or "a modifier"
        super().__init__(f"{held[0].upper()}{held[1:]} is being held down", "let go of it and ask again")
        self.mods = mods


class Keyboard:
    """Presses strokes and chords, types characters. One per connection."""

    def __init__(self, connection: Connection, windows: Windows) -> None:
        self._x, self._windows = connection, windows
        self._focus: tuple[int, int] = (0, 0)  # raw focus id -> its top-level window, asked once
        self._map: Keymap | None = None
        self._by_group: dict[int, tuple[dict[str, Stroke], dict[int, Stroke]]] = {}
        self.spare = SpareKeys(connection)
        self.sent = 0  # keys so far; lets an undo see that nothing else was typed

    # --- what can be typed -------------------------------------------------------------------------------------------

    def keymap(self) -> Keymap:
        if self._map is None or self._x.keymap_changed():
            self._map = self._x.read_keymap()
            self._by_group.clear()
        return self._map

    def _tables(self, group: int) -> tuple[dict[str, Stroke], dict[int, Stroke]]:
        keymap = self.keymap()
        if group not in self._by_group:
            self._by_group[group] = keymap.characters(group), keymap.strokes(group)
        return self._by_group[group]

    def missing(self, text: str) -> list[str]:
        """The distinct characters of ``text`` that the layout itself lacks, in order of appearance."""
        with self._x:
            known, mine = self._tables(self._look().group)[0], self.spare.mine
            return [char for char in dict.fromkeys(text) if char not in known or known[char].keycode in mine]

    def room(self) -> int:
        """How many missing characters can be had at the same time."""
        with self._x:
            return len(self.spare.slots(self.keymap()))

    def make_room(self, chars: Sequence[str], window: WindowRef | None, step: StepContext) -> None:
        """Put these characters on spare keys."""
        self._provide([keysym_of(char) for char in chars], window, step)

    def _provide(self, keysyms: Sequence[int], window: WindowRef | None, step: StepContext) -> None:
        """Before a key changes its meaning, the application must have looked up what it was sent so far; before it is
        pressed, the application must have read the new meaning."""
        with self._x:
            evicts = self.spare.evicts(keysyms, self.keymap())
            window = window or self._windows.focused()
        if evicts and window is not None:
            settled = self._windows.settle(window, min(_SETTLE_S, step.remaining))
            if settled is False:
                raise ToolError(f"{window.name} does not respond", "wait until it does, or close it")
            step.sleep(0.0 if settled else _UNSURE_S)
        step.check()
        with self._x:
            changed = self.spare.provide(keysyms, self.keymap())
        if changed and window is not None:
            self._windows.takes_keymap(window, min(_TAKEN_S, step.remaining))

    # --- sending -----------------------------------------------------------------------------------------------------

    def type_char(self, char: str, window: WindowRef, step: StepContext) -> None:
        """One character into ``window``. FocusLost or ModifierHeld before anything is pressed."""

        def find(now: _Now) -> Stroke | None:
            return self._tables(now.group)[0].get(char)

        self._send(find, window, step, lambda: self.make_room([char], window, step))

    def press(self, chord: Chord, window: WindowRef | None, step: StepContext) -> None:
        """One chord; None for the window means whoever has the focus."""
        if chord.key in MODIFIER_KEYSYMS and not chord.mods:
            keysym = MODIFIER_KEYSYMS[chord.key]
        else:
            keysym = keysym_for(chord.key)
        held = [self._modifier(name) for name in chord.mods]
        place = POSITIONS.get(chord.key) if held and window is not None and BROWSERS.search(window.app) else None
        provide = lambda: self._provide([keysym], window, step)  # noqa: E731

        def find(now: _Now) -> Stroke | None:
            stroke = self._any_group(keysym, now.group)
            foreign = stroke is None or stroke.keycode in self.spare.mine
            return Stroke(place) if foreign and place else stroke

        self._send(find, window, step, provide, held)

    def _any_group(self, keysym: int, group: int) -> Stroke | None:
        """A shortcut's key: in the current group, else where another layout has it (toolkits look there, too)."""
        for candidate in dict.fromkeys((group, 0, 1, 2, 3)):
            if stroke := self._tables(candidate)[1].get(keysym):
                return stroke
        return next((Stroke(code) for code in self.keymap().find_keycodes(keysym)), None)  # Caps Lock and the like

    def _send(
        self,
        find: _Find,
        window: WindowRef | None,
        step: StepContext,
        provide: Callable[[], None],
        held: Sequence[int] = (),
    ) -> None:
        """Press what ``find`` names as soon as no modifier is held; ``provide`` gives a spare key to what the map
        lacks."""
        end = time.monotonic() + _PATIENCE_S
        while True:
            step.check()
            try:
                if self._attempt(find, window, step, held):
                    self.sent += 1
                    return
            except ModifierHeld:
                if time.monotonic() > end:
                    raise
                step.sleep(0.01)
                continue
            with self._x:
                lacking = find(self._look()) is None
            if lacking:
                provide()

    def _attempt(self, find: _Find, window: WindowRef | None, step: StepContext, held: Sequence[int]) -> bool:
        """Check and press under one grab. False when the keymap has just changed and the key must be looked up
        again. A stop that comes while the server answers still wins."""
        with self._x:
            with self._x.server_grabbed():
                now = self._look()
                right = window is None or now.window == window.id
                if right and not now.mods & ~_HARMLESS:
                    stroke = None if self._x.keymap_changed() else find(now)
                    if stroke is None:
                        return False
                    step.check()
                    self._strike(stroke, now, held)
                    return True
            if not right:
                thief = self._windows.ref(now.window).name if now.window else "no window"
                raise FocusLost(window.name, thief)  # type: ignore[union-attr]
            raise ModifierHeld(now.mods)

    def _look(self) -> _Now:
        """Focus and state, two requests in one round trip."""
        from Xlib.protocol import request

        asked = request.GetInputFocus(display=self._x.display.display, defer=1)
        seen = self._x.root.query_pointer()
        asked.reply()
        raw = asked.focus if isinstance(asked.focus, int) else asked.focus.id
        if raw != self._focus[0] or not self._focus[1]:
            self._focus = raw, self._windows.top_level(raw)
        return _Now(self._focus[1], seen.mask & 0xFF, (seen.mask >> 13) & 3)

    def _strike(self, stroke: Stroke, now: _Now, held: Sequence[int]) -> None:
        from Xlib import X

        down = [*held, *(code for code in self._codes(stroke.mods) if code not in held)]
        locked = now.mods & LOCK
        if locked:
            self._x.set_locks(0, now.group)
        for code in [*down, stroke.keycode]:
            self._x.display.xtest_fake_input(X.KeyPress, code)
        for code in [stroke.keycode, *reversed(down)]:
            self._x.display.xtest_fake_input(X.KeyRelease, code)
        if locked:
            self._x.set_locks(LOCK, now.group)

    def _codes(self, mods: int) -> list[int]:
        codes = []
        if mods & SHIFT:
            codes.append(self._modifier("shift"))
        if mods & ~SHIFT:
            codes.append(self._modifier("altgr"))
        return codes

    def _modifier(self, name: str) -> int:
        """The keycode that really sets this modifier in the current map."""
        keymap = self.keymap()
        keysym = ISO_LEVEL3_SHIFT if name == "altgr" else MODIFIER_KEYSYMS[name]
        codes = [code for code in keymap.find_keycodes(keysym) if keymap.modifier_of.get(code)]
        if not codes:
            raise ToolError(f"This keyboard layout has no {name} key", "use another chord")
        return codes[0]

    # --- leaving nothing behind --------------------------------------------------------------------------------------

    def release_modifiers(self) -> None:
        """Send a release for every modifier key that is down. Harmless when none is."""
        from Xlib import X

        with self._x:
            bits = self._x.display.query_keymap()
            for code in self.keymap().modifier_of:
                if bits[code // 8] & (1 << code % 8):
                    self._x.display.xtest_fake_input(X.KeyRelease, code)
            self._x.display.sync()


def keysym_for(key: str) -> int:
    """The keysym of a canonical key name; ToolError when X11 has none."""
    keysym = NAMED_KEYSYMS.get(key) or (keysym_of(key) if len(key) == 1 else 0)
    if not keysym:
        raise ToolError(f"There is no key {key!r} on this system", "use another key")
    return keysym
