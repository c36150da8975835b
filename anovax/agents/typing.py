"""TypingAgent: types text into the focused window, byte for byte, and reads it back where it can."""

from __future__ import annotations

import unicodedata
from typing import ClassVar

from pydantic import Field

from anovax.desktop import Desktop, Typed
from anovax.errors import FocusLost, ToolError
from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, UndoAction, WindowRef, tool

_LONGEST_UNDO = 1000  # characters that are taken back by Backspace
_READ_BACK_S = 1.0
_GIVES_WAY_S = 1.0  # how long a window may stay after another of its application has taken the focus
_NOT_ONE_KEY = {"Mn", "Me", "Mc", "Cf", "Cc", "So", "Sk"}  # characters that one Backspace may not take back alone


class TypeTextArgs(ToolArgs):
    text: str = Field(description="exactly what to type", min_length=1, max_length=10_000)


class TypingAgent(Agent):
    ttl_s: ClassVar[float] = 60.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    @tool(
        risk=Risk.INPUT,
        description="type text into the focused window",
        label="Type “{text}”",
        undo=Undo.REVERSIBLE,
        args=TypeTextArgs,
    )
    def type_text(self, args: TypeTextArgs, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        window = step.target or desktop.focused()
        if window is None:
            raise ToolError("No window has the focus", "click into a window first")
        return self._into(window, args.text, step)

    def _into(self, window: WindowRef, text: str, step: StepContext) -> Done:
        """Type; when the focus is lost on the way, the error knows how to go on."""
        desktop: Desktop = self.parts.desktop
        known = {other.id for other in desktop.windows()}
        try:
            return self._checked(window, text, step)
        except FocusLost as lost:
            if not lost.typed and (heir := self._heir(window, known, step)) is not None:
                return self._into(heir, text, step)
            if not desktop.exists(window):
                gone = f"{window.app or window.name} was closed before everything was typed"
                raise ToolError(gone, "open it again") from None
            back, rest = {"tool": "focus_window", "name": window.name[:200]}, _rest(text, lost.typed)
            lost.remedy = (back, {"tool": "type_text", "text": rest}) if rest else (back,)
            raise

    def _heir(self, window: WindowRef, known: set[int], step: StepContext) -> WindowRef | None:
        """The new window of the same process that ``window`` has given way to (a splash screen to the editor); None
        when another window has the focus, when it is a question, or when ``window`` stays open."""
        desktop: Desktop = self.parts.desktop
        for _ in range(round(_GIVES_WAY_S / 0.05)):
            heir = desktop.focused()
            if heir is not None and (heir.id in known or (heir.pid, heir.app) != (window.pid, window.app)):
                return None
            if heir is not None and not desktop.exists(window):
                return heir if window.pid and not desktop.is_modal(heir) else None
            step.sleep(0.05)
        return None

    def _checked(self, window: WindowRef, text: str, step: StepContext) -> Done:
        """Type, and read it back where the field can be read."""
        desktop: Desktop = self.parts.desktop
        secure = bool(desktop.secure_field())
        before = None if secure else desktop.read_back(window)
        typed = desktop.type_text(text, window, step)
        verified = before is not None and self._arrived(before, text, window, step)
        if before is not None and not verified:
            raise ToolError(f"{window.name} does not show exactly what was typed", "look at the window and ask again")
        undo = None if secure else self._undo(text, window, desktop.keys_sent)
        evidence = self._evidence(typed, window, verified, secure)
        return Done(evidence=evidence, verified=verified, undo=undo, secret=secure)

    def _arrived(self, before: str, text: str, window: WindowRef, step: StepContext) -> bool:
        """Whether the field really holds the old text with the new one put in once. One that looks as before proves
        nothing, even where it already held these words."""
        waited = 0.0
        while True:
            after = self.parts.desktop.read_back(window)
            if after is not None and after != before and put_in(before, after, text):
                return True
            if waited >= _READ_BACK_S:
                return False
            step.sleep(0.05)
            waited += 0.05

    def _evidence(self, typed: Typed, window: WindowRef, verified: bool, secure: bool) -> str:
        count = f"{typed.characters} character{'' if typed.characters == 1 else 's'}"
        if secure:
            return f"{count} went into a password field of {window.name!r}"
        if verified:
            return f"{window.name!r} holds the text; {count} read back"
        done = "; it has worked them off" if typed.settled else ""
        return f"{count} went to {window.name!r}, which had the focus all the time{done}; it cannot be read back"

    def _undo(self, text: str, window: WindowRef, serial: int) -> UndoAction | None:
        if len(text) > _LONGEST_UNDO or any(unicodedata.category(char) in _NOT_ONE_KEY for char in text):
            return None
        return UndoAction(
            label=f"take {len(text)} typed characters back",
            run=lambda step: self._take_back(len(text), window, serial, step),
            window=window.id,
        )

    def _take_back(self, count: int, window: WindowRef, serial: int, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        if desktop.keys_sent != serial:
            raise ToolError("Something else was typed since", "take it back by hand")
        before = desktop.read_back(window)
        desktop.press(desktop.chords("backspace") * count, step, window)
        gone = before is not None and self._shrunk(len(before) - count, window, step)
        return Done(evidence=f"{count} characters taken back from {window.name!r}", verified=gone)

    def _shrunk(self, length: int, window: WindowRef, step: StepContext) -> bool:
        """Whether the field is down to ``length`` characters, now or soon: applications work keys off in their time."""
        for _ in range(round(_READ_BACK_S / 0.05)):
            after = self.parts.desktop.read_back(window)
            if after is not None and len(after) == length:
                return True
            step.sleep(0.05)
        return False


def _rest(text: str, typed: int) -> str:
    """What is left of ``text`` after so many characters (a line break counts as one, as it is typed)."""
    return text.replace("\r\n", "\n")[typed:]


def put_in(before: str, after: str, text: str) -> bool:
    """Whether ``after`` is ``before`` with ``text`` put in at one place (or in place of a part that was selected)."""
    start = after.find(text)
    while start >= 0:
        head, tail = after[:start], after[start + len(text) :]
        if before.startswith(head) and before.endswith(tail) and len(head) + len(tail) <= len(before):
            return True
        start = after.find(text, start + 1)
    return False
