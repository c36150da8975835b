"""The desktop's own commands: the trash, window managers, default applications."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from anovax.safety import paths
from anovax.safety.finding import Finding, ask, notice
from anovax.safety.normalise import words
from anovax.safety.posix.network import Rule, open_file
from anovax.safety.posix.words import Command, Word

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run


def _trash(command: Command, run: Run) -> Finding | None:
    """``trash FILE``, ``gio trash FILE``, ``kioclient move FILE trash:/``: can be taken back, emptying cannot."""
    text = " ".join(command.low)
    if re.search(r"empty|(^|\s)(remove|rm|del|delete)\s", text) or command.name in ("trash-empty", "trash-rm"):
        return ask("delete", "it deletes for good")
    verb = command.low[:1]
    if command.name in ("gio", "kioclient", "kioclient5", "kioclient6", "gvfs-trash") and "trash" not in text:
        return open_file(command, run) if verb == ("open",) else None
    files = [word for word in command.operands() if word.text != "trash"]
    if any(word.open or word.globbed or paths.is_whole(command.path(word)) for word in files):
        return ask("delete", "it puts many files into the trash")
    return notice("delete", "it puts files into the trash") if files else None


def _window_manager(command: Command, run: Run) -> Finding | None:
    """i3-msg, swaymsg, hyprctl…: they end the session, close windows and start programs."""
    inside = re.search(r"\b(?:exec|spawn|exec_always)\s+(?:--\S+\s+)*(.+)", " ".join(command.texts))
    if inside:
        run.script(inside[1])
    if re.search(r"exit|quit|kill|logout|exec|spawn|close|poweroff|reboot|dispatch|(^|\s)-c\b", " ".join(command.low)):
        return ask("power", "it ends the session, closes windows or starts programs")
    return None


def _defaults(command: Command, run: Run) -> Finding | None:
    if command.low[:1] in (("default",), ("set",), ("install",), ("uninstall",)):
        return ask("settings", "it changes which program opens files or addresses")
    return None


def _screens(command: Command, run: Run) -> Finding | None:
    """xrandr"""
    return ask("settings", "it turns a screen off") if "--off" in command.low else None


def _directory(command: Command, run: Run) -> Finding | None:
    """run-parts: every script of a folder."""
    folder = command.path(command.operands()[0]) if command.operands() else ""
    if not folder or command.has("", "test", "list"):
        return None
    return ask("script", "it runs all scripts of a folder")


def _builds(command: Command, run: Run) -> None:
    """``cmake -E COMMAND``: a command of its own in every shell."""
    if command.texts[:1] == ("-E",) and len(command.args) > 1:
        names = {"remove": "rm", "remove_directory": "rm", "rename": "mv"}
        word = Word(names.get(command.texts[1], command.texts[1]))
        run.run(command.inner((word, *command.args[2:]), redirects=()))


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        words("trash trash-put trash-rm trash-empty gio gvfs-trash kioclient kioclient5 kioclient6"), _trash
    ),
    **dict.fromkeys(
        words("i3-msg swaymsg hyprctl bspc herbstclient awesome-client qtile openbox fluxbox-remote wmctrl riverctl"),
        _window_manager,
    ),
    **dict.fromkeys(words("xdg-mime xdg-settings xdg-desktop-menu xdg-icon-resource"), _defaults),
    "xrandr": _screens, "run-parts": _directory, "cmake": _builds,
}  # fmt: skip
