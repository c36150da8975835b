"""Run a plan in the mind: which window would have the focus, what would stand typed, and what Enter would submit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from anovax.plan import World
from anovax.safety.finding import APPROVED, Finding, ask, notice, refuse, strictest
from anovax.safety.keys import Chord, parse_chords
from anovax.safety.line import Line
from anovax.safety.places import Place, place_of_name, place_of_window

# (text, place) -> what running this text there would be
CommandJudge = Callable[[str, Place], Finding]
UrlJudge = Callable[[str], Finding]

_CONTROL_KEYS = {
    "\n": "enter", "\r": "enter", "\t": "tab", "\b": "backspace", "\x7f": "backspace", "\x1b": "escape",
    "\x01": "ctrl+a", "\x02": "ctrl+b", "\x03": "ctrl+c", "\x04": "ctrl+d", "\x05": "ctrl+e", "\x06": "ctrl+f",
    "\x07": "ctrl+g", "\x0b": "ctrl+k", "\x0c": "ctrl+l", "\x0e": "ctrl+n", "\x0f": "ctrl+o", "\x10": "ctrl+p",
    "\x12": "ctrl+r", "\x13": "ctrl+s", "\x14": "ctrl+t", "\x15": "ctrl+u", "\x16": "ctrl+v", "\x17": "ctrl+w",
    "\x18": "ctrl+x", "\x19": "ctrl+y", "\x1a": "ctrl+z",
}  # fmt: skip


@dataclass
class Desk:
    """The simulated desktop. ``script`` is all that Enter has submitted to a command line so far, for commands that
    go over several lines."""

    place: Place
    line: Line
    clipboard: str | None = None
    script: str = ""
    kept: dict[Place, Line] = field(default_factory=dict)

    @staticmethod
    def of(world: World) -> Desk:
        return Desk(place_of_window(world.focus), Line.of(world.pending), world.clipboard)

    def go(self, place: Place, fresh: bool = False) -> None:
        """Move the focus. A command line keeps what stands in it; unknown windows might be the same one."""
        self.kept[self._key(self.place)] = self.line
        self.place = place
        self.line = Line() if fresh else self.kept.get(self._key(place), Line())

    @staticmethod
    def _key(place: Place) -> Place:
        return Place.TERMINAL if place is Place.UNKNOWN else place


class Simulation:
    """One plan's course over a Desk. Each method returns the finding of one effect and changes the desk."""

    def __init__(self, desk: Desk, commands: CommandJudge, urls: UrlJudge) -> None:
        self.desk, self._commands, self._urls = desk, commands, urls

    # --- effects -----------------------------------------------------------------------------------------------------

    def launch(self, name: str) -> Finding:
        self.desk.go(place_of_name(name), fresh=True)
        return APPROVED

    def focus(self, name: str) -> Finding:
        self.desk.go(place_of_name(name))
        return APPROVED

    def type(self, text: str) -> Finding:
        findings: list[Finding] = []
        plain = ""
        for char in text:
            if char not in _CONTROL_KEYS:
                plain += char
                continue
            self.desk.line.insert(plain)
            plain = ""
            findings.append(self.press(_CONTROL_KEYS[char]))
        self.desk.line.insert(plain)
        return strictest([*findings, self._standing()])

    def press(self, keys: str, times: int = 1) -> Finding:
        chords = parse_chords(keys) * times
        return strictest([self._chord(chord) for chord in chords])

    def paste(self) -> Finding:
        if self.desk.clipboard is None:
            self.desk.line.blind = "the clipboard"
            return APPROVED
        return self.type(self.desk.clipboard)

    # --- keys --------------------------------------------------------------------------------------------------------

    def _chord(self, chord: Chord) -> Finding:
        name = str(chord)
        if name in ("ctrl+alt+delete", "ctrl+shift+delete", "ctrl+alt+sysrq", "alt+sysrq", "alt+printscreen+b"):
            return refuse("hotkey", f"{name} reaches the system itself")
        if name in ("shift+delete", "alt+f4", "ctrl+alt+backspace"):
            return ask("hotkey", f"{name} cannot be taken back")
        if name in ("super+r", "alt+f2", "alt+space", "super", "super+s"):
            self.desk.go(Place.RUN_BOX, fresh=True)
            return APPROVED
        if name == "ctrl+alt+t":
            self.desk.go(Place.TERMINAL, fresh=True)
            return APPROVED
        if chord.key == "enter" or name in ("ctrl+j", "ctrl+m", "ctrl+o"):
            return self._enter()
        if name in ("ctrl+v", "ctrl+shift+v", "shift+insert", "ctrl+y"):
            return self.paste()
        return self._edit(chord, name)

    def _edit(self, chord: Chord, name: str) -> Finding:
        line = self.desk.line
        moves: dict[str, Callable[[], None]] = {
            "backspace": line.backspace, "delete": line.delete, "left": lambda: line.move(-1), "right": lambda: line.move(1),
            "home": line.home, "end": line.end, "ctrl+a": line.home, "ctrl+e": line.end,
            "ctrl+u": lambda: line.kill(0, line.cursor), "ctrl+k": lambda: line.kill(line.cursor, len(line.text)),
            "ctrl+w": lambda: line.kill(line.word_left(), line.cursor), "ctrl+c": line.clear,
        }  # fmt: skip
        if name in moves:
            moves[name]()
        elif name in ("up", "down", "ctrl+r", "ctrl+p", "ctrl+n", "tab"):
            line.blind = line.blind or name
        elif len(chord.key) == 1 and chord.mods <= {"shift"}:
            line.insert(chord.key)
        elif chord.key == "space":
            line.insert(" ")
        return APPROVED

    def _enter(self) -> Finding:
        desk, line = self.desk, self.desk.line
        if desk.place is Place.ADDRESS:
            return self._urls(line.text)
        if not desk.place.takes_commands:
            return APPROVED
        text, blind = line.text, line.blind
        desk.script = f"{desk.script}{text}\n"[-20_000:]
        line.clear()
        if blind and (text or desk.place is not Place.UNKNOWN or blind in ("up", "ctrl+r", "ctrl+p", "the clipboard")):
            return ask("blind", f"what Enter would run comes from {blind} and cannot be seen beforehand")
        return strictest([self._commands(text, desk.place), self._commands(desk.script, desk.place)])

    def _standing(self) -> Finding:
        """Text that stands in a terminal runs at the user's next Enter."""
        if self.desk.place is not Place.TERMINAL or not self.desk.line.text.strip():
            return APPROVED
        found = self._commands(self.desk.line.text, self.desk.place)
        if found.decision in ("approve", "notice"):
            return APPROVED
        return notice(found.rule, f"the next Enter would run it: {found.reason}")
