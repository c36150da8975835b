"""What hears and speaks, built and wired: the part of app.py that has to do with sound."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from anovax import weights
from anovax.assistant import Assistant
from anovax.bus import Bus
from anovax.config import Config
from anovax.desktop.applications import Applications
from anovax.errors import WeightsError
from anovax.events import Noticed
from anovax.plan import Context, Plan
from anovax.planner.fastpath import FastPath
from anovax.record import journal_folder
from anovax.recordings import recording
from anovax.request import Request
from anovax.voice import Samples
from anovax.voice.audio import write_wav
from anovax.voice.devices import SoundDevices
from anovax.voice.echo import OwnVoice
from anovax.voice.endpoint import Endpointer
from anovax.voice.loop import VoiceLoop
from anovax.voice.microphone import Microphone
from anovax.voice.playback import Playback, tone
from anovax.voice.soundcheck import SoundFacts, check_sound
from anovax.voice.speak import Speaker
from anovax.voice.speakable import sentences
from anovax.voice.transcribe import Transcriber
from anovax.voice.vad import SileroVad
from anovax.voice.vocabulary import vocabulary
from anovax.voice.wake import Gate, WakeDetector

GOES_ON = frozenset({"open_app", "focus_window", "open_url", "type_text"})


def stt_path(config: Config) -> Path:
    """The CTranslate2 model's folder: a path as it stands, else from the manifest."""
    path = Path(config.stt.model).expanduser()
    return path if path.exists() else weights.find(f"stt/{config.stt.model}")


def build_transcriber(config: Config) -> Transcriber:
    applications = Applications(config.desktop.aliases)
    return Transcriber(config.stt, stt_path(config), lambda: vocabulary(applications.names()), SileroVad())


def wake_path(config: Config) -> Path:
    """The wake word's ONNX file: a path as it stands, else from the manifest."""
    path = Path(config.wake.word).expanduser()
    return path if path.exists() else weights.find(f"wake/{config.wake.word}")


def build_wake(config: Config, gate: bool = True) -> WakeDetector:
    return WakeDetector(config.wake, wake_path(config), weights.find("wake/features"), Gate() if gate else None)


def build_speaker(config: Config, playback: Playback | None, bus: Bus | None = None) -> Speaker:
    return Speaker(config.tts, weights.find(f"tts/{config.tts.voice}"), playback, sentences, bus)


def build_playback(config: Config) -> Playback:
    return Playback(config.audio, SoundDevices())


class Sound:
    """Builds what hears and speaks: devices, loudspeaker, voice, and the voice loop."""

    def __init__(self, config: Config, bus: Bus, stack: AsyncExitStack) -> None:
        self.config, self.bus, self.stack = config, bus, stack
        self.devices = SoundDevices()
        self.playback = Playback(config.audio, self.devices)
        stack.callback(self.playback.close)

    def speaker(self) -> Speaker | None:
        """The voice; None, with a notice, where its weights are missing."""
        try:
            speaker = build_speaker(self.config, self.playback, self.bus)
        except WeightsError as error:
            self.bus.publish(Noticed(text=str(error), level="warning"))
            return None
        self.stack.callback(speaker.close)
        return speaker

    def loop(self, assistant: Assistant, speaker: Speaker | None) -> VoiceLoop:
        """The voice loop over the microphone, handing what it hears to ``assistant``."""
        assert assistant.transcriber is not None
        config = self.config
        fast = FastPath(assistant.planning.tools)
        earcon = tone(880.0, 0.08) if config.audio.earcon else None
        silence = speaker.interrupt if speaker else _nothing
        own = OwnVoice(self.playback, build_wake(config, gate=False), silence, earcon)
        loop = VoiceLoop(
            microphone=Microphone(config.audio, self.devices, self.bus),
            wake=build_wake(config),
            endpoint=Endpointer(config.endpoint, SileroVad(), lambda text: is_whole(fast.read(text, Context()))),
            interjection=Endpointer.for_interjections(SileroVad()),
            recogniser=assistant.transcriber,
            bus=self.bus,
            on_text=lambda text, samples: assistant.hear(
                Request(text=text, source="microphone"), lambda turn: self._keep(turn, samples)
            ),
            on_stop=lambda: assistant.stopped_by("voice"),
            busy=lambda: assistant.busy,
            own_voice=own,
            phrase=wake_phrase(config),
        )
        self.stack.callback(loop.close)
        return loop

    def _keep(self, turn: str, samples: Samples) -> None:
        """Keep the recording of a turn beside the record, if the configuration asks for it."""
        if self.config.journal.enabled and self.config.journal.keep_audio:
            path = recording(journal_folder(self.config), turn)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_wav(path, samples)


def check_sound_hardware(config: Config) -> SoundFacts:
    """Record two seconds and play a beep that must come back. Raises AudioError where there is no PortAudio."""
    bus, devices = Bus(), SoundDevices()
    microphone, playback = Microphone(config.audio, devices, bus), Playback(config.audio, devices)
    try:
        return check_sound(microphone, playback)
    finally:
        microphone.close()
        playback.close()


def is_whole(plan: Plan | None) -> bool:
    """Whether a request is certainly over when ``plan`` is what the words so far mean, so that its end need not be
    waited for. After opening something, and in the middle of dictation, people often go on."""
    return plan is not None and not (plan.steps and plan.steps[-1].tool in GOES_ON)


def wake_phrase(config: Config) -> str:
    """The wake word as it is spoken: hey_jarvis is "hey jarvis"."""
    return Path(config.wake.word).stem.split("_v0")[0].replace("_", " ")


def _nothing() -> None:
    """Silences a speaker that does not exist."""
