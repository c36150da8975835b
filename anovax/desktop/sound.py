"""The loudness of the default output through pactl (PulseAudio, PipeWire): read, set, put back."""

from __future__ import annotations

import re
import shutil
import subprocess

from pydantic import BaseModel, ConfigDict

from anovax.errors import ToolError

VOLUME_KEYS = {"volumeup": "+5%", "volumedown": "-5%", "volumemute": "toggle"}
_SINK = "@DEFAULT_SINK@"
_LIMIT_S = 2.0


class Loudness(BaseModel):
    """``percent`` of the loudest channel, 0..; ``muted``."""

    model_config = ConfigDict(frozen=True)

    percent: int
    muted: bool

    def __str__(self) -> str:
        return f"{self.percent}%{' (muted)' if self.muted else ''}"


def read_loudness() -> Loudness | None:
    """The default output's loudness; None when there is no sound server, or none that pactl can ask."""
    volume, mute = _pactl("get-sink-volume", _SINK), _pactl("get-sink-mute", _SINK)
    found = re.findall(r"(\d+)%", volume)
    return Loudness(percent=max(map(int, found)), muted="yes" in mute.casefold()) if found else None


def change_loudness(key: str) -> None:
    """What the volume key ``key`` means. ToolError when the sound server does not take it; never louder than 100%."""
    if key == "volumemute":
        _must("set-sink-mute", _SINK, "toggle")
        return
    now = read_loudness()
    if now is None:
        raise ToolError("There is no sound server that could change the volume", "start PulseAudio or PipeWire")
    step = 5 if key == "volumeup" else -5
    _must("set-sink-volume", _SINK, f"{max(0, min(max(100, now.percent), now.percent + step))}%")


def restore_loudness(to: Loudness) -> None:
    _must("set-sink-volume", _SINK, f"{to.percent}%")
    _must("set-sink-mute", _SINK, "1" if to.muted else "0")


def _must(*arguments: str) -> None:
    if _run(*arguments) is None:
        raise ToolError("The sound server did not change the volume", "look at the sound settings")


def _pactl(*arguments: str) -> str:
    return _run(*arguments) or ""


def _run(*arguments: str) -> str | None:
    """Standard output, None when pactl is missing, fails or hangs."""
    program = shutil.which("pactl")
    if program is None:
        return None
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=_LIMIT_S, check=True)
    except (subprocess.SubprocessError, OSError):
        return None
    return done.stdout
