"""How commands print: JSON for scripts, text for people, progress only on a terminal."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import typer

from anovax.errors import AnovaxError
from anovax.planning import told_while

T = TypeVar("T")

JSON_OPTION = typer.Option(False, "--json", help="Print JSON only.")


def emit(value: Any) -> None:
    """One JSON object on one line of standard output. A figure that is not known or has no bound is null."""
    typer.echo(json.dumps(_known(value), ensure_ascii=False, default=str, allow_nan=False))


def _known(value: Any) -> Any:
    """``value`` with None for NaN and infinity, which JSON has not."""
    if isinstance(value, dict):
        return {key: _known(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_known(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def note(text: str) -> None:
    """A remark for the person at the terminal; never mixed into piped output."""
    typer.echo(text, err=True)


def progress(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    """Show a bar on standard error while iterating, if that is a terminal and there is more than one item."""
    if total < 2 or not sys.stderr.isatty():
        yield from items
        return
    with typer.progressbar(items, length=total, label=label, file=sys.stderr) as bar:
        yield from bar


@contextmanager
def bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """A function that is told (done, of) and shows it as a bar on standard error, if that is a terminal."""
    with ExitStack() as stack:
        shown: list[Any] = []

        def tell(done: int, of: int) -> None:
            if not shown and sys.stderr.isatty():
                made = typer.progressbar(length=of, label=label, file=sys.stderr, show_pos=True)
                shown.append(stack.enter_context(made))
            for one in shown:
                one.update(1)

        yield tell


async def patiently(work: Awaitable[T], ready: Callable[[], Awaitable[None]], after_s: float = 5.0) -> T:
    """What ``work`` gives; who waits for it at a terminal is told when that is because the model is not ``ready``."""

    def say(seconds: float) -> None:
        note(f"The model is being prepared ({seconds:.0f} s). The first time that takes a minute or more.")

    async def tell() -> None:
        with contextlib.suppress(AnovaxError):  # work meets the same fault, and says it
            await told_while(ready, say, after_s)

    telling = asyncio.create_task(tell()) if sys.stderr.isatty() else None
    try:
        return await work
    finally:
        if telling is not None:
            telling.cancel()


def lines_of_stdin() -> Iterator[str]:
    """Standard input line by line, without the line ends; bytes that are no UTF-8 are replaced."""
    for raw in sys.stdin.buffer:
        line = raw.decode("utf-8", errors="replace").rstrip("\r\n")
        if line.strip():
            yield line
