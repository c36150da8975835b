"""HotkeyAgent: presses keys and chords."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.desktop import Chord, Desktop
from anovax.desktop.sound import VOLUME_KEYS, Loudness, change_loudness, read_loudness, restore_loudness
from anovax.errors import ToolError, UserMustDecide
from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, UndoAction, WindowRef, tool

_EFFECT_S = 0.4  # how long an effect may take to be seen
_CLOSE_S = 2.0
_CLOSING = {"alt+f4"}


class PressKeysArgs(ToolArgs):
    keys: str = Field(
        description="chord such as ctrl+shift+t, enter, volumeup; several chords separated by spaces",
        min_length=1,
        max_length=200,
    )
    times: int = Field(1, ge=1, le=50, description="how often")


class HotkeyAgent(Agent):
    ttl_s: ClassVar[float] = 8.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    @tool(
        risk=Risk.INPUT,
        description="press a key or chord; also media, volume, tab and window keys",
        label="Press {keys}",
        undo=Undo.IRREVERSIBLE,
        args=PressKeysArgs,
    )
    def press_keys(self, args: PressKeysArgs, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        chords = desktop.chords(args.keys) * args.times
        if all(chord.key in VOLUME_KEYS and not chord.mods for chord in chords):
            return self._volume(chords, step)
        before, focus = desktop.windows(), step.target or desktop.focused()
        desktop.press(chords, step, focus if len(chords) == 1 else None)
        return self._seen(chords, before, focus, step)

    def _seen(
        self, chords: tuple[Chord, ...], before: tuple[WindowRef, ...], focus: WindowRef | None, step: StepContext
    ) -> Done:
        """What can be told of the effect: a window that closed, opened or took the focus. A changed picture proves
        nothing."""
        desktop: Desktop = self.parts.desktop
        pressed = " ".join(map(str, chords[:5])) + (" …" if len(chords) > 5 else "")
        closing = focus is not None and str(chords[-1]) in _CLOSING
        waited, limit = 0.0, _CLOSE_S if closing else _EFFECT_S
        while waited < min(limit, step.remaining - 0.5):
            if focus is not None and not desktop.exists(focus):
                return Done(evidence=f"{pressed} closed {focus.name!r}", verified=True)
            new = [window for window in desktop.windows() if window.id not in {old.id for old in before}]
            if new and closing:
                raise UserMustDecide(
                    f"{focus.name if focus else 'It'} asks {new[0].name!r} instead of closing",
                    "answer it on the screen",
                )
            if new:
                return Done(evidence=f"{pressed} opened {new[0].name!r}", verified=True)
            now = desktop.focused()
            if now is not None and focus is not None and now.id != focus.id:
                return Done(evidence=f"after {pressed} {now.name!r} has the focus", verified=True)
            step.sleep(0.05)
            waited += 0.05
        if closing and focus is not None:
            raise ToolError(f"{focus.name} did not close", "close it by hand")
        return Done(
            evidence=f"{pressed} went to {focus.name!r}" if focus else f"{pressed} was pressed; no window had the focus"
        )

    def _volume(self, chords: tuple[Chord, ...], step: StepContext) -> Done:
        """Volume keys: the desktop's own handling first; where nobody handles them, the sound server directly."""
        before = read_loudness()
        for chord in chords:
            self._one_volume_key(chord, step)
        after = read_loudness()
        names = f"{chords[0]} {len(chords)} times" if len(chords) > 1 else str(chords[0])
        if before is None or after is None:
            return Done(evidence=f"{names} was pressed; the volume cannot be read")
        undo = UndoAction(label=f"set the volume back to {before}", run=lambda step: self._restore(before))
        if before == after:
            at_end = after.percent in (0, 100) and chords[0].key != "volumemute"
            evidence = (
                f"the volume stays at {after}" if at_end else f"{names} was pressed, but the volume stays at {after}"
            )
            return Done(evidence=evidence, verified=at_end)
        return Done(evidence=f"the volume went from {before} to {after}", verified=True, undo=undo)

    def _one_volume_key(self, chord: Chord, step: StepContext) -> None:
        before = read_loudness()
        self.parts.desktop.press((chord,), step)
        if before is None:
            return
        waited = 0.0
        while waited < _EFFECT_S:
            if read_loudness() != before:
                return
            step.sleep(0.05)
            waited += 0.05
        step.check()
        change_loudness(chord.key)

    def _restore(self, to: Loudness) -> Done:
        restore_loudness(to)
        now = read_loudness()
        return Done(evidence=f"the volume is at {now}", verified=now == to)
