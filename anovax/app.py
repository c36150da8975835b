"""The one place where parts are built, wired and closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anovax import weights
from anovax.assistant import Assistant
from anovax.bus import Bus
from anovax.config import Config, PlannerConfig
from anovax.consent import ConsentDesk
from anovax.desktop import Desktop
from anovax.desktop import build as build_desktop
from anovax.desktop.applications import Applications
from anovax.errors import AudioError, Cancelled, DesktopError, WeightsError
from anovax.events import Noticed
from anovax.journal import Journal
from anovax.memory import Memory
from anovax.orchestrator import Orchestrator
from anovax.plan import Context
from anovax.planner.chain import FirstOf
from anovax.planner.fastpath import FastPath
from anovax.planner.gemini import Gemini
from anovax.planner.llamacpp import LlamaCpp
from anovax.planner.openai import OpenAI
from anovax.planner.protocol import Planner
from anovax.planner.remote import OrLocal, Remote
from anovax.planning import Planning
from anovax.recovery import Recovery
from anovax.remote import LaptopScreen, PhonePort
from anovax.request import Request, Surroundings
from anovax.safety import Safety
from anovax.setup.manifest import models_dir
from anovax.tool import Agent, AgentParts, CancelFlag, Done, StepContext, Toolbox, discover
from anovax.turn import TurnParts, Turns
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
from anovax.voice.wake import Gate, WakeDetector


@dataclass(frozen=True)
class Wanted:
    """Which parts this run needs beside planner, safety and agents."""

    listen: bool = False
    speak: bool = True
    stt: bool = False
    companion: bool = False


@asynccontextmanager
async def build(config: Config, wanted: Wanted) -> AsyncIterator[Assistant]:
    """A running assistant; everything it owns is closed in reverse order at the end."""
    async with AsyncExitStack() as stack:
        bus = Bus()
        stack.callback(bus.close)
        if config.journal.enabled:
            stack.callback(Journal(journal_folder(config), config.journal, bus).close)
        tools = discover()
        safety = Safety(tools, config.safety, config.desktop.search_url)
        planning = Planning(tools, build_planner(config, tools), safety)
        stack.callback(planning.planner.close)
        core = _Core(config, bus, planning, stack)
        sound = _Sound(config, bus, stack) if wanted.speak or wanted.listen else None
        speaker = sound.speaker() if sound and wanted.speak and config.tts.enabled else None
        turns, consent = core.turns(speaker)
        assistant = Assistant(bus, turns, consent, planning)
        stack.push_async_callback(assistant.close)
        assistant.desktop = core.desktop
        if wanted.stt or wanted.listen:
            assistant.transcriber = build_transcriber(config)
            stack.callback(assistant.transcriber.close)
        if wanted.listen and sound is not None:
            assistant.ears = sound.loop(assistant, speaker)
            assistant.ears.start()
        if wanted.companion:
            await _companion(config, bus, assistant, core.desktop, stack)
        yield assistant


@contextmanager
def build_planning(config: Config) -> Iterator[Planning]:
    """Only what ``anovax plan`` needs: tools, planner, safety."""
    tools = discover()
    with ExitStack() as stack:
        planner = build_planner(config, tools)
        stack.callback(planner.close)
        yield Planning(tools, planner, Safety(tools, config.safety, config.desktop.search_url))


def build_planner(config: Config, tools: Toolbox) -> Planner:
    """The configured backend, behind the fast path unless that is switched off."""
    fast = FastPath(tools, Applications(config.desktop.aliases).names)
    if config.planner.backend == "fastpath":
        return fast
    slow = BACKENDS[config.planner.backend](config, tools)
    return FirstOf(fast, slow) if config.planner.fast_path else slow


def _llamacpp(config: Config, tools: Toolbox) -> Planner:
    return LlamaCpp(config.planner, tools, models_dir() / "prefixes")


def _remote(backend: Callable[[PlannerConfig, Toolbox], Remote]) -> Callable[[Config, Toolbox], Planner]:
    def build(config: Config, tools: Toolbox) -> Planner:
        remote = backend(config.planner, tools)
        return OrLocal(remote, _llamacpp(config, tools)) if config.planner.fall_back_to_local else remote

    return build


BACKENDS: dict[str, Callable[[Config, Toolbox], Planner]] = {
    "llamacpp": _llamacpp,
    "gemini": _remote(Gemini),
    "openai": _remote(OpenAI),
}


async def _companion(
    config: Config, bus: Bus, assistant: Assistant, desktop: Desktop | NoDesktop, stack: AsyncExitStack
) -> None:
    """Serve the phone's page until the assistant ends."""
    from anovax.companion.server import CompanionServer

    screen = None if isinstance(desktop, NoDesktop) else LaptopScreen(desktop)
    server = CompanionServer(config.companion, config.data_dir, bus, PhonePort(assistant), screen)
    await server.start()
    stack.push_async_callback(server.close)
    assistant.approve = server.approve
    bus.publish(Noticed(text=f"The phone companion is at {server.url}; let a phone in with: anovax pair"))


def stt_path(config: Config) -> Path:
    """The CTranslate2 model's folder: a path as it stands, else from the manifest."""
    path = Path(config.stt.model).expanduser()
    return path if path.exists() else weights.find(f"stt/{config.stt.model}")


def build_transcriber(config: Config) -> Transcriber:
    return Transcriber(config.stt, stt_path(config), vad=SileroVad())


def build_wake(config: Config, gate: bool = True) -> WakeDetector:
    path = Path(config.wake.word).expanduser()
    model = path if path.exists() else weights.find(f"wake/{config.wake.word}")
    return WakeDetector(config.wake, model, weights.find("wake/features"), Gate() if gate else None)


def build_speaker(config: Config, playback: Playback | None, bus: Bus | None = None) -> Speaker:
    return Speaker(config.tts, weights.find(f"tts/{config.tts.voice}"), playback, sentences, bus)


def build_playback(config: Config) -> Playback:
    return Playback(config.audio, SoundDevices())


def journal_folder(config: Config) -> Path:
    return Path(config.journal.folder).expanduser() if config.journal.folder else config.data_dir / "journal"


class NoDesktop:
    """Stands where the desktop would be on a machine without one: whoever reaches for it gets the reason."""

    def __init__(self, reason: DesktopError) -> None:
        self._reason = reason

    def __getattr__(self, name: str) -> Any:
        raise self._reason


class _Core:
    """Builds what acts: desktop, agents, orchestrator, memory, turns."""

    def __init__(self, config: Config, bus: Bus, planning: Planning, stack: AsyncExitStack) -> None:
        self.config, self.bus, self.planning, self.stack = config, bus, planning, stack
        self.pool = ThreadPoolExecutor(2, "desktop")  # looks at the desktop, and speaks the reply
        stack.callback(self.pool.shutdown, wait=False, cancel_futures=True)
        self.desktop = self._desktop()
        self.memory = Memory(config)

    def _desktop(self) -> Desktop | NoDesktop:
        try:
            desktop = build_desktop(self.config.desktop)
        except DesktopError as error:
            self.bus.publish(Noticed(text=str(error), level="warning"))
            return NoDesktop(error)
        self.stack.callback(desktop.close)
        if desktop.notice:
            self.bus.publish(Noticed(text=desktop.notice, level="warning"))
        return desktop

    def turns(self, speaker: Speaker | None) -> tuple[Turns, ConsentDesk]:
        tools, config = self.planning.tools, self.config
        consent = ConsentDesk(self.bus, config.safety.consent_s)
        late: list[Turns] = []  # agents call back into the turns that own them

        def delegate(goal: str, step: StepContext) -> Done:
            return late[0].delegate(goal, step)

        def undo(step: StepContext) -> Done:
            return late[0].undo(step)

        parts = AgentParts(
            desktop=self.desktop,
            facts=self.memory.facts if config.memory.enabled else None,
            voice=speaker,
            delegate=delegate,
            undo=undo,
            config=config,
        )
        orchestrator = Orchestrator(tools, self._agents(tools, parts), config.orchestrator, self.bus)
        self.stack.callback(orchestrator.close)
        turns = Turns(
            TurnParts(
                tools=tools,
                planner=self.planning.planner,
                safety=self.planning.safety,
                orchestrator=orchestrator,
                recovery=Recovery(config.recovery, tools) if config.recovery.enabled else None,
                memory=self.memory,
                consent=consent,
                bus=self.bus,
                look=self._look,
                speak=lambda text, cancel: self._speak(speaker, text, cancel),
                focused=self._focused,
            )
        )
        late.append(turns)
        return turns, consent

    def _agents(self, tools: Toolbox, parts: AgentParts) -> dict[str, Agent]:
        """One agent of each class, by the name of each of its tools."""
        agents: dict[str, Agent] = {}
        for cls in tools.agents:
            agent = cls(parts)
            self.stack.callback(agent.close)
            agents |= {spec.name: agent for spec in cls.specs}
        return agents

    async def _look(self) -> Surroundings:
        desktop = self.desktop
        if isinstance(desktop, NoDesktop):
            return Surroundings()

        def see() -> Surroundings:
            return Surroundings(focus=desktop.focused(), windows=desktop.windows())

        return await asyncio.get_running_loop().run_in_executor(self.pool, see)

    def _focused(self) -> Any:
        return None if isinstance(self.desktop, NoDesktop) else self.desktop.focused()

    async def _speak(self, speaker: Speaker | None, text: str, cancel: CancelFlag) -> str:
        """Say the reply; what was really heard of it. A missing loudspeaker is noted, not fatal."""
        if speaker is None:
            return ""
        try:
            return await asyncio.get_running_loop().run_in_executor(self.pool, speaker.say, text, cancel)
        except Cancelled:
            return ""
        except AudioError as error:
            self.bus.publish(Noticed(text=str(error), level="warning"))
            return ""


class _Sound:
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
            endpoint=Endpointer(config.endpoint, SileroVad(), lambda text: fast.read(text, Context()) is not None),
            interjection=Endpointer.for_interjections(SileroVad()),
            recogniser=assistant.transcriber,
            bus=self.bus,
            on_text=lambda text, samples: assistant.hear(Request(text=text, source="microphone")),
            on_stop=assistant.stopped_by_voice,
            busy=lambda: assistant.busy,
            own_voice=own,
            phrase=wake_phrase(config),
        )
        self.stack.callback(loop.close)
        return loop


def check_sound_hardware(config: Config) -> SoundFacts:
    """Record two seconds and play a beep that must come back. Raises AudioError where there is no PortAudio."""
    bus, devices = Bus(), SoundDevices()
    microphone, playback = Microphone(config.audio, devices, bus), Playback(config.audio, devices)
    try:
        return check_sound(microphone, playback)
    finally:
        microphone.close()
        playback.close()


def wake_phrase(config: Config) -> str:
    """The wake word as it is spoken: hey_jarvis is "hey jarvis"."""
    return Path(config.wake.word).stem.split("_v0")[0].replace("_", " ")


def _nothing() -> None:
    """Silences a speaker that does not exist."""
