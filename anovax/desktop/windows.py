"""Windows: user32 through ctypes for windows and Unicode input, pyautogui for keys and pointer."""

from __future__ import annotations

import ctypes
from pathlib import PureWindowsPath
from typing import Any

from anovax.desktop.backend import Rect
from anovax.desktop.gui_backend import GuiBackend
from anovax.tool import WindowRef

_KEYS = {"win": "winleft", "altgr": "altright", "menu": "apps", "micmute": "volumemute", "refresh": "browserrefresh"}
_WM_CLOSE, _GW_OWNER, _SW_RESTORE = 0x0010, 4, 9
_INPUT_KEYBOARD, _KEYEVENTF_UNICODE, _KEYEVENTF_KEYUP = 1, 4, 2
_MODIFIER_CODES = (0x10, 0x11, 0x12, 0x5B, 0x5C)  # VK_SHIFT, VK_CONTROL, VK_MENU, VK_LWIN, VK_RWIN
_QUERY = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION


class _KeyboardInput(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort), ("scan", ctypes.c_ushort), ("flags", ctypes.c_ulong), ("time", ctypes.c_ulong),
        ("extra", ctypes.c_void_p),
    )  # fmt: skip


class _Payload(ctypes.Union):
    _fields_ = (("keyboard", _KeyboardInput), ("size", ctypes.c_byte * 32))  # as large as MOUSEINPUT on 64 bits


class Input(ctypes.Structure):
    """INPUT of the Win32 API, with a keyboard event in it."""

    _fields_ = (("type", ctypes.c_ulong), ("payload", _Payload))


def unicode_inputs(char: str) -> list[Input]:
    """Press and release of one character as KEYEVENTF_UNICODE events, one pair for each UTF-16 unit."""
    made = []
    data = char.encode("utf-16-le")
    for at in range(0, len(data), 2):
        unit = int.from_bytes(data[at : at + 2], "little")
        for flags in (_KEYEVENTF_UNICODE, _KEYEVENTF_UNICODE | _KEYEVENTF_KEYUP):
            keyboard = _KeyboardInput(0, unit, flags, 0, None)
            made.append(Input(_INPUT_KEYBOARD, _Payload(keyboard=keyboard)))
    return made


class Win32:
    """Windows and input over user32 and kernel32 (``ctypes.windll``)."""

    def __init__(self, user32: Any, kernel32: Any) -> None:
        self._user, self._kernel = user32, kernel32

    def windows(self) -> tuple[WindowRef, ...]:
        """Visible, titled windows, the top one first (EnumWindows walks the z-order)."""
        found: list[int] = []
        kind = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)

        def keep(handle: int | None, _: Any) -> bool:
            found.append(int(handle or 0))
            return True

        self._user.EnumWindows(kind(keep), 0)
        return tuple(
            self._ref(handle) for handle in found if self._user.IsWindowVisible(handle) and self._title(handle)
        )

    def focused(self) -> WindowRef | None:
        handle = int(self._user.GetForegroundWindow() or 0)
        return self._ref(handle) if handle else None

    def _ref(self, handle: int) -> WindowRef:
        pid = ctypes.c_ulong()
        self._user.GetWindowThreadProcessId(handle, ctypes.byref(pid))
        return WindowRef(id=handle, pid=pid.value, app=self._program(pid.value), title=self._title(handle))

    def _title(self, handle: int) -> str:
        text = ctypes.create_unicode_buffer(512)
        self._user.GetWindowTextW(handle, text, 512)
        return text.value

    def _program(self, pid: int) -> str:
        process = self._kernel.OpenProcess(_QUERY, False, pid)
        if not process:
            return ""
        try:
            path, size = ctypes.create_unicode_buffer(1024), ctypes.c_ulong(1024)
            self._kernel.QueryFullProcessImageNameW(process, 0, path, ctypes.byref(size))
            return PureWindowsPath(path.value).stem
        finally:
            self._kernel.CloseHandle(process)

    def activate(self, window: WindowRef) -> None:
        if self._user.IsIconic(window.id):
            self._user.ShowWindow(window.id, _SW_RESTORE)
        self._user.SetForegroundWindow(window.id)

    def close_window(self, window: WindowRef) -> None:
        self._user.PostMessageW(window.id, _WM_CLOSE, 0, 0)

    def owner(self, window: WindowRef) -> int:
        return int(self._user.GetWindow(window.id, _GW_OWNER) or 0)

    def frame(self, window: WindowRef) -> Rect | None:
        edges = (ctypes.c_long * 4)()
        if not self._user.GetWindowRect(window.id, ctypes.byref(edges)):
            return None
        left, top, right, bottom = edges
        return Rect(x=left, y=top, w=right - left, h=bottom - top)

    def send_text(self, char: str) -> None:
        inputs = unicode_inputs(char)
        self._user.SendInput(len(inputs), (Input * len(inputs))(*inputs), ctypes.sizeof(Input))

    def modifiers_down(self) -> bool:
        return any(self._user.GetAsyncKeyState(code) & 0x8000 for code in _MODIFIER_CODES)


class WindowsBackend(GuiBackend):
    """See Backend."""

    notch = 120  # WHEEL_DELTA

    def __init__(self, platform: Win32, gui: Any, clip: Any) -> None:
        super().__init__("windows", platform, gui, clip, _KEYS)


def build_windows() -> WindowsBackend:
    """The backend of this session."""
    import pyautogui
    import pyperclip

    pyautogui.PAUSE, pyautogui.FAILSAFE = 0, False
    libraries: Any = ctypes
    return WindowsBackend(Win32(libraries.windll.user32, libraries.windll.kernel32), pyautogui, pyperclip)
