"""Programs that no rule knows: judged by what their own words say."""

from __future__ import annotations

import itertools
import re

from anovax.safety.finding import Finding, ask
from anovax.safety.normalise import words
from anovax.safety.posix.words import Command

_VERB = r"delete|destroy|drop|purge|wipe|erase|nuke|obliterate|terminate|undefine|unregister|uninstall|deprovision"
_FIRST = re.compile(r"rm|rmi|rb|remove|prune|reset|downgrade|abandon|strip|revoke|flush|truncate|factory-reset|revert")
_THROWS = re.compile(
    rf"{_VERB}|"
    rf"({_VERB}|remove|reset)([-_:.]\w[\w-]*|vm|all|db)|[\w-]+[:.]({_VERB}|remove|reset|wipe|prune)|--({_VERB}|prune|"
    r"remove-all\S*|erase-all|nuke)"
)
_NAMED_FOR_IT = re.compile(r"(^|[-_.])(uninstall|destroy|wipe|purge|nuke)([-_.]|$)")
_CMDLET = re.compile(r"(get|write|select|out|test|find|show|measure|where|format|help)-")
_ENGLISH = words(
    """for by at on in with from about up off out see me ill the a an my your his her our their this that it i we you
    he she they to of and is are was do does how what when where why who can could would should please not don't"""
)


def throws_away(command: Command) -> Finding | None:
    """``TOOL delete THING``: command line tools say plainly what they do, in one of their first words."""
    if (
        not re.fullmatch(r"[a-z0-9][\w.+-]*", command.name)
        or _CMDLET.match(command.name)
        or command.name in _ENGLISH
        or _ENGLISH & set(command.low)
    ):
        return None
    if _NAMED_FOR_IT.search(command.name):
        return ask("tool", "it is a script that removes things")
    first = list(itertools.takewhile(lambda text: not text.startswith("-"), command.low))[:2]
    options = [text for text in command.low if text.startswith("--")]
    if any(_THROWS.fullmatch(text) for text in (*first, *options)) or any(map(_FIRST.fullmatch, first[:1])):
        return ask("tool", "it deletes or resets something")
    return None
