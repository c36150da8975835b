"""Requests that no tool here can do: answered in words that say so, and what can be done instead.

Verbs × things. ``deeds`` are the verbs that ask for the deed itself, so "search for an alarm clock" or "open the
calendar" never come here; ``owned`` kinds also answer questions and statements about the user's own things ("when is
my bill due"). What fits neither is a template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from anovax.planner.rules.kinds import KINDS
from anovax.planner.rules.notation import Build, Reading, Rule, Scene, phrasebook, rules, said

_OWNERS = frozenset(("my", "i", "i'm", "i've", "i'd", "our", "we", "mine"))
_ASK_WORDS = (
    "what what's whats which when when's whens where where's is are am do does did have has had was were how how's "
    "show tell list check read give any will who find get let view see can could why look display there's i my"
)
_ASKS = frozenset(_ASK_WORDS.split())
_SCREEN = re.compile(
    r"\b(?:screen|app|website|web|online|internet|google|youtube|theme|mode|movie|film|selected|selection|the text|"
    r"tabs?|window|page|bookmarks?|in my area|nearby|near me|near here|in town|"
    r"text (?:bold|italics?|underlined|\w+er|colou?r|size|\w+case|red|blue|green|black|white))\b"
)


@dataclass(frozen=True)
class Kind:
    """One kind of request beyond us: what is said, its verbs, its things (words or phrases), other templates.
    ``alone``: only as the whole request or its first part ("open the camera and take a picture" is another matter)."""

    say: str
    deeds: str = ""
    things: str = ""
    owned: bool = False
    alone: bool = False
    templates: tuple[str, ...] = ()


_NUMBER_ALONE = (
    r"(?:[\d.,]+|(?:(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|"
    r"forty|fifty|"
    r"sixty|seventy|eighty|ninety|hundred|thousand|million|and|point)(?:[ -]|$))+)"
)
_NO_CALLEE = re.compile(
    r"^(?:it|yourself|you|this|that|of|me by|to|in|for|the shots|out|off|duty|center|centre|quality)\b", re.IGNORECASE
)
_FIELD = re.compile(r"^(?:deeds|things|owned|alone): ")
_WORD = re.compile(r"[\w$'-]+")


def _answering(kind: Kind) -> Build:
    def build(match: re.Match[str], scene: Scene) -> Reading | None:
        who = match.groupdict().get("who")
        if (who and _NO_CALLEE.match(who)) or (kind.alone and scene.before):
            return None
        return said(kind.say)

    return build


def _by_words(kind: Kind) -> Build:
    deeds = frozenset(kind.deeds.split())
    things = tuple(f" {thing} " for thing in kind.things.split("|"))

    def build(match: re.Match[str], scene: Scene) -> Reading | None:
        words = _WORD.findall(match.group().lower())
        line = f" {' '.join(words[1:])} "
        own = kind.owned and words[0] in _ASKS and not _OWNERS.isdisjoint(words)
        if not (own or words[0] in deeds) or not any(thing in line for thing in things) or _SCREEN.search(line):
            return None
        return None if words[:3] in (["how", "do", "i"], ["how", "can", "i"]) else said(kind.say)

    return build


def _number_alone(match: re.Match[str], scene: Scene) -> Reading | None:
    return said(f"I heard {match.group()}, but not what to do with it.")


def _kinds() -> Iterator[Kind]:
    for say, lines in phrasebook(KINDS):
        fields = dict(line.split(": ", 1) for line in lines if _FIELD.match(line))
        templates = tuple(line for line in lines if not _FIELD.match(line))
        yield Kind(
            say, fields.get("deeds", ""), fields.get("things", ""), "owned" in fields, "alone" in fields, templates
        )


def _kind_rules(kind: Kind) -> tuple[Rule, ...]:
    firsts = frozenset(kind.deeds.split()) | (_ASKS if kind.owned else frozenset())
    words = (Rule(r"\w.+", firsts, (), _by_words(kind)),) if kind.things else ()
    return (*rules(_answering(kind), *kind.templates), *words)


def beyond_rules() -> tuple[Rule, ...]:
    """All kinds; a number alone is answered too, since nobody can act on it."""
    kinds = tuple(rule for kind in _kinds() for rule in _kind_rules(kind))
    return (*kinds, Rule(_NUMBER_ALONE, None, (), _number_alone))
