"""Sound devices through PortAudio: which there are, and streams opened at a rate that the hardware takes.

PortAudio looks for devices only when it starts, and starting it anew ends every open stream; so one object owns it, and
whoever holds a stream sees ``generation`` change.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable
from typing import Any

from anovax.errors import AudioError
from anovax.voice import Device, Direction

LATENCY_S = 0.04  # what PortAudio calls low (9 ms) underruns as soon as anything else runs; this not beside 8 busy ones


class SoundDevices:
    """The owner of PortAudio. Thread-safe. Raises AudioError when PortAudio itself is missing."""

    def __init__(self) -> None:
        _quieten_alsa()
        try:
            import sounddevice
        except OSError as error:
            raise AudioError("PortAudio is not installed", "install libportaudio2") from error
        self._sd = sounddevice
        self._lock = threading.RLock()
        self._closers: tuple[threading.Thread, ...] = ()
        self.generation = 0

    @property
    def stop_stream(self) -> Exception:
        """What a stream's callback raises to end the stream."""
        stop: Exception = self._sd.CallbackStop()
        return stop

    def list(self, direction: Direction) -> list[Device]:
        """All devices that can do ``direction``; the default first."""
        with self._lock:
            default = self._default(direction)
            found = [_device(raw, raw["index"] == default) for raw in self._sd.query_devices()]
        fitting = [d for d in found if (d.inputs if direction == "input" else d.outputs)]
        return sorted(fitting, key=lambda d: not d.default)

    def choose(self, direction: Direction, name: str = "") -> Device:
        """The device whose name contains ``name``, or the default. Raises AudioError that lists what there is."""
        devices = self.list(direction)
        what = "microphone" if direction == "input" else "loudspeaker"
        if not devices:
            raise AudioError(f"There is no {what}", "plug one in, or start the sound server")
        if not name:
            return devices[0]
        for device in devices:
            if name.lower() in device.name.lower():
                return device
        known = ", ".join(d.name for d in devices)
        raise AudioError(f"There is no {what} called {name}", f"choose one of: {known}")

    def open(
        self,
        direction: Direction,
        device: Device,
        rates: tuple[int, ...],
        callback: Callable[..., None],
        block_s: float,
    ) -> Any:
        """A started callback stream of int16; its ``samplerate`` and ``channels`` are what the hardware took.

        Mono is tried before stereo, ``rates`` in order and then the device's own. Raises AudioError.
        """
        make = self._sd.InputStream if direction == "input" else self._sd.OutputStream
        reason = ""
        for rate in dict.fromkeys((*rates, device.rate)):
            for channels in (1, 2):
                try:
                    with self._lock:
                        stream = make(
                            samplerate=rate, device=device.index, channels=channels, dtype="int16", callback=callback,
                            blocksize=round(rate * block_s), latency=LATENCY_S,
                        )  # fmt: skip
                        stream.start()
                    return stream
                except (self._sd.PortAudioError, ValueError) as error:
                    reason = str(error)
        raise AudioError(f"{device.name} cannot be opened ({reason})", "check that it is connected and not in use")

    def close(self, stream: Any, patience_s: float = 1.0) -> bool:
        """Abort and close a stream in a thread of its own: closing one whose sound server has died can block for ever.

        Whether it was done within ``patience_s``.
        """

        def end() -> None:
            with contextlib.suppress(Exception):
                stream.abort()
            with contextlib.suppress(Exception):
                stream.close()

        closer = threading.Thread(target=end, name="audio-close", daemon=True)
        with self._lock:
            self._closers = (*(other for other in self._closers if other.is_alive()), closer)
            closer.start()
        closer.join(patience_s)
        return not closer.is_alive()

    def refresh(self, patience_s: float = 1.0) -> bool:
        """Start PortAudio anew, so that devices plugged in since are seen. All streams must be closed before.

        Whether it was done: ending PortAudio while a stream is still being closed would block for ever.
        """
        with self._lock:
            for closer in self._closers:
                closer.join(patience_s)
            if any(closer.is_alive() for closer in self._closers):
                return False
            self.generation += 1
            with contextlib.suppress(self._sd.PortAudioError):
                self._sd._terminate()
            with contextlib.suppress(self._sd.PortAudioError):
                self._sd._initialize()
        return True

    def _default(self, direction: Direction) -> int:
        try:
            return int(self._sd.default.device[0 if direction == "input" else 1])
        except (TypeError, ValueError):
            return -1


def _device(raw: dict[str, Any], default: bool) -> Device:
    return Device(
        index=raw["index"],
        name=raw["name"],
        rate=round(raw["default_samplerate"]) or 48_000,
        inputs=raw["max_input_channels"],
        outputs=raw["max_output_channels"],
        default=default,
    )


def _quieten_alsa() -> None:
    """Keep ALSA from writing its own messages to the terminal; what matters comes as an error of PortAudio.

    The handler is a C function that takes nothing and does nothing (getpid), so that it outlives every Python object.
    """
    with contextlib.suppress(OSError, AttributeError):
        nothing = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p)
        ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(nothing)
