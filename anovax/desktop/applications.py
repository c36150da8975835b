"""The installed applications of this machine, and what a spoken name stands for among them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from anovax.desktop import entries, others
from anovax.desktop.application import Application, Resolution
from anovax.desktop.ranking import resolve
from anovax.desktop.roles import ROLES

Defaults = Mapping[str, tuple[str, ...]]


class Applications:
    """Lists once and again only when something was installed or removed (a folder's time changed). Thread-safe."""

    def __init__(
        self,
        aliases: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        read: Callable[[], tuple[Application, ...]] | None = None,
    ) -> None:
        self._env = dict(os.environ if env is None else env)
        self._aliases = dict(aliases or {})
        self._read = read or _source(self._env)
        self._lock = threading.Lock()
        self._stamp: tuple[tuple[str, int], ...] | None = None
        self._all: tuple[Application, ...] = ()
        self._defaults: Defaults = {}

    def all(self) -> tuple[Application, ...]:
        """Every application that may be offered to the user."""
        with self._lock:
            stamp = _stamp(self._env)
            if stamp != self._stamp:
                self._all, self._defaults = self._read(), _defaults(self._env)
                self._stamp = stamp
            return self._all

    def resolve(self, name: str) -> Resolution:
        """What ``name`` stands for; see ranking.resolve. Starts nothing."""
        found = self.all()
        return resolve(name, found, self._defaults, self._aliases)

    def default(self, *mimes: str) -> Application | None:
        """The application that the desktop has chosen for the first of these MIME types (or Debian alternatives)."""
        apps = self.all()
        for mime in mimes:
            for ident in self._defaults.get(mime, ()):
                for app in apps:
                    if ident in (app.id, app.program):
                        return app
        return None

    def browser(self) -> Application | None:
        """The default browser: the system's choice, the MIME default, $BROWSER, x-www-browser, the only one there is,
        any there is. None when there is none."""
        if system := others.system_browser(sys.platform):
            return system
        chosen = self.default("x-scheme-handler/https", "x-scheme-handler/http", "text/html")
        chosen = chosen or self._from_environment() or self.default("x-www-browser") or self.resolve("web browser").app
        return chosen or next((app for app in self.all() if "WebBrowser" in app.categories), None)

    def _from_environment(self) -> Application | None:
        """$BROWSER: programs, the best first, separated by colons."""
        for line in self._env.get("BROWSER", "").split(":"):
            words = tuple(word for word in entries.exec_words(line) if word != "%s")
            if words and shutil.which(words[0], path=self._env.get("PATH")):
                name = words[0].rsplit("/", 1)[-1]
                known = next((app for app in self.all() if app.program == name), None)
                return known or Application(id=name, name=name, command=words)
        return None

    def kinds(self) -> tuple[str, ...]:
        """What can be done here, in words that ``resolve`` understands: "text editor", "calculator" …"""
        return tuple(role.words[0] for role in ROLES if self.resolve(role.words[0]).kind == "found")

    def names(self) -> tuple[str, ...]:
        return tuple(app.name for app in self.all())


def _source(env: Mapping[str, str]) -> Callable[[], tuple[Application, ...]]:
    if sys.platform == "win32":
        return lambda: others.windows_applications(_output, env)
    if sys.platform == "darwin":
        return lambda: others.mac_applications(env)
    return lambda: entries.read_entries(env)


def _output(command: list[str]) -> str:
    """Standard output of a short system query, empty when it fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=15, check=False, encoding="utf-8", errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _defaults(env: Mapping[str, str]) -> Defaults:
    if sys.platform in ("win32", "darwin"):
        return {}
    chosen = {mime: entries.default_ids(env, mime) for role in ROLES for mime in role.mime}
    for role in ROLES:
        if role.alternative and shutil.which(role.alternative, path=env.get("PATH")):
            chosen[role.alternative] = (entries.alternative(role.alternative),)
    return chosen


def _stamp(env: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    """Modification times of what the listing was read from."""
    folders = (
        [others.start_menu(env)[0]]
        if sys.platform == "win32"
        else [Path("/Applications")]
        if sys.platform == "darwin"
        else []
    )
    if not folders:
        config = Path(env.get("XDG_CONFIG_HOME") or Path(env.get("HOME") or "/") / ".config")
        folders = [config / "mimeapps.list", *(folder / "applications" for folder in entries.data_folders(env))]
    return tuple((str(folder), folder.stat().st_mtime_ns if folder.exists() else 0) for folder in folders)
