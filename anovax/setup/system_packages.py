"""What this machine must have beside Python packages: found by what is needed, installed by Debian's package manager.

Standard library only. A need is looked for by its command or library, not by its package, so that other distributions
and hand-made installations count as well.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from anovax.setup.manifest import Reporter
from anovax.setup.wheelhouse import InstallError


@dataclass(frozen=True)
class Need:
    """Something that is there when one of ``commands`` is on the path, ``library`` loads, or ``module`` is found.

    A ``library`` with slashes is a file below /usr.
    """

    package: str
    why: str
    commands: tuple[str, ...] = ()
    library: str = ""
    module: str = ""

    def met(self) -> bool:
        return bool(
            any(shutil.which(command) for command in self.commands)
            or (self.library and _loads(self.library))
            or (self.module and importlib.util.find_spec(self.module))
        )


def _loads(library: str) -> bool:
    if "/" in library:
        return any(Path("/usr").glob(library))
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


VENV = (Need("python3-venv", "environments for Python", module="ensurepip"),)
COMPILER = (Need("build-essential", "to build llama.cpp", commands=("c++", "g++", "clang++")),)
ALWAYS = (
    Need("libportaudio2", "the microphone and the loudspeaker", library="libportaudio.so.2"),
    Need("libgl1", "reading the screen", library="libGL.so.1"),
    Need("libglib2.0-0", "reading the screen", library="libglib-2.0.so.0"),
    Need("libgomp1", "the planner and speech recognition", library="libgomp.so.1"),
    Need("xclip", "the clipboard", commands=("xclip", "xsel", "wl-copy")),
    Need("x11-utils", "facts about windows", commands=("xprop",)),
    Need("x11-xserver-utils", "facts about the screen", commands=("xrandr",)),
    Need("x11-xkb-utils", "keyboard layouts", commands=("setxkbmap",)),
)
HEADLESS = (
    Need("xvfb", "a virtual screen", commands=("Xvfb",)),
    Need("openbox", "a window manager", commands=("openbox",)),
    Need("pulseaudio", "a virtual microphone and loudspeaker", commands=("pulseaudio",)),
    Need("pulseaudio-utils", "a virtual microphone and loudspeaker", commands=("pactl",)),
    Need(
        "libasound2-plugins",
        "PortAudio through PulseAudio",
        library="lib/*/alsa-lib/libasound_module_pcm_pulse.so",
    ),
    Need("dbus", "the applications' message bus", commands=("dbus-daemon",)),
    Need("at-spi2-core", "what the applications' fields hold", library="libexec/at-spi-bus-launcher"),
    Need("fonts-dejavu-core", "letters on the screen", library="share/fonts/truetype/dejavu/DejaVuSans.ttf"),
    Need("galculator", "a calculator to demonstrate with", commands=("galculator",)),
    Need("mousepad", "a text editor to demonstrate with", commands=("mousepad",)),
    Need("xterm", "a terminal to demonstrate with", commands=("xterm",)),
)
_TK = (Need("python3-tk", "a Tk window to type into", module="_tkinter"),)
TESTS = (
    *(_TK if sys.executable.startswith("/usr/bin/") else ()),  # other Pythons have their own, or none
    Need("xdotool", "an independent look at windows", commands=("xdotool",)),
    Need("wmctrl", "an independent look at windows", commands=("wmctrl",)),
    Need("espeak-ng", "other voices to listen to", commands=("espeak-ng",)),
    Need("sox", "sound files of all kinds", commands=("sox",)),
    Need("chromium", "a browser for the companion's page", commands=("chromium", "chromium-browser", "google-chrome")),
    Need("libnss3-tools", "certificates for the browser", commands=("certutil",)),
    Need("libxkbcommon0", "another opinion on keyboards", library="libxkbcommon.so.0"),
    Need("libxkbcommon-x11-0", "a Qt window to type into", library="libxkbcommon-x11.so.0"),
    Need("libxcb-cursor0", "a Qt window to type into", library="libxcb-cursor.so.0"),
    Need("libxcb-icccm4", "a Qt window to type into", library="libxcb-icccm.so.4"),
    Need("libxcb-keysyms1", "a Qt window to type into", library="libxcb-keysyms.so.1"),
    Need("libegl1", "a Qt window to type into", library="libEGL.so.1"),
    Need("python3-gi", "a GTK window to type into", library="lib/python3/dist-packages/gi/__init__.py"),
    Need("gir1.2-gtk-3.0", "a GTK window to type into", library="lib/*/girepository-1.0/Gtk-3.0.typelib"),
    Need("procps", "an independent look at processes", commands=("ps",)),
)


def has_screen() -> bool:
    """Whether a desktop is there to work on."""
    return sys.platform in {"win32", "darwin"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def has_microphone() -> bool:
    """Whether a sound server or a device that can record is there; asked without any sound library."""
    if sys.platform in {"win32", "darwin"} or os.environ.get("PULSE_SERVER"):
        return True
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    if (runtime / "pulse" / "native").exists() or (runtime / "pipewire-0").exists():
        return True
    devices = Path("/proc/asound/pcm")
    return devices.exists() and "capture" in devices.read_text("utf-8", errors="replace")


def install_command(packages: Iterable[str]) -> str:
    """The one command that installs these packages."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{sudo}apt-get install --yes --no-install-recommends {' '.join(packages)}"


def ensure(needs: Iterable[Need], report: Reporter) -> list[str]:
    """Install what is missing; returns the packages that were installed.

    With a person at the terminal it asks once; without one it goes ahead when it may (root, or sudo without a
    password). Otherwise raises InstallError with the one command to run.
    """
    missing = [need for need in dict.fromkeys(needs) if not need.met()]
    if not missing or sys.platform != "linux":  # elsewhere the Python packages bring what they need
        return []
    packages = [need.package for need in missing]
    what = ", ".join(f"{need.package} ({need.why})" for need in missing)
    if not shutil.which("apt-get"):
        raise InstallError(f"This machine lacks, in Debian's names: {what}", "install them and start this again")
    command = install_command(packages)
    report.note(f"System packages that are missing: {what}.")
    if _person_is_there():
        allowed = input(f"Install them now with '{command}'? [Y/n] ").strip().lower() in {"", "y", "yes"}
    else:
        allowed = _may_without_asking()
    if not allowed:
        raise InstallError("Some system packages are missing", f"run: {command}")
    _apt(packages, command)
    still = [need.package for need in missing if not need.met()]
    if still:
        raise InstallError(f"{', '.join(still)} did not bring what was expected", f"run: {command}")
    return packages


def _person_is_there() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")


def _may_without_asking() -> bool:
    if os.geteuid() == 0:
        return True
    sudo = shutil.which("sudo")
    return sudo is not None and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0


def _apt(packages: list[str], command: str) -> None:
    """Install, with a fresh package list when the one that is here is empty or too old."""
    rights = [] if os.geteuid() == 0 else ["sudo"]
    apt = [*rights, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    install = [*apt, "install", "--yes", "--no-install-recommends", *packages]
    answer = subprocess.run(install, capture_output=True, text=True, check=False)
    if answer.returncode:
        subprocess.run([*apt, "update"], capture_output=True, check=False)
        answer = subprocess.run(install, capture_output=True, text=True, check=False)
    if answer.returncode:
        lines = [line for line in answer.stderr.splitlines() if line.startswith("E:")]
        raise InstallError(f"The system packages could not be installed ({(lines or ['?'])[0]})", f"run: {command}")


def described(needs: Iterable[Need]) -> list[dict[str, str]]:
    """Name, version and SHA-256 of each package as the system's package lists know them, for a bundle."""
    packages = list(dict.fromkeys(need.package for need in needs))
    known: dict[str, dict[str, str]] = {}
    if shutil.which("apt-cache"):
        command = ["apt-cache", "show", "--no-all-versions", *packages]
        records = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n\n")
        rows = [dict(line.split(": ", 1) for line in record.splitlines() if ": " in line) for record in records]
        known = {row["Package"]: row for row in rows if "Package" in row}
    facts = {"version": "Version", "sha256": "SHA256"}
    return [
        {"package": name, **{ours: known.get(name, {}).get(theirs, "") for ours, theirs in facts.items()}}
        for name in packages
    ]
