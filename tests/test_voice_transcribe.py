"""Speech to text: right on speech, silent on everything else, never in a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import voice_rig as rig

from anovax.config import SttConfig
from anovax.errors import AudioError, Cancelled, WeightsError
from anovax.tool import CancelFlag
from anovax.voice import SAMPLE_RATE, to_float
from anovax.voice.guards import Decoded, believed, doubtful, repeats, tidy, unlooped
from anovax.voice.transcribe import FULL_WINDOW_S, Transcriber, segments, window_for
from anovax.voice.vad import SileroVad
from anovax.voice.vocabulary import COMMANDS, vocabulary

pytestmark = [pytest.mark.models, pytest.mark.timeout(60)]  # loading models on a busy machine takes its time
Weight = Callable[[str], Path]


def words(text: str) -> str:
    return " ".join("".join(c for c in text.lower() if c.isalnum() or c == " ").split())


@pytest.mark.parametrize(
    "text", ["open the calculator", "what time is it in London", "take a screenshot and close the window"]
)
def test_speech_becomes_its_words_with_a_short_window(stt: Transcriber, say: rig.Piper, text: str) -> None:
    heard = stt.transcribe(rig.join(rig.room_noise(0.4), say(text), rig.room_noise(0.4)))
    assert words(heard.text) == words(text)
    assert heard.window_s < FULL_WINDOW_S
    assert not heard.fallback
    assert heard.ms > 0


@pytest.mark.parametrize("word", ["stop", "yes", "computer"])
def test_one_short_word_is_not_repeated(stt: Transcriber, say: rig.Piper, word: str) -> None:
    heard = stt.transcribe(rig.join(rig.room_noise(0.3), say(word), rig.room_noise(0.3)))
    assert words(heard.text) == word


NOISES = {
    "digital silence": lambda: rig.silence(3.0),
    "a quiet room": lambda: rig.room_noise(4.0),
    "a loud fan": lambda: rig.room_noise(4.0, level=2500),
    "white noise": lambda: np.random.default_rng(5).normal(0, 1500, 4 * SAMPLE_RATE).astype(np.int16),
    "a cough": lambda: rig.join(rig.room_noise(0.5), rig.cough(), rig.room_noise(1.0)),
    "three coughs": lambda: rig.join(rig.cough(1), rig.cough(2), rig.cough(4), gap_s=0.4),
    "music": lambda: rig.music(5.0),
    "a hum": lambda: rig.louder(rig.music(1.0) * 0 + 1, 0.0),
    "a click": lambda: rig.join(rig.silence(1.0), np.full(30, 20_000, np.int16), rig.silence(1.0)),
}


@pytest.mark.parametrize("what", NOISES)
def test_no_speech_no_text(stt: Transcriber, what: str) -> None:
    assert stt.transcribe(NOISES[what]()).text == ""


def test_nothing_at_all_is_no_text(stt: Transcriber) -> None:
    assert stt.transcribe(rig.silence(0.0)).text == ""
    assert stt.transcribe(rig.silence(0.02)).text == ""


def test_a_long_recording_is_cut_at_pauses_and_nothing_is_lost(stt: Transcriber, say: rig.Piper) -> None:
    spoken = [f"sentence number {n} is here" for n in ("one", "two", "three", "four", "five", "six", "seven", "eight")]
    sound = rig.join(*(say(text) for text in spoken), *(say(text) for text in spoken), gap_s=0.6)
    seen: list[float] = []
    heard = stt.transcribe(sound, progress=seen.append)
    assert len(sound) / SAMPLE_RATE > FULL_WINDOW_S
    assert words(heard.text).count("sentence") == len(spoken) * 2
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(len(sound) / SAMPLE_RATE, abs=0.01)


def test_it_can_be_cancelled_between_pieces(stt: Transcriber, say: rig.Piper) -> None:
    flag = CancelFlag()
    sound = rig.join(*[say("this is a sentence of some length that goes on for a while")] * 20)
    with pytest.raises(Cancelled):
        stt.transcribe(sound, flag, progress=lambda seconds: flag.set())


def test_float_and_int16_give_the_same(stt: Transcriber, say: rig.Piper) -> None:
    sound = say("open the calculator")
    assert stt.transcribe(sound).text == stt.transcribe(to_float(sound)).text


def test_stereo_is_refused(stt: Transcriber) -> None:
    with pytest.raises(AudioError, match="mono"):
        stt.transcribe(np.zeros((100, 2), np.int16))


def test_no_model_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="no speech model"):
        Transcriber(SttConfig(), tmp_path)
    (tmp_path / "model.bin").write_bytes(b"broken")
    with pytest.raises(WeightsError, match="cannot be loaded"):
        Transcriber(SttConfig(), tmp_path)


# --- the guards, as pure functions ---


@pytest.mark.parametrize(
    ("text", "loop"),
    [
        ("ten of clubs ten of clubs ten of clubs", True),
        ("computer computer", True),
        ("no no no no", True),
        ("what's the weather what's the weather", True),
        ("five", False),
        ("open the calculator and open the editor", False),
        ("bye bye for now", False),
        ("", False),
    ],
)
def test_repetition_is_seen(text: str, loop: bool) -> None:
    assert repeats(text.split()) is loop


def test_doubtful_results_go_to_the_full_window() -> None:
    assert not doubtful(Decoded("open the calculator", 0.01, -0.2, 15.0), 2.0)
    assert doubtful(Decoded("open open open", 0.01, -0.2, 15.0), 2.0)
    assert doubtful(Decoded("open the calculator", 0.01, -1.4, 15.0), 2.0)
    assert doubtful(Decoded("one two three four five six seven eight nine ten", 0.01, -0.2, 15.0), 1.0)
    assert doubtful(Decoded("", 0.9, 0.0, 15.0), 2.0)


def test_inventions_are_not_believed_and_speech_is() -> None:
    assert believed(Decoded("Thank you.", 0.7, -0.5, 30.0), 0.3).text == ""
    assert believed(Decoded("Thank you.", 0.02, -0.3, 30.0), 0.8).text == "Thank you."
    assert believed(Decoded("open the calculator", 0.02, -0.3, 30.0), 1.5).text == "open the calculator"
    assert believed(Decoded("something or other", 0.8, -1.1, 30.0), 1.5).text == ""


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("Computer. Computer. Computer. Computer. Computer.", "Computer."),
        ("ten of clubs ten of clubs ten of clubs ten of clubs please", "ten of clubs please"),
        ("no no no", "no no no"),
        ("room one is here, room two is here, room three is here, room four is here", None),
        ("", ""),
    ],
)
def test_a_loop_is_said_once_and_speech_that_resembles_one_is_kept(text: str, once: str | None) -> None:
    assert unlooped(text) == (text if once is None else once)


def test_windows_have_a_floor_and_a_ceiling() -> None:
    assert window_for(0.5) == window_for(5.0) < FULL_WINDOW_S
    assert window_for(20.0) >= 20.0
    assert window_for(200.0) == FULL_WINDOW_S


def test_notes_are_no_words() -> None:
    assert tidy(" [Music]  hello (applause) ♪ world *sighs*") == "hello world"


def test_cuts_are_bounded_and_lose_nothing() -> None:
    sound = np.random.default_rng(0).normal(0, 0.1, 70 * SAMPLE_RATE).astype(np.float32)
    pieces = list(segments(sound))
    assert all(len(piece) <= 24 * SAMPLE_RATE for piece in pieces)
    assert np.array_equal(np.concatenate(pieces), sound)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ((), COMMANDS),
        (("Firefox",), f"Installed: Firefox. {COMMANDS}"),
        (("Files", "files ", "", "x" * 25), f"Installed: files. {COMMANDS}"),
        ([f"App {n}" for n in range(100)], "Installed: " + ", ".join(f"App {n}" for n in range(24)) + f". {COMMANDS}"),
    ],
)
def test_the_vocabulary_names_what_is_installed(names: Sequence[str], words: str) -> None:
    assert vocabulary(names) == words


def test_the_vocabulary_mends_names_and_adds_nothing_to_silence(weight: Weight, say: rig.Piper) -> None:
    names = ("Rhythmbox", "Thunar", "Shotwell", "Xfburn")
    clips = {name: rig.join(rig.room_noise(0.4), say(f"open {name}"), rig.room_noise(0.4)) for name in names}
    models = [
        Transcriber(SttConfig(), weight("stt/tiny.en"), lambda words=words: words, SileroVad())  # type: ignore[misc]
        for words in ("", vocabulary(names))
    ]
    try:
        plain, hinted = (sum(name in model.transcribe(clip).text for name, clip in clips.items()) for model in models)
        assert hinted >= plain + 2
        for nothing in (rig.silence(2), rig.room_noise(3, 400), rig.music(3), rig.cough()):
            assert models[1].transcribe(nothing).text == ""
    finally:
        for model in models:
            model.close()
