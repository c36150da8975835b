"""Clicking, screenshots, and reading the screen."""

from __future__ import annotations

import re
from typing import Any

from anovax.planner.normalise import unquoted, written
from anovax.planner.rules.keys import how_often
from anovax.planner.rules.notation import Build, Reading, Rule, Scene, book_rules, call

_POINT_AT_NOTHING = re.compile(
    r"^(?:(?:it|that|this|here|there|them|on|around|left|right|the mouse|mouse|noise|sound|the|a|an|my|twice|again|"
    r"drag|button|link|icon|dialog|somewhere else|\w+ times|somewhere|"
    r"anywhere|everything|anything|something|him|her|me)$|(?:bait|outside|inside|in|from|at|of|with|and|"
    r"until)\b)",
    re.IGNORECASE,
)
# A target that is described rather than named, or a click that waits for something.
_DESCRIBED = re.compile(
    r"^(?:first|second|third|fourth|fifth|last|(?:red|"
    r"green|blue|yellow|black|white|grey|gray|orange|purple|"
    r"pink|big|small)(?: .*)?)$|"
    r"\b(?:first|second|third|fourth|fifth|last|next|top|bottom|\d+(?:st|nd|rd|th)) (?:\w+ )?"
    r"(?:link|button|result|one|item|entry|row|video|image|icon|option)\b|"
    r"\b(?:when|until|if|unless|every|as soon as|from the|under the|next to|above|below|beside|that says|which|or)\b",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"^(?:(?:link|button|tab|icon) )?(?:that (?:says|is called)|which says|saying|called|named|label+ed) ",
    re.IGNORECASE,
)
_BUTTONS = frozenset(
    "ok|okay|save|submit|cancel|login|log in|sign in|sign up|subscribe|next|continue|yes|no|apply|send|search|accept|"
    "agree|done|finish|confirm|like|follow|checkout|reply".split("|")
)
# Things and places that nobody can find by their text
_UNNAMED = re.compile(
    r"^(?:it|that|this|these|those|them|here|there|me|\d+|selected .*|everything|"
    r"(?:(?:top|bottom|left|right|upper|lower|other|next|same|my|an?|mouse) )*"
    r"(?:icon|file|folder|window|slider|tab|scroll ?bar|image|picture|mouse|pointer|cursor|selection|left|right|top|"
    r"bottom|up|down|middle|cent(?:er|re)|corner|edge|half|side|end|start|screen|monitor|desktop|trash|bin)s?)$",
    re.IGNORECASE,
)
_ORDINALS = frozenset("first second third fourth fifth sixth seventh eighth ninth tenth last".split())


def _clicker(**extra: Any) -> Build:
    def build(match: re.Match[str], scene: Scene) -> Reading | None:
        named = _LABELLED.sub("", match["target"])
        if _DESCRIBED.search(named):
            return None
        target = re.sub(r" (?:button|link|icon|tab|checkbox|entry)$", "", named, flags=re.IGNORECASE)
        target, times = how_often(written(unquoted(target)))
        if times != 1 or _POINT_AT_NOTHING.match(target) or "," in target or len(target.split()) > 6:
            return None
        return call("click", target=target, **extra)

    return build


def _named_button(match: re.Match[str], scene: Scene) -> Reading | None:
    """As in "press save": words that stand on buttons and are no keys."""
    return call("click", target=match["target"]) if match["target"].lower() in _BUTTONS else None


def _click_on(match: re.Match[str], scene: Scene) -> Reading | None:
    """As in "click on File and then on Open"."""
    clicked = scene.before and scene.before[-1].tool == "click"
    return _clicker()(match, scene) if clicked else None


def _nth_link(match: re.Match[str], scene: Scene) -> Reading | None:
    nth = match["nth"].lower()
    return call("click", target=f"{nth} link") if nth in _ORDINALS else None


def _click_place(match: re.Match[str], scene: Scene) -> Reading | None:
    """As in "click at 300 400": two numbers that stand apart."""
    parts = [match["x"], match["y"]] if "y" in match.groupdict() else match["x"].split()
    if len(parts) != 2 or not all(part.isdigit() and len(part) <= 5 for part in parts):
        return None
    return call("click", x=int(parts[0]), y=int(parts[1]))


def _drag_place(match: re.Match[str], scene: Scene) -> Reading | None:
    """As in "drag from 100 200 to 400 200"."""
    parts = [*re.split(r" and | by |,? ", match["from"]), *re.split(r" and | by |,? ", match["to"])]
    if len(parts) != 4 or not all(part.isdigit() and len(part) <= 5 for part in parts):
        return None
    x, y, to_x, to_y = map(int, parts)
    return call("drag", x=x, y=y, to_x=to_x, to_y=to_y)


def _drag(match: re.Match[str], scene: Scene) -> Reading | None:
    """As in "drag report to archive": both are texts that can be seen, not things that are only described."""
    ends = [re.sub(r" (?:icon|file|folder|tab)$", "", match[name].strip("\"'"), flags=re.I) for name in ("from", "to")]
    if any(_UNNAMED.search(end) or _DESCRIBED.search(end) or len(end.split()) > 6 for end in ends):
        return None
    return call("drag", target=written(ends[0]), to=written(ends[1]))


_PHRASES = r"""
shot := (screenshot|screen shot|screen capture|screen grab|screengrab|snapshot|screen snapshot|screencap|screen \
cap|print screen|capture)
of_it := [of|from] [the|this|that|my|whole|entire|current|full] [whole|entire|current|full|active] [web] [page|screen|\
window|desktop|tab|display|\
monitor|it|this|webpage|website]

= double click
(double click|double-click|doubleclick) [on] [the] [link] <target>

= right click
(right click|right-click|rightclick) [on] [the] [link] <target>

= middle click
(middle click|middle-click) [on] [the] [link] <target>

= click
(click|left click|left-click|click on|tap on|tap|follow link|follow the link|follow|open link|open the link|open \
the link called|click on the link) [on] [the] [link] [to] <target>
(press|hit|push|tap) [on] [the] <target> (button|icon|link)

= click named
(press|hit|push|tap) [on] <target>

= click
select [the] <target> (button|link|tab|option|checkbox|icon)
(check|tick|uncheck) [the] <target> (box|checkbox|check box)

= click on
on [the] <target>

= nth link
(click|click on|open|follow|go to|tap|choose|select) [the] <nth> (link|hyperlink) [on] [the|this] [page]

= click place
(click|left click|tap) [on|at] [the] [position|coordinates|point|pixel] <x> (by|and|comma) <y>
(click|left click|tap) [at|on] [the] [position|coordinates|point|pixel] <x>

= drag place
(drag and drop|click and drag|drag) [the mouse] [from] [the] [position|coordinates|point|pixel] <from> to [the] \
[position|coordinates|point|pixel] <to>

= drag
(drag and drop|click and drag|drag) [the|this|that] <from> (to|onto|into|on to|over to) [the|this|that] <to>

= sign in
(sign in|sign me in|signin|sign in here|sign in to this site)

= log in
(log in|login|log me in)

= sign out
(sign out|sign me out|signout)

= log out
(log out|logout|log me out|log off here)

= submit
(submit|submit it|submit [the|this|my] form|send [the|this] form|submit this)

= screenshot
(take|make|grab|capture|get|save|do|snap|create) [me] [a|the|another|one|some] [full|quick|new|whole] [page|screen] \
{shot} {of_it}
(take|copy|save) [a|the] (full page|full screen|visible|entire page|whole page) {shot} {of_it}
{shot} {of_it}
(capture|snap|photograph) [the|my|this] [whole|entire] (screen|desktop|display)
take a (picture|photo|pic) of [the|my|this] (screen|desktop|page|display)

= read screen
(read|read out|read me|describe|read aloud|tell me) [what is|what's|whats] [on] [the|my|this] screen [to me|for \
me|aloud|out loud]
(what is|what's|whats|what do you see) [being] [shown|displayed|written] [currently] on [the|my|this] screen
what does (the|my|this) screen (say|show)
what does it say on [the|my] screen
look at (the|my|this) screen
(read|describe) what [is|you see] [on] [the|my] screen [says]
(read|read out|read aloud) (this|it) [to me|for me|aloud|out loud]
(read|read out|read aloud|read me) (the|this|that) [error] (error|error message|dialog|dialog box|popup|pop up|pop-up|\
warning) [to me|for me|aloud|out loud]
what does (the|this|that) (error|error message|dialog|dialog box|popup|pop up|pop-up|warning) say
(what is|what's|whats) (the|this|that) error [message]

"""


def pointing_rules() -> tuple[Rule, ...]:
    """click X, right click X, open the second link, take a screenshot, read the screen."""
    builds: dict[str, Build | Reading] = {
        "double click": _clicker(count=2),
        "right click": _clicker(button="right"),
        "middle click": _clicker(button="middle"),
        "click": _clicker(),
        "click named": _named_button,
        "click on": _click_on,
        "nth link": _nth_link,
        "click place": _click_place,
        "drag place": _drag_place,
        "drag": _drag,
        "sign in": call("click", target="Sign in"),
        "log in": call("click", target="Log in"),
        "sign out": call("click", target="Sign out"),
        "log out": call("click", target="Log out"),
        "submit": call("click", target="Submit"),
        "screenshot": call("screenshot"),
        "read screen": call("read_screen"),
    }
    return book_rules(_PHRASES, builds)
