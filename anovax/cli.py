"""The command line: subcommands, one sentence per error, exit codes 0 / 1 / 2. Thin on purpose."""

from __future__ import annotations

import logging
import os
import sys
from io import TextIOWrapper

import typer

from anovax import __version__
from anovax.commands import (
    ask,
    bench,
    bench_ablation,
    bench_day,
    bench_study,
    bench_voice,
    demo,
    doctor,
    models,
    phone,
    record,
    settings,
    speech,
    wake,
)
from anovax.errors import AnovaxError

app = typer.Typer(
    name="anovax",
    help="A fully offline voice assistant for your desktop. Without a command it starts listening.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for part in (ask, demo, speech, doctor, record, phone):
    part.register(app)
app.add_typer(wake.app, name="wake")
app.add_typer(models.app, name="models")
bench_voice.register(bench.app)
bench_study.register(bench.app)
bench_ablation.register(bench.app)
bench_day.register(bench.app)
app.add_typer(bench.app, name="bench")
app.add_typer(settings.app, name="config")


def _version(show: bool) -> None:
    if show:
        typer.echo("\n".join(doctor.versions(__version__)))
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Show what happens inside."),
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Versions of all engines."),
) -> None:
    logging.basicConfig(level=logging.INFO if verbose else logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
    if context.invoked_subcommand is None:
        ask.run()


def main() -> None:
    """Entry point. Nothing but one clear sentence ever reaches the user when something goes wrong."""
    _keep_stderr()
    try:
        app()
    except AnovaxError as error:
        _leave(str(error), error.exit_code)
    except KeyboardInterrupt:
        _leave("Stopped.", 130)
    except BrokenPipeError:  # the reader of our output has gone; nothing can be said to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        _leave(f"The system refused: {error.strerror or error}{where}; run anovax doctor to see what is missing.", 1)
    except Exception as error:  # a bug: said in a sentence, with the way to the details
        logging.getLogger(__name__).info("internal error", exc_info=error)
        _leave(f"AnovaX has a fault ({type(error).__name__}: {error}); run it again with --verbose and report it.", 1)


def _keep_stderr() -> None:
    """Write to a descriptor of our own: sounddevice points number 2 at nothing whenever it looks for devices, and what
    is printed meanwhile would be lost."""
    old = sys.stderr
    if isinstance(old, TextIOWrapper) and old is sys.__stderr__:
        sys.stderr = os.fdopen(os.dup(old.fileno()), "w", buffering=1, encoding=old.encoding, errors=old.errors)


def _leave(message: str, code: int) -> None:
    print(message, file=sys.stderr)
    sys.exit(code)
