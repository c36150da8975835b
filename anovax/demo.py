"""The whole chain on a machine that has neither screen nor sound: virtual ones, a spoken command, a verified result.

Nothing is assumed: the calculator's window is read back from the screen, the answer is recorded from the loudspeaker
and transcribed again, and the network is a namespace with only loopback whose packet counter is read at the end.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anovax.app import Wanted, build
from anovax.assistant import Assistant
from anovax.bench.virtual import on_display
from anovax.bus import Subscription
from anovax.config import Config, isolated
from anovax.desktop import Desktop
from anovax.desktop import build as build_desktop
from anovax.desktop.ocr import Ocr
from anovax.desktop.virtual_display import virtual_display
from anovax.errors import AnovaxError
from anovax.events import (
    Event,
    Judged,
    PlanMade,
    SpeechEnded,
    SpeechStarted,
    StepFinished,
    StepStarted,
    Transcribed,
    TurnFinished,
    TurnStarted,
    UtteranceEnded,
    WakeHeard,
)
from anovax.isolation import Isolation
from anovax.planning import told_while
from anovax.request import Request
from anovax.sound import build_speaker, wake_phrase
from anovax.voice import SAMPLE_RATE, Samples, resampled, to_int16
from anovax.voice.audio import load_audio, write_wav
from anovax.voice.virtual_sound import VirtualSound

COMMAND = "open the calculator, type 21 plus 21 and press enter"
EXPECTED = "42"
WAKE_S, TURN_S, SPEECH_S = 20.0, 120.0, 30.0
SEED = 1  # Piper draws noise: the command is spoken the same way every time
DRAWN_S = 5.0  # a busy machine may draw late
AUDIBLE = 200.0  # int16 RMS over the loudest second, from which the recording counts as speech


class DemoFailed(AnovaxError):
    """One of the things that the demo promises did not happen."""


@dataclass
class Result:
    """What happened: checks by name, milliseconds by stage, files."""

    folder: Path
    heard: str = ""
    said: str = ""
    checks: dict[str, str] = field(default_factory=dict)  # name -> "" when it held, else what went wrong
    stages: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return bool(self.checks) and not any(self.checks.values())

    def check(self, name: str, held: bool, otherwise: str) -> None:
        self.checks[name] = "" if held else otherwise


async def run(
    config: Config,
    isolation: Isolation,
    folder: Path,
    audio: Path | None = None,
    text: str = "",
    tell: Callable[[str], None] = lambda line: None,
) -> Result:
    """Run the demo in ``folder``. ``audio`` or ``text`` replace the spoken command; ``tell`` hears of each step."""
    result = Result(folder)
    with ExitStack() as stack:
        started = time.monotonic()
        sound = stack.enter_context(VirtualSound())
        stack.enter_context(sound.use())
        display = stack.enter_context(virtual_display())
        stack.enter_context(on_display(display))
        tell(f"virtual sound and display {display} are up ({time.monotonic() - started:.1f} s)")
        config = isolated(config, folder)
        async with build(config, Wanted(listen=not text, speak=True)) as assistant:
            await _chain(_Stage(config, assistant, sound, result, tell), audio, text)
            _read_back(config, result, own=bool(audio or text))
    tried, how = isolation.left()
    result.facts["network"] = how
    if isolation.attempts.seen:
        result.facts["tried to reach"] = sorted(set(isolation.attempts.seen))
    result.check("nothing left the machine", tried == 0, f"{tried} attempts to leave the machine ({how})")
    (folder / "result.json").write_text(json.dumps(as_json(result), indent=1, ensure_ascii=False), encoding="utf-8")
    return result


@dataclass(frozen=True)
class _Stage:
    config: Config
    assistant: Assistant
    sound: VirtualSound
    result: Result
    tell: Callable[[str], None]


async def _chain(stage: _Stage, audio: Path | None, text: str) -> None:
    """From the spoken (or given) command to the spoken answer; records events and the loudspeaker."""
    assistant, result = stage.assistant, stage.result
    loop = asyncio.get_running_loop()
    events = assistant.bus.subscribe(10_000)
    started = time.monotonic()
    stage.tell("making the models ready; the first time that takes a minute or more")
    await told_while(assistant.ready, lambda seconds: stage.tell(f"still at it after {seconds:.0f} s"))
    stage.tell(f"the models are ready ({time.monotonic() - started:.1f} s)")
    recorder = stage.sound.record_loudspeaker()
    if text:
        speech_end = time.time()
        assistant.submit(Request(text=text))
    else:
        spoken = await loop.run_in_executor(None, _spoken, stage.config, audio)
        write_wav(result.folder / "command.wav", spoken, SAMPLE_RATE)
        stage.tell("speaking into the microphone")
        await loop.run_in_executor(None, stage.sound.play_into_microphone, spoken)
        speech_end = time.time()
    seen = await loop.run_in_executor(None, _until_spoken, events, stage.tell)
    answer = recorder.stop()
    write_wav(result.folder / "answer.wav", answer, SAMPLE_RATE)
    _write_events(result.folder / "events.jsonl", seen)
    _judge_events(stage, seen, speech_end, bool(text))
    await _judge_answer(stage, answer)


def _spoken(config: Config, audio: Path | None) -> Samples:
    """The recording to play: wake phrase, a short pause, the command; or ``audio`` as it is."""
    if audio is not None:
        return to_int16(load_audio(audio, max_s=60))
    import onnxruntime

    onnxruntime.set_seed(SEED)
    speaker = build_speaker(config, None)
    try:
        parts = []
        for phrase, pause_s in ((wake_phrase(config), 0.5), (COMMAND, 0.2)):
            samples, rate = speaker.synthesise(phrase)
            parts += [resampled(samples, rate), np.zeros(round(pause_s * SAMPLE_RATE), np.int16)]
        return np.concatenate(parts)
    finally:
        speaker.close()


def _until_spoken(events: Subscription, tell: Callable[[str], None]) -> list[Event]:
    """All events until the answer has been spoken; DemoFailed when the chain stands still."""
    seen: list[Event] = []
    deadline, waiting_for = time.monotonic() + WAKE_S, "the wake word was not heard"
    finished = False
    while True:
        event = events.get(max(0.0, deadline - time.monotonic()))
        if event is None:
            if finished:
                return seen
            raise DemoFailed(f"The demo stopped: {waiting_for}", "look at events.jsonl and command.wav")
        seen.append(event)
        tell(_told(event))
        if isinstance(event, WakeHeard | TurnStarted):
            deadline, waiting_for = time.monotonic() + TURN_S, "the request did not end"
        if isinstance(event, UtteranceEnded) and event.reason in ("empty", "cancelled"):
            raise DemoFailed("After the wake word no command was heard", "listen to command.wav")
        if isinstance(event, TurnFinished):
            finished, deadline = True, time.monotonic() + 0.5


def _told(event: Event) -> str:
    from anovax.console import line_for

    return line_for(event)


def _write_events(path: Path, events: list[Event]) -> None:
    path.write_text("\n".join(json.dumps(e.to_json(), ensure_ascii=False) for e in events) + "\n", encoding="utf-8")


def _judge_events(stage: _Stage, seen: list[Event], speech_end: float, typed: bool) -> None:
    """Milliseconds per stage, counted from the end of speech, and the checks that events can answer."""
    result = stage.result

    def when(kind: type[Event], last: bool = False) -> float | None:
        times = [event.moment for event in seen if type(event) is kind]
        return (times[-1] if last else times[0]) if times else None

    for name, kind, last in (
        ("wake", WakeHeard, False),
        ("endpoint", UtteranceEnded, False),
        ("text", Transcribed, False),
        ("plan", PlanMade, False),
        ("verdict", Judged, False),
        ("first effect starts", StepStarted, False),
        ("last step done", StepFinished, True),
        ("first audio", SpeechStarted, False),
        ("answer spoken", SpeechEnded, True),
    ):
        at = when(kind, last)
        if at is not None:
            result.stages[name] = round((at - speech_end) * 1000)
    result.heard = next((e.text for e in seen if isinstance(e, TurnStarted)), "")
    ended = [event for event in seen if isinstance(event, TurnFinished)]
    result.said = ended[-1].said if ended else ""
    if not typed:
        result.check("woken", when(WakeHeard) is not None, "the wake word was not heard")
    done = [event for event in seen if isinstance(event, StepFinished)]
    failed = [f"{event.tool}: {event.error}" for event in done if event.status not in ("verified", "unverified")]
    result.check("every step done", bool(done) and not failed, "; ".join(failed) or "no step was run")


async def _judge_answer(stage: _Stage, answer: Samples) -> None:
    """The answer must be in the recording of the loudspeaker: loud enough, and with the words that were meant."""
    result, transcriber = stage.result, stage.assistant.transcriber
    starts = range(0, max(1, len(answer)), SAMPLE_RATE // 2)
    loudest = max(_rms(answer[start : start + SAMPLE_RATE]) for start in starts)
    result.check("the answer was played", loudest >= AUDIBLE, f"the loudspeaker's recording is silent ({loudest:.0f})")
    if transcriber is not None and loudest >= AUDIBLE:
        heard = await asyncio.wrap_future(transcriber.submit(answer))
        result.facts["answer heard"] = heard.text


def _rms(samples: Samples) -> float:
    return float(np.sqrt(np.mean(samples.astype(np.float64) ** 2))) if len(samples) else 0.0


def _read_back(config: Config, result: Result, own: bool) -> None:
    """Screenshot, and what the calculator's window really shows, unless a request of the user's ``own`` names none."""
    from PIL import Image

    with build_desktop(config.desktop) as desktop:
        Image.fromarray(desktop.screenshot()).save(result.folder / "screenshot.png")
        if not own or "calculator" in result.heard.lower():
            shown = _calculator_text(desktop)
            result.facts["calculator shows"] = (shown or "")[:200]
            right = re.search(rf"\b{EXPECTED}\b", shown or "") is not None
            otherwise = "no calculator is open" if shown is None else f"it shows {shown[:80]!r}"
            result.check(f"the calculator shows {EXPECTED}", right, otherwise)
    saved = (result.folder / "screenshot.png").stat().st_size
    result.check("screenshot on disk", saved > 0, "the screenshot is empty")


def _calculator_text(desktop: Desktop) -> str | None:
    """What stands in the calculator's windows, read from the screen; None when there is none. Waits for the drawing."""
    ocr, shown, end = Ocr(), None, time.monotonic() + DRAWN_S
    while shown is None or (EXPECTED not in shown and time.monotonic() < end):
        windows = [w for w in desktop.windows() if re.search("alcul", f"{w.app} {w.title}", re.I)]
        if windows:
            shown = " ".join(box.text for window in windows for box in ocr.read(desktop.screenshot(window)))
        elif time.monotonic() > end:
            return shown
        time.sleep(0.2)
    return shown


def as_json(result: Result) -> dict[str, Any]:
    return {
        "ok": result.ok,
        "heard": result.heard,
        "said": result.said,
        "checks": {name: wrong or "ok" for name, wrong in result.checks.items()},
        "ms_after_end_of_speech": result.stages,
        "facts": result.facts,
        "folder": str(result.folder),
    }
