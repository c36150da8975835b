"""git: what would lose work, rewrite what others see, or run another program."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anovax.safety.finding import Finding, ask, notice
from anovax.safety.posix.words import Command

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

_CODE_IN_GIT = re.compile(
    r"(core\.(pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass|attributesfile|worktree|alternaterefscommand)|"
    r"alias\.|diff\.external|\.(textconv|command|cmd|driver|process|program|path|uploadpack|receivepack|vcs|proxy|update)\b|"
    r"include\w*\.|sendemail\.|interactive\.|web\.browser|safe\.directory|"
    r"credential\.helper|filter\.|url\.|http\.proxy|http\.ssl|"
    r"protocol\.|sequence\.editor|pager\.|uploadpack|receive\.)")  # fmt: skip
# What may be set for one command: anything else may name a program
_PLAIN_IN_GIT = re.compile(
    r"(user\.(name|email)|author\.|committer\.|color\.|column\.|advice\.|log\.|status\.|format\.|push\.|pull\.|rebase\.|"
    r"fetch\.(prune|parallel)|branch\.|tag\.|commit\.(gpgsign|verbose|cleanup)|init\.defaultbranch|merge\.(ff|conflictstyle|"
    r"renames)|diff\.(algorithm|renames|context|noprefix|mnemonicprefix|color\w*)|gc\.auto|pack\.|http\.(version|postbuffer)|"
    r"core\.(quotepath|autocrlf|ignorecase|filemode|abbrev|longpaths|safecrlf|whitespace|eol|symlinks|compression)|"
    r"help\.autocorrect|rerere\.|grep\.|blame\.|submodule\.recurse|i18n\.)[\w.-]*(=|$)"
)


def git(command: Command, run: Run) -> Finding | None:
    rest = list(command.texts)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env") and rest:
            value = rest.pop(0)
            if option in ("-c", "--config-env") and not _PLAIN_IN_GIT.match(value.casefold()):
                return ask("run", "its options run another program")
        elif re.match("--(exec-path|config-env)=", option):
            return ask("run", "its options run another program")
    if not rest:
        return None
    verb, args = rest[0].casefold(), rest[1:]
    judge = _GIT.get(verb)
    sub = Command((command.words[0], *command.args[len(command.texts) - len(args) :]), cwd=command.cwd)
    if (
        command.has("", "upload-pack", "receive-pack", "exec", "open-files-in-pager", "extcmd", "template")
        or any(text.startswith(("ext::", "fd::")) for text in args)
        or (verb in _RUNS and sub.has(_RUNS[verb]))
        or (verb == "clone" and _configured(args))
    ):
        return ask("run", "its options run another program")
    return judge(sub) if judge else None


_RUNS = {"clone": "u", "grep": "O", "difftool": "x"}


def _configured(args: list[str]) -> bool:
    """``clone -c KEY=VALUE`` with a key that may name a program."""
    given = re.findall(r"(?:^| )(?:-c ?|--config[= ])(\S+)", " ".join(args).casefold())
    return any(not _PLAIN_IN_GIT.match(value) for value in given)


def _lost(reason: str = "work that is not saved elsewhere would be lost") -> Finding:
    return ask("git", reason)


def _git_reset(c: Command) -> Finding | None:
    return _lost() if c.has("", "hard", "merge", "keep") else notice("git", "it changes what would be committed")


def _git_checkout(c: Command) -> Finding | None:
    if (
        c.has("f", "force", "ours", "theirs", "merge")
        or "--" in c.texts
        or "." in c.texts
        or c.has("", "pathspec-from-file")
    ):
        return _lost()
    if c.has("bBt", "track", "orphan", "detach"):
        return _lost() if "-B" in c.texts else None
    return (
        _lost()
        if len(c.operands()) > 1 or any(("." in w.text and "/" in w.text) or w.globbed for w in c.operands())
        else None
    )


def _git_restore(c: Command) -> Finding | None:
    return None if c.has("S", "staged") and not c.has("W", "worktree") else _lost()


def _git_clean(c: Command) -> Finding | None:
    return None if c.has("n", "dry-run") or not c.args else _lost("files that are not in git would be deleted")


def _git_push(c: Command) -> Finding | None:
    if c.has("", "force-with-lease") and not (c.has("fd") or {"--force", "--delete", "--mirror"} & set(c.low)):
        return notice("git", "it rewrites a branch if nobody else has changed it")
    if (
        c.has("f", "force", "mirror", "delete", "prune")
        or c.has("d")
        or any(w.text.startswith(("+", ":")) for w in c.operands())
    ):
        return _lost("it rewrites or deletes what others see")
    return notice("git", "it publishes commits")


def _git_branch(c: Command) -> Finding | None:
    return (
        _lost("a branch would be lost")
        if c.has("DMC") or (c.has("d", "delete") and c.has("f", "force")) or c.has("f", "force")
        else None
    )


def _git_stash(c: Command) -> Finding | None:
    return _lost("put-away work would be lost") if c.low[:1] in (("drop",), ("clear",)) else None


def _git_throws(*verbs: str) -> Callable[[Command], Finding | None]:
    def judge(c: Command) -> Finding | None:
        unseen = c.low[:1] == () or (verbs[0] == "-r" and any(word.open for word in c.args))
        return (
            _lost() if (unseen and c.args) or any(text in verbs for text in c.low[:3]) or c.has("fD", "force") else None
        )

    return judge


def _git_always(c: Command) -> Finding | None:
    return _lost("it rewrites the history or deletes parts of it")


def _git_config(c: Command) -> Finding | None:
    text = " ".join(c.low)
    if re.search(r"--(unset|remove|replace|edit)", text) or (
        _CODE_IN_GIT.search(text) and not re.search(r"--(get|list)|(^|\s)-l\b", text)
    ):
        return ask("settings", "it changes what git does or runs")
    return None


_GIT: Mapping[str, Callable[[Command], Finding | None]] = {
    "reset": _git_reset, "checkout": _git_checkout, "switch": _git_throws("--discard-changes"),
    "restore": _git_restore, "clean": _git_clean, "push": _git_push,
    "branch": _git_branch, "stash": _git_stash, "reflog": _git_throws("expire", "delete"),
    "gc": _git_throws("--prune=now", "--prune=all", "--aggressive"),
    "worktree": _git_throws("remove", "prune"), "update-ref": _git_always, "filter-branch": _git_always,
    "filter-repo": _git_always, "prune": _git_always,
    "tag": _git_throws("-d", "--delete"), "remote": _git_throws("remove", "rm", "set-url", "prune"),
    "rm": _git_throws("-r", "-rf", "."), "rebase": _git_throws("--onto", "--exec", "-x", "--root"),
    "config": _git_config, "submodule": _git_throws("deinit", "foreach"), "bisect": _git_throws("run"),
    "replace": _git_always, "notes": _git_throws("remove", "prune"),
    "symbolic-ref": _git_throws("-d", "--delete"), "lfs": _git_throws("prune", "migrate"), "send-email": _git_always,
    "credential": _git_always, "daemon": _git_always,
    "commit": _git_throws("--no-verify-never"), "read-tree": _git_throws("--reset", "-u"),
    "checkout-index": _git_always, "repack": _git_throws("-a", "-ad", "-adf"),
    "pack-refs": _git_throws("--prune-never"),
    "svn": _git_throws("dcommit", "reset"), "sparse-checkout": _git_throws("set", "init"),
    "fetch": _git_throws("--prune-tags"), "pull": _git_throws("--force"), "fast-import": _git_always,
}  # fmt: skip
