"""The one place where parts are built, wired and closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from anovax.assistant import Assistant
from anovax.bus import Bus
from anovax.config import Config, PlannerConfig
from anovax.consent import ConsentDesk
from anovax.desktop import Desktop
from anovax.desktop import build as build_desktop
from anovax.desktop.applications import Applications
from anovax.errors import AudioError, Cancelled, DesktopError
from anovax.events import Noticed
from anovax.journal import Journal
from anovax.memory import Memory
from anovax.orchestrator import Orchestrator
from anovax.planner.chain import FirstOf
from anovax.planner.fastpath import FastPath
from anovax.planner.gemini import Gemini
from anovax.planner.llamacpp import LlamaCpp
from anovax.planner.openai import OpenAI
from anovax.planner.protocol import Planner
from anovax.planner.remote import OrLocal, Remote
from anovax.planning import Planning
from anovax.record import journal_folder
from anovax.recovery import Recovery
from anovax.remote import LaptopScreen, PhonePort
from anovax.request import Surroundings
from anovax.safety import Safety
from anovax.setup.manifest import models_dir
from anovax.sound import Sound, build_transcriber
from anovax.tool import Agent, AgentParts, CancelFlag, Done, StepContext, Toolbox, discover
from anovax.turn import TurnParts
from anovax.turns import Turns
from anovax.voice.speak import Speaker


@dataclass(frozen=True)
class Wanted:
    """Which parts this run needs beside planner, safety and agents."""

    listen: bool = False
    speak: bool = True
    stt: bool = False
    companion: bool = False


@asynccontextmanager
async def build(
    config: Config,
    wanted: Wanted,
    desktop: Desktop | None = None,
    planner: Planner | None = None,
    bus: Bus | None = None,
) -> AsyncIterator[Assistant]:
    """A running assistant; everything it owns is closed in reverse order at the end. ``desktop`` and ``planner``: those
    to use, where they are not this machine's and the configured one; they are closed with the rest. So is ``bus``, for
    who wants to hear what is said while it is built."""
    async with AsyncExitStack() as stack:
        bus = bus or Bus()
        stack.callback(bus.close)
        if config.journal.enabled:
            stack.callback(Journal(journal_folder(config), config.journal, bus).close)
        tools = discover()
        safety = Safety(tools, config.safety, config.desktop.search_url)
        planning = Planning(tools, planner or build_planner(config, tools), safety)
        stack.callback(planning.planner.close)
        core = _Core(config, bus, planning, stack, desktop)
        sound = Sound(config, bus, stack) if wanted.speak or wanted.listen else None
        speaker = sound.speaker() if sound and wanted.speak and config.tts.enabled else None
        turns, consent = core.turns(speaker)
        assistant = Assistant(bus, turns, consent, planning)
        stack.push_async_callback(assistant.close)
        assistant.desktop = core.desktop
        if not isinstance(core.desktop, NoDesktop):
            stack.callback(core.desktop.on_escape_twice(lambda: assistant.stopped_by("escape")))
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


class NoDesktop:
    """Stands where the desktop would be on a machine without one: whoever reaches for it gets the reason."""

    def __init__(self, reason: DesktopError) -> None:
        self._reason = reason

    def __getattr__(self, name: str) -> Any:
        raise self._reason


class _Core:
    """Builds what acts: desktop, agents, orchestrator, memory, turns."""

    def __init__(
        self, config: Config, bus: Bus, planning: Planning, stack: AsyncExitStack, desktop: Desktop | None = None
    ) -> None:
        self.config, self.bus, self.planning, self.stack = config, bus, planning, stack
        self.pool = ThreadPoolExecutor(2, "desktop")  # looks at the desktop, and speaks the reply
        stack.callback(self.pool.shutdown, wait=False, cancel_futures=True)
        self.desktop = self._desktop(desktop)
        self.memory = Memory(config)
        self.silent = ""  # why the last reply was not spoken

    def _desktop(self, given: Desktop | None) -> Desktop | NoDesktop:
        try:
            desktop = given or build_desktop(self.config.desktop)
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
                recovery=Recovery(config.recovery, tools) if self._repairs() else None,
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

    def _repairs(self) -> bool:
        """Whether a failed step is repaired: where there is no desktop, nothing that failed can be done another way."""
        return self.config.recovery.enabled and not isinstance(self.desktop, NoDesktop)

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
        """Say the reply; what was really heard of it. A missing loudspeaker is noted once, not fatal."""
        if speaker is None:
            return ""
        silent, self.silent = self.silent, ""
        try:
            return await asyncio.get_running_loop().run_in_executor(self.pool, speaker.say, text, cancel)
        except Cancelled:
            return ""
        except AudioError as error:
            self.silent = str(error)
            if self.silent != silent:
                self.bus.publish(Noticed(text=self.silent, level="warning"))
            return ""
