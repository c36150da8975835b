"""The assistant as the phone companion sees it: the same pipe, filter and record, marked as remote."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anovax.assistant import Assistant
from anovax.companion.ports import ScreenWindow
from anovax.desktop import Desktop
from anovax.errors import AudioError
from anovax.request import Request
from anovax.voice import to_float
from anovax.voice.audio import read_blocks

LONGEST_S = 70  # the page ends a recording after a minute; its last words must not be one too many
MONITORS_S = 3.0  # how long monitors are taken to be where they were
BEGINNINGS = {  # suffix: where the mark of its kind stands, and the mark
    ".webm": (0, b"\x1aE\xdf\xa3"),
    ".ogg": (0, b"OggS"),
    ".wav": (8, b"WAVE"),
    ".m4a": (4, b"ftyp"),
}


class PhonePort:
    """Implements anovax.companion.ports.AssistantPort over the running assistant."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._partial = False

    def submit_text(self, text: str, device: str) -> str:
        return self._assistant.submit(Request(text=text, source="phone", device=device))

    async def submit_audio(self, data: bytes, mime: str, device: str) -> str:
        samples = await asyncio.get_running_loop().run_in_executor(None, decoded, data)
        heard = await self._text(samples)
        if heard:
            self.submit_text(heard, device)
        return heard

    async def transcribe_partial(self, samples: npt.NDArray[np.float32]) -> str:
        if self._partial:  # one at a time: the next one will hold more
            return ""
        self._partial = True
        try:
            return await self._text(samples)
        finally:
            self._partial = False

    def stop(self, by: str) -> None:
        self._assistant.stop(by)

    def answer_consent(self, consent_id: str, allow: bool, by: str) -> bool:
        return self._assistant.consent.answer(consent_id, allow, by)

    def history(self, limit: int) -> Sequence[dict[str, Any]]:
        return self._assistant.history(limit)

    def state(self) -> dict[str, Any]:
        return {"busy": self._assistant.busy, "muted": self._assistant.muted, "asking": self._assistant.consent.waiting}

    async def _text(self, samples: npt.NDArray[np.float32]) -> str:
        transcriber = self._assistant.transcriber
        if transcriber is None:
            raise AudioError("Speech recognition is not loaded", "type the request instead")
        return (await asyncio.wrap_future(transcriber.submit(samples))).text


class LaptopScreen:
    """Implements anovax.companion.ports.ScreenPort over the desktop, which counts in logical pixels from the primary
    monitor's corner; a picture counts in captured pixels from the corner of all monitors together."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop
        self._looked = float("-inf")
        self._corner = (0, 0)
        self._scale = 1.0

    def grab(self) -> npt.NDArray[np.uint8]:
        return self._desktop.screenshot()

    def pointer(self) -> tuple[int, int]:
        return self._pixel(*self._desktop.pointer())

    def windows(self) -> Sequence[ScreenWindow]:
        found = []
        for window in self._desktop.windows():
            frame = self._desktop.frame(window)
            if frame is not None:
                x, y = self._pixel(frame.x, frame.y)
                right, bottom = self._pixel(frame.x + frame.w, frame.y + frame.h)
                place = {"x": x, "y": y, "width": right - x, "height": bottom - y}
                found.append(ScreenWindow(app=window.app, title=window.title, **place))
        return found

    def _pixel(self, x: int, y: int) -> tuple[int, int]:
        if time.monotonic() - self._looked > MONITORS_S:
            monitors, self._looked = self._desktop.monitors(), time.monotonic()
            self._corner = (min(m.rect.x for m in monitors), min(m.rect.y for m in monitors))
            self._scale = monitors[0].scale
        return round((x - self._corner[0]) * self._scale), round((y - self._corner[1]) * self._scale)


def decoded(data: bytes) -> npt.NDArray[np.float32]:
    """An uploaded recording as float32[n], mono, 16 kHz, at most LONGEST_S seconds. AudioError, in words for a phone.

    What it is is read from its beginning, whatever the phone called it: a playlist, which would make the decoder open
    other files, is none of them.
    """
    suffix = next((s for s, (at, mark) in BEGINNINGS.items() if data[at : at + len(mark)] == mark), None)
    if suffix is None:
        raise AudioError("This kind of recording is not understood", "use another browser, or type the request")
    with tempfile.TemporaryDirectory(prefix="anovax-upload-") as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(data)
        try:
            blocks = list(itertools.islice(read_blocks(path, block_s=1.0), LONGEST_S + 1))
        except AudioError:
            raise AudioError("The recording is damaged or empty", "record it again") from None
    if len(blocks) > LONGEST_S:
        raise AudioError("The recording is longer than a minute", "say it in shorter parts")
    return to_float(np.concatenate(blocks))
