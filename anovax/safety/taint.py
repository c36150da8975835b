"""Where an argument comes from: the user's own words, or a text from outside that may be anybody's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from anovax.plan import RESULT_REFERENCE, Step, World
from anovax.safety.finding import Finding, ask, notice, refuse
from anovax.safety.normalise import simple, words
from anovax.safety.places import Place, place_of_name
from anovax.tool import Risk

# Words by which people ask for a tool
_ASKS: Mapping[str, frozenset[str]] = {
    "type_text": words(
    """type write enter insert put fill paste dictate reply say add append note text compose spell jot draft answer
    message input"""
),
    "press_keys": words(
    """press hit push key keys enter tab escape save copy paste cut undo redo close new next previous back forward
    scroll zoom volume mute unmute pause play stop louder quieter full screen fullscreen select find print refresh
    reload minimize maximize switch hotkey shortcut skip turn bigger smaller quit exit lock history bookmark hide
    show open go up down left right reset restore duplicate pin move delete submit send brightness window"""
),
    "click": words("click press select choose tap open check tick hit push double right"),
    "drag": words("drag move drop pull slide put select"),
    "open_app": words(
    """open start launch run bring show use load fire need want get type write calculate"""
),
    "focus_window": words("switch focus go show bring back window open other to front raise type write"),
    "close_window": words("close quit exit shut kill end leave dismiss"),
    "open_url": words("open go visit browse navigate show site url website page load take bring pull"),
    "web_search": words(
    """search google look find who what when where how why which is are find show tell query duckduckgo bing up"""
),
    "remember": words("remember note keep store save memorize don't forget my i"),
    "forget": words("forget delete remove erase clear"),
    "delegate": words("then and organize organise prepare set plan do help make find get work"),
    "undo": words("undo take back revert reverse"),
    "scroll": words("scroll down up page top bottom further more left right read go move"),
}  # fmt: skip
_ORDER = re.compile(
    r"\b(ignore|disregard|forget|override)\b.{0,40}\b(instruction|rule|prompt|previous|above|order|"
    r"everything)|\b(assistant|anova\w*|jarvis|ai|model|agent|system)\b\s*[:,]|\b(you must|you should now|"
    r"new instructions?|as an ai|"
    r"do not tell|don't tell|without asking|important:|urgent:|system prompt|instructions?:|please (open|"
    r"type|run|press|delete|send|go|visit|click|close|remember|search))\b|</?(system|user|assistant|"
    r"instruction)"
)
# What every match of _ORDER begins with, without a word boundary before it: quickly found in long texts
_ORDER_BEGINS = re.compile(
    r"ignore|disregard|forget|override|assistant|anova|jarvis|ai|model|agent|system|you |new |as an |do not|don't|"
    r"without|important|urgent|instruction|please |<"
)
_COMMON = words(
    """the and for with this that from your you are was have has not but all any can will its our out a an of to in on
    at it is be or as by i my me we he she they do does did so if"""
)
_APART = {code: " " for code in range(128) if not chr(code).isalnum()}
_TAINTED_RESULTS = words("read_screen recall screenshot delegate")


def _tokens(text: str) -> Counter[str]:
    """How often each word that means something stands in the text."""
    plain = simple(text)
    counts = Counter(plain.translate(_APART).split() if plain.isascii() else re.findall(r"[^\W_]+", plain))
    return Counter({token: count for token, count in counts.items() if len(token) > 1 and token not in _COMMON})


def _share(tokens: Counter[str], of: set[str]) -> float:
    return sum(count for token, count in tokens.items() if token in of) / tokens.total()


def _orders(text: str) -> bool:
    return any(_ORDER.match(text, begin.start()) for begin in _ORDER_BEGINS.finditer(text))


class Taint:
    """One plan's sources: the user's words on one side, texts from outside on the other."""

    def __init__(self, world: World) -> None:
        outside = " \n ".join(text[:4000] for text in world.untrusted[:60])[:40_000]
        self._heard, self._outside = simple(world.heard), simple(outside)
        self._said, self._read = set(_tokens(world.heard)), set(_tokens(outside))
        self._spoken = set(self._heard.split())
        self.orders = _orders(self._outside)
        # what was heard is itself a text from outside: a screen read aloud, or the assistant's own voice
        self.echo = len(self._heard.split()) > 3 and self._heard in self._outside

    @property
    def known(self) -> bool:
        """There is something from outside to confuse with the user's words."""
        return bool(self._outside)

    def asked(self, tool: str) -> bool:
        """The user's words ask for such a tool."""
        return not self.echo and bool(_ASKS.get(tool, frozenset()) & (self._spoken | self._said))

    def tainted(self, text: str) -> bool:
        """The text comes from outside and not from the user."""
        tokens = _tokens(text) if self.known else Counter[str]()
        if not tokens:
            return False
        if self.echo:
            return True
        plain = simple(text)
        if plain in self._heard:
            return False
        foreign = _share(tokens, self._read) >= 0.6 and _share(tokens, self._said) < 0.5
        return foreign or (len(text) > 11 and plain in self._outside)

    def said(self, text: str) -> bool:
        """Most of the text is in the user's own words."""
        tokens = _tokens(text)
        return bool(tokens) and not self.echo and _share(tokens, self._said) >= 0.5


def judge_source(
    step: Step, risk: Risk, taint: Taint, place: Place, results: Mapping[int, str], index: int
) -> Finding | None:
    """What a step may do with arguments that come from outside. ``results``: earlier steps' tools by number."""
    referred = _references(step.args.model_dump(), results, index)
    if referred is not None and referred.decision == "refuse":
        return referred
    if risk in (Risk.READ, Risk.SPEAK):
        return None
    if referred is not None:
        return _referred(step, place, referred)
    text = " ".join(
        str(value) for value in step.args.model_dump(exclude_defaults=True).values() if isinstance(value, str)
    )
    if taint.echo:
        return ask("echo", "the request repeats a text from the screen or from the assistant itself")
    return _from_outside(step, taint, place, text)


def _from_outside(step: Step, taint: Taint, place: Place, text: str) -> Finding | None:
    tainted = taint.tainted(text)
    if not taint.asked(step.tool):
        meant = step.tool in ("open_app", "focus_window") and _same_kind(text, taint)
        if (tainted and not meant) or (taint.orders and not taint.said(text) and not meant):
            return ask("taint", "a text from outside asks for it, not you")
        return None
    if not tainted:
        return None
    if step.tool in ("open_url", "delegate") or (
        step.tool == "type_text" and place in (Place.TERMINAL, Place.RUN_BOX, Place.CONSOLE, Place.ADDRESS)
    ):
        return ask("taint", "what it uses comes from a text from outside, not from you")
    if step.tool in ("open_app", "press_keys", "close_window") and not _same_kind(text, taint) and taint.orders:
        return ask("taint", "a text from outside names it, not you")
    if step.tool in ("type_text", "web_search", "remember"):
        return (ask if taint.orders else notice)("taint", "it uses a text from outside")
    return None


def _same_kind(text: str, taint: Taint) -> bool:
    """``the browser`` and ``Firefox`` mean the same."""
    place = place_of_name(text)
    return place is not Place.UNKNOWN and any(place_of_name(word) is place for word in taint._spoken)


def _references(args: Mapping[str, Any], results: Mapping[int, str], index: int) -> Finding | None:
    found: Finding | None = None
    for value in args.values():
        for match in RESULT_REFERENCE.finditer(value) if isinstance(value, str) else ():
            number = int(match[1])
            if number > index:
                return refuse(
                    "reference", f"step {index + 1} uses the result of step {number}, which does not come before it"
                )
            if results.get(number) in _TAINTED_RESULTS:
                found = ask("taint", "it uses what stands on the screen or in a note")
    return found


def _referred(step: Step, place: Place, found: Finding) -> Finding:
    if step.tool == "type_text" and not place.takes_commands and place is not Place.ADDRESS:
        return notice(found.rule, found.reason)
    return found
