"""PointerAgent: clicks at coordinates or at named text, drags from one to the other, and scrolls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from anovax.desktop import Desktop, Image, Rect
from anovax.desktop.screen_targets import Target, choose_place, labels, links, nth, parse_target
from anovax.errors import AmbiguousTarget, DesktopError, ToolError
from anovax.tool import KB_MOUSE, Agent, Done, Risk, StepContext, ToolArgs, Undo, WindowRef, tool

_EFFECT_S = 0.8  # how long a click may take to show
_HOVER_S = 0.1
_APPEARS_S = 1.2  # how long a text that is looked for may take to appear
_AROUND = 160  # pixels around the click that are compared
_FAR = 50  # wheel notches at a time on the way to an end
_FARTHER = 20  # times at most
_BAR = 24  # pixels that a scroll bar takes at most
_LEAST_CHANGE = 12  # pixels that must differ; a blinking text cursor is smaller


class ClickArgs(ToolArgs):
    target: str = Field("", description="visible text or name of what to click", max_length=200)
    x: int | None = Field(None, ge=-100_000, le=100_000, description="screen x in logical pixels")
    y: int | None = Field(None, ge=-100_000, le=100_000, description="screen y in logical pixels")
    button: Literal["left", "right", "middle"] = Field("left", description="mouse button")
    count: int = Field(1, ge=1, le=3, description="2 for a double click")

    @model_validator(mode="after")
    def _has_a_place(self) -> ClickArgs:
        if not self.target and (self.x is None or self.y is None):
            raise ValueError("needs a target, or x and y")
        return self


class DragArgs(ToolArgs):
    target: str = Field("", description="visible text of what to drag", max_length=200)
    to: str = Field("", description="visible text of where to drag it", max_length=200)
    x: int | None = Field(None, ge=-100_000, le=100_000, description="screen x of what to drag")
    y: int | None = Field(None, ge=-100_000, le=100_000, description="screen y of what to drag")
    to_x: int | None = Field(None, ge=-100_000, le=100_000, description="screen x of where to")
    to_y: int | None = Field(None, ge=-100_000, le=100_000, description="screen y of where to")

    @model_validator(mode="after")
    def _has_both_places(self) -> DragArgs:
        if not self.target and (self.x is None or self.y is None):
            raise ValueError("needs a target, or x and y")
        if not self.to and (self.to_x is None or self.to_y is None):
            raise ValueError("needs a place to drag to, or to_x and to_y")
        return self


class ScrollArgs(ToolArgs):
    direction: Literal["up", "down", "left", "right", "top", "bottom"] = Field("down", description="where to")
    amount: int = Field(3, ge=1, le=50, description="wheel notches")


class PointerAgent(Agent):
    ttl_s: ClassVar[float] = 12.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    @tool(
        risk=Risk.INPUT,
        description="click something on the screen by its visible text, or at x, y",
        label="Click {target} {x} {y}",
        undo=Undo.IRREVERSIBLE,
        args=ClickArgs,
    )
    def click(self, args: ClickArgs, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        x, y, what = self._place(args.target, args.x, args.y, _again("click", args), step)
        desktop.require_on_screen(x, y)
        before = _Look(desktop, x, y)
        desktop.click(x, y, args.button, args.count, step, what)
        return self._seen(f"clicked {what or 'there'} at {x}, {y}", before, step)

    @tool(
        risk=Risk.INPUT,
        description="drag something on the screen to another place",
        label="Drag {target} {x} {y} to {to} {to_x} {to_y}",
        undo=Undo.IRREVERSIBLE,
        args=DragArgs,
        offered=False,
    )
    def drag(self, args: DragArgs, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        again = _again("drag", args)
        x, y, what = self._place(args.target, args.x, args.y, again, step)
        to_x, to_y, where = self._place(args.to, args.to_x, args.to_y, again, step)
        desktop.require_on_screen(to_x, to_y)
        desktop.move(to_x, to_y)
        step.sleep(_HOVER_S)  # what only shows that the pointer is there shows now
        before = _Look(desktop, to_x, to_y)
        desktop.drag(x, y, to_x, to_y, step)
        return self._seen(f"dragged {what or 'from'} {x}, {y} to {where} {to_x}, {to_y}", before, step)

    def _seen(self, did: str, before: _Look, step: StepContext) -> Done:
        """Whether it shows, now or soon."""
        waited = 0.0
        while waited < min(_EFFECT_S, step.remaining - 0.5):
            step.sleep(0.1)
            waited += 0.1
            if change := _Look(self.parts.desktop, before.x, before.y).differs(before):
                return Done(evidence=f"{did}: {change}", verified=True)
        return Done(evidence=f"{did}; nothing visible changed")

    @tool(
        risk=Risk.INPUT,
        description="scroll the focused window",
        label="Scroll {direction}",
        undo=Undo.IRREVERSIBLE,
        args=ScrollArgs,
        core=False,
    )
    def scroll(self, args: ScrollArgs, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        window = step.target or desktop.focused()
        frame = desktop.frame(window) if window is not None else None
        if window is None or frame is None:
            raise ToolError("No window has the focus", "click into a window first")
        if not frame.contains(*desktop.pointer()):
            desktop.move(*frame.centre)  # the wheel goes to what is under the pointer
        direction = {"top": "up", "bottom": "down"}.get(args.direction)
        if direction is None:
            moved = self._turn(args.direction, args.amount, window, step)
        else:
            moved = self._turn(direction, _FAR, window, step)
            for _ in range(_FARTHER if moved else 0):
                if not self._turn(direction, _FAR, window, step):
                    break
        said = f"scrolled {args.direction} in {window.name!r}"
        return Done(evidence=f"{said}; its content moved" if moved else f"{said}; nothing moved", verified=moved)

    def _turn(self, direction: str, amount: int, window: WindowRef, step: StepContext) -> bool:
        """Turn the wheel; True when the content moved."""
        desktop: Desktop = self.parts.desktop
        before = desktop.screenshot(window)
        desktop.scroll(direction, amount, step)
        step.sleep(0.3)
        return _changed(_inner(before), _inner(desktop.screenshot(window))) > _LEAST_CHANGE * 10

    def _place(
        self, said: str, x: int | None, y: int | None, again: Mapping[str, Any], step: StepContext
    ) -> tuple[int, int, str]:
        """Where that is, in logical pixels, and what is there. A text that is not there yet is waited for a little."""
        if x is not None and y is not None:
            return x, y, said
        target, waited = parse_target(said), 0.0
        while True:
            try:
                return *self._search(target), said
            except AmbiguousTarget:
                raise
            except ToolError as error:
                if waited >= _APPEARS_S:
                    raise self._absent(again, target, error) from None
            step.sleep(0.3)
            waited += 0.3

    def _absent(self, again: Mapping[str, Any], target: Target, error: ToolError) -> ToolError:
        """The failure, with what can be seen instead, and with the way to what may be below the window's edge;
        ``again`` is the step as it was planned."""
        desktop: Desktop = self.parts.desktop
        focus = desktop.focused()
        if focus is None or target.link:
            return error
        boxes = desktop.ocr.read(desktop.screenshot(focus))
        error.candidates = error.candidates or labels(target.text, boxes)
        error.remedy = ({"tool": "scroll", "direction": "bottom"}, again)
        return error

    def _search(self, target: Target) -> tuple[int, int]:
        """What the focused window tells of itself first, then what is read off it, then off the monitors."""
        desktop: Desktop = self.parts.desktop
        focus = desktop.focused()
        if focus is not None and not target.link and (told := desktop.named(focus, target.text)):
            place = choose_place(target, told).centre
            if desktop.window_at(*place) == focus:
                return place
        frame = desktop.frame(focus) if focus is not None else None
        rects = [monitor.rect for monitor in desktop.monitors()]
        problem: ToolError | None = None
        for rect in [frame, *rects] if frame is not None else rects:
            try:
                return self._find(target, rect)
            except AmbiguousTarget:
                raise
            except ToolError as error:
                problem = problem or error
            except DesktopError:
                continue  # a window that is outside the screen cannot be read; the monitors can
        raise problem or ToolError(f"{target.text!r} is not to be seen on the screen", "name a text that can be seen")

    def _find(self, target: Target, rect: Rect) -> tuple[int, int]:
        desktop: Desktop = self.parts.desktop
        image = desktop.grab(rect)
        if target.link:
            box = nth(links(image, desktop.ocr.read(image)), target)
        else:
            box = choose_place(target, desktop.ocr.find(image, target.text))
        scale = image.shape[1] / rect.w
        return max(rect.x, 0) + round(box.centre[0] / scale), max(rect.y, 0) + round(box.centre[1] / scale)


def _again(tool: str, args: ToolArgs) -> Mapping[str, Any]:
    return {"tool": tool, **args.model_dump(mode="json", exclude_defaults=True)}


class _Look:
    """What can be seen of a click's effect: the windows, the focus, the picture around."""

    def __init__(self, desktop: Desktop, x: int, y: int) -> None:
        self.x, self.y = x, y
        self.windows = {window.id: window for window in desktop.windows()}
        self.focus: WindowRef | None = desktop.focused()
        self.picture = desktop.grab(Rect(x=x - _AROUND, y=y - _AROUND, w=2 * _AROUND, h=2 * _AROUND))

    def differs(self, before: _Look) -> str:
        """In words, or an empty string."""
        if new := [window for key, window in self.windows.items() if key not in before.windows]:
            return f"{new[0].name!r} opened"
        if gone := [window for key, window in before.windows.items() if key not in self.windows]:
            return f"{gone[0].name!r} closed"
        if self.focus is not None and (before.focus is None or self.focus.id != before.focus.id):
            return f"{self.focus.name!r} has the focus"
        titles = [window for key, window in self.windows.items() if window.title != before.windows[key].title]
        if titles:
            return f"the title is now {titles[0].title!r}"
        pixels = _changed(before.picture, self.picture)
        return f"{pixels} pixels around it changed" if pixels > _LEAST_CHANGE else ""


def _inner(picture: Image) -> Image:
    """Without the right and lower edge, where scroll bars come and go by themselves."""
    return picture[:-_BAR, :-_BAR]


def _changed(before: Image, after: Image) -> int:
    """Pixels that differ visibly."""
    if before.shape != after.shape:
        return int(after.shape[0] * after.shape[1])
    return int((np.abs(before.astype(np.int16) - after.astype(np.int16)).max(axis=2) > 24).sum())
