"""The Windows and macOS backends against recorded calls of their libraries; they cannot run here."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from desktop_rig import make_step

from anovax.desktop.chords import Chord, parse_chords
from anovax.desktop.macos import MacBackend, MacOS
from anovax.desktop.windows import Win32, WindowsBackend, unicode_inputs
from anovax.errors import Cancelled, FocusLost, ToolError
from anovax.tool import WindowRef


class Gui:
    """pyautogui's interface, written down call by call."""

    KEYBOARD_KEYS = ("ctrl", "shift", "alt", "altright", "winleft", "command", "option", "optionright", "enter", "tab",
                     "f4", "c", "t", "v", "volumeup", "playpause", "pagedown", "del")  # fmt: skip

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.fail_on = ""

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            self.calls.append((name, *given, *named.values()))
            if name == self.fail_on:
                raise OSError("device lost")
            return (11, 22)

        return call


class Clip:
    def __init__(self) -> None:
        self.text = ""

    def copy(self, text: str) -> None:
        self.text = text

    def paste(self) -> str:
        return self.text


class User32:
    """The few functions of user32 that are called, over two windows."""

    def __init__(self) -> None:
        self.front, self.sent, self.calls = 7, "", list[tuple[Any, ...]]()
        self.titles = {7: "Notes - Editor", 8: "Shell", 9: ""}
        self.held: set[int] = set()

    def EnumWindows(self, callback: Any, extra: int) -> None:
        for handle in self.titles:
            callback(handle, extra)

    def IsWindowVisible(self, handle: int) -> bool:
        return True

    def GetWindowTextW(self, handle: int, buffer: Any, size: int) -> None:
        buffer.value = self.titles[handle]

    def GetForegroundWindow(self) -> int:
        return self.front

    def GetWindowThreadProcessId(self, handle: int, pid: Any) -> None:
        pid._obj.value = handle * 100

    def IsIconic(self, handle: int) -> bool:
        return handle == 8

    def ShowWindow(self, handle: int, how: int) -> None:
        self.calls.append(("ShowWindow", handle, how))

    def SetForegroundWindow(self, handle: int) -> None:
        self.front = handle

    def PostMessageW(self, *message: int) -> None:
        self.calls.append(("PostMessageW", *message))

    def GetWindow(self, handle: int, what: int) -> int:
        return 7 if handle == 8 else 0

    def GetWindowRect(self, handle: int, edges: Any) -> int:
        if handle not in self.titles:
            return 0
        edges._obj[:] = [-10, 20, 90, 80]
        return 1

    def GetAsyncKeyState(self, code: int) -> int:
        return 0x8000 if code in self.held else 0

    def SendInput(self, count: int, inputs: Any, size: int) -> int:
        assert size == ctypes.sizeof(inputs[0])
        units = [inputs[at].payload.keyboard.scan for at in range(0, count, 2)]
        self.sent += b"".join(unit.to_bytes(2, "little") for unit in units).decode("utf-16-le")
        return count


class Kernel32:
    def OpenProcess(self, rights: int, inherit: bool, pid: int) -> int:
        return pid

    def QueryFullProcessImageNameW(self, process: int, flags: int, path: Any, size: Any) -> None:
        path.value = rf"C:\Apps\app{process}.exe"

    def CloseHandle(self, process: int) -> None:
        pass


@pytest.fixture
def user() -> User32:
    return User32()


@pytest.fixture
def gui() -> Gui:
    return Gui()


@pytest.fixture
def windows(user: User32, gui: Gui) -> WindowsBackend:
    return WindowsBackend(Win32(user, Kernel32()), gui, Clip())


def test_windows_lists_titled_windows_from_the_top(windows: WindowsBackend) -> None:
    assert windows.windows() == (
        WindowRef(id=7, pid=700, app="app700", title="Notes - Editor"),
        WindowRef(id=8, pid=800, app="app800", title="Shell"),
    )
    frame = windows.frame(windows.windows()[0])
    assert frame is not None
    assert (frame.x, frame.w) == (-10, 100)
    assert windows.window_at(0, 30) == windows.windows()[0]


def test_windows_types_any_character_as_utf_16(windows: WindowsBackend, user: User32, gui: Gui) -> None:
    text = "Żółw 漢字 😀 é"
    windows.type_text(text + "\n", windows.windows()[0], make_step())
    assert user.sent == text
    assert gui.calls == [("press", "enter")]
    assert len(unicode_inputs("😀")) == 4


def test_windows_stops_when_the_focus_goes(windows: WindowsBackend, user: User32) -> None:
    target = windows.windows()[0]
    send = user.SendInput

    def steal(*given: Any) -> int:
        user.front = 8 if len(user.sent) >= 2 else user.front
        return send(*given)

    user.SendInput = steal  # type: ignore[method-assign]
    with pytest.raises(FocusLost) as caught:
        windows.type_text("abcdef", target, make_step())
    assert caught.value.thief == "Shell"
    assert len(user.sent) <= 3


def test_windows_waits_for_nobody_who_holds_a_modifier(windows: WindowsBackend, user: User32) -> None:
    user.held = {0x11}
    with pytest.raises(ToolError, match="held down"):
        windows.type_text("x", windows.windows()[0], make_step())
    assert user.sent == ""


def test_windows_activates_closes_and_finds_dialogs(windows: WindowsBackend, user: User32) -> None:
    editor, shell = windows.windows()
    windows.activate(shell)
    windows.close_window(editor)
    assert user.front == 8
    assert user.calls == [("ShowWindow", 8, 9), ("PostMessageW", 7, 0x10, 0, 0)]
    assert windows.dialog_of(editor) == shell


def test_chords_release_their_modifiers_even_when_a_press_fails(windows: WindowsBackend, gui: Gui) -> None:
    windows.press(parse_chords("ctrl+shift+t"), None, make_step())
    assert gui.calls == [
        ("keyDown", "ctrl"),
        ("keyDown", "shift"),
        ("press", "t"),
        ("keyUp", "shift"),
        ("keyUp", "ctrl"),
    ]
    gui.calls.clear()
    gui.fail_on = "press"
    with pytest.raises(OSError, match="lost"):
        windows.press(parse_chords("win+c"), None, make_step())
    assert gui.calls[-1] == ("keyUp", "winleft")


def test_unknown_keys_are_found_before_anything_is_pressed(windows: WindowsBackend, gui: Gui) -> None:
    with pytest.raises(ToolError, match="brightnessup"):
        windows.check_chord(Chord(key="brightnessup"))
    assert gui.calls == []


def test_nothing_is_pressed_after_a_cancel(windows: WindowsBackend, gui: Gui) -> None:
    step = make_step()
    step.cancel.set()
    with pytest.raises(Cancelled):
        windows.press(parse_chords("enter"), None, step)
    assert gui.calls == []


def test_pointer_and_clipboard(windows: WindowsBackend, gui: Gui) -> None:
    windows.click(5, 6, "right", 2)
    windows.scroll("down", 2, make_step())
    assert gui.calls == [("click", 5, 6, 2, 0.06, "right"), ("scroll", -120), ("scroll", -120)]
    windows.set_clipboard("x")
    assert windows.clipboard() == "x"


class Quartz:
    kCGHIDEventTap = 0

    def __init__(self) -> None:
        self.posted: list[tuple[bool, int, str]] = []
        self.flags = 0

    def CGWindowListCopyWindowInfo(self, options: int, relative: int) -> list[dict[str, Any]]:
        bounds = {"X": 0, "Y": 25, "Width": 300, "Height": 200}
        rows = [(41, 500, "Notes", "List", 0), (42, 600, "Dock", "", 20), (43, 700, "Terminal", "sh", 0)]
        keys = ("kCGWindowNumber", "kCGWindowOwnerPID", "kCGWindowOwnerName", "kCGWindowName", "kCGWindowLayer")
        return [{**dict(zip(keys, row, strict=True)), "kCGWindowBounds": bounds} for row in rows]

    def CGEventCreateKeyboardEvent(self, source: Any, code: int, down: bool) -> dict[str, Any]:
        return {"down": down}

    def CGEventKeyboardSetUnicodeString(self, event: dict[str, Any], units: int, text: str) -> None:
        event.update(units=units, text=text)

    def CGEventPost(self, tap: int, event: dict[str, Any]) -> None:
        self.posted.append((event["down"], event["units"], event["text"]))

    def CGEventSourceFlagsState(self, state: int) -> int:
        return self.flags


class AppKit:
    """NSWorkspace and NSRunningApplication, as far as they are asked."""

    def __init__(self, front: int) -> None:
        self.front = front
        self.NSWorkspace = self.NSRunningApplication = self

    def sharedWorkspace(self) -> AppKit:
        return self

    def frontmostApplication(self) -> AppKit:
        return self

    def processIdentifier(self) -> int:
        return self.front

    def runningApplicationWithProcessIdentifier_(self, pid: int) -> AppKit | None:
        self.front = pid
        return None if pid == 1 else self

    def activateWithOptions_(self, options: int) -> None:
        pass


def test_macos_windows_focus_and_text(gui: Gui) -> None:
    quartz = Quartz()
    mac = MacBackend(MacOS(quartz, AppKit(500)), gui, Clip())
    notes, terminal = mac.windows()
    assert mac.focused() == notes == WindowRef(id=41, pid=500, app="Notes", title="List")
    mac.type_text("ł😀", notes, make_step())
    assert quartz.posted == [(True, 1, "ł"), (False, 1, "ł"), (True, 2, "😀"), (False, 2, "😀")]
    mac.activate(terminal)
    assert mac.focused() == terminal
    with pytest.raises(FocusLost):
        mac.type_text("x", notes, make_step())
    with pytest.raises(ToolError, match="no longer open"):
        mac.activate(WindowRef(id=1, pid=1, title="gone"))


def test_macos_uses_its_own_key_names(gui: Gui) -> None:
    mac = MacBackend(MacOS(Quartz(), AppKit(500)), gui, Clip())
    mac.press(parse_chords("win+c"), None, make_step())
    assert gui.calls == [("keyDown", "command"), ("press", "c"), ("keyUp", "command")]
