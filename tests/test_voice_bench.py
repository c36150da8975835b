"""The voice benchmarks count right."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import voice_rig as rig

from anovax.bench import latency_stt, voice, wake
from anovax.bench.table import wilson
from anovax.config import Config
from anovax.errors import AudioError, UsageError
from anovax.voice.audio import write_wav
from anovax.voice.virtual_sound import NEEDED

Weight = Callable[[str], Path]


@pytest.mark.parametrize(
    ("reference", "heard", "errors", "words"),
    [
        ("open the calculator", "Open the calculator.", 0, 3),
        ("open the calculator", "Open a calculator", 1, 3),
        ("twenty one", "21", 0, 1),
        ("stop", "", 1, 1),
        ("[slots] light roast; sugar", "a light roast with Sugar please", 0, 3),
        ("[slots] light roast; sugar", "a dark roast with sugar", 2, 3),
        ("[contains] the weather", "what's the weather now", 0, 2),
    ],
)
def test_word_errors(reference: str, heard: str, errors: int, words: int) -> None:
    pytest.importorskip("whisper_normalizer", reason="part of the bench extra")
    assert latency_stt.word_errors(reference, heard) == (errors, words)


def test_distance_counts_insertions_deletions_and_replacements() -> None:
    assert latency_stt.distance("a b c".split(), "a x c d".split()) == 2
    assert latency_stt.distance([], "a b".split()) == 2
    assert latency_stt.distance("a b".split(), []) == 2


def test_intervals_hold_known_values() -> None:
    low, high = wilson(5, 100)
    assert (round(low, 3), round(high, 3)) == (0.022, 0.112)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wake.poisson_95(0) == (0.0, pytest.approx(3.689, abs=0.001))
    low, high = wake.poisson_95(10)
    assert (round(low, 2), round(high, 2)) == (4.80, 18.39)


def test_one_phrase_is_one_accept() -> None:
    assert wake.count_accepts([0.1, 0.9, 0.9, 0.9, 0.1], 0.5) == 1
    assert wake.count_accepts([0.9, *[0.0] * 30, 0.9], 0.5) == 2
    assert wake.count_accepts([0.4] * 50, 0.5) == 0


@pytest.mark.models
@pytest.mark.timeout(60)
def test_a_folder_of_recordings_is_measured(tmp_path: Path, weight: Weight) -> None:
    say = rig.Piper(weight("tts/en_US-joe-medium"))
    for folder, text in (("wake", "hey jarvis"), ("other", "the weather is fine today")):
        (tmp_path / folder).mkdir()
        write_wav(tmp_path / folder / "clip.wav", say(text))
    say.close()
    positives, negatives = wake.recordings(tmp_path)
    report = wake.measure(rig.wake_detector(weight), "hey_jarvis", positives, negatives)
    assert (report.at.detected, report.at.positives, report.at.false_accepts) == (1, 1, 0)
    assert report.at.false_reject == 0.0
    assert [p.threshold for p in report.sweep] == list(wake.THRESHOLDS)
    assert [p.detected for p in report.sweep] == sorted((p.detected for p in report.sweep), reverse=True)
    assert report.cpu_percent > 0
    picture = tmp_path / "det.png"
    wake.plot_det(report, picture)
    assert picture.stat().st_size > 1000


def test_no_folder_and_no_recordings_are_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        wake.recordings(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="no table"):
        latency_stt.read_clips(tmp_path / "nowhere.tsv")


def test_clips_are_read_from_a_table(tmp_path: Path) -> None:
    folder = tmp_path / "speech"
    folder.mkdir()
    write_wav(folder / "a.wav", rig.silence(0.1))
    (folder / "transcripts.tsv").write_text("path\ttext\nspeech/a.wav\thello\nspeech/gone.wav\tnope\nspeech/a.wav\t\n")
    assert [clip.text for clip in latency_stt.read_clips(folder / "transcripts.tsv")] == ["hello"]


def test_a_figure_counts_what_did_not_happen() -> None:
    figure = voice._figure("x", [0.1, None, 0.3], 250)
    assert (figure.trials, figure.missed, figure.p50, figure.longest) == (3, 1, 200.0, 300.0)
    with pytest.raises(AudioError, match="nothing was heard in 2 trials"):
        voice._figure("x", [None, None], None)


def test_the_last_sound_is_found() -> None:
    assert voice._last_loud(rig.join(rig.silence(0.1), rig.louder(rig.cough(), 1.0), rig.silence(0.5))) > 1600
    assert voice._last_loud(rig.silence(0.5)) == 0


@pytest.mark.full
@pytest.mark.e2e
@pytest.mark.models
@pytest.mark.timeout(400)
def test_the_voice_is_measured_on_virtual_hardware(weight: Weight) -> None:
    for model in ("tts/en_US-joe-medium", "stt/tiny.en", "wake/hey_jarvis", "wake/features"):
        weight(model)
    if any(shutil.which(tool) is None for tool in NEEDED):
        pytest.skip("PulseAudio and its tools are needed for virtual sound hardware")
    figures = voice.run(Config(), trials=2)
    assert len(figures) == 10
    assert all(figure.p50 < 10_000 for figure in figures)
