"""transcribe, speak: single links of the voice chain, on files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from anovax.commands.output import JSON_OPTION, emit, progress
from anovax.config import load_config
from anovax.errors import AudioError, UsageError

FILES = typer.Argument(..., help="Recordings of any format and sample rate.")


def register(app: typer.Typer) -> None:
    app.command()(transcribe)
    app.command()(speak)


def transcribe(
    files: list[Path] = FILES,
    model: str = typer.Option("", "--model", help="Another model below stt/."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Speech to text. Example: anovax transcribe note.wav"""
    from anovax.sound import build_transcriber
    from anovax.voice.audio import load_audio

    config = load_config()
    if model:
        config = config.model_copy(update={"stt": config.stt.model_copy(update={"model": model})})
    sounds = _checked(files)
    transcriber = build_transcriber(config)
    try:
        for path in progress(sounds, len(sounds), "transcribing"):
            heard = transcriber.transcribe(load_audio(path))
            if json_only:
                row = {"file": str(path), "text": heard.text, "seconds": round(heard.seconds, 3)}
                emit({**row, "ms": round(heard.ms, 1), "window_s": heard.window_s, "fallback": heard.fallback})
            else:
                typer.echo(f"{path}: {heard.text}" if len(sounds) > 1 else heard.text)
    finally:
        transcriber.close()


def speak(
    text: str = typer.Argument(..., help="What to say."),
    output: Path | None = typer.Option(None, "-o", "--output", help="Write a WAV file instead of playing it."),
    json_only: bool = JSON_OPTION,
) -> None:
    """Text to speech. Example: anovax speak "Good morning" -o hello.wav"""
    from anovax.sound import build_playback, build_speaker
    from anovax.tool import CancelFlag
    from anovax.voice.audio import write_wav

    if not text.strip():
        raise UsageError("There is nothing to say", 'write: anovax speak "Good morning"')
    config = load_config()
    playback = build_playback(config) if output is None else None
    speaker = build_speaker(config, playback)
    try:
        if output is None:
            spoken = speaker.say(text, CancelFlag())
            row: dict[str, Any] = {"text": text, "spoken": spoken}
        else:
            samples, rate = speaker.synthesise(text)
            write_wav(output, samples, rate)
            row = {"text": text, "file": str(output), "seconds": round(len(samples) / rate, 3)}
    finally:
        speaker.close()
        if playback is not None:
            playback.close()
    if json_only:
        emit(row)
    elif output is not None:
        typer.echo(f"{output} ({row['seconds']} s)")


def _checked(files: list[Path]) -> list[Path]:
    """All named files exist; said before any model is loaded."""
    for path in files:
        if not path.exists():
            raise AudioError(f"There is no file {path}", "check its name")
    return files
