"""Text that is nothing but text where it lands, and editors that take commands between the lines."""

from __future__ import annotations

import re

from anovax.safety.commands import is_prose
from anovax.safety.places import Place
from anovax.safety.urls import has_address_sign

EDITORS = (Place.DOCUMENT, Place.MODAL)
# vi's ways to a shell or to a script: ``:w !sh``, ``:%!sh``, ``:call system(…)``, ``!!sh``
_EX_COMMAND = re.compile(
    r":[%.$\d,'<>]*(?:sil\w*!?\s*)?(?:w(?:rite)?\s*!|r(?:ead)?\s*!|!|"
    r"(?:ter(?:minal)?|lua\w*|py\w*|perl\w*|ruby\w*|tcl\w*|mz\w*|call|exe\w*|so(?:urce)?|norm\w*|au\w*|nn\w*|map)\b)|^!"
)


def is_text(text: str, place: Place) -> bool:
    """Whether all lines of a text are nothing but text in such a place."""
    if place in (Place.DOCUMENT, Place.MODAL, Place.CHAT, Place.OTHER):
        return not re.search(_SIGNS_OF_COMMANDS[place is Place.MODAL], text)
    plain = place in (Place.UNKNOWN, Place.BROWSER) and not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    return plain and is_prose(text) and not has_address_sign(text)


_SIGNS_OF_COMMANDS = (r"[\x00-\x08\x0b-\x1f\x7f]|(?m:^:)", r"[\x00-\x08\x0b-\x1f\x7f]|:|(?m:^!)")


def command_of(line: str) -> str:
    """The command that vi would hand to a shell for a line, "" for text."""
    return line if line.startswith((":!", ":r!", ":r !")) else ""


def runs_command(line: str, place: Place) -> bool:
    """The line leaves the editor for a shell or a script, in a way that is not judged further."""
    return place is Place.MODAL and _EX_COMMAND.search(line) is not None
