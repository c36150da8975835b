"""Commands that run another command: unwrap them and judge what really runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from anovax.safety.finding import Finding, ask, notice
from anovax.safety.normalise import words
from anovax.safety.posix.shells import SHELLS, evaluate, shell, source
from anovax.safety.posix.words import Command, Word

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

_ROOT = words("""sudo doas pkexec run0 su runuser gksudo gksu kdesudo beesu please calife super sudoedit sg newgrp""")

# name -> (one-letter options that take a value, operands before the command)
_PREFIXES: Mapping[str, tuple[str, int]] = {
    "sudo": ("ugpCDhrRtTU", 0), "doas": ("uCa", 0), "pkexec": ("", 0), "run0": ("", 0), "gksudo": ("u", 0),
    "gksu": ("u", 0), "kdesudo": ("u", 0),
    "env": ("uCP", 0), "nice": ("n", 0), "ionice": ("cnpPu", 0), "chrt": ("TPD", 1), "taskset": ("", 1), "nohup": ("",
    0), "setsid": ("", 0),
    "stdbuf": ("ioe", 0), "time": ("fo", 0), "timeout": ("ks", 1), "watch": ("nd", 0), "unbuffer": ("", 0),
    "chroot": ("", 1), "unshare": ("", 0),
    "nsenter": ("t", 0), "firejail": ("", 0), "bwrap": ("", 0), "proxychains": ("f", 0), "proxychains4": ("f", 0),
    "torsocks": ("", 0),
    "torify": ("", 0), "strace": ("eopsuPEaSXIO", 0), "ltrace": ("eopsunl", 0), "gdb": ("", 0), "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("a", 0), "busybox": ("", 0), "toybox": ("", 0), "systemd-run": ("pEMu", 0), "systemd-inhibit": ("", 0),
    "setarch": ("", 1),
    "dbus-run-session": ("", 0), "dbus-launch": ("", 0), "xvfb-run": ("nesfw", 0), "catchsegv": ("", 0),
    "flatpak-spawn": ("", 0),
    "fakeroot": ("lsb", 0), "runcon": ("turl", 1),
    "prlimit": ("", 0), "cpulimit": ("lpe", 0), "coproc": ("", 0), "ld.so": ("", 0), "ld-linux-x86-64.so.2": ("", 0),
    "faketime": ("", 1),
    "caffeinate": ("twi", 0), "rlwrap": ("", 0), "valgrind": ("", 0), "perf": ("", 1),
    "hyperfine": ("wmrn", 0),
    "parallel": ("j", 0), "gnome-terminal": ("", 0), "xterm": ("TtgbfnWC", 0), "konsole": ("", 0), "alacritty": ("t",
    0), "kitty": ("", 0),
    "x-terminal-emulator": ("", 0), "xfce4-terminal": ("T", 0), "lxterminal": ("t", 0), "terminator": ("", 0),
    "tilix": ("", 0), "urxvt": ("", 0),
    "st": ("", 0), "foot": ("", 0), "wezterm": ("", 1), "mate-terminal": ("", 0), "open": ("ab", 0), "entr": ("", 0),
    "noglob": ("", 0), "nocorrect": ("", 0),
    "then": ("", 0), "do": ("", 0), "else": ("", 0), "!": ("", 0), "-": ("", 0), "capsh": ("", 0), "setpriv": ("", 0),
}  # fmt: skip


def unwrap(command: Command, run: Run) -> list[Finding]:
    """Run what the command runs (its findings are collected by ``run``); returns findings about the wrapping itself."""
    name = command.name
    found: list[Finding] = []
    if name == "sudo" and command.texts and set(command.texts) <= {"-l", "-k", "-K", "-v"}:
        return found
    if name in _ROOT and command.args and not _asks_help(command):
        found.append(ask("elevate", "it runs with another user's rights"))
    if name in SHELLS:
        return [*found, *shell(command, run)]
    if name in _SPECIAL:
        return [*found, *_SPECIAL[name](command, run)]
    if name in ("strace", "ltrace", "perf") and command.has("p", "attach"):
        found.append(ask("spying", "it looks into a running program"))
    if name in _PREFIXES:
        _run_rest(command, run)
    return found


def _asks_help(command: Command) -> bool:
    return bool(command.texts) and all(text in ("--help", "--version", "-V", "-h") for text in command.texts)


def _run_rest(command: Command, run: Run) -> None:
    valued, operands = _PREFIXES[command.name]
    rest = list(command.args)
    while rest:
        text = rest[0].text
        if text == "--":
            rest.pop(0)
            break
        if command.name == "env" and (text.startswith(("-S", "--split-string"))):
            inner = text.partition("=")[2] if text.startswith("--") else text[2:]
            run.script(inner or "".join(word.text for word in rest[1:2]))
        if text in ("-c", "-e", "-x", "--command", "-ex") and text[1] not in valued and len(rest) > 1:
            _run_text(rest[1:], run, command)
            return
        if text.startswith(("-", "+")) and len(text) > 1:
            rest = rest[2 if len(text) == 2 and text[1] in valued else 1 :]
        elif text in ("{", "(", "!") or (command.name == "coproc" and len(rest) > 1 and rest[1].text in ("{", "(")):
            rest.pop(0)
        elif re.fullmatch(r"[A-Za-z_]\w*=.*", text, re.DOTALL) and command.name in ("env", "sudo", "doas"):
            _assign(rest.pop(0), run)
        else:
            break
    rest = rest[operands:]
    if rest:
        run.run(command.inner(tuple(rest), redirects=()))
        if " " in rest[0].text:  # a program's name has no blanks: it is a line of its own
            run.script(rest[0].text)


def _assign(word: Word, run: Run) -> None:
    name, _, value = word.text.partition("=")
    run.run(Command((Word("="), Word(name), Word(value, open=word.open))))


def _run_text(given: list[Word], run: Run, command: Command) -> None:
    """``-c TEXT`` or ``-e PROGRAM ARGS``: judged both ways."""
    run.script(given[0].text, command.stdin)
    if len(given) > 1:
        run.run(command.inner(tuple(given), redirects=()))


def _xargs(command: Command, run: Run) -> list[Finding]:
    rest, holder = list(command.args), ""
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option.startswith(("-I", "-i", "--replace")):
            holder = (
                option[2:]
                if len(option) > 2 and option[1] != "-"
                else (rest.pop(0).text if option == "-I" and rest else "{}")
            )
        elif option in ("-n", "-P", "-d", "-E", "-L", "-s", "-a", "-J", "-R") and rest:
            rest.pop(0)
    if not rest:
        return []
    given = [Word(text) for text in command.stdin.split()][:50] if command.stdin else [Word("", open=True)]
    whole = Word(command.stdin.strip()) if command.stdin else given[0]
    if command.stdin and Command((rest[0],)).name in SHELLS:
        run.script(command.stdin)  # with -0 or -d all of it is one argument
    if holder:
        inner = [
            Word(word.text.replace(holder, whole.text), open=word.open or (whole.open and holder in word.text))
            for word in rest
        ]
    else:
        inner = [*rest, *given]
    run.run(command.inner(tuple(inner), redirects=(), stdin="", piped=False))
    if whole.open and (rest[0].text == holder or Command((rest[0],)).name in (*SHELLS, "eval")):
        return [ask("assembled", "what it runs is known only then")]
    return []


def _su(command: Command, run: Run) -> list[Finding]:
    for index, text in enumerate(command.texts):
        if (re.fullmatch(r"-\w*c", text) or text == "--command") and index + 1 < len(command.args):
            run.script(command.texts[index + 1])
        if text.startswith("--command="):
            run.script(text.partition("=")[2])
    rest = list(command.operands("cgGsu"))
    if command.name == "runuser" and rest:
        run.run(command.inner(tuple(rest), redirects=()))
    return [] if command.args else [ask("elevate", "it becomes another user")]


def _ssh(command: Command, run: Run) -> list[Finding]:
    operands = command.operands("BbcDEeFIiJLlmOopQRSWw")
    if any(re.search(r"(?i)(proxy|local|hosts|remote)command|permitlocal", text) for text in command.texts):
        return [ask("run", "its options run another program")]
    if command.has("RDLNw"):
        return [ask("tunnel", "it opens a tunnel to another computer")]
    if command.piped and len(operands) == 1:
        run.script(command.stdin or "")
        return [ask("remote", "it runs commands on another computer")]
    if len(operands) > 1:
        run.script(" ".join(word.text for word in operands[1:]))
        return [ask("remote", "it runs a command on another computer")]
    return [notice("remote", "it connects to another computer")]


def _flock(command: Command, run: Run) -> list[Finding]:
    """flock FILE COMMAND, script FILE -c TEXT"""
    operands = command.operands("wEc")
    for text, value in zip(command.texts, command.texts[1:], strict=False):
        if re.fullmatch(r"-\w*c|--command", text):
            run.script(value)
    if len(operands) > 1:
        run.run(command.inner(operands[1:], redirects=()))
    return []


def _trap(command: Command, run: Run) -> list[Finding]:
    given = command.texts[1:] if command.texts[:1] == ("--",) else command.texts
    if len(given) > 1 and not given[0].startswith("-"):
        run.script(given[0])
        return [ask("startup", "it sets a command that runs later by itself")]
    return []


def _alias(command: Command, run: Run) -> list[Finding]:
    found: list[Finding] = []
    for text in command.texts:
        name, equals, value = text.partition("=")
        if equals:
            run.script(value)
            run.aliases[name] = value
            found.append(notice("alias", f"it gives {name} another meaning"))
            if name in ("sudo", "su", "ssh", "passwd", "ls", "cd", "rm", "cp", "mv", "cat"):
                found.append(ask("alias", f"it gives the command {name} another meaning"))
    return found


def _multiplexer(command: Command, run: Run) -> list[Finding]:
    """tmux, screen, dtach: what they start or type into a session."""
    for word in command.args:
        if " " in word.text:
            run.script(word.text)
    begun = command.operands("SctnsxFLfTe")[1 if command.name == "tmux" else 0 :]
    for index in range(min(len(begun), 3)):  # the first ones may be values of options
        run.run(command.inner(begun[index:], redirects=()))
    if begun and begun[0].text not in ("attach", "ls", "list"):
        return (
            [ask("run", "it types into another session")]
            if {"send-keys", "send", "stuff", "-X"} & set(command.texts)
            else []
        )
    return [ask("delete", "it ends a session")] if any(text.startswith("kill") for text in command.texts) else []


def _later(command: Command, run: Run) -> list[Finding]:
    """at, batch, crontab"""
    command_text = " ".join(command.low)
    if command.name == "crontab" and command.texts and set(command.texts) <= {"-l"}:
        return []
    if command.name == "batch" and not command.piped and not command.has("f"):
        return []  # it takes commands from a file or a pipe; typed ones would be lines of their own
    if command.name == "at" and (command.has("lV") or not re.search(r"\d|now|noon|midnight|teatime|-f", command_text)):
        return []
    if command.stdin:
        run.script(command.stdin)
    if command.name == "crontab" and command.has("r"):
        return [ask("schedule", "it deletes all scheduled tasks")]
    return (
        [ask("schedule", "it sets a command that runs later by itself")]
        if command.args or command.piped or command.name != "at"
        else []
    )


def _dynamic_loader(command: Command, run: Run) -> list[Finding]:
    if command.args:
        run.run(command.inner(command.args, redirects=()))
    return [ask("hidden", "it starts a program through the loader, which hides what runs")]


_RUNNERS = {
    **dict.fromkeys(words("uv poetry pipenv pdm hatch rye conda mamba pixi dotenv doppler op devbox"), "run"),
    **dict.fromkeys(words("bundle asdf rbenv pyenv nodenv mise direnv aws-vault rtx"), "exec"), "nix": "shell",
    "nix-shell": "--run", "toolbox": "run", "guix": "shell", "distrobox": "enter", "machinectl": "shell",
}  # fmt: skip
_RUNNERS_VALUED = words("-n -p --name --prefix --with --python --project --directory --extra --group --env-file -C -i")


def _environment(command: Command, run: Run) -> list[Finding]:
    """uv run, poetry run, bundle exec…: a command in a project's environment."""
    verb = _RUNNERS[command.name]
    rest = list(command.args)
    while rest and rest[0].text not in (verb, "--"):
        rest.pop(0)
    if "--" in [word.text for word in rest]:
        verb = "--"
    rest = rest[[word.text for word in rest].index(verb) + 1 :] if rest else []
    while rest and rest[0].text.startswith("-"):
        if rest.pop(0).text in _RUNNERS_VALUED:
            rest = rest[1:]
    if rest:
        for inner in (rest, rest[1:]):  # a folder or a machine may stand before the command
            run.run(command.inner(tuple(inner), redirects=()))
        run.script(rest[0].text if verb == "--run" else "")
    return []


_SPECIAL = {
    **dict.fromkeys(_RUNNERS, _environment),
    "xargs": _xargs, "eval": evaluate, ".": source, "source": source, "su": _su, "runuser": _su, "sg": _su,
    "ssh": _ssh, "autossh": _ssh, "mosh": _ssh,
    "rsh": _ssh, "flock": _flock, "script": _flock,
    "trap": _trap, "alias": _alias, "tmux": _multiplexer, "screen": _multiplexer,
    "dtach": _multiplexer,
    "at": _later, "batch": _later, "crontab": _later, "ld-linux-x86-64.so.2": _dynamic_loader,
    "ld-linux.so.2": _dynamic_loader, "ld.so": _dynamic_loader,
}  # fmt: skip
WRAPPERS = frozenset(_SPECIAL) | frozenset(_PREFIXES) | _ROOT
