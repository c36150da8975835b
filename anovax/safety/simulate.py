"""Run a plan in the mind: which window would have the focus, what would stand typed, and what Enter would submit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from anovax.safety.commands import INTERRUPTED, MAX_COMMAND, begins_command
from anovax.safety.desk import Desk
from anovax.safety.editors import command_of, is_text, runs_command
from anovax.safety.finding import APPROVED, Finding, ask, notice, strictest
from anovax.safety.hotkeys import closes, judge_chord, leads_to
from anovax.safety.keys import Chord, parse_chords
from anovax.safety.line import Line
from anovax.safety.normalise import simple
from anovax.safety.paths import is_startup, is_system
from anovax.safety.places import Place, place_of_name
from anovax.safety.urls import is_address

# (text, place) -> what submitting this text there would be
Submit = Callable[[str, Place], Finding]
UrlJudge = Callable[[str], Finding]

# Bounds of one plan: keys pressed (also as control characters within texts), characters of single command lines judged
MAX_KEYS = 400
MAX_LINES = 8000
MAX_SCRIPT = 4000
_CONTROL_KEYS = {"\n": "enter", "\r": "enter", "\t": "tab", "\b": "backspace", "\x7f": "backspace", "\x1b": "escape",
                 "\x00": "ctrl+space"}  # fmt: skip
_CONTROL_KEYS |= {chr(code): f"ctrl+{chr(code + 96)}" for code in range(1, 27) if chr(code) not in _CONTROL_KEYS}
_CONTROL_KEYS |= {chr(28 + index): f"ctrl+{sign}" for index, sign in enumerate("\\]^_")}
_CONTROL_CHORDS = {char: parse_chords(keys)[0] for char, keys in _CONTROL_KEYS.items()}
_ENTERS = ("ctrl+j", "ctrl+m", "ctrl+o")
_PLAIN_ENTERS = ("enter", "j", "m", "o")  # with Ctrl the last three are Enter too
_TYPED = ("backspace", "tab", "space")
_PASTES = ("ctrl+v", "ctrl+shift+v", "shift+insert", "super+v", "ctrl+alt+v", "ctrl+insert", "paste")
_COPIES = ("ctrl+c", "ctrl+x", "ctrl+insert", "super+c", "super+x", "copy", "cut", "ctrl+shift+c", "shift+delete")


class Simulation:
    """One plan's course over a Desk. Each method returns the finding of one effect and changes the desk. ``heard`` is
    the user's request."""

    def __init__(self, desk: Desk, commands: Submit, shell: Submit, urls: UrlJudge, heard: str = "") -> None:
        self.desk, self._judge_line, self._shell, self._urls = desk, commands, shell, urls
        self._heard = simple(heard)
        self._keys_left, self._lines_left = MAX_KEYS, MAX_LINES
        self.submitted: list[str] = []  # what the current step has submitted as commands
        self._judged = 0  # how many of these have been judged already

    def _commands(self, text: str, place: Place) -> Finding:
        """One command line by itself."""
        self._lines_left -= min(len(text), MAX_COMMAND) + 100
        return self._judge_line(text, place) if self._lines_left >= 0 else self._too_many()

    def _too_many(self) -> Finding:
        self.desk.line.blind = self.desk.line.blind or "too many keys"
        return ask("keys", "these are too many keys to be judged")

    def _pressable(self, count: int) -> bool:
        self._keys_left -= count
        return self._keys_left >= 0

    # --- effects -----------------------------------------------------------------------------------------------------

    def launch(self, name: str) -> Finding:
        """Open an application by its spoken name. What is a command line is judged as one."""
        place = place_of_name(name)
        found = (
            self._commands(name, Place.RUN_BOX)
            if re.search(r"[^\w\s.+&'-]|\s-\w|^\S+\s+\S+\s+\S+", name)
            or place is Place.UNKNOWN
            or begins_command(name)
            or re.search(r"\s\S+\.\w|^\w+-\w+\s", name)
            else APPROVED
        )
        self._interrupt()
        self.desk.go(place, fresh=True)
        if found.decision in ("ask", "refuse"):
            return found
        if re.search(
            (
                r"(?i)\b(regedit|registry editor|diskpart|gparted|disk utility|disk management|group policy|"
                r"bios)\b"
            ),
            name,
        ):
            return notice("application", f"{name} can change the system")
        return self._urls(name) if is_address(name) else APPROVED

    def focus(self, name: str) -> Finding:
        self.leave(place_of_name(name))
        return APPROVED

    def leave(self, place: Place = Place.UNKNOWN) -> None:
        """Something has moved the focus to where we cannot see."""
        self._interrupt()
        self.desk.go(place)

    def _interrupt(self) -> Finding:
        """What a shell has been told so far may be given up: what comes next may be a line of its own."""
        found = self._submitted()
        self._judged = len(self.submitted)
        self._shell(INTERRUPTED, self.desk.place)
        return found

    def click(self, button: str) -> Finding:
        """The text cursor may stand elsewhere afterwards; a middle click (or a terminal's right click) pastes."""
        desk = self.desk
        self._interrupt()
        if button != "left":
            desk.line.blind = desk.line.blind or "the clipboard"
        elif desk.line.text:
            desk.line.blind = desk.line.blind or "a click"
        if desk.place not in (Place.TERMINAL, Place.RUN_BOX):
            desk.place = Place.UNKNOWN
        desk.closing = False
        return APPROVED

    def type(self, text: str) -> Finding:
        if self._is_only_text(text):
            return APPROVED
        parts = re.split(r"([\x00-\x1f\x7f])", text)
        if not self._pressable(len(parts) // 2):
            return self._too_many()
        findings: list[Finding] = []
        for part in parts:
            if part in _CONTROL_CHORDS:
                findings.append(self._chord(_CONTROL_CHORDS[part]))
            else:
                self.desk.line.insert(part)
        return strictest([*findings, self._submitted()])

    def _is_only_text(self, text: str) -> bool:
        """Lines that cannot be commands where they land need no key by key simulation."""
        desk, line = self.desk, self.desk.line
        if "\n" not in text or line.blind or desk.closing or line.cursor < len(line.text):
            return False
        if not is_text(line.text + text, desk.place):
            return False
        line.clear()
        line.insert(text.rpartition("\n")[2])
        return True

    def press(self, keys: str, times: int = 1) -> Finding:
        """Raises ValueError for what is no chord."""
        chords = parse_chords(keys)
        if not self._pressable(len(chords) * times):
            return self._too_many()
        return strictest([*(self._chord(chord) for chord in chords * times), self._submitted()])

    def open_url(self, url: str) -> Finding:
        self.leave(Place.BROWSER)
        return self._urls(url)

    def paste(self) -> Finding:
        if self.desk.clipboard is None:
            self.desk.line.blind = self.desk.line.blind or "the clipboard"
            return APPROVED
        return self.type(self.desk.clipboard.replace("\x16", ""))  # a pasted Ctrl+V pastes nothing more

    # --- keys --------------------------------------------------------------------------------------------------------

    def _chord(self, chord: Chord) -> Finding:
        desk, name = self.desk, str(chord)
        found = judge_chord(chord, desk.place, self._heard) or self._answer(chord)
        if (chord.mods or chord.key not in _TYPED) and chord.key not in _PLAIN_ENTERS:
            found = strictest([found, self._interrupt()])
        place = leads_to(chord, desk.place)
        if place is not None:
            desk.go(place, fresh=place in (Place.RUN_BOX, Place.ADDRESS, Place.FILE_DIALOG, Place.CONSOLE))
        elif chord.key == "enter" or (
            name in _ENTERS and desk.place.takes_commands and (desk.line.text or desk.place is Place.TERMINAL)
        ):
            found = strictest([found, *self._enter()])
        elif name in _PASTES:
            found = strictest([found, self.paste()])
        elif name in _COPIES and desk.place is not Place.TERMINAL:
            desk.clipboard = desk.line.text or None
        elif name == "tab":
            self._tab()
        elif chord.key == "escape":
            self._escape()
        elif not (desk.place in (Place.DOCUMENT, Place.MODAL, Place.CHAT) and name in ("up", "down")):
            desk.line.press(chord)
        desk.closing = desk.closing or closes(chord, desk.place)
        return found or APPROVED

    def _answer(self, chord: Chord) -> Finding | None:
        """Right after something was closed, Enter answers the question whether to lose what is not saved."""
        if not self.desk.closing or str(chord) not in (
            "enter",
            "space",
            "y",
            "alt+y",
            "alt+d",
            "alt+n",
            "n",
            "ctrl+d",
            "super+d",
            "super+delete",
        ):
            return None
        return ask("dialog", "it would answer a question that nobody has seen yet")

    def _tab(self) -> None:
        """In a terminal Tab completes; in a form it goes to the next field."""
        line = self.desk.line
        if self.desk.place is Place.TERMINAL and line.text:
            line.blind = line.blind or "completion"
        elif self.desk.place.takes_commands and line.text:
            line.insert(" ")

    def _escape(self) -> None:
        """To a shell the next key is a command of the line editor, to a modal editor the next text is one."""
        line = self.desk.line
        if self.desk.place is Place.TERMINAL:
            line.blind = line.blind or "keys behind Escape"
        elif self.desk.place is Place.MODAL:
            line.clear()

    def _enter(self) -> Iterator[Finding | None]:
        desk, line = self.desk, self.desk.line
        text, blind, recent = line.text, line.blind, line.recent
        line.clear()
        if desk.place is Place.FILE_DIALOG:
            desk.place = Place.DOCUMENT
            yield self._saved(text)
        elif desk.place in (Place.ADDRESS, Place.BROWSER):
            was, desk.place = desk.place, Place.BROWSER
            yield self._urls(text) if text.strip() and (was is Place.ADDRESS or is_address(text)) else None
        elif desk.place is Place.CONSOLE:
            yield ask("console", "it runs code in the browser") if text.strip() or blind else None
        elif desk.place.takes_commands:
            yield from self._submit(text, blind, recent)
        elif command_of(text):
            yield self._commands(text, Place.DOCUMENT)
        elif runs_command(text, desk.place):
            yield ask("editor", "it runs a command from within the editor")

    def _submit(self, text: str, blind: str, recent: str) -> Iterator[Finding | None]:
        desk = self.desk
        self.submitted.append(text)
        desk.script = f"{desk.script}{text}\n"[-(MAX_SCRIPT + 1) :]
        if "\n" in text:  # what was begun in an earlier turn may have been given up since
            yield self._commands(text.rpartition("\n")[2], desk.place)
        if recent not in ("", text) and desk.place is not Place.TERMINAL:
            yield self._commands(recent, desk.place)
        if blind and (
            desk.place is not Place.UNKNOWN or text.strip() or blind in ("up", "ctrl+r", "ctrl+p", "the clipboard")
        ):
            yield ask("blind", f"what Enter would run comes from {_named(blind)} and cannot be seen beforehand")
        if desk.place is not Place.TERMINAL and is_address(text):
            yield self._urls(text)
        if desk.place is Place.RUN_BOX:
            yield self._commands(text, desk.place)
            desk.go(place_of_name(text), fresh=True)

    def _submitted(self) -> Finding:
        """The lines that the step has submitted, together: a command may go over several."""
        text = "\n".join(self.submitted[self._judged :])
        self._judged = 0
        return _shown(self._shell(text, self.desk.place), text.strip(), self.desk.place) if text.strip() else APPROVED

    @staticmethod
    def _saved(text: str) -> Finding | None:
        if is_system(text) or is_startup(text) or re.search(r"(?i)^[a-z]:\\windows|\\startup\\", text):
            return ask("save", f"it writes the file {text}")
        return None

    def standing(self) -> Finding:
        """Text that stands in a command line at the end runs at the user's next Enter."""
        desk = self.desk
        here = desk.place in (Place.TERMINAL, Place.RUN_BOX, Place.UNKNOWN)
        place = desk.place if here else Place.TERMINAL
        text = (desk.line if here else desk.kept.get(Place.TERMINAL, Line())).text
        found = self._commands(text, place)
        if found.decision in ("approve", "notice"):
            return APPROVED
        return _shown(ask("standing", f"the next Enter would run it: {found.reason}"), text, place)


def _named(blind: str) -> str:
    return {"up": "the history", "ctrl+r": "the history", "ctrl+p": "the history", "down": "the history"}.get(
        blind, blind
    )


def _shown(found: Finding, text: str, place: Place) -> Finding:
    return found if found is APPROVED else replace(found, exact=f"run in {_article(place)}: {text}")


def _article(place: Place) -> str:
    return f"an {place}" if place.value[0] in "aeiou" else f"a {place}"
