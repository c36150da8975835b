"""One simple command: is it what it seems, what does it run, what does it touch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from anovax.safety import paths
from anovax.safety.finding import Finding, ask, notice, refuse
from anovax.safety.normalise import words
from anovax.safety.posix import acting, archives, code, desktop, files, machine, network, packages, system, tools
from anovax.safety.posix.outputs import outputs
from anovax.safety.posix.shells import DOWNLOADERS, SHELLS, is_temporary, known_file
from anovax.safety.posix.unknown import throws_away
from anovax.safety.posix.words import Command, Redirect, Word
from anovax.safety.posix.wrappers import WRAPPERS, unwrap

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

RULES: dict[str, files.Rule] = {
    **code.RULES,
    **network.RULES,
    **tools.RULES,
    **packages.RULES,
    **machine.RULES,
    **system.RULES,
    **files.RULES,
    **acting.RULES,
    **archives.RULES,
    **desktop.RULES,
}
# They only print their arguments, or read about a program
_TALK = words(
    """echo printf man which whereis type whatis apropos info help tldr cheat notify-send say espeak espeak-ng spd-say
    zenity cowsay figlet banner logger-none basename dirname seq cd pushd popd ls-none true false : test [ export
    local declare typeset readonly unset alias expr command-v"""
)  # fmt: skip
PROGRAMS = frozenset(RULES) | WRAPPERS | SHELLS | code.OFFENSIVE
# Variables whose value other programs run
_NAMES_PROGRAM = words(
    """PAGER EDITOR VISUAL BROWSER MANPAGER GIT_PAGER GIT_EDITOR GIT_SSH_COMMAND GIT_SEQUENCE_EDITOR FCEDIT SHELL PS4
    SYSTEMD_PAGER SYSTEMD_EDITOR SUDO_EDITOR LESSOPEN LESSCLOSE PROMPT_COMMAND RSYNC_RSH"""
)
_ASSIGNS = words("export declare typeset readonly local env")
_RUNS_ANYWAY = words("""xargs eval find env nohup nice timeout time exec command builtin awk perl ruby php node""")


def judge(command: Command, run: Run) -> Iterable[Finding]:
    """All findings about one command; what it runs inside is run, and found, by ``run``."""
    for found in _findings(command, run):
        unseen = found == notice("script", found.reason) and run.fetched & {"unpacked", "cloned"}
        yield ask("download_run", f"{found.reason}, perhaps what it has just fetched") if unseen else found
    _note_fetched(command, run)


def _note_fetched(command: Command, run: Run) -> None:
    """Remember that files came from elsewhere. What is only updated has been there before, and looked at."""
    if command.name in DOWNLOADERS:
        run.fetched.add("download")
    elif command.name in archives.RULES and ("download" in run.fetched or run.source in DOWNLOADERS):
        run.fetched.add("unpacked")
    elif (command.name in ("git", "gh", "glab", "hg", "bzr", "fossil") and "clone" in command.low) or (
        command.name == "svn" and {"checkout", "co", "export"} & {*command.low}
    ):
        run.fetched.add("cloned")


def _findings(command: Command, run: Run) -> Iterator[Finding]:
    if command.words and command.words[0].text == "=" and len(command.words) == 3:
        yield from _present(_assigned(command, run))
        return
    yield from _redirected(command)
    if not command.words:
        return
    yield from _present(_hidden_program(command))
    if _asks_for_help(command):
        return
    yield from _known(command, run)
    if command.words[0].text != command.words[0].text.casefold() and not command.words[0].open:
        lowered = (command.words[0], *(Word(w.text.casefold(), w.open, w.hidden) for w in command.args))
        yield from _known(command.inner((Word(command.name), *lowered[1:])), run)
    yield from _present(_arguments(command))
    yield from outputs(command, run)


def _present(*findings: Finding | None) -> Iterator[Finding]:
    yield from (finding for finding in findings if finding is not None)


def _known(command: Command, run: Run) -> Iterator[Finding]:
    if code.offensive(command):
        yield refuse("attack_tool", "it is a tool for attacking computers or stealing passwords")
    if "/" in command.words[0].text and command.words[0].text in run.files:
        yield from known_file(command.words[0], run)
    yield from unwrap(command, run)
    if command.name in ("cd", "pushd", "chdir"):
        run.change_folder(command.operands()[0].text if command.operands() else "")
    if command.name in _ASSIGNS:
        yield from _declared(command)
    if command.name in ("powershell", "pwsh", "cmd") and run.also is not None:
        yield from run.also(" ".join((command.name, *command.texts)))
    rule = RULES.get(command.name) or (RULES["mkfs"] if command.name.startswith("mkfs") else None)
    if rule is not None:
        yield from _present(rule(command, run))
    elif command.name not in PROGRAMS and command.name not in _TALK:
        yield from _present(throws_away(command))


def _declared(command: Command) -> Iterator[Finding]:
    if command.name in ("declare", "local", "typeset") and command.has("n"):
        yield ask("hidden", "it lets one name stand for another")
    for text in command.texts:
        name, equals, value = text.partition("=")
        if equals and re.fullmatch(r"\w+", name):
            yield from _present(system.assignment(name, value), system.assignment(name.upper(), value))


def _assigned(command: Command, run: Run) -> Finding | None:
    name, value = command.texts
    found = system.assignment(name, value)
    if name in _NAMES_PROGRAM:
        run.script(value)
    if found is not None and name == "IFS":
        return None if value in ("", "\n", "\t", ",", ":") else found
    return found


def _asks_for_help(command: Command) -> bool:
    if (
        command.name in SHELLS
        or command.name in _RUNS_ANYWAY
        or len(command.args) > 2
        or any(w.open for w in command.args)
    ):
        return False
    return any(text in ("--help", "--version", "-help", "--usage") for text in command.low)


def _hidden_program(command: Command) -> Finding | None:
    """The name of a program is plain, or somebody hides it."""
    word = command.words[0]
    if word.open and not word.text:
        return ask("assembled", "which program runs is known only when it runs")
    if word.open or word.hidden or word.odd or word.substituted:
        return ask("hidden", "the program's name is put together so that it cannot be read")
    if word.globbed and word.text not in ("[", "[[") and not re.match(r"https?://\w", word.text):
        return ask("hidden", "which program runs is left to a pattern")
    if re.search(r"[/\\]\.\.?[/\\]|//", word.text.lstrip("./")) and not re.match(r"https?:", word.text):
        return ask("hidden", "the program's path takes detours")
    if re.match(r"/etc/(init\.d|rc\.d|rc\w*\.d)/", word.text):
        return ask("services", "it changes what the system runs")
    if is_temporary(word.text):
        return ask("script", "it runs a program from a temporary folder")
    return notice("script", f"it runs {word.text}") if _of_the_user(word.text) else None


def _of_the_user(program: str) -> bool:
    """A program named by its path, that is not the system's."""
    return "/" in program and not re.match(r"https?:|/(usr|s?bin|lib\w*|opt|snap|nix|app|etc)/", program)


def _redirected(command: Command) -> Iterator[Finding]:
    for redirect in command.redirects:
        path = command.path(redirect.target)
        if path.casefold().startswith(("/dev/tcp/", "/dev/udp/")):
            yield refuse("reverse_shell", "it opens a hidden connection to another computer")
        elif redirect.writes and not redirect.operator.endswith("&"):
            yield from _present(files.written(path), _emptied(command, redirect))
        elif not redirect.writes:
            yield from _present(_secret(path))
        if redirect.target.open and redirect.writes:
            yield ask("assembled", "which file it writes is known only when it runs")
        if redirect.target.hidden or redirect.target.globbed:
            yield ask("hidden", "the file's name is put together so that it cannot be read")


def _emptied(command: Command, redirect: Redirect) -> Finding | None:
    if (
        command.words
        and command.name not in (":", "true")
        and not (command.name == "cat" and command.texts == ("/dev/null",))
        and not (command.name in ("echo", "printf") and set(command.texts) <= {"", "-n", "-e", "-ne", "-en"})
    ):
        return None
    plain = ">" in redirect.operator and ">>" not in redirect.operator and not redirect.target.text.startswith("/dev/")
    return ask("overwrite", "it empties a file") if plain and command.words else None


def _secret(path: str) -> Finding | None:
    return ask("secrets", f"it uses {path}, which holds secrets") if paths.is_secret(path) else None


def _arguments(command: Command) -> Finding | None:
    """Whatever the program is: its arguments must not be disguised, nor name secrets or devices."""
    printed = command.name in ("echo", "printf")  # constant texts are judged where they go
    if any(word.hidden and (word.open or not printed) for word in command.args):
        return ask("hidden", "an argument is put together so that it cannot be read")
    if command.name in _TALK:
        return None
    patterns = _patterns(command)
    for word in command.args:
        if any(word is pattern for pattern in patterns):
            continue
        for text in _paths_in(word.text):
            path = command.path(Word(text))
            if paths.is_device(path) and command.name not in (
                "ls",
                "stat",
                "file",
                "lsblk",
                "blkid",
                "findmnt",
                "udevadm",
                "v4l2-ctl",
            ):
                return ask("device", f"it uses the device {path}")
            if found := _secret(path):
                return found
    return None


def _patterns(command: Command) -> tuple[Word, ...]:
    """What is looked for is no file: "grep password notes.txt"."""
    named = command.name in files.SEARCHES and not command.has("ef", "regexp", "file")
    return command.operands("ABCm")[:1] if named else ()


def _paths_in(text: str) -> list[str]:
    """The parts of an argument that may be file names: ``--file=X``, ``if=X``, ``@X``, ``user:X``."""
    if not text or len(text) > 1000 or text.startswith(("http://", "https://")):
        return []
    parts = [text, *re.split(r"[=@:,]", text)[1:]]
    found = [part.strip("'\"<>()") for part in parts if part and (" " not in part or part[0] in "/~")]
    return [part.replace("file://", "") for part in found if part]
