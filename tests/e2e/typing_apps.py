"""Applications to type into, each with a way to read what really arrived that does not go through AnovaX."""

from __future__ import annotations

import http.server
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from desktop_rig import read

from anovax.desktop import Desktop
from anovax.desktop.web import QUIET_CHROMIUM
from anovax.tool import StepContext, WindowRef

TK = """
import sys, tkinter
from pathlib import Path
root = tkinter.Tk(); root.title("Tk notes")
text = tkinter.Text(root, undo=False); text.pack(); text.focus_force()
def save(event=None):
    part = Path(sys.argv[1] + ".part")
    part.write_text(text.get("1.0", "end-1c"), encoding="utf-8", errors="surrogatepass")
    part.replace(sys.argv[1]); text.edit_modified(False)
text.bind("<<Modified>>", lambda event: root.after_idle(save))
root.mainloop()
"""
QT = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication, QPlainTextEdit
app = QApplication(sys.argv)
edit = QPlainTextEdit(); edit.setWindowTitle("Qt notes"); edit.show()
def save():
    part = Path(sys.argv[1] + ".part"); part.write_text(edit.toPlainText(), encoding="utf-8"); part.replace(sys.argv[1])
edit.textChanged.connect(save)
app.exec()
"""
PAGE = """<!doctype html><meta charset=utf-8><title>Notes page</title>
<textarea autofocus rows=20 cols=80></textarea>
<script>
const area = document.querySelector("textarea");
let busy = false, again = false;
async function tell() {
  if (busy) { again = true; return; }
  busy = true;
  do { again = false; await fetch("/said", {method: "POST", body: area.value}); } while (again);
  busy = false;
}
area.addEventListener("input", tell);
</script>"""


class TypingApp(Protocol):
    """``window`` to type into; ``content()`` what arrived since ``clear``."""

    window: WindowRef

    def content(self) -> str: ...
    def clear(self, desktop: Desktop, step: StepContext) -> None: ...


class Terminal:
    """xterm with cat in it, which writes every byte to a file."""

    def __init__(self, start: Callable[..., object], folder: Path) -> None:
        self._file, self._seen = folder / "typed", 0
        self._file.touch()
        script = f"stty -icanon -echo -isig -iexten -ixon; exec cat > {self._file}"
        self.window = start(["xterm", "-u8", "-e", "sh", "-c", script]).window  # type: ignore[attr-defined]

    def content(self) -> str:
        return self._file.read_bytes()[self._seen :].decode("utf-8", errors="replace")

    def clear(self, desktop: Desktop, step: StepContext) -> None:
        self._seen = self._file.stat().st_size


class FileApp:
    """A script that writes its text widget's content to a file after each change."""

    def __init__(self, start: Callable[..., object], folder: Path, script: str, title: str) -> None:
        self._file = folder / "typed"
        command = [sys.executable, "-c", script, str(self._file)]
        self.window = start(command, title=title).window  # type: ignore[attr-defined]

    def content(self) -> str:
        return read(self._file)

    def clear(self, desktop: Desktop, step: StepContext) -> None:
        desktop.press("ctrl+slash delete" if "Tk" in self.window.title else "ctrl+a delete", step, self.window)


class Mousepad:
    """A GTK editor; what it holds is saved with Ctrl+S and read from the file."""

    def __init__(self, start: Callable[..., object], folder: Path, desktop: Desktop, step: StepContext) -> None:
        self._file, self._desktop, self._step = folder / "note.txt", desktop, step
        self._file.write_text("", encoding="utf-8")
        self.window = start(["mousepad", "--disable-server", str(self._file)]).window  # type: ignore[attr-defined]

    def content(self) -> str:
        self._desktop.press("ctrl+s", self._step, self.window)
        return read(self._file)

    def clear(self, desktop: Desktop, step: StepContext) -> None:
        desktop.press("ctrl+a delete", step, self.window)


class WebPage:
    """A text area in Chromium that tells a local server its content after each input."""

    def __init__(self, start: Callable[..., object], folder: Path) -> None:
        page = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(PAGE.encode())

            def do_POST(self) -> None:
                page.said = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self._answer(b"")

            def _answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.said = ""
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{self.server.server_port}/"
        flags = [
            "--no-sandbox",
            *QUIET_CHROMIUM,
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # of a dictionary
            "--disable-gpu",
            "--password-store=basic",
            f"--user-data-dir={folder / 'profile'}",
        ]
        command = [chromium(), *flags, f"--app={url}"]
        self.window = start(command, title="Notes page", seconds=40.0).window  # type: ignore[attr-defined]

    def content(self) -> str:
        return self.said

    def clear(self, desktop: Desktop, step: StepContext) -> None:
        desktop.press("ctrl+a delete", step, self.window)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("Chromium is not installed")
    return found
