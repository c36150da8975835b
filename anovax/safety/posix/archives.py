"""Archives: packing, unpacking, and the options that run other programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anovax.safety import paths
from anovax.safety.finding import Finding, ask
from anovax.safety.posix.files import written
from anovax.safety.posix.words import Command

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

Rule = Callable[[Command, "Run"], "Finding | None"]


def archive(command: Command, run: Run) -> Finding | None:
    """tar, zip, 7z, cpio…: options that run programs, passwords, deleting the originals, packing everything."""
    text = " ".join(command.low)
    if re.search(
        (
            r"--(checkpoint-action|to-command|use-compress-program|rsh-command|rmt-command|info-script|new-volume-script|"
            r"remove-files)|-tt\b|--unzip-command"
        ),
        text,
    ) or any(re.match(r"-[IF]", option) for option in command.texts if command.name in ("tar", "bsdtar")):
        return ask("run", "its options run another program or delete the originals")
    if command.name in ("tar", "bsdtar") and re.search(r"^-?[a-zA-Z]*P|\s-P\b|--absolute", " ".join(command.texts)):
        return ask("overwrite", "it writes wherever the archive says")
    locks = r"(^|\s)(-p\S*|-e\b|-hp\S*|--password|--encrypt|-m\b|-sdel)|^(m|mf|d)\s"
    moves = command.name == "zip" and command.has("m", "move")
    if moves or (command.name in ("zip", "7z", "7za", "7zr", "rar") and re.search(locks, text)):
        return ask("encrypt", "it locks files behind a password or deletes the originals")
    named = [command.path(word) for word in command.operands()]
    if any(paths.is_whole(path) and path not in ("/tmp",) for path in named[1:]):
        return ask("collect", "it packs a whole home or system")
    writes = (
        named[:1] if re.search(r"^-?[a-z]*c|--create", text) or command.name not in ("tar", "unzip", "unrar") else []
    )
    extracts = re.search(r"(?:-c|--directory[= ])\s*(/\S*)", text) if re.search(r"^-?\w*x|--extract", text) else None
    return next((f for path in [*writes, *([extracts[1]] if extracts else [])] if (f := written(path))), None)


RULES: Mapping[str, Rule] = dict.fromkeys(
    ("tar", "bsdtar", "zip", "unzip", "7z", "7za", "7zr", "rar", "unrar", "cpio", "ar", "pax"), archive
)
