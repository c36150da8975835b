"""What is likely to be said, as the text that Whisper takes to have come just before. Pure.

Whisper continues in the style and with the words of its prompt (Radford et al. 2022, section 4.5). With the names and
the verbs before it, it writes "type", not "take", and a program's name as the program writes it.
"""

from __future__ import annotations

from collections.abc import Iterable

COMMANDS = "Commands: open, type, press, click, close, search, screenshot, Wikipedia."
MOST_NAMES = 24  # each costs two or three tokens of every decoding
LONGEST_NAME = 24  # characters


def vocabulary(names: Iterable[str]) -> str:
    """The prompt for a machine with the applications ``names``."""
    known = {name.strip().lower(): name.strip() for name in names if 0 < len(name.strip()) <= LONGEST_NAME}
    listed = ", ".join(list(known.values())[:MOST_NAMES])
    return f"Installed: {listed}. {COMMANDS}" if listed else COMMANDS
