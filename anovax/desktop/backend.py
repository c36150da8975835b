"""What a platform must offer to the facade, and the small models that pass between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from anovax.desktop.chords import Chord
from anovax.desktop.ocr import TextBox
from anovax.tool import StepContext, WindowRef

Image = npt.NDArray[np.uint8]  # height x width x 3, RGB
Button = Literal["left", "right", "middle"]


class Rect(BaseModel):
    """A part of the virtual screen in logical pixels; x and y may be negative on a second monitor."""

    model_config = ConfigDict(frozen=True)

    x: int
    y: int
    w: int
    h: int

    def contains(self, x: int, y: int) -> bool:
        return self.x <= x < self.x + self.w and self.y <= y < self.y + self.h

    @property
    def centre(self) -> tuple[int, int]:
        return self.x + self.w // 2, self.y + self.h // 2


class Monitor(BaseModel):
    """One monitor. ``scale`` is captured pixels per logical pixel."""

    model_config = ConfigDict(frozen=True)

    rect: Rect
    scale: float = 1.0
    name: str = ""


class Typed(BaseModel):
    """How text got in. ``method``: keys, spare_keys, paste. ``settled``: the application has worked off every key
    (None: it cannot be asked)."""

    model_config = ConfigDict(frozen=True)

    characters: int
    method: str
    settled: bool | None = None


class Backend(Protocol):
    """Raw calls of one platform. Each effect checks ``step`` (focus, cancel, TTL, safety) immediately before it
    happens."""

    name: str
    notice: str  # what the user should know about this platform's limits, or ""

    @property
    def keys_sent(self) -> int: ...

    def windows(self) -> tuple[WindowRef, ...]: ...
    def focused(self) -> WindowRef | None: ...
    def exists(self, window: WindowRef) -> bool: ...
    def activate(self, window: WindowRef) -> None: ...
    def close_window(self, window: WindowRef) -> None: ...
    def dialog_of(self, window: WindowRef) -> WindowRef | None: ...
    def is_modal(self, window: WindowRef) -> bool: ...
    def frame(self, window: WindowRef) -> Rect | None: ...
    def window_at(self, x: int, y: int) -> WindowRef | None: ...
    def type_text(self, text: str, window: WindowRef, step: StepContext) -> Typed: ...
    def press(self, chords: Sequence[Chord], window: WindowRef | None, step: StepContext) -> None: ...
    def check_chord(self, chord: Chord) -> None: ...
    def move(self, x: int, y: int) -> None: ...
    def pointer(self) -> tuple[int, int]: ...
    def click(self, x: int, y: int, button: Button, count: int) -> None: ...
    def drag(self, x: int, y: int, to_x: int, to_y: int, step: StepContext) -> None: ...
    def scroll(self, direction: str, amount: int, step: StepContext) -> None: ...
    def clipboard(self) -> str | None: ...
    def set_clipboard(self, text: str) -> None: ...
    def read_back(self, window: WindowRef) -> str | None: ...
    def secure_field(self) -> bool | None: ...
    def named(self, window: WindowRef, name: str) -> tuple[TextBox, ...]: ...
    def release_modifiers(self) -> None: ...
    def on_escape_twice(self, stop: Callable[[], None]) -> Callable[[], None]: ...
    def close(self) -> None: ...
