"""Installed applications of Windows and macOS. Run so far only against recorded answers of those systems."""

from __future__ import annotations

import json
import plistlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from anovax.desktop.application import Application

START_APPS = ["powershell", "-NoProfile", "-NonInteractive", "-Command", "Get-StartApps | ConvertTo-Json -Compress"]
_NOISE = ("uninstall", "readme", "release notes", "website", "license", "help", "manual")


SYSTEM_BROWSER = "the system's browser"


def system_browser(platform: str) -> Application | None:
    """Where the system itself knows the default browser, what hands an address to it."""
    commands = {"darwin": ("open",), "win32": ("rundll32", "url.dll,FileProtocolHandler")}
    if platform not in commands:
        return None
    return Application(id=SYSTEM_BROWSER, name="the browser", command=commands[platform])


def start_menu(env: Mapping[str, str]) -> tuple[Path, Path]:
    """The user's and everybody's Start menu."""
    tail = Path("Microsoft/Windows/Start Menu/Programs")
    return Path(env.get("APPDATA", "")) / tail, Path(env.get("PROGRAMDATA", "")) / tail


def windows_applications(output: Callable[[list[str]], str], env: Mapping[str, str]) -> tuple[Application, ...]:
    """Get-StartApps and the Start menu's shortcuts, merged by name *before* anything is ranked. ``output`` runs a
    command and returns its standard output."""
    found = {app.name.casefold(): app for app in parse_start_apps(output(START_APPS))}
    for folder in start_menu(env):
        for path in sorted(folder.rglob("*.lnk")) if folder.is_dir() else ():
            if not _noise(path.stem):
                found.setdefault(path.stem.casefold(), _shortcut(path))
    return tuple(found.values())


def parse_start_apps(text: str) -> tuple[Application, ...]:
    """Applications from Get-StartApps as JSON: one object or a list of {"Name", "AppID"}."""
    try:
        rows = json.loads(text or "[]")
    except json.JSONDecodeError:
        return ()
    rows = rows if isinstance(rows, list) else [rows]
    pairs = [(str(row.get("Name", "")), str(row.get("AppID", ""))) for row in rows if isinstance(row, dict)]
    return tuple(
        Application(id=ident, name=name, names=(name,), command=("explorer.exe", rf"shell:AppsFolder\{ident}"))
        for name, ident in pairs
        if name and ident and not _noise(name)
    )


def _shortcut(path: Path) -> Application:
    return Application(
        id=str(path), name=path.stem, names=(path.stem,), command=("cmd", "/c", "start", "", str(path)), path=str(path)
    )


def _noise(name: str) -> bool:
    return any(word in name.casefold() for word in _NOISE)


def mac_applications(env: Mapping[str, str], roots: tuple[Path, ...] | None = None) -> tuple[Application, ...]:
    """Application bundles of the usual folders, two levels deep; started by ``open -a``."""
    if roots is None:
        home = Path(env.get("HOME", "/"))
        roots = (Path("/Applications"), Path("/System/Applications"), home / "Applications")
    found: dict[str, Application] = {}
    for path in _bundles(roots):
        app = _bundle(path)
        found.setdefault(app.name.casefold(), app)
    return tuple(found.values())


def _bundles(roots: tuple[Path, ...]) -> Iterator[Path]:
    for root in roots:
        yield from sorted(root.glob("*.app"))
        yield from sorted(root.glob("*/*.app"))


def _bundle(path: Path) -> Application:
    info: dict[str, object] = {}
    with suppress(OSError, plistlib.InvalidFileException, ValueError):  # the folder's name is enough to open it
        info = plistlib.loads((path / "Contents/Info.plist").read_bytes())
    name = str(info.get("CFBundleDisplayName") or info.get("CFBundleName") or path.stem)
    return Application(
        id=str(info.get("CFBundleIdentifier") or path.stem),
        name=name,
        names=tuple(dict.fromkeys((name, path.stem))),
        command=("open", "-a", str(path)),
        wm_class=name,
        path=str(path),
    )
