"""What any program may write or run by its options: ``-o FILE``, ``--command=TEXT``, its own input, endless input."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from anovax.safety.finding import Finding, ask
from anovax.safety.normalise import words
from anovax.safety.posix.files import written
from anovax.safety.posix.words import Command, Word

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

_RUNS = re.compile(
    r"--(?:\w+-)*(?:filter|program|command|cmd|exec|execute|askpass|pager|editor|rsh|eval|hook|run|wrapper)=(.+)",
    re.DOTALL,
)
# The last of their files is written
_LAST = words("xxd uniq convert magick ffmpeg avconv sox gs qpdf pdftk optipng cwebp lame mogrify inkscape")
_ENDLESS = re.compile(r"/dev/(zero|full|random|urandom)")
_SMALL = re.compile(r"\d{1,9}|\d{1,4}[kK]i?B?|\d{1,3}[mM]i?B?")


def outputs(command: Command, run: Run) -> Iterator[Finding]:
    """Rules for every program, whatever it is called."""
    for text in command.texts:
        if runs := _RUNS.fullmatch(text):
            run.script(runs[1])
    for path in _written(command):
        if found := written(path):
            yield found
    if _over_itself(command):
        yield ask("overwrite", "it empties the file that it reads")
    if _fills_the_disk(command):
        yield ask("endless", "it writes until the disk is full")


def _written(command: Command) -> Iterator[str]:
    for text, word in zip(command.texts, command.args[1:], strict=False):
        if text in ("-o", "--output", "--out", "-write", "--outfile", "--output-file") and "=" not in word.text:
            yield command.path(word)
    for text in command.texts:
        if given := re.match(r"(?:--(?:out|output|outfile|output-file)=|-o(?=[~/]))(.+)", text):
            yield command.path(Word(re.sub(r"^~(?=/)", "/home/user", given[1])))
    files = command.operands()
    if command.name in _LAST and len(files) > 1:
        yield command.path(files[-1])


def _over_itself(command: Command) -> bool:
    """``sort f > f``: the shell empties the file before the program reads it."""
    emptied = {command.path(r.target) for r in command.redirects if r.operator in (">", "1>", ">|")}
    read = {command.path(r.target) for r in command.redirects if r.operator == "<"}
    return bool(emptied & ({command.path(word) for word in command.operands()} | read) - {"/dev/null"})


def _fills_the_disk(command: Command) -> bool:
    """Bytes that never end, into a file; ``head -c 1M`` takes only some."""
    sources = [word.text for word in (*command.operands(), *(r.target for r in command.redirects if not r.writes))]
    if command.name == "dd" or not any(map(_ENDLESS.fullmatch, sources)):
        return False
    if command.name == "head":
        taken = re.search(r"(?:-c|-n|--bytes=|--lines=) ?(\S+)", " ".join(command.texts))
        return taken is not None and not _SMALL.fullmatch(taken[1]) and bool(command.redirects)
    return any(r.writes and not r.target.text.startswith("/dev/") for r in command.redirects)
