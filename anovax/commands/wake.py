"""wake: the wake word in recordings; wake train: a wake word of your own."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from anovax.commands.output import JSON_OPTION, emit, note, progress
from anovax.config import load_config
from anovax.errors import AudioError, Cancelled, UsageError


class FilesOrCommand(TyperGroup):
    """``anovax wake kitchen.wav`` is ``anovax wake listen kitchen.wav``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = ["listen", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=FilesOrCommand,
    no_args_is_help=True,
    help="The wake word in recordings, or training one of your own. Example: anovax wake kitchen.wav",
)


@app.command()
def listen(
    files: list[Path] = typer.Argument(..., help="Recordings of any format and sample rate."),
    threshold: float | None = typer.Option(None, "--threshold", help="Another score from which a wake word counts."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Wake-word detections in recordings. Example: anovax wake kitchen.wav"""
    from anovax.sound import build_wake

    config = load_config()
    if threshold is not None:
        if not 0 < threshold < 1:
            raise UsageError(f"{threshold:g} is no score", "take one between 0 and 1")
        config = config.model_copy(update={"wake": config.wake.model_copy(update={"threshold": threshold})})
    for path in files:
        if not path.exists():
            raise AudioError(f"There is no file {path}", "check its name")
    detector = build_wake(config)
    for path in progress(files, len(files), "listening"):
        row = _detections(detector, path)
        if json_only:
            emit(row)
            continue
        found = ", ".join(f"{d['word']} at {d['t']:.2f} s ({d['score']:.2f})" for d in row["detections"])
        typer.echo(f"{path}: {found or 'nothing'}")


@app.command()
def train(
    phrase: str = typer.Argument(..., help="What shall wake it, in English words."),
    output: Path | None = typer.Option(None, "-o", "--output", help="The ONNX file; otherwise beside the weights."),
    positives: int = typer.Option(2000, "--positives", help="How often the phrase is said to learn from."),
    spelling: list[str] = typer.Option([], "--spelling", help="Another way to write it, for the synthesisers."),
    negatives: Path | None = typer.Option(None, "--negatives", help="A folder of recordings without the phrase."),
    hold_out: list[str] = typer.Option([], "--hold-out", help="A voice or family to keep for the test, too."),
    test_hours: float = typer.Option(2.0, "--test-hours", min=0.0, help="Hours of speech in the test."),
    processes: int = typer.Option(0, "--processes", min=0, help="How many at once; 0: one per core."),
    seed: int = typer.Option(0, "--seed", help="Other draws."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Make a wake word from synthetic speech, here and offline. Example: anovax wake train "hey anova" """
    from anovax.training.phrases import checked
    from anovax.training.recipe import Recipe
    from anovax.training.train import train_wake_word

    said = checked(phrase)
    recipe = Recipe(
        phrase=said,
        spellings=(said, *map(checked, spelling)),
        positives=positives,
        test_hours=test_hours,
        hold_out=tuple(hold_out),
        negatives=_recordings(negatives),
        seed=seed,
    )
    place = _place(said, output, processes or os.cpu_count() or 1)
    told = Bar()
    try:
        report = train_wake_word(recipe, place, told)
    except KeyboardInterrupt:
        raise Cancelled("nothing was written") from None
    finally:
        told.close()
    emit(report.model_dump()) if json_only else typer.echo(_told(report))


class Bar:
    """Shows on standard error how far a stage is: a line that redraws on a terminal, a line per stage in a pipe."""

    def __init__(self) -> None:
        self._live, self._stage, self._began, self._shown = sys.stderr.isatty(), "", 0.0, 0.0

    def __call__(self, stage: str, done: int, of: int) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self.close()
            self._stage, self._began = stage, now
            if not self._live:
                note(f"{stage} ({of}) …")
        if self._live and (now - self._shown > 0.2 or done >= of):
            self._shown = now
            left = (now - self._began) / max(done, 1) * (of - done)
            bar = "█" * (28 * done // max(of, 1))
            print(
                f"\r\x1b[K{bar:·<28} {done}/{of} {stage}, {left / 60:.0f} min left", end="", file=sys.stderr, flush=True
            )

    def close(self) -> None:
        """End the line. Safe twice."""
        if self._live and self._stage:
            print(file=sys.stderr)
        self._stage = ""


def _place(phrase: str, output: Path | None, processes: int) -> Any:
    from anovax import weights
    from anovax.setup.manifest import models_dir
    from anovax.training.train import Place
    from anovax.training.voices import gather

    word = phrase.replace(" ", "_").replace("'", "")
    if weights.known(f"wake/{word}"):
        word += "_v0_own"  # what stands after _v0 is no part of the phrase
    path = output or models_dir() / "wake" / f"{word}.onnx"
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder {path.parent}", "make it, or name another with --output")
    voice = weights.find(f"tts/{load_config().tts.voice}")
    return Place(partial(gather, (voice,)), weights.find("wake/features"), path, processes)


def _recordings(folder: Path | None) -> tuple[Path, ...]:
    from anovax.bench.wake import ENDINGS

    if folder is None:
        return ()
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS) if folder.is_dir() else []
    if not found:
        raise UsageError(f"There are no recordings in {folder}", "name a folder with sound files")
    return tuple(found)


def _told(report: Any) -> str:
    """The report for people."""
    at, best = report.at, report.best
    lines = [
        f"{report.file}: “{report.phrase}”, learnt in {report.seconds / 60:.0f} min.",
        f"{report.learnt} examples ({report.learnt_hours} h) by {len(report.learning)} voices.",
        f"Use it: word = “{_name(Path(report.file))}” under [wake] in the configuration.",
        *(f"Not here: {name}." for name in report.missing),
    ]
    if not at.positives:
        return "\n".join([*lines, "There were too few voices to keep some for a test; how good it is, nobody knows."])
    low, high = at.false_reject_95
    fewer, more = at.per_hour_95
    missed = f"{best.false_reject:.1%} missed (threshold {best.threshold})" if best else "not reached"
    lines += [
        f"Tested with {len(report.held_out)} other voices, never heard before:",
        f"  missed: {at.positives - at.detected} of {at.positives} (95%: {low:.1%} to {high:.1%})",
        f"  false accepts: {at.false_accepts} in {at.hours:.1f} h (per hour, 95%: {fewer:.2f} to {more:.2f})",
        f"  near phrases taken for it: {report.near.count} of {report.near.of}",
        *(f"  missed from {share.name}: {share.count} of {share.of}" for share in report.rejected),
        f"  at 0.5 false accepts per hour: {missed}",
        "The voices are synthetic: people in your room may fare worse. Try it: anovax bench wake FOLDER",
    ]
    return "\n".join(lines)


def _name(path: Path) -> str:
    from anovax.setup.manifest import models_dir

    return path.stem if path.parent == models_dir() / "wake" else str(path.absolute())


def _detections(detector: Any, path: Path) -> dict[str, Any]:
    from anovax.voice.audio import read_blocks

    started, length = time.process_time(), 0
    detector.reset()

    def blocks() -> Any:
        nonlocal length
        for block in read_blocks(path):
            length += len(block)
            yield block

    found = [{"t": d.t, "word": d.word, "score": d.score} for d in detector.scan(blocks())]
    spent = round(time.process_time() - started, 3)
    return {"file": str(path), "seconds": round(length / 16_000, 3), "cpu_s": spent, "detections": found}
