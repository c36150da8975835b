"""Which windows are an application's: by process, or by what the window calls itself."""

from __future__ import annotations

import os
import re

from anovax.desktop.application import Application
from anovax.tool import WindowRef


def belongs(window: WindowRef, app: Application) -> bool:
    """True when the window's class (WM_CLASS, bundle or executable name) is one that the application goes by."""
    called = _plain(window.app)
    return bool(called) and called in _names(app)


def _names(app: Application) -> frozenset[str]:
    """A declared StartupWMClass alone, else what toolkits derive a class from: program, id, its last part."""
    if app.wm_class:
        return frozenset({_plain(app.wm_class)})
    program = re.sub(r"\.(exe|py|sh|bin)$", "", app.program)
    last = app.id.rsplit(".", 1)[-1]
    first = app.name.split()[0] if app.name.split() else ""
    names = {program, app.id, last, app.name, first if len(first) >= 5 else program}
    return frozenset(_plain(name) for name in names) - {""}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold().removesuffix(".exe"))


def is_from(pid: int, started: int) -> bool:
    """True when process ``pid`` is ``started`` or came from it: every start has a session of its own, which children
    keep even when their parent ends at once."""
    if not pid or not started:
        return False
    if pid == started:
        return True
    try:
        if hasattr(os, "getsid"):
            return os.getsid(pid) == started
        return _descends(pid, started)
    except (OSError, ProcessLookupError):
        return False


def _descends(pid: int, started: int) -> bool:
    import psutil

    try:
        return started in [parent.pid for parent in psutil.Process(pid).parents()]
    except psutil.Error:
        return False
