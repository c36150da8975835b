"""macOS: Quartz and AppKit (pyobjc, which pyautogui brings) for windows and Unicode input, pyautogui for the rest.

The program that runs AnovaX needs the permissions Accessibility and Screen Recording (System Settings, Privacy &
Security).
"""

from __future__ import annotations

import subprocess
from typing import Any

from anovax.desktop.backend import Rect
from anovax.desktop.gui_backend import GuiBackend
from anovax.errors import DesktopError, ToolError
from anovax.tool import WindowRef

# "ctrl" stays Control; shortcuts that are Ctrl elsewhere are Command here, which the planner says as "win" (Command)
_KEYS = {"win": "command", "alt": "option", "altgr": "optionright", "delete": "del", "micmute": "volumemute"}
_ON_SCREEN = 1 | 16  # kCGWindowListOptionOnScreenOnly | kCGWindowListExcludeDesktopElements
_NORMAL_LAYER = 0
_ACTIVATE = 1 | 2  # all windows, ignoring other applications
_HELD = 0x1E0000  # shift, control, option, command in CGEventFlags
_CLOSE = """on run argv
tell application "System Events" to tell (first process whose unix id is (item 1 of argv as integer))
set target to first window whose name is (item 2 of argv)
perform action "AXPress" of (first button of target whose subrole is "AXCloseButton")
end tell
end run"""


class MacOS:
    """Windows and input over the pyobjc modules Quartz and AppKit."""

    def __init__(self, quartz: Any, appkit: Any) -> None:
        self._quartz, self._appkit = quartz, appkit

    def windows(self) -> tuple[WindowRef, ...]:
        """Normal windows on the screen, the front one first."""
        return tuple(self._ref(info) for info in self._listed())

    def _listed(self) -> list[Any]:
        listed = self._quartz.CGWindowListCopyWindowInfo(_ON_SCREEN, 0) or []
        return [info for info in listed if info.get("kCGWindowLayer") == _NORMAL_LAYER]

    def _ref(self, info: Any) -> WindowRef:
        return WindowRef(
            id=int(info["kCGWindowNumber"]),
            pid=int(info["kCGWindowOwnerPID"]),
            app=str(info.get("kCGWindowOwnerName") or ""),
            title=str(info.get("kCGWindowName") or ""),
        )

    def focused(self) -> WindowRef | None:
        """The front window of the front application."""
        front = self._appkit.NSWorkspace.sharedWorkspace().frontmostApplication()
        pid = int(front.processIdentifier()) if front is not None else 0
        return next((window for window in self.windows() if window.pid == pid), None)

    def activate(self, window: WindowRef) -> None:
        running = self._appkit.NSRunningApplication.runningApplicationWithProcessIdentifier_(window.pid)
        if running is None:
            raise ToolError(f"{window.name} is no longer open", "open it again")
        running.activateWithOptions_(_ACTIVATE)

    def close_window(self, window: WindowRef) -> None:
        """Press the window's close button through the accessibility interface."""
        command = ["osascript", "-e", _CLOSE, str(window.pid), window.title]
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
        if done.returncode:
            raise ToolError(
                f"{window.name} has no close button that can be pressed", "allow Accessibility in System Settings"
            )

    def owner(self, window: WindowRef) -> int:
        return 0  # a sheet is no window of its own in Quartz's list

    def frame(self, window: WindowRef) -> Rect | None:
        for info in self._listed():
            if int(info["kCGWindowNumber"]) == window.id:
                box = info["kCGWindowBounds"]
                return Rect(x=int(box["X"]), y=int(box["Y"]), w=int(box["Width"]), h=int(box["Height"]))
        return None

    def send_text(self, char: str) -> None:
        """One character as a keyboard event that carries it (CGEventKeyboardSetUnicodeString), whatever the layout."""
        units = len(char.encode("utf-16-le")) // 2
        for down in (True, False):
            event = self._quartz.CGEventCreateKeyboardEvent(None, 0, down)
            self._quartz.CGEventKeyboardSetUnicodeString(event, units, char)
            self._quartz.CGEventPost(self._quartz.kCGHIDEventTap, event)

    def modifiers_down(self) -> bool:
        return bool(self._quartz.CGEventSourceFlagsState(1) & _HELD)


class MacBackend(GuiBackend):
    """See Backend."""

    def __init__(self, platform: MacOS, gui: Any, clip: Any) -> None:
        super().__init__("macos", platform, gui, clip, _KEYS)


def build_macos() -> MacBackend:
    """The backend of this session. DesktopError when the permission to send keys is missing."""
    import AppKit
    import ApplicationServices
    import pyautogui
    import pyperclip
    import Quartz

    if not ApplicationServices.AXIsProcessTrusted():
        raise DesktopError(
            "macOS does not let this program send keys",
            "allow it in System Settings, Privacy & Security, Accessibility",
        )
    pyautogui.PAUSE, pyautogui.FAILSAFE = 0, False
    return MacBackend(MacOS(Quartz, AppKit), pyautogui, pyperclip)
