"""Ten minutes of speech, noise and commands, faster than life: nothing missed, nothing invented, nothing that grows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest
import voice_rig as rig
from test_voice_loop import Heard, words

pytestmark = [pytest.mark.models, pytest.mark.full]
Weight = Callable[[str], Path]

COMMANDS = ("open the calculator", "take a screenshot", "close the window", "what time is it", "scroll down please")
CHATTER = (
    "I told her that we would be late for dinner again",
    "and then the train stopped in the middle of nowhere",
    "the weather will be fine until the end of the week",
)


@pytest.mark.timeout(1800)
def test_a_long_day(weight: Weight) -> None:
    say = rig.Piper(weight("tts/en_US-joe-medium"))
    stt = rig.transcriber(weight)
    heard = Heard(weight, stt)
    noises = [rig.music(4.0), rig.join(rig.cough(1), rig.cough(2), gap_s=0.3), rig.room_noise(4.0, level=900)]
    draw = np.random.default_rng(11)
    wanted: list[str] = []
    process, memory = psutil.Process(), []
    try:
        for turn in range(60):
            heard.hear(
                noises[int(draw.integers(len(noises)))],
                rig.silence(1.0),
                say(CHATTER[turn % len(CHATTER)]),
                after_s=1.5,
            )
            command = COMMANDS[turn % len(COMMANDS)]
            heard.hear(say("hey jarvis"), rig.silence(float(draw.uniform(0.1, 1.2))), say(command), after_s=2.5)
            wanted.append(command)
            memory.append(process.memory_info().rss / 1e6)
        spelled = [words(text).replace(" ", "") for text in heard.texts]  # "screen shot" is right, too
        assert spelled == [text.replace(" ", "") for text in wanted]
        assert heard.stops == 0
        assert max(memory[30:]) - max(memory[10:20]) < 30.0  # MB: what is still learnt settles, nothing grows on
        assert threading.active_count() < 12
    finally:
        stt.close()
        say.close()
