"""Commands that run a text: sh -c, a script, standard input, eval, source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from anovax.safety.finding import Finding, ask, notice, refuse
from anovax.safety.normalise import words
from anovax.safety.posix.expand import OPEN
from anovax.safety.posix.words import Command, Word

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

SHELLS = words("""sh bash dash zsh ksh mksh ash rbash fish csh tcsh busybox-sh pwsh-sh rzsh yash elvish""")
DOWNLOADERS = words(
    """curl wget fetch lwp-download lwp-request aria2c http https httpie lynx links w3m elinks nc ncat netcat socat scp
    ftp tftp openssl telnet"""
)


def shell(command: Command, run: Run) -> list[Finding]:
    """sh, bash…: ``-c TEXT``, a script, or its standard input."""
    rest = list(command.args)
    while rest and re.match(r"[-+]", rest[0].text) and rest[0].text != "-":
        option = rest.pop(0).text
        if re.fullmatch(r"-[a-zA-Z]*[cC][a-zA-Z]*", option):
            return _text(rest, run, command)
        if option in ("--rcfile", "--init-file") and rest:
            return known_file(rest[0], run)
        if option in ("-o", "+o", "-O", "+O") and rest:
            rest.pop(0)
    if rest and rest[0].text not in ("-", "/dev/stdin") and not (command.has("s") and command.piped):
        return known_file(rest[0], run)
    return _piped(command, run) if command.piped else []


def _text(rest: list[Word], run: Run, command: Command) -> list[Finding]:
    if not rest:
        return []
    run.env.update({str(n): OPEN if word.open else word.text for n, word in enumerate(rest[1:10])})
    run.script(rest[0].text, command.stdin)
    if rest[0].open or rest[0].hidden:
        return [ask("assembled", "the command is assembled at run time and cannot be judged beforehand")]
    return []


def is_temporary(path: str) -> bool:
    return re.match(r"(?i)/(tmp|var/tmp|dev/shm)/", path) is not None


def known_file(word: Word, run: Run) -> list[Finding]:
    if word.text in run.files:
        content = run.files[word.text]
        if content is None:
            return [_unseen(run)]
        run.script(content)
        return [ask("assembled", "it runs a script that it has just written")]
    if word.open or word.substituted or word.text.startswith("/dev/tcp"):
        return [ask("assembled", "which script it runs is known only then")]
    if is_temporary(word.text):
        return [ask("script", "it runs a script from a temporary folder")]
    return [notice("script", f"it runs the script {word.text}")]


def _piped(command: Command, run: Run) -> list[Finding]:
    """What comes in through a pipe is run."""
    if command.stdin is None:
        return [_unseen(run)]
    run.script(command.stdin)
    if run.decoded:
        return [ask("assembled", "it runs a text that was hidden in an encoding")]
    return [notice("script", "it runs a text")]


def _unseen(run: Run) -> Finding:
    if run.source in DOWNLOADERS:
        return refuse("download_run", "it would run a program from the internet that nobody has looked at")
    return ask("assembled", "what it runs is known only then")


def evaluate(command: Command, run: Run) -> list[Finding]:
    run.script(" ".join(command.texts), command.stdin)
    if any(word.open or word.hidden for word in command.args):
        return (
            [_unseen(run)]
            if any(word.substituted for word in command.args)
            else [ask("assembled", "the command is assembled at run time")]
        )
    return []


def source(command: Command, run: Run) -> list[Finding]:
    word = command.args[0] if command.args else None
    if word is None:
        return []
    if word.text == "/dev/stdin":
        return _piped(command, run)
    return known_file(word, run)
