"""The assistant as the phone companion sees it: the same pipe, filter and record, marked as remote."""

from __future__ import annotations

import asyncio
import tempfile
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
from anovax.voice.audio import load_audio

MAX_SECONDS = 60.0
SUFFIX = {"audio/webm": ".webm", "audio/mp4": ".m4a", "audio/ogg": ".ogg", "audio/wav": ".wav"}


class PhonePort:
    """Implements anovax.companion.ports.AssistantPort over the running assistant."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._partial = False

    def submit_text(self, text: str, device: str) -> str:
        return self._assistant.submit(Request(text=text, source="phone", device=device))

    async def submit_audio(self, data: bytes, mime: str, device: str) -> str:
        samples = await asyncio.get_running_loop().run_in_executor(None, _decoded, data, mime)
        heard = await self._text(samples)
        return self.submit_text(heard, device) if heard else ""

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
    """Implements anovax.companion.ports.ScreenPort over the desktop."""

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop

    def grab(self) -> npt.NDArray[np.uint8]:
        return self._desktop.screenshot()

    def pointer(self) -> tuple[int, int]:
        return self._desktop.pointer()

    def windows(self) -> Sequence[ScreenWindow]:
        found = []
        for window in self._desktop.windows():
            frame = self._desktop.frame(window)
            if frame is not None:
                place = {"x": frame.x, "y": frame.y, "width": frame.w, "height": frame.h}
                found.append(ScreenWindow(app=window.app, title=window.title, **place))
        return found


def _decoded(data: bytes, mime: str) -> npt.NDArray[np.float32]:
    """An uploaded recording as float32[n], mono, 16 kHz. Raises AudioError."""
    with tempfile.TemporaryDirectory(prefix="anovax-upload-") as folder:
        path = Path(folder) / f"upload{SUFFIX.get(mime.split(';', maxsplit=1)[0].strip(), '.bin')}"
        path.write_bytes(data)
        return load_audio(path, max_s=MAX_SECONDS)
