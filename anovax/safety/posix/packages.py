"""Package managers of systems and languages: installing, removing, publishing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anovax.safety.finding import Finding, ask, notice
from anovax.safety.normalise import words
from anovax.safety.posix.words import Command

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

Rule = Callable[[Command, "Run"], "Finding | None"]
_REMOVING = re.compile(
    r"remove|purge|uninstall|autoremove|autoclean|erase|unpublish|publish|push|upload|rm|-r\w*|-e|--remove|--purge|"
    r"--erase|rdepends-delete|del|--unmerge|--depclean|"
                       r"delete|unlink|-p|dist-upgrade|full-upgrade|clean|yank|deprecate|owner|downgrade|"
                           r"swap|un|prune|cleanup|zap|untap")  # fmt: skip
_INSTALLING = re.compile(
    r"install|i|add|upgrade|update|-s\w*|-u|-i|--install|in|reinstall|build-dep|refresh|tap|source|get|global|"
    r"dlx|exec|run-script|clone|link"
)
# Managers of languages: what a project itself asks for
_OWN = words("pip pip3 uv cargo poetry composer bundle")
_OF_PROJECT = re.compile(r"[\w./-]*requirements[\w.-]*\.txt$|\.(\[[\w,]+\])?$")


def _packages(command: Command, run: Run) -> Finding | None:
    if not command.args:
        return None
    verbs = command.low[:3]
    if verbs[0] in ("run", "run-script", "test", "start", "help", "fmt", "format"):
        return ask("project", "it publishes") if re.search(r"deploy|publish|release", " ".join(verbs)) else None
    named = [text for text in command.low[1:] if not text.startswith("-")]
    if command.name in _OWN and verbs[0] in ("install", "sync", "clean") and all(map(_OF_PROJECT.match, named)):
        return notice("packages", "it installs what a project asks for, or clears what it has built")
    if any(_REMOVING.fullmatch(text) for text in verbs):
        return ask("packages", "it removes or publishes software")
    if command.name in ("npx", "bunx", "uvx", "pipx", "dpkg", "rpm", "installer") and verbs[0] not in (
        "list",
        "-l",
        "-s",
        "-qa",
        "-q",
        "--list",
        "-ql",
        "search",
    ):
        return ask("packages", "it installs or runs software from elsewhere")
    if any(re.search(r"https?:|git\+|^file:|\.(deb|rpm|whl|tar\.gz|tgz)$", text) for text in command.low):
        return ask("packages", "it installs software from an address")
    if any(_INSTALLING.fullmatch(text) for text in verbs) and any(not t.startswith("-") for t in command.texts[1:]):
        return ask("packages", "it installs or changes software")
    return None


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        words(
            """apt apt-get aptitude dpkg dnf yum rpm pacman yay paru zypper apk emerge snap flatpak brew port pkg
            pkg_delete pkgutil pip pip3 pipx npm pnpm yarn bun npx bunx uvx uv gem cargo go-get conda mamba
            poetry composer nix-env nix choco scoop winget luarocks cpan opam twine installer softwareupdate
            apt-key add-apt-repository apt-mark alien dpkg-reconfigure slackpkg xbps-remove eopkg cabal pdm"""
        ),
        _packages,
    ),
}
