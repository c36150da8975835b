"""Sound hardware for a machine that has none: a private PulseAudio with a loudspeaker, a microphone, and a quiet room.

The loudspeaker is a null sink whose monitor can be recorded; the microphone is a remapped source of another null sink
into which recordings are played. A very quiet noise plays into the room all the time: a real room is never digitally
silent. A null sink that may rewind starts in steps of two seconds, which no hardware does, so these may not.
Everything lives in one folder and ends with the context manager.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from anovax.errors import AudioError
from anovax.voice import SAMPLE_RATE, Samples

SCRIPT = """\
load-module module-native-protocol-unix socket={socket} auth-anonymous=1
load-module module-null-sink norewinds=1 sink_name=loudspeaker rate=48000 channels=2
load-module module-null-sink norewinds=1 sink_name=room rate=48000 channels=1
update-sink-proplist loudspeaker device.description=Loudspeaker
update-sink-proplist room device.description=Room
load-module module-remap-source source_name=microphone master=room.monitor
set-default-sink loudspeaker
set-default-source microphone
"""
ALSA = """\
pcm.!default { type pulse }
ctl.!default { type pulse }
"""
NEEDED = ("pulseaudio", "pactl", "pacat", "parec")
ROOM_LEVEL = 6.0  # int16 steps


class VirtualSound:
    """A running private PulseAudio.

    ``environment`` is what a process needs to reach it; ``use`` sets it in this one.

    Raises AudioError when PulseAudio is not installed or does not start.
    """

    def __init__(self, folder: Path | None = None, noise: float = ROOM_LEVEL) -> None:
        missing = [tool for tool in NEEDED if shutil.which(tool) is None]
        if missing:
            raise AudioError(f"{missing[0]} is not installed", "install pulseaudio and pulseaudio-utils")
        self._own = folder is None
        self.folder = Path(tempfile.mkdtemp(prefix="anovax-sound-") if folder is None else folder)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._socket = self.folder / "native"
        self._noise, self._level = None, noise
        self._server: subprocess.Popen[bytes] | None = None
        self._closed = False
        (self.folder / "virtual.pa").write_text(SCRIPT.format(socket=self._socket), encoding="utf-8")
        (self.folder / "asound.conf").write_text(ALSA, encoding="utf-8")
        self.start()

    @property
    def environment(self) -> dict[str, str]:
        """Variables that point PulseAudio clients and, through ALSA's pulse plugin, PortAudio here."""
        return {"PULSE_SERVER": f"unix:{self._socket}", "ALSA_CONFIG_PATH": str(self.folder / "asound.conf")}

    @contextlib.contextmanager
    def use(self) -> Iterator[None]:
        """Set ``environment`` in this process for the time of the block; before PortAudio is first started."""
        before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})

    def start(self) -> None:
        """Start the server (again, after ``stop``)."""
        self._socket.unlink(missing_ok=True)
        home = {
            name: str(self.folder) for name in ("HOME", "XDG_RUNTIME_DIR", "PULSE_RUNTIME_PATH", "PULSE_STATE_PATH")
        }
        log = (self.folder / "pulseaudio.log").open("ab")
        command = ["pulseaudio", "-n", "-F", str(self.folder / "virtual.pa"), "--daemonize=no", "--exit-idle-time=-1"]
        with log:
            self._server = subprocess.Popen(
                [*command, "--use-pid-file=no", "--log-target=stderr"], env={**os.environ, **home},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._wait_until_up()
        self._room = _Room(self._env(), self._level)

    def stop(self, kill: bool = False) -> None:
        """Stop the server, hard with ``kill``; ``start`` brings it back."""
        if self._server is None:
            return
        self._room.close()
        server, self._server = self._server, None
        server.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            server.wait(3)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(3)

    def play_into_microphone(self, sound: Path | Samples, rate: int = SAMPLE_RATE, wait: bool = True) -> None:
        """Let the microphone hear a sound file, or int16[n] at ``rate``; waits for its end unless told not to."""
        if isinstance(sound, Path):
            command, data = ["paplay", "-d", "room", str(sound)], b""
        else:
            command, data = _pacat("room", rate, 60), sound.astype("<i2").tobytes()
        player = threading.Thread(target=_feed, args=(command, self._env(), data), daemon=True)
        player.start()
        if wait:
            player.join()

    def record_loudspeaker(self) -> Recorder:
        """Start to record what is played; ``stop()`` of the result gives it."""
        return Recorder(self._env(), "loudspeaker.monitor")

    def record_microphone(self) -> Recorder:
        """Start to record what the microphone hears; ``stop()`` of the result gives it."""
        return Recorder(self._env(), "microphone")

    def pactl(self, *arguments: str) -> str:
        """Run pactl on this server and return what it prints. Raises AudioError."""
        done = subprocess.run(
            ["pactl", *arguments], env=self._env(), capture_output=True, text=True, timeout=10, check=False
        )
        if done.returncode:
            raise AudioError(f"pactl {' '.join(arguments)} failed ({done.stderr.strip()})", "see pulseaudio.log")
        return done.stdout.strip()

    def close(self) -> None:
        """Stop everything and remove the folder if it was made here. Safe twice."""
        if self._closed:
            return
        self._closed = True
        self.stop()
        if self._own:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> VirtualSound:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _env(self) -> dict[str, str]:
        return {**os.environ, **self.environment, "HOME": str(self.folder)}

    def _wait_until_up(self) -> None:
        for _ in range(100):
            with contextlib.suppress(AudioError):
                if "microphone" in self.pactl("list", "short", "sources"):
                    return
            if self._server is None or self._server.poll() is not None:
                break
            time.sleep(0.05)
        log = (self.folder / "pulseaudio.log").read_text("utf-8", "replace").strip().splitlines()
        raise AudioError(
            f"PulseAudio did not start ({log[-1] if log else 'no message'})", f"see {self.folder}/pulseaudio.log"
        )


class Recorder:
    """A running recording of one source at 16 kHz mono."""

    def __init__(self, env: dict[str, str], source: str) -> None:
        self._process = _client(_parec(source, 30), env, stdout=subprocess.PIPE)
        self._parts: list[bytes] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def samples(self) -> Samples:
        """What was recorded so far: int16[n]."""
        data = b"".join(self._parts)
        return np.frombuffer(data[: len(data) // 2 * 2], np.int16)

    def stop(self) -> Samples:
        """End the recording and return it: int16[n]."""
        self._process.terminate()
        self._process.wait(3)
        self._reader.join(2)
        if self._process.stdout:
            self._process.stdout.close()
        return self.samples()

    def _read(self) -> None:
        assert self._process.stdout is not None
        while data := self._process.stdout.read1(65536):  # type: ignore[attr-defined]
            self._parts.append(data)


class _Room:
    """Plays a very quiet noise into the room, and listens to the loudspeaker, until closed."""

    def __init__(self, env: dict[str, str], level: float) -> None:
        self._listener = _client(_parec("loudspeaker.monitor", 20), env, stdout=subprocess.DEVNULL)
        self._process = _client(_pacat("room", SAMPLE_RATE, 40), env, stdin=subprocess.PIPE)
        noise = np.random.default_rng(7).normal(0, level, SAMPLE_RATE * 4).round().astype(np.int16).tobytes()
        self._writer = threading.Thread(target=self._write, args=(noise,), daemon=True)
        self._writer.start()

    def close(self) -> None:
        for process in (self._listener, self._process):
            process.terminate()
            process.wait(3)
        self._writer.join(2)
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()

    def _write(self, noise: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            while True:
                for start in range(0, len(noise), 3200):
                    self._process.stdin.write(noise[start : start + 3200])


def _pacat(sink: str, rate: int, latency_ms: int) -> list[str]:
    return ["pacat", "--playback", "-d", sink, *_form(rate, latency_ms)]


def _parec(source: str, latency_ms: int) -> list[str]:
    return ["parec", "-d", source, *_form(SAMPLE_RATE, latency_ms)]


def _form(rate: int, latency_ms: int) -> list[str]:
    return ["--raw", "--format=s16le", "--channels=1", f"--rate={rate}", f"--latency-msec={latency_ms}"]


def _client(command: list[str], env: dict[str, str], **pipes: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL, **pipes)  # type: ignore[call-overload,no-any-return]


def _feed(command: list[str], env: dict[str, str], data: bytes) -> None:
    subprocess.run(command, env=env, input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
