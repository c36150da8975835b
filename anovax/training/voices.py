"""Every voice that this machine can speak with: Piper, Hibari, espeak-ng, flite, festival. Detected, never required."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import tempfile
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from anovax.errors import AudioError, UsageError
from anovax.voice import Samples, resampled, to_int16

FESTIVAL_FOLDERS = (Path("/usr/share/festival/voices"), Path("/usr/local/share/festival/voices"))
STRANGE = re.compile(r"robo|robot|whisper|croak|demonic|tweaky|storm|announcer|anikaR", re.IGNORECASE)
ACCENTS = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-gb-x-gbclan", "en-gb-x-gbcwmd", "en-029", "en-us-nyc")
SPEECH_S = 30.0  # no synthesiser may take longer for one sentence


@dataclass(frozen=True)
class Voice:
    """``family`` is the synthesiser, ``speaker`` whom it imitates: the same person in two families is one speaker."""

    family: str
    speaker: str

    @property
    def name(self) -> str:
        return f"{self.family}/{self.speaker}"


class Synthesiser(Protocol):
    """One family of voices."""

    family: str

    def speakers(self) -> list[str]:
        """Whom it can imitate; the same list every time."""

    def say(self, speaker: str, text: str, draw: np.random.Generator) -> Samples:
        """``text`` as int16[n] at 16 kHz, at a pace and with an expression that ``draw`` decides. Raises AudioError."""


class Choir:
    """All voices of the synthesisers that are here; ``missing`` says which are not, and how to get them."""

    def __init__(self, synthesisers: list[Synthesiser], missing: tuple[str, ...] = ()) -> None:
        self._by_family = {one.family: one for one in synthesisers}
        self.missing = missing
        self.voices = tuple(Voice(one.family, speaker) for one in synthesisers for speaker in one.speakers())
        if not self.voices:
            raise UsageError("There is no voice to train with", "run: anovax models fetch, or install espeak-ng")

    def say(self, voice: Voice, text: str, draw: np.random.Generator) -> Samples:
        """``text`` in ``voice``: int16[n], 16 kHz. Raises AudioError."""
        return self._by_family[voice.family].say(voice.speaker, text, draw)


def gather(piper_voices: tuple[Path, ...]) -> Choir:
    """The choir of this machine. ``piper_voices``: ONNX files of Piper voices, each with its .json beside it."""
    found: list[Synthesiser] = []
    missing: list[str] = []
    for family, here, make, fix in _families(piper_voices):
        if here:
            found.append(make())
        else:
            missing.append(f"{family} ({fix})")
    return Choir(found, tuple(missing))


def _families(piper_voices: tuple[Path, ...]) -> tuple[tuple[str, bool, Callable[[], Synthesiser], str], ...]:
    hibari = importlib.util.find_spec("hibari") is not None
    festival = shutil.which("text2wave") is not None and bool(_festival_voices())
    return (
        ("piper", bool(piper_voices), lambda: Piper(piper_voices), "anovax models fetch"),
        ("hibari", hibari, Hibari, "pip install hibari-tts"),
        ("espeak", shutil.which("espeak-ng") is not None, Espeak, "apt install espeak-ng"),
        ("flite", shutil.which("flite") is not None, Flite, "apt install flite"),
        ("festival", festival, Festival, "apt install festival festvox-kdlpc16k festvox-us-slt-hts"),
    )


class Piper:
    """Neural voices (VITS); the noise that they are driven by gives each sentence another melody and rhythm."""

    family = "piper"

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self._voices = {_piper_name(path): _piper(path) for path in paths}

    def speakers(self) -> list[str]:
        return list(self._voices)

    def say(self, speaker: str, text: str, draw: np.random.Generator) -> Samples:
        from piper import SynthesisConfig

        pace, noise, rhythm = draw.uniform((0.75, 0.4, 0.5), (1.4, 1.0, 1.1))
        config = SynthesisConfig(length_scale=float(pace), noise_scale=float(noise), noise_w_scale=float(rhythm))
        voice = self._voices[speaker]
        parts = [chunk.audio_int16_array for chunk in voice.synthesize(text, config)]
        return resampled(np.concatenate(parts) if parts else np.zeros(0, np.int16), voice.config.sample_rate)


class Hibari:
    """A small neural voice (package hibari-tts)."""

    family = "hibari"

    def __init__(self) -> None:
        import hibari

        self._voice: Any = hibari.Hibari(threads=1)

    def speakers(self) -> list[str]:
        return ["heart"]

    def say(self, speaker: str, text: str, draw: np.random.Generator) -> Samples:
        sound = self._voice(text, speed=float(draw.uniform(0.75, 1.35)), seed=int(draw.integers(1 << 30)))
        return resampled(to_int16(np.asarray(sound, np.float32)), 24_000)


class Espeak:
    """Formant synthesis: dozens of variants, each in one of the English accents at random."""

    family = "espeak"

    def speakers(self) -> list[str]:
        listed = _run(["espeak-ng", "--voices=variant"]).decode("utf-8", "replace")
        names = sorted({line.split("!v/")[1].strip() for line in listed.splitlines() if "!v/" in line})
        return [name for name in names if name and not STRANGE.search(name)]

    def say(self, speaker: str, text: str, draw: np.random.Generator) -> Samples:
        accent = ACCENTS[int(draw.choice(len(ACCENTS), p=[0.44] + [0.08] * 7))]
        voice, speed, pitch = f"{accent}+{speaker}", int(draw.integers(120, 200)), int(draw.integers(25, 75))
        command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch)]
        return _spoken([*command, "-w"], text)


class Flite:
    """Unit selection and statistical parametric voices."""

    family = "flite"

    def speakers(self) -> list[str]:
        listed = _run(["flite", "-lv"]).decode("utf-8", "replace").partition(":")[2].split()
        return [name for name in listed if name not in ("kal", "awb_time")]  # kal16 is kal at a higher rate

    def say(self, speaker: str, text: str, draw: np.random.Generator) -> Samples:
        stretch = float(draw.uniform(0.8, 1.3))
        return _spoken(["flite", "-voice", speaker, "-set", f"duration_stretch={stretch:.2f}", "-o"], text, "-t")


class Festival:
    """Diphone and HTS voices; slow to start, so a sentence costs about half a second."""

    family = "festival"

    def speakers(self) -> list[str]:
        return _festival_voices()

    def say(self, speaker: str, text: str, draw: np.random.Generator) -> Samples:
        stretch = f"(Parameter.set 'Duration_Stretch {draw.uniform(0.85, 1.25):.2f})"
        with tempfile.TemporaryDirectory() as folder:
            words, sound = Path(folder) / "text", Path(folder) / "sound.wav"
            words.write_text(text, "utf-8")
            _run(["text2wave", "-eval", f"(voice_{speaker})", "-eval", stretch, "-o", str(sound), str(words)])
            return _read(sound)


def speaker_of(voice: Voice) -> str:
    """Who is imitated: cmu_us_slt_arctic_hts and slt are recordings of one person, as are kal16 and kal_diphone."""
    found = re.search(r"_([a-z]{3})_arctic", voice.speaker)
    if voice.family in ("flite", "festival"):
        return f"cmu {found.group(1) if found else voice.speaker.split('_')[0].rstrip('16')}"
    return voice.name


def _festival_voices() -> list[str]:
    folders = [below for root in FESTIVAL_FOLDERS for lang in ("english", "us") for below in (root / lang).glob("*")]
    return sorted({folder.name for folder in folders if folder.is_dir()})


def _piper(path: Path) -> Any:
    """The voice on one thread: the processes that make examples fill the cores already."""
    import onnxruntime
    from piper import PiperVoice
    from piper.config import PiperConfig

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    config = PiperConfig.from_dict(json.loads(path.with_name(f"{path.name}.json").read_text("utf-8")))
    session = onnxruntime.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
    return PiperVoice(config=config, session=session)


def _piper_name(path: Path) -> str:
    return path.stem.split("-")[1] if path.stem.count("-") == 2 else path.stem


def _spoken(command: list[str], text: str, *before_text: str) -> Samples:
    with tempfile.TemporaryDirectory() as folder:
        sound = Path(folder) / "sound.wav"
        _run([*command, str(sound), *before_text, text])
        return _read(sound)


def _run(command: list[str]) -> bytes:
    try:
        done = subprocess.run(command, capture_output=True, timeout=SPEECH_S, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        reason = getattr(error, "stderr", b"") or str(error).encode()
        said = reason.decode("utf-8", "replace").strip().splitlines()
        raise AudioError(f"{command[0]} could not speak ({said[-1] if said else 'no message'})", "") from error
    return done.stdout


def _read(path: Path) -> Samples:
    with wave.open(str(path)) as stream:
        sound = np.frombuffer(stream.readframes(stream.getnframes()), np.int16)
        return resampled(sound[:: stream.getnchannels()], stream.getframerate())
