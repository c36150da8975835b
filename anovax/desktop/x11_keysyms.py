"""X11 keysyms of the canonical key names (X.Org keysymdef.h and XF86keysym.h)."""

from __future__ import annotations

import re

# Browsers read a shortcut on a layout without Latin letters by the key's place, everybody else by its keysym.
BROWSERS = re.compile("chrom|firefox|brave|edge|vivaldi|opera|electron|librewolf|epiphany|falkon", re.I)
_ROWS = {10: "1234567890", 24: "qwertyuiop", 38: "asdfghjkl", 52: "zxcvbnm"}  # evdev keycode of each row's first key
POSITIONS = {char: first + at for first, row in _ROWS.items() for at, char in enumerate(row)}

MODIFIER_KEYSYMS = {"shift": 0xFFE1, "ctrl": 0xFFE3, "alt": 0xFFE9, "win": 0xFFEB, "altgr": 0xFE03}

NAMED_KEYSYMS = {
    "enter": 0xFF0D, "esc": 0xFF1B, "tab": 0xFF09, "space": 0x20, "backspace": 0xFF08, "delete": 0xFFFF,
    "insert": 0xFF63,
    "home": 0xFF50, "end": 0xFF57, "pageup": 0xFF55, "pagedown": 0xFF56, "left": 0xFF51, "up": 0xFF52, "right": 0xFF53,
    "down": 0xFF54, "printscreen": 0xFF61, "pause": 0xFF13, "menu": 0xFF67, "capslock": 0xFFE5, "numlock": 0xFF7F,
    "scrolllock": 0xFF14, **{f"f{n}": 0xFFBD + n for n in range(1, 25)},
    "volumedown": 0x1008FF11, "volumemute": 0x1008FF12, "volumeup": 0x1008FF13, "playpause": 0x1008FF14,
    "stop": 0x1008FF15, "prevtrack": 0x1008FF16, "nexttrack": 0x1008FF17, "rewind": 0x1008FF3E,
    "fastforward": 0x1008FF97,
    "micmute": 0x1008FFB2, "eject": 0x1008FF2C, "brightnessup": 0x1008FF02, "brightnessdown": 0x1008FF03,
    "browserback": 0x1008FF26, "browserforward": 0x1008FF27, "refresh": 0x1008FF29, "browserhome": 0x1008FF18,
    "calculator": 0x1008FF1D, "mail": 0x1008FF19, "search": 0x1008FF1B, "sleep": 0x1008FF2F, "power": 0x1008FF2A,
}  # fmt: skip
