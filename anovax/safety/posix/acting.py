"""Commands that act in the user's place or let others in: mail, recordings, pressed keys, servers, sessions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anovax.safety.finding import Finding, ask, notice
from anovax.safety.normalise import words
from anovax.safety.posix.words import Command, Word

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

Rule = Callable[[Command, "Run"], "Finding | None"]


def _always(rule: str, reason: str, names: str, bare: bool = False) -> dict[str, Rule]:
    """Asked about when there are arguments; ``bare``: also without."""

    def judge(command: Command, run: Run) -> Finding | None:
        return ask(rule, reason) if command.args or bare else None

    return dict.fromkeys(words(names), judge)


def _presses(command: Command, run: Run) -> Finding | None:
    """xdotool and its kind type and click in any window, past everything that is judged here."""
    if command.low[:1] and re.match(r"get|search|version|help", command.low[0]) and len(command.args) < 4:
        return None
    return ask("keys", "it types or clicks by itself") if command.args else None


def _records(command: Command, run: Run) -> Finding | None:
    """ffmpeg: from a file it converts, from a device it records. import is ImageMagick's."""
    text = " ".join(command.low)
    if command.name in ("rec", "sox"):
        from_device = command.name == "rec" or command.texts[:1] == ("-d",)
        return ask("spying", "it records the microphone") if command.args and from_device else None
    if command.name == "import":
        taken = re.search(r"(^|\s)-\w|\.\w{3,4}\b|:", text)
        return ask("spying", "it records the screen") if taken else None
    if re.search(r"-f\s+(x11grab|avfoundation|gdigrab|dshow|v4l2|pulse|alsa|kmsgrab|fbdev|jack)\b", text):
        return ask("spying", "it records the screen, the camera or the microphone")
    return None


def _mails(command: Command, run: Run) -> Finding | None:
    if command.piped or command.redirects or any(text.startswith("-") for text in command.texts):
        return ask("send", "it sends a message")
    return None


def _renames(command: Command, run: Run) -> Finding | None:
    if command.has("n", "dry-run", "no-act", "just-print"):
        return None
    many = any(word.globbed or word.open for word in command.args) or command.piped or command.name == "mmv"
    return ask("move", "it renames many files") if many else notice("move", "it renames files")


def _callbacks(command: Command, run: Run) -> Finding | None:
    """complete -C, mapfile -C, bind -x: commands that the shell itself runs later."""
    for option, value in zip(command.texts, command.texts[1:], strict=False):
        if option in ("-C", "-x", "-F"):
            run.script(value.partition(":")[2].strip(" '\"") if option == "-x" else value)
    if (command.name == "hash" and command.has("p")) or (command.name == "enable" and command.has("f")):
        return ask("hidden", "it gives a command another program")
    if command.name == "bind" and any(re.search(r"\\[nrC]|\n|:\s*[^\s:]* \S", text) for text in command.texts):
        return ask("startup", "it makes a key run a command")
    return None


def _busybox(command: Command, run: Run) -> Finding | None:
    return (
        ask("share", "it lets other computers in") if command.low[:1] in (("httpd",), ("telnetd",), ("nc",)) else None
    )


def _everything(command: Command, run: Run) -> Finding | None:
    """ansible: one command on many computers."""
    for option, value in zip(command.texts, command.texts[1:], strict=False):
        if option in ("-a", "--args"):
            run.script(value)
    if command.has("a", "args") or "state=absent" in " ".join(command.low):
        return ask("remote", "it runs a command on other computers or deletes things there")
    return None


def _preferences(command: Command, run: Run) -> Finding | None:
    """gsettings, dconf"""
    if command.low[:1] not in (("set",), ("write",), ("reset",), ("reset-recursively",), ("load",), ("update",)):
        return None
    grave = command.low[0] in ("reset-recursively", "load") or command.has("f")
    if grave or re.search(r"lockdown|screensaver|privacy|proxy|keybinding|autorun|security|terminal|exec|command",
                          " ".join(command.low)):  # fmt: skip
        return ask("settings", "it changes settings that protect this computer, or many at once")
    return notice("settings", "it changes a setting")


def _editor_of_code(command: Command, run: Run) -> Finding | None:
    if any("install-extension" in text for text in command.low):
        return ask("packages", "it installs or removes software")
    return None


def _grouped(command: Command, run: Run) -> Finding | None:
    """parallel: what comes in through the pipe are arguments, or the commands themselves."""
    if (command.piped and not command.args) or any(re.match(r"::::?$", text) for text in command.texts[:1]):
        return ask("assembled", "what it runs is known only then")
    if command.piped and command.args:
        run.run(command.inner((*command.args, Word("", open=True)), redirects=(), stdin="", piped=False))
    return None


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(words("xdotool ydotool wtype xte xsendkeys dotool kdotool cliclick"), _presses),
    **dict.fromkeys(words("ffmpeg avconv import sox rec"), _records),
    **dict.fromkeys(words("mail mailx s-nail"), _mails),
    **dict.fromkeys(words("rename prename perl-rename file-rename mmv zmv qmv vidir"), _renames),
    **dict.fromkeys(words("complete compgen mapfile readarray bind hash enable"), _callbacks),
    **dict.fromkeys(words("code codium code-insiders cursor"), _editor_of_code),
    "gsettings": _preferences, "dconf": _preferences, "busybox": _busybox, "ansible": _everything, "parallel": _grouped,
    **_always("send", "it sends a message", "sendmail msmtp ssmtp swaks"),
    **_always("encrypt", "it locks files or hides data in others",
              "ccrypt ccencrypt ccdecrypt mcrypt aescrypt steghide outguess"),
    **_always("power", "it ends the session", "gnome-session-quit xfce4-session-logout mate-session-save "
              "cinnamon-session-quit lxsession-logout lxqt-leave qterminal-logout", bare=True),
    **_always("settings", "it changes who may use the screen, the keys or the network card",
              "xhost xmodmap loadkeys chvt macchanger dsenableroot pw pwpolicy ifdown ifup kextutil codesign"),
    **_always("packages", "it installs, removes or changes software",
              "cpan cpanm add-apt-repository nix-collect-garbage emerge"),
}  # fmt: skip
