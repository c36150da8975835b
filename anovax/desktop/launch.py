"""Starts applications so that they outlive us: own session, no inherited files, reaped when they end."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from anovax.desktop.application import Application
from anovax.errors import ToolError

_BUS_TIMEOUT_S = 5.0


class Started:
    """A started application. ``pid`` is 0 when D-Bus started it for us."""

    def __init__(self, how: str, process: subprocess.Popen[bytes] | None = None) -> None:
        self.how = how
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    @property
    def exit_code(self) -> int | None:
        """None while it runs (or when D-Bus owns it)."""
        return self._process.returncode if self._process else None


class Launcher:
    """``activate``: D-Bus activation of a desktop id, True when a service answered; None where there is no bus."""

    def __init__(
        self, env: Mapping[str, str] | None = None, activate: Callable[[str, Mapping[str, str]], bool] | None = None
    ) -> None:
        self._env = dict(os.environ if env is None else env)
        self._activate = activate or activate_by_bus

    def command(self, app: Application, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The exact argument list that ``start`` runs; terminal programs get a terminal."""
        words = (*app.command, *extra)
        if not app.terminal or not words:
            return words
        terminal = next((name for name in _TERMINALS if shutil.which(name, path=self._env.get("PATH"))), "")
        if not terminal:
            raise ToolError(f"{app.name} runs in a terminal, and none is installed", "install one, such as xterm")
        return (terminal, *_TERMINALS[terminal], *words)

    def start(self, app: Application, extra: tuple[str, ...] = ()) -> Started:
        """Start ``app``: through D-Bus when its entry says so and a bus answers, else by its Exec line."""
        if app.dbus and not extra and self._by_bus(app):
            return Started("D-Bus")
        words = self.command(app, extra)
        if not words:
            raise ToolError(
                f"{app.name} can only be started through D-Bus, and there is no session bus here", "start a session bus"
            )
        return self.run(words, app.name, app.cwd)

    def _by_bus(self, app: Application) -> bool:
        if not (self._env.get("DBUS_SESSION_BUS_ADDRESS") or _user_bus(self._env)):
            return False
        return self._activate(app.id, self._env)

    def run(self, words: tuple[str, ...], name: str = "", cwd: str = "") -> Started:
        """Run an argument list detached. ToolError when the program is missing or may not be run."""
        try:
            process = subprocess.Popen(
                words,
                env=self._env,
                cwd=_folder(cwd, self._env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                close_fds=True,
                start_new_session=sys.platform != "win32",
            )
        except OSError as error:
            raise ToolError(
                f"{name or words[0]} could not be started: {error.strerror}", "check that it is installed"
            ) from None
        # One waiting thread per running application: it costs nothing, ends with it, and leaves no zombie behind.
        threading.Thread(target=process.wait, name=f"reap-{process.pid}", daemon=True).start()
        return Started("its command", process)


_TERMINALS: dict[str, tuple[str, ...]] = {
    "x-terminal-emulator": ("-e",),
    "gnome-terminal": ("--",),
    "konsole": ("-e",),
    "xfce4-terminal": ("-x",),
    "kitty": (),
    "alacritty": ("-e",),
    "xterm": ("-e",),
}


def shown(words: tuple[str, ...]) -> str:
    """An argument list as one line, quoted where needed."""
    return shlex.join(words)


def _folder(cwd: str, env: Mapping[str, str]) -> str:
    for folder in (cwd, env.get("HOME", "")):
        if folder and Path(folder).is_dir():
            return folder
    return os.path.sep


def _user_bus(env: Mapping[str, str]) -> str:
    path = Path(env.get("XDG_RUNTIME_DIR") or "/nonexistent") / "bus"
    return f"unix:path={path}" if path.exists() else ""


def activate_by_bus(ident: str, env: Mapping[str, str]) -> bool:
    """org.freedesktop.Application.Activate on the session bus (Desktop Entry Specification, D-Bus activation)."""
    from jeepney import DBusAddress, MessageType, new_method_call
    from jeepney.io.blocking import open_dbus_connection

    address = env.get("DBUS_SESSION_BUS_ADDRESS") or _user_bus(env)
    service = DBusAddress("/" + ident.replace(".", "/").replace("-", "_"), ident, "org.freedesktop.Application")
    call = new_method_call(service, "Activate", "a{sv}", ({},))
    try:
        with open_dbus_connection(address) as bus:
            answer = bus.send_and_get_reply(call, timeout=_BUS_TIMEOUT_S)
    except (OSError, TimeoutError, ValueError, EOFError):
        return False
    return bool(answer.header.message_type == MessageType.method_return)
