"""Commands on files: deleting, overwriting, moving, rights, links, searching."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anovax.safety import paths
from anovax.safety.finding import Finding, ask, notice, refuse
from anovax.safety.normalise import words
from anovax.safety.posix.shells import SHELLS
from anovax.safety.posix.words import Command, Word

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

_REGENERATED = words(
    """node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox dist build target .cache coverage .next
    .gradle"""
)

_WHOLE_TREES = frozenset(("/", "/etc", "/root", "/home", "/var", paths.HOME))


def _targets(command: Command, valued: str = "") -> list[str]:
    return [command.path(word) for word in command.operands(valued)]


def remove(command: Command, run: Run) -> Finding | None:
    """rm, unlink, shred and their kind."""
    targets = command.operands()
    if not targets:
        return None
    recursive = command.has("rR", "recursive") or command.name in ("srm", "rimraf", "del")
    named = [command.path(word) for word in targets]
    if any(paths.is_whole(path) or path in (".", "./*") or path.endswith("/..") for path in named) and recursive:
        return refuse("destroy", "it would delete everything in a folder that matters")
    if any(paths.is_system(path) for path in named):
        return refuse("destroy", "it would delete system files")
    if any(word.open for word in targets):
        return ask("delete", "what it would delete is known only when it runs")
    if all(paths.is_scratch(path) for path in named):
        return notice("delete", "it deletes temporary files")
    if recursive and all(path.rsplit("/", 1)[-1] in _REGENERATED and not path.startswith("/") for path in named):
        return notice("delete", "it deletes files that can be made again")
    return ask("delete", "it deletes for good")


def shred(command: Command, run: Run) -> Finding | None:
    if any(paths.is_device(path) or paths.is_system(path) for path in _targets(command, "ns")):
        return refuse("destroy", "it would overwrite a disk or system files")
    return ask("delete", "it overwrites a file so that nobody can get it back") if command.args else None


def remove_folder(command: Command, run: Run) -> Finding | None:
    """rmdir only removes what is empty; its Windows namesake with /s does not."""
    if any(text in ("/s", "/q") for text in command.low) or command.has("p", "parents", "ignore-fail-on-non-empty"):
        return ask("delete", "it deletes a folder with all that is in it")
    return ask("system", "it changes a system folder") if any(map(paths.is_system, _targets(command))) else None


def disk_copy(command: Command, run: Run) -> Finding | None:
    """dd"""
    to = next((text[3:] for text in command.texts if text.casefold().startswith("of=")), "")
    word = next((word for word in command.args if word.text.casefold().startswith("of=")), None)
    if not to and word is None:
        return (
            ask("device", "it reads a raw device")
            if any("if=/dev/" in t and "zero" not in t for t in command.low)
            else None
        )
    if paths.is_device(to) or paths.is_system(to):
        return refuse("destroy", f"it would overwrite {to}")
    return ask("overwrite", "it overwrites a file or a disk byte by byte")


def move(command: Command, run: Run) -> Finding | None:
    operands = command.operands("tS")
    named = [command.path(word) for word in operands]
    if not named:
        return None
    if named[-1].casefold() == "/dev/null" or any(paths.is_whole(p) or paths.is_system(p) for p in named[:-1]):
        return refuse("destroy", "it would take away files that matter")
    if any(word.open or (word.globbed and not re.fullmatch(r"\*\.\w+", word.text)) for word in operands):
        return ask("move", "which files it moves is known only when it runs")
    if any(paths.is_startup(path) or paths.is_secret(path) for path in named):
        return ask("move", "it moves a settings file or a secret")
    if re.match(r"/(var/)?tmp(/|$)", named[-1]) and any(re.fullmatch(rf"{paths.HOME}/[^/.]+", p) for p in named[:-1]):
        return ask("move", "what lies in a temporary folder is lost at the next start")
    return written(named[-1]) or notice("move", "it may overwrite what is there")


def copy(command: Command, run: Run) -> Finding | None:
    named = _targets(command, "tS")
    if len(named) > 1 and named[0].casefold() in ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"):
        return ask("overwrite", "it would empty or fill a file")
    if any(re.search(r"(^|/)(sh|bash|dash|zsh|python3?|busybox|nc)$", path) for path in named[:-1]):
        return ask("disguise", "it copies a shell or an interpreter")
    if command.has("rRa", "recursive", "archive") and any(path in _WHOLE_TREES for path in named[:-1]):
        return ask("collect", "it copies a whole home or system")
    return written(named[-1]) if len(named) > 1 else None


def link(command: Command, run: Run) -> Finding | None:
    named = _targets(command, "tS")
    if len(named) > 1 and named[0].casefold() == "/dev/null":
        return ask("overwrite", "what is written there afterwards would be lost")
    if command.has("f", "force") and len(named) > 1:
        return written(named[-1]) or ask("overwrite", "it replaces what is there")
    return written(named[-1]) if named else None


def touch(command: Command, run: Run) -> Finding | None:
    if command.has("amtrd", "reference", "date", "time"):
        return ask("timestamps", "it makes a file look older or newer than it is")
    return next((found for path in _targets(command) if (found := written(path))), None)


def make(command: Command, run: Run) -> Finding | None:
    """mkdir, mknod, mkfifo…: only where it happens matters."""
    return next((found for path in _targets(command, "m") if (found := written(path))), None)


def tee(command: Command, run: Run) -> Finding | None:
    nothing = any(r.operator == "<" and r.target.text == "/dev/null" for r in command.redirects)
    if (nothing or (command.piped and command.stdin == "")) and command.operands() and not command.has("a", "append"):
        return ask("overwrite", "it empties a file")
    return next((found for path in _targets(command) if (found := written(path))), None)


def truncate(command: Command, run: Run) -> Finding | None:
    if not command.has("sr", "size", "reference") and (command.name == "truncate" or not command.args):
        return None
    if any(paths.is_system(path) for path in _targets(command, "sr")):
        return refuse("destroy", "it would empty system files")
    return ask("overwrite", "it cuts a file off or fills the disk")


def mode(command: Command, run: Run) -> Finding | None:
    """chmod"""
    operands = command.operands()
    if not operands and not command.args:
        return None
    recursive = command.has("R", "recursive") or (command.has("r") and len(operands) > 1)
    named = [command.path(word) for word in operands[1:]] or [command.path(word) for word in operands]
    if recursive and any(paths.is_whole(path) or paths.is_system(path) for path in named):
        return refuse("rights", "it would change the rights of everything")
    if any(
        paths.is_system(path) or paths.is_secret(path) or paths.is_startup(path) or paths.is_whole(path)
        for path in named
    ):
        return ask("rights", "it changes who may use a file that matters")
    wanted = " ".join(command.texts)
    if recursive or any(word.open or word.globbed for word in operands) or command.has("", "reference"):
        return ask("rights", "it changes the rights of many files")
    if re.search(
        (
            r"(^|\s)[0-7]?[0-7]?[0-7][2367](\s|$)|[ao]?[+=][rx]*w|(^|\s)[2-7][0-7]{3}|[+=][rwx]*[st]|(^|\s)0{1,"
            r"4}\s|a-|(^|\s)-[rwx]"
        ),
        wanted,
    ):
        return ask("rights", "it lets others change the file, or shuts you out")
    return notice("rights", "it changes a file's rights")


def owner(command: Command, run: Run) -> Finding | None:
    """chown, chgrp, chattr, setfacl…"""
    named = _targets(command)
    if command.has("R", "recursive") and any(paths.is_whole(path) or paths.is_system(path) for path in named):
        return refuse("rights", "it would change who owns everything")
    return ask("rights", "it changes who owns or may use files") if command.args else None


_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")
_FD_RUNS = ("-x", "--exec", "--exec-batch")


def find(command: Command, run: Run) -> Finding | None:
    low = list(command.low)
    places = []
    for text in command.texts:
        if text.startswith(("-", "(", "!")):
            break
        places.append(text)
    if "-delete" in low:
        whole = any(paths.is_whole(command.path(Word(p))) or paths.is_system(p) for p in places or ["."] if p != ".")
        return (refuse if whole else ask)("delete", "it deletes all files that it finds")
    if any(text in ("-fprint", "-fprintf", "-fprint0", "-fls") for text in low):
        return ask("overwrite", "it writes what it finds to a file")
    for index, text in enumerate(low):
        if text in (_FD_RUNS if command.name.startswith("fd") else _FIND_RUNS):
            _find_runs(command, run, index)
    if any(text in ("-perm", "-writable") for text in low) and re.search(
        r"-[246]000|\+[246]000|/[246]000|u=s|u\+s|g=s|-222|-2\b|-o\+w|-writable", " ".join(low)
    ):
        return ask("search", "it looks for ways to gain rights")
    named = [
        low[i + 1]
        for i, text in enumerate(low[:-1])
        if text in ("-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-wholename")
    ]
    if any(paths.seeks_secrets(name) or paths.is_secret(name.replace("*", "")) for name in named):
        return ask("secrets", "it looks for secrets")
    return None


def _find_runs(command: Command, run: Run, index: int) -> None:
    inner: list[Word] = []
    for word in command.args[index + 1 :]:
        if word.text in (";", "\\;", "+"):
            break
        inner.append(
            Word("", open=True)
            if word.text == "{}"
            else Word(word.text.replace("{}", "FOUND"), open="{}" in word.text or word.open)
        )
    if command.name.startswith("fd") and not any(word.open for word in inner):
        inner.append(Word("", open=True))
    if inner and Command(tuple(inner)).name in SHELLS and len(inner) < 3:
        run.found(ask("run", "it starts a shell"))
    if inner:
        run.run(command.inner(tuple(inner), redirects=(), stdin="", piped=False))


SEARCHES = ("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "rgrep")


def grep(command: Command, run: Run) -> Finding | None:
    """grep, rg, ag…: searching for secrets across files."""
    operands = command.operands("eABCmf")
    patterns = [word.text for word in operands[:1]] + list(command.texts)
    seeking = any(paths.seeks_secrets(pattern) for pattern in patterns)
    wide = command.has("rR", "recursive") or command.name in ("rg", "ag", "ack") or any(w.globbed for w in operands[1:])
    if command.piped and not operands[1:]:
        return None
    where = [command.path(word) for word in operands[1:]]
    far = any(path.startswith("/") or ".." in path for path in where)
    if seeking and (wide or far):
        return ask("secrets", "it looks for passwords and keys in files")
    return None


def stream_edit(command: Command, run: Run) -> Finding | None:
    """sed"""
    operands = command.operands("ef")
    scripts = " ".join(command.texts)
    runs = command.has("f", "file") or re.search(
        r"(?:^|[;\s}/\d$])e(?:\s|$)|/e[gip]*(?:\s|$|')|(?:^|[;\s}/])w\s+/", scripts
    )
    if runs and not command.has("", "help"):
        return ask("run", "a sed script can run programs or write files")
    if not command.has("iI", "in-place") and "-i" not in command.texts:
        return None
    named = [command.path(word) for word in operands[1:] or operands]
    if any(word.open or word.globbed for word in operands[1:]):
        return ask("overwrite", "it changes many files in place")
    return next((found for path in named if (found := written(path))), None) or ask(
        "overwrite", "it changes a file in place"
    )


def written(path: str) -> Finding | None:
    """What writing to a path means."""
    if paths.is_device(path):
        return refuse("device", f"it would write to the device {path}")
    if paths.is_system(path):
        return ask("system", f"it writes to the system folder of {path}")
    if paths.is_startup(path):
        return ask("startup", f"it changes {path}, which runs or counts by itself")
    if re.match(r"/((var/)?tmp|dev/shm)/(.*/)?\.\w", path):
        return ask("hide", "it hides a file where programs put theirs")
    return ask("secrets", f"it changes {path}") if paths.is_secret(path) else None


Rule = Callable[[Command, "Run"], "Finding | None"]
RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("rm", "unlink", "rimraf", "del", "erase", "trash-empty"), remove),
    **dict.fromkeys(("shred", "srm", "wipe", "sfill", "sswap", "scrub", "bleachbit", "secure-delete"), shred),
    "rmdir": remove_folder, "dd": disk_copy, "dcfldd": disk_copy, "mv": move, "cp": copy, "install": copy, "ln": link,
    "touch": touch,
    **dict.fromkeys(("mkdir", "mknod", "mkfifo", "mktemp"), make),
    "tee": tee, "sponge": tee, "truncate": truncate, "fallocate": truncate, "chmod": mode,
    **dict.fromkeys(("chown", "chgrp", "chattr", "setfacl", "setcap", "setfattr", "chcon", "restorecon", "semanage"),
    owner),
    "find": find, "gfind": find, "fd": find, "fdfind": find,
    **dict.fromkeys(SEARCHES, grep),
    "sed": stream_edit, "gsed": stream_edit,
}  # fmt: skip
