"""Typing, clicking and the screen."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from anovax.plan import Context
from anovax.planner.normalise import arithmetic, written
from anovax.planner.rules.notation import Build, Call, Reading, Rule, Scene, book_rules, call

_POINT_AT_NOTHING = re.compile(
    r"^(?:(?:it|that|this|here|there|them|on|around|left|right|the mouse|mouse|noise|sound|the|a|an|my|twice|again|"
    r"drag|outside|"
    r"inside|somewhere|anywhere|everything|anything|something|him|her|me)$|(?:bait|in|from|at|of|with|and|"
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
    r"\b(?:when|until|if|unless|every|as soon as|from the|under the|next to|above|below|beside|that says|which)\b",
    re.IGNORECASE,
)
# What makes a text to be typed something else than its words.
_MADE_UP = re.compile(
    r"^(?:[a-f]|[1-9]|one|two|i{1,2}) (?:diabetes|personalit\w+|connectors?|chargers?|batter\w+|cables?|errors?)\b|"
    r"^(?:of|faster|slower|something|anything|whatever|it|that|this|(?:in )?all caps) |"
    r"^(?:of|faster|slower|quickly|again|something|anything|it|that|this)$|\b(?:presentation|edit|reading|focus) mode$|"
    r"^an? (?:\w+ )?(?:message|letter|e-?mail|note|poem|essay|reply|response|report|story|text|tweet|review|summary|"
    r"list)\b|"
    r"\b(?:times|languages?|in (?:capitals|capital letters|upper ?case|lower ?case|bold|italics?|spanish|french|"
    r"german))$|"
    r"^(?:colon|semi ?colon|dot|dash|hyphen|(?:forward |back ?)?slash|quotes?|apostrophe|tilde|pipe|\w+ (?:"
    r"bracket|quote))$|"
    r"\b(?:comma|full stop|question mark|exclamation (?:mark|point)|new ?line|new paragraph)\b",
    re.IGNORECASE,
)
# A text that only the user or the clock knows, or a field that it belongs in.
_UNKNOWN_TEXT = re.compile(
    r"^(?:my|the|our|your|today's) (?:\w+ ){0,2}(?:names?|addres+|e-?mail|password|passcode|pin|number|date|time|url|"
    r"link|answer|results?|signature|"
    r"username|birthday)$|"
    r"\b(?:in|into|on|inside) (?:the |this |that |a )?(?:[\w-]+ ){0,2}(?:box|field|bar|form|document|editor|window|"
    r"search|console|prompt|chat|cell|"
    r"line|file|page|tab|browser|message|app)$|\bperiod$",
    re.IGNORECASE,
)
_IN_APP = re.compile(
    r"^(?P<text>.+?) (?:in|into|inside|in to) (?:the )?(?P<where>it|there|that|here|this|[\w ]{1,30})$", re.IGNORECASE
)
# "write" asks for words to be thought of more often than it dictates them.
_NOT_TEXT = re.compile(
    r"^(?:an?|the|of|on|in|louder|notes?|me|my|to|back|it|that|this|down|code|something|about|full screen)\b|"
    r"\b(?:functions?|programs?|scripts?|essays?|poems?|lyrics|html|javascript|sql)\b",
    re.IGNORECASE,
)
_BUTTONS = frozenset(
    "ok|okay|save|submit|cancel|login|log in|sign in|sign up|subscribe|next|continue|yes|no|apply|send|search|accept|"
    "agree|done|finish|confirm|like|follow|checkout|reply".split("|")
)
_CALCULATORS = ("calc", "alculator", "excel", "speedcrunch")  # parts of the names of programs in which sums are typed
_EDITORS = frozenset(("notepad", "calculator", "terminal", "text editor", "mousepad", "word", "gedit"))
_TERMINALS = frozenset(("terminal", "console", "command line", "shell", "xterm", "command prompt"))
_OPTION = re.compile(r"(?<= )((?:(?:minus|dash|hyphen) ){1,2})(?=\w)", re.IGNORECASE)
_NO_COMMAND = re.compile(r"^(?:it|that|this|the|a|an|my|something|some|all)\b", re.IGNORECASE)
_ORDINAL = re.compile(r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)\b")
_SENTENCE = re.compile(r"^(?:i|we|you|he|she|they|people|to|what|who) ", re.IGNORECASE)  # "type i believe in it"
_IT = frozenset(("it", "there", "that", "here", "this"))


def _recent_app(scene: Scene) -> str:
    """The application that the words lead to: opened earlier in this request, else the one in focus."""
    for done in reversed(scene.before):
        if done.tool in ("open_app", "focus_window"):
            return str(done.args["name"])
    return focus_name(scene.context)


def focus_name(context: Context) -> str:
    return context.focus.app if context.focus else ""


def _sums(scene: Scene) -> bool:
    return any(word in _recent_app(scene).lower() for word in _CALCULATORS)


def typed(said: str, scene: Scene) -> Reading:
    """type_text with what would be written: sums for a calculator, "at sign" as @."""
    line = said.strip()
    if len(line) > 1 and line[0] == line[-1] and line[0] in "\"'":
        line = line[1:-1]
    if _sums(scene) and (sum_ := arithmetic(line)) is not None:
        return Reading((Call("type_text", {"text": sum_}),), free=True)
    text = _command(line) if _recent_app(scene).lower() in _TERMINALS else written(line)
    return Reading((Call("type_text", {"text": text}),), free=True)


def _command(text: str) -> str:
    """A shell command as it is written: "ls minus la" -> "ls -la", "dash dash all" -> "--all"."""
    return _OPTION.sub(lambda match: "-" * len(match[1].split()), written(text))


def _type(match: re.Match[str], scene: Scene) -> Reading | None:
    text = match["text"]
    if _MADE_UP.search(text) or _UNKNOWN_TEXT.search(text):
        return None
    if within := _IN_APP.match(text):
        where = within["where"].lower()
        if where in _IT:
            return None if _SENTENCE.match(text) else _type_in_it(within["text"], scene)
        if where in (scene.apps or ()) or where in _EDITORS:
            return _typed_in(where, within["text"], scene)
    return typed(text, scene)


def _typed_in(where: str, text: str, scene: Scene) -> Reading:
    """``text`` typed into the application ``where``, which comes to the front or is opened."""
    opened = Call("open_app", {"name": where})
    done = typed(text, replace(scene, before=(*scene.before, opened)))
    return Reading((opened, *done.calls), free=True)


def _type_in_it(text: str, scene: Scene) -> Reading | None:
    """As in "type hello in it": the application last opened, brought to the front when it is not there now."""
    done = typed(text, scene)
    app = last_opened(scene)
    away = app and app.lower() not in focus_name(scene.context).lower() and not scene.before
    return Reading((Call("focus_window", {"name": app}), *done.calls), free=True) if away else done


def last_opened(scene: Scene) -> str:
    """The application that "it" means: the last one opened or focused in this or an earlier request."""
    steps = [(c.tool, c.args.get("name", "")) for c in scene.before]
    steps = [*((s.tool, getattr(s.args, "name", "")) for turn in scene.context.turns for s in turn.plan.steps), *steps]
    names = [name for tool, name in steps if tool in ("open_app", "focus_window") and name]
    return str(names[-1]) if names else (scene.context.recent_apps[0] if scene.context.recent_apps else "")


def _write(match: re.Match[str], scene: Scene) -> Reading | None:
    """The words after "write" are typed; "write a letter …" asks for a text that somebody has to think of."""
    return None if _NOT_TEXT.search(match["text"]) else _type(match, scene)


def _clicker(**extra: Any) -> Build:
    def build(match: re.Match[str], scene: Scene) -> Reading | None:
        if _DESCRIBED.search(match["target"]):
            return None
        target = re.sub(r" (?:button|link|icon|tab|checkbox|entry)$", "", match["target"], flags=re.IGNORECASE)
        target = target.strip("\"'")
        if _POINT_AT_NOTHING.match(target) or "," in target or len(target.split()) > 6:
            return None
        return call("click", target=target, **extra)

    return build


def _named_button(match: re.Match[str], scene: Scene) -> Reading | None:
    """As in "press save": words that stand on buttons and are no keys."""
    return call("click", target=match["target"]) if match["target"].lower() in _BUTTONS else None


def _nth_link(match: re.Match[str], scene: Scene) -> Reading:
    ordinal = _ORDINAL.search(match.group().lower())
    return call("click", target=f"{ordinal[0]} link") if ordinal else Reading()


def _click_place(match: re.Match[str], scene: Scene) -> Reading | None:
    """As in "click at 300 400": two numbers that stand apart."""
    parts = [match["x"], match["y"]] if "y" in match.groupdict() else match["x"].split()
    if len(parts) != 2 or not all(part.isdigit() and len(part) <= 5 for part in parts):
        return None
    return call("click", x=int(parts[0]), y=int(parts[1]))


def _type_in(match: re.Match[str], scene: Scene) -> Reading | None:
    """As in "in the terminal type ls": "type ls in the terminal", said the other way round."""
    where = match["where"].lower()
    if where not in (scene.apps or ()) and where not in _EDITORS:
        return None
    if _MADE_UP.search(match["text"]) or _UNKNOWN_TEXT.search(match["text"]):
        return None
    return _typed_in(where, match["text"], scene)


def _run(match: re.Match[str], scene: Scene) -> Reading | None:
    """A command for the terminal that was opened just before, or is named, or stands in front."""
    named = re.search(r"(?i) (?:in|on) (?:the |a )?(?:terminal|console|command line)$", match.group())
    here = not named and scene.before and _recent_app(scene).lower() in _TERMINALS
    if not (named or here) or _NO_COMMAND.search(match["text"]):
        return None
    opened = () if here else (Call("open_app", {"name": "terminal"}),)
    typing = Call("type_text", {"text": _command(match["text"])})
    return Reading((*opened, typing, Call("press_keys", {"keys": "enter"})), free=True)


_PHRASES = r"""
shot := (screenshot|screen shot|screen capture|screen grab|screengrab|snapshot|screen snapshot|screencap|screen \
cap|print screen|capture)
of_it := [of|from] [the|this|that|my|whole|entire|current|full] [whole|entire|current|full|active] [web] [page|screen|\
window|desktop|tab|display|\
monitor|it|this|webpage|website]

= type
(type|enter text|type in|type out|insert text|input text|enter the text|type the text|type the words|type the \
word|type the phrase|dictate|key in|insert the text|type this|input) <text>

= write
(write|write out|enter) <text>

= double click
(double click|double-click|doubleclick) [on] [the] <target>

= right click
(right click|right-click|rightclick) [on] [the] <target>

= middle click
(middle click|middle-click) [on] [the] <target>

= click
(click|left click|left-click|click on|tap on|tap|follow link|follow the link|follow|open link|open the link|open \
the link called|click on the link) [on] [the] [link] [to] <target>
(press|hit|push|tap) [on] [the] <target> (button|icon|link)

= click named
(press|hit|push|tap) [on] <target>

= click
select [the] <target> (button|link|tab|option|checkbox|icon)
(check|tick|uncheck) [the] <target> (box|checkbox|check box)

= nth link
(click|click on|open|follow|go to|tap|choose|select) [the] (first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|\
tenth|last) (link|hyperlink) [on] [the|this] [page]

= click place
(click|left click|tap) [on|at] [the] [position|coordinates|point|pixel] <x> (by|and|comma) <y>
(click|left click|tap) [at|on] [the] [position|coordinates|point|pixel] <x>

= type in
(in|into) [the] <where> (type|type in|write|enter) <text>

= run
(run|execute) [the command] <text> (in|on) [the|a] (terminal|console|command line)
(run|execute) [the command] <text>

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
(read|describe) what [is|you see] [on] [the|my] screen [says]
(read|read out|read aloud) (this|it) [to me|for me|aloud|out loud]
(read|read out|read aloud|read me) (the|this|that) [error] (error|error message|dialog|dialog box|popup|pop up|pop-up|\
warning) [to me|for me|aloud|out loud]
what does (the|this|that) (error|error message|dialog|dialog box|popup|pop up|pop-up|warning) say
(what is|what's|whats) (the|this|that) error [message]

"""


def hand_rules() -> tuple[Rule, ...]:
    """Typing, clicking, screenshots, reading the screen."""
    builds: dict[str, Build | Reading] = {
        "type": _type,
        "write": _write,
        "double click": _clicker(count=2),
        "right click": _clicker(button="right"),
        "middle click": _clicker(button="middle"),
        "click": _clicker(),
        "click named": _named_button,
        "nth link": _nth_link,
        "click place": _click_place,
        "type in": _type_in,
        "run": _run,
        "sign in": call("click", target="Sign in"),
        "log in": call("click", target="Log in"),
        "sign out": call("click", target="Sign out"),
        "log out": call("click", target="Log out"),
        "submit": call("click", target="Submit"),
        "screenshot": call("screenshot"),
        "read screen": call("read_screen"),
    }
    return book_rules(_PHRASES, builds, verbatim=("type", "write", "type in", "run"))
