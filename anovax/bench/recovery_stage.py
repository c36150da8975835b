"""The desktop that recovery is tried on: real applications on a virtual display, and what can be made to go wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from anovax.desktop import Desktop
from anovax.tool import CancelFlag, StepContext, WindowRef

_QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
_WINDOW_S = 20.0

BOARD = """
import sys, tkinter
title, place, late, *rows = sys.argv[2:]
log = open(sys.argv[1], "a", buffering=1)
root = tkinter.Tk(); root.title(title); root.geometry(place)
canvas = tkinter.Canvas(root, bg="white"); canvas.pack(fill="both", expand=True)
font = ("DejaVu Sans", 16)
def draw():
    for number, name in enumerate(rows):
        tell = lambda name=name: print("pressed", name, file=log)
        button = tkinter.Button(canvas, text=name, font=font, command=tell)
        if name:
            canvas.create_window(30, 20 + 70 * number, window=button, anchor="nw")
    canvas.configure(scrollregion=(0, 0, 500, 70 * len(rows) + 40))
for event, step in (("<Button-4>", -3), ("<Button-5>", 3)):
    root.bind_all(event, lambda _, step=step: canvas.yview_scroll(step, "units"))
root.after(int(late), draw)
root.mainloop()
"""
ENTRY = "[Desktop Entry]\nType=Application\nName={name}\nExec={command}\n{more}"


class Stage:
    """One scenario's files and programs. ``desktop`` is the assistant's own; ``folder`` is the scenario's, ``share``
    the XDG data folder that the assistant reads entries from."""

    def __init__(self, desktop: Desktop, folder: Path, share: Path) -> None:
        self.desktop, self.folder, self.share = desktop, folder, share
        folder.mkdir()
        self.note, self.log, self.stray = folder / "note.txt", folder / "log", folder / "stray"
        self.note.write_text("")  # well before an editor opens it: one that sees its file change asks about it
        self._started: list[subprocess.Popen[bytes]] = []
        self.first: frozenset[int] = frozenset()

    # --- putting things there ----------------------------------------------------------------------------------------

    def entry(self, ident: str, name: str, command: str, more: str = "") -> None:
        """An application that can be found by its name."""
        folder = self.share / "applications"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{ident}.desktop").write_text(ENTRY.format(name=name, command=command, more=more))

    def editor_entry(self) -> None:
        """Mousepad, which opens the scenario's note."""
        more = (
            "GenericName=Text Editor\nCategories=Utility;TextEditor;\nMimeType=text/plain;\nStartupWMClass=Mousepad\n"
        )
        self.entry("org.xfce.mousepad", "Mousepad", f"mousepad --disable-server {self.note}", more)

    def start(self, *command: str, title: str = "") -> WindowRef | None:
        """Start a program and wait until it has a window with ``title`` in its own, focused."""
        before = {window.id for window in self.desktop.windows()}
        process = subprocess.Popen(command, cwd=self.folder, start_new_session=True, **_QUIET)  # type: ignore[call-overload]
        self._started.append(process)
        fits = lambda w: w.id not in before and bool(w.title) and title in w.title  # noqa: E731
        window = self.desktop.wait_for_window(fits, _WINDOW_S - 1, _step())
        return None if window is None else self.desktop.activate(window, _step())

    def editor(self) -> WindowRef | None:
        return self.start("mousepad", "--disable-server", str(self.note), title=self.note.name)

    def shell(self, title: str) -> WindowRef | None:
        """A terminal that keeps every byte that comes into it."""
        return self.start("xterm", "-T", title, "-e", "sh", "-c", f"stty -icanon -echo; exec cat >> {self.stray}")

    def shell_over(self) -> None:
        """A terminal that hides everything else."""
        script = f"stty -icanon -echo; exec cat >> {self.stray}"
        self.start("xterm", "-T", "Build log", "-geometry", "200x60+0+0", "-e", "sh", "-c", script)

    def board(self, *rows: str, late_ms: int = 0, place: str = "520x360+60+60", title: str = "Board") -> None:
        """A window of buttons, one below the other; an empty name leaves a gap. The wheel brings what is below."""
        self.start(sys.executable, "-c", BOARD, str(self.log), title, place, str(late_ms), *rows)

    def dialog(self, title: str = "Software Updates") -> None:
        """A dialog that comes up over everything and takes the focus."""
        self.start("xmessage", "-title", title, "-center", "-buttons", "Later", "New software can be installed")

    def later(self, seconds: float, what: Callable[[], object]) -> None:
        timer = threading.Timer(seconds, what)
        timer.daemon = True
        timer.start()

    def raise_window(self, name: str) -> None:
        if (window := self.open(name)) is not None:
            self.desktop.activate(window, _step())

    def change_note(self) -> None:
        """The editor holds what its file does not."""
        if (editor := self.editor()) is not None:
            self.desktop.type_text("more ", editor, _step())
            self.desktop.wait_for_window(lambda w: w.title.startswith("*"), 5, _step())

    def kill(self, window: WindowRef) -> None:
        if window.pid > 1:
            with suppress(OSError):
                os.kill(window.pid, signal.SIGKILL)

    # --- looking -----------------------------------------------------------------------------------------------------

    def remember_windows(self) -> None:
        self.first = frozenset(window.id for window in self.desktop.windows())

    def lost_a_window(self) -> bool:
        return not self.first <= {window.id for window in self.desktop.windows()}

    def focus_is(self, app: str) -> bool:
        now = self.desktop.focused()
        return now is not None and app.casefold() in f"{now.app} {now.title}".casefold()

    def open(self, app: str) -> WindowRef | None:
        fits = (w for w in self.desktop.windows() if app.casefold() in f"{w.app} {w.title}".casefold())
        return next(fits, None)

    def saved(self) -> str:
        """What the editor holds: it is told to save, and the file is read."""
        if (editor := self.open("mousepad")) is not None:
            self.desktop.activate(editor, _step())
            self.desktop.press("ctrl+s", _step(), editor)
            time.sleep(0.6)
        return self.note.read_text("utf-8").strip() if self.note.exists() else ""

    def pressed(self) -> list[str]:
        """The board's buttons that were pressed, in order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.removeprefix("pressed ") for line in lines]

    def strays(self) -> int:
        """Bytes that came into the terminals that stand by."""
        return self.stray.stat().st_size if self.stray.exists() else 0

    def clear(self) -> None:
        """End everything that has a window, and what was started."""
        for process in self._started:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
        for window in self.desktop.windows():
            self.kill(window)
        end = time.monotonic() + 5
        while self.desktop.windows() and time.monotonic() < end:
            time.sleep(0.02)
        for made in (self.share / "applications").glob("*.desktop"):
            made.unlink()


def _step() -> StepContext:
    return StepContext("stage", 0, time.monotonic() + _WINDOW_S, CancelFlag(), threading.Event())
