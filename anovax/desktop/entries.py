"""XDG desktop entries: which applications a Linux desktop offers (Desktop Entry Specification 1.5).

Reading (``read_entries``) is kept apart from parsing (``parse_entry``), which is pure.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from anovax.desktop.application import Application

_MAIN = "[Desktop Entry]"
_ESCAPES = {"s": " ", "n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
_MAX_BYTES = 256 * 1024  # a larger "desktop entry" is none


def data_folders(env: Mapping[str, str]) -> tuple[Path, ...]:
    """XDG data folders, the most important first."""
    home = Path(env.get("HOME") or "/")
    own = env.get("XDG_DATA_HOME") or str(home / ".local/share")
    shared = env.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    extra = ["/var/lib/flatpak/exports/share", "/var/lib/snapd/desktop"]
    seen = dict.fromkeys([own, *filter(None, shared.split(":")), *extra])
    return tuple(Path(folder) for folder in seen)


def locales(env: Mapping[str, str]) -> tuple[str, ...]:
    """Locale suffixes to try in a desktop entry, best first: ``de_AT``, ``de``."""
    value = env.get("LC_ALL") or env.get("LC_MESSAGES") or env.get("LANG") or ""
    match = re.fullmatch(r"([A-Za-z]+)(_[A-Za-z]+)?(?:\.[^@]*)?(@.+)?", value)
    if not match or match[1] in ("C", "POSIX"):
        return ()
    language, country, variant = match[1], match[2] or "", match[3] or ""
    tries = (language + country + variant, language + country, language + variant, language)
    return tuple(dict.fromkeys(tries))


def read_entries(env: Mapping[str, str]) -> tuple[Application, ...]:
    """All applications that may be shown to the user. A file in a more important folder hides its namesakes, even
    when it is itself hidden. Unreadable and malformed files are passed over, as every menu does."""
    found: dict[str, Application | None] = {}
    desktops = tuple(filter(None, env.get("XDG_CURRENT_DESKTOP", "").split(":")))
    for folder in data_folders(env):
        for ident, path in _entry_files(folder / "applications"):
            if ident not in found:
                found[ident] = _read(path, ident, locales(env), desktops, env.get("PATH"))
    return tuple(app for app in found.values() if app is not None)


def _entry_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """(desktop file id without .desktop, path): a subfolder's name becomes part of the id."""
    for path in sorted(folder.rglob("*.desktop")):
        yield "-".join(path.relative_to(folder).with_suffix("").parts), path


def _read(
    path: Path, ident: str, wanted: tuple[str, ...], desktops: tuple[str, ...], search: str | None
) -> Application | None:
    try:
        if path.stat().st_size > _MAX_BYTES:
            return None
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return parse_entry(
        text, ident, str(path), wanted, desktops, lambda name: shutil.which(name, path=search) is not None
    )


def parse_entry(
    text: str,
    ident: str,
    path: str = "",
    wanted: tuple[str, ...] = (),
    desktops: tuple[str, ...] = (),
    installed: object = None,
) -> Application | None:
    """One desktop entry, or None when it is not to be offered: no application, NoDisplay, Hidden, not for this
    desktop, its TryExec is not installed, or there is nothing to run. ``installed``: str -> bool, None trusts all."""
    keys = _main_group(text)
    check = installed if callable(installed) else lambda name: True
    if not _shown(keys, desktops) or (keys.get("TryExec") and not check(keys["TryExec"])):
        return None
    command = exec_words(keys.get("Exec", ""), keys.get("Name", ""), path)
    dbus = keys.get("DBusActivatable", "").lower() == "true"
    if not keys.get("Name") or not (command or dbus):
        return None
    if not dbus and not check(command[0]):
        return None
    local = _localised(keys, "Name", wanted)
    return Application(
        id=ident,
        name=local,
        names=tuple(dict.fromkeys((local, keys["Name"]))),
        generic=tuple(
            dict.fromkeys(filter(None, (_localised(keys, "GenericName", wanted), keys.get("GenericName", ""))))
        ),
        comment=_localised(keys, "Comment", wanted),
        keywords=tuple(dict.fromkeys((*_list(_localised(keys, "Keywords", wanted)), *_list(keys.get("Keywords", ""))))),
        categories=frozenset(_list(keys.get("Categories", ""))),
        mime=frozenset(_list(keys.get("MimeType", ""))),
        command=command,
        cwd=keys.get("Path", ""),
        terminal=keys.get("Terminal", "").lower() == "true",
        dbus=dbus,
        wm_class=keys.get("StartupWMClass", ""),
        path=path,
    )


def _main_group(text: str) -> dict[str, str]:
    keys: dict[str, str] = {}
    inside = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            inside = line == _MAIN
        elif inside and "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            keys.setdefault(key.strip(), value.strip())
    return {key: _unescape(value) for key, value in keys.items()}


def _unescape(value: str) -> str:
    return re.sub(r"\\([sntr\\])", lambda match: _ESCAPES[match[1]], value)


def _list(value: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in value.split(";") if item.strip())


def _localised(keys: Mapping[str, str], key: str, wanted: Iterable[str]) -> str:
    for locale in wanted:
        if keys.get(f"{key}[{locale}]"):
            return keys[f"{key}[{locale}]"]
    return keys.get(key, "")


def _shown(keys: Mapping[str, str], desktops: tuple[str, ...]) -> bool:
    if keys.get("Type", "Application") != "Application":
        return False
    if any(keys.get(flag, "").lower() == "true" for flag in ("NoDisplay", "Hidden")):
        return False
    only, never = _list(keys.get("OnlyShowIn", "")), _list(keys.get("NotShowIn", ""))
    if set(never) & set(desktops):
        return False
    return not only or bool(set(only) & set(desktops))


def exec_words(line: str, name: str = "", path: str = "") -> tuple[str, ...]:
    """``Exec`` as an argument list for a start without files: field codes are expanded or dropped."""
    try:
        words = shlex.split(line.replace('\\"', '"') if line.count('"') % 2 else line)
    except ValueError:
        return ()
    out: list[str] = []
    for word in words:
        if word in ("%f", "%F", "%u", "%U", "%d", "%D", "%n", "%N", "%v", "%m", "%i"):
            continue
        word = word.replace("%%", "\0").replace("%c", name).replace("%k", path)
        out.append(re.sub(r"%[fFuUdDnNvmi]", "", word).replace("\0", "%"))
    if out and out[0] == "env":  # "env VAR=1 program": the program is what counts, run through env as written
        return tuple(out) if len(out) > 1 else ()
    return tuple(out)


def default_ids(env: Mapping[str, str], mime: str) -> tuple[str, ...]:
    """Ids of the applications that mimeapps.list names as defaults for ``mime``, the user's own choice first
    (Association between MIME types and applications 1.0)."""
    home = Path(env.get("HOME") or "/")
    config = [
        env.get("XDG_CONFIG_HOME") or str(home / ".config"),
        *(env.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"),
    ]
    folders = [Path(folder) for folder in config if folder] + [f / "applications" for f in data_folders(env)]
    desktops = [name.lower() + "-" for name in env.get("XDG_CURRENT_DESKTOP", "").split(":") if name]
    ids: list[str] = []
    for folder in folders:
        for prefix in (*desktops, ""):
            ids += _defaults_in(folder / f"{prefix}mimeapps.list", mime)
    return tuple(dict.fromkeys(ids))


def _defaults_in(path: Path, mime: str) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    inside = False
    for line in lines:
        if line.startswith("["):
            inside = line.strip() == "[Default Applications]"
        elif inside and line.split("=", 1)[0].strip() == mime and "=" in line:
            return [ident.removesuffix(".desktop") for ident in _list(line.split("=", 1)[1])]
    return []


def alternative(name: str) -> str:
    """What a Debian alternative such as x-terminal-emulator stands for: the program's base name, or empty."""
    found = shutil.which(name)
    return os.path.realpath(found).rsplit("/", 1)[-1] if found else ""
