"""ScreenAgent: screenshots, and reading what the screen says."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import ClassVar

import numpy as np
from platformdirs import user_pictures_path
from pydantic import Field

from anovax.desktop import Image
from anovax.desktop.ocr import as_lines, relevant
from anovax.errors import ToolError
from anovax.tool import Agent, AgentParts, Done, NoArgs, Risk, StepContext, ToolArgs, Undo, WindowRef, tool

_MAX_SAID = 240  # characters that are read aloud


class ReadScreenArgs(ToolArgs):
    query: str = Field("", description="what the user wants to know; empty for all", max_length=300)


class ScreenAgent(Agent):
    ttl_s: ClassVar[float] = 10.0
    retries: ClassVar[int] = 1
    locks: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, parts: AgentParts, now: Callable[[], datetime] = lambda: datetime.now().astimezone()) -> None:
        super().__init__(parts)
        self._now = now

    @tool(
        risk=Risk.READ,
        description="save a picture of the screen",
        label="Take a screenshot",
        undo=Undo.NOTHING_TO_UNDO,
        args=NoArgs,
        looks=True,
    )
    def screenshot(self, args: NoArgs, step: StepContext) -> Done:
        step.check()
        focus = self.parts.desktop.focused()
        image = self.parts.desktop.screenshot()
        step.check()
        path = save(image, folder(self.parts), name(focus, self._now()))
        evidence = f"{path}, {image.shape[1]}×{image.shape[0]}, {path.stat().st_size:,} bytes"
        if (image == image[0, 0]).all():
            return Done(
                evidence=f"{evidence}; it is all one colour",
                result=str(path),
                say="I saved a screenshot, but it is blank.",
            )
        return Done(evidence=evidence, verified=True, result=str(path), say="I took a screenshot.")

    @tool(
        risk=Risk.READ,
        description="read what the screen says",
        label="Read the screen {query}",
        undo=Undo.NOTHING_TO_UNDO,
        args=ReadScreenArgs,
        looks=True,
    )
    def read_screen(self, args: ReadScreenArgs, step: StepContext) -> Done:
        step.check()
        desktop = self.parts.desktop
        focus = desktop.focused()
        boxes = desktop.ocr.read(desktop.screenshot(focus))
        step.check()
        lines = as_lines(boxes)
        where = focus.name if focus else "the screen"
        if not lines:
            return Done(evidence=f"no text was found in {where!r}", say=f"I cannot see any text in {where}.")
        found = relevant(lines, args.query)
        if args.query and not found:
            return Done(
                evidence=f"{len(lines)} lines were read in {where!r}, none about that",
                result="\n".join(lines),
                say="I cannot see that on the screen.",
            )
        text = "\n".join(found or lines)
        return Done(evidence=f"{len(lines)} lines read in {where!r}", verified=True, result=text, say=_short(text))


def _short(text: str) -> str:
    said = ". ".join(line.strip(" .") for line in text.splitlines())
    if len(said) <= _MAX_SAID:
        return f"It says: {said}."
    return f"It says: {said[:_MAX_SAID].rsplit(' ', 1)[0]}, and more."


def folder(parts: AgentParts) -> Path:
    """Where screenshots go: as configured, else AnovaX in the user's pictures."""
    configured = parts.config.desktop.screenshots if parts.config is not None else ""
    return Path(configured).expanduser() if configured else user_pictures_path() / "AnovaX"


def name(focus: WindowRef | None, moment: datetime) -> str:
    """Sortable by time, findable by window: ``2026-11-30_15-20-07_mousepad.png``."""
    slug = re.sub(r"[^\w]+", "-", (focus.name if focus else "screen").casefold()).strip("-_")[:40] or "screen"
    return f"{moment:%Y-%m-%d_%H-%M-%S}_{slug}.png"


def save(image: Image, where: Path, filename: str) -> Path:
    """Write ``image`` (uint8, height x width x 3, RGB) as PNG under a name of its own; a half file never has it."""
    from PIL import Image as Pictures

    temporary = ""
    try:
        where.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=where, prefix=".screenshot-", suffix=".tmp")
        with os.fdopen(handle, "wb") as out:
            Pictures.fromarray(np.ascontiguousarray(image)).save(out, format="PNG", compress_level=1)
        return _place(Path(temporary), where / filename)
    except OSError as error:
        if temporary:
            with suppress(OSError):
                Path(temporary).unlink()
        raise ToolError(
            f"The screenshot could not be saved in {where} ({error.strerror or error})",
            "free some space or set desktop.screenshots",
        ) from None


def _place(temporary: Path, wanted: Path) -> Path:
    """Give the finished file its name; of two in one second the second gets a number (a link never overwrites)."""
    for number in range(1, 100):
        target = wanted if number == 1 else wanted.with_stem(f"{wanted.stem}-{number}")
        try:
            os.link(temporary, target)
        except FileExistsError:
            continue
        except OSError:  # a file system without links
            if target.exists():
                continue
            return temporary.replace(target)
        temporary.unlink()
        return target
    raise OSError("too many screenshots in one second")
