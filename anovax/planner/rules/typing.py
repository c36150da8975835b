"""Typing: words, sums for the calculator, commands for the terminal."""

from __future__ import annotations

import re
from dataclasses import replace

from anovax.plan import Context
from anovax.planner.normalise import arithmetic, unquoted, written
from anovax.planner.rules.notation import Build, Call, Reading, Rule, Scene, book_rules

# What makes a text to be typed something else than its words.
_MADE_UP = re.compile(
    r"^(?:[a-f]|[1-9]|one|two|i{1,2}) (?:diabetes|personalit\w+|connectors?|chargers?|batter\w+|cables?|errors?)\b|"
    r"^(?:of|faster|slower|something|anything|whatever|it|that|this|(?:in )?all caps) |"
    r"^(?:of|faster|slower|quickly|again|something|anything|it|that|this)$|\b(?:presentation|edit|reading|focus) mode$|"
    r"^(?:the same|(?:exactly )?the following|exactly this|slash|open quote|quote .* (?:un|end |close )quote)\b|"
    r"(?<=\w),? (?:no,? wait|scratch that|i mean|i meant),? (?=\w)|"
    r"^(?:nothing|(?:an? )?(?:capital|upper ?case|lower ?case|small) \w)$|"
    r"^(?:exactly )?(?:what|whatever|everything) (?:i|you) \w+(?: you)?$|\bevery (?:\w+ )?(?:second|minute|hour)s?$|"
    r"^an? (?:\w+ )?(?:message|letter|e-?mail|note|poem|essay|reply|response|report|story|text|tweet|review|summary|"
    r"question|joke|comment|sentence|paragraph|caption|description|greeting|recipe|haiku|"
    r"list)\b|"
    r"\b(?:times|languages?|in (?:all caps|capitals|capital letters|upper ?case|lower ?case|bold|italics?|"
    r"spanish|french|german))$|"
    r"^(?:colon|semi ?colon|dot|dash|hyphen|(?:forward |back ?)?slash|quotes?|apostrophe|tilde|pipe|\w+ (?:"
    r"bracket|quote))$|"
    r"\b(?:(?:dollar|percent|plus|minus|equals?|hash|pound|euro|degree) sign|back ?slash|ampersand|asterisk|"
    r"(?:open|close|left|right) (?:paren\w*|bracket|brace|quotes?)|(?:square|curly|angle) brackets?)\b|"
    r"\b(?:comma|full stop|question mark|exclamation (?:mark|point)|new ?line|new paragraph)\b",
    re.IGNORECASE,
)
# A text that only the user or the clock knows, or a field that it belongs in.
_UNKNOWN_TEXT = re.compile(
    r"^(?:my|the|our|your|today's) (?:\w+ ){0,2}(?:names?|addres+|e-?mail|password|passcode|pin|number|date|time|url|"
    r"list|details|credentials|login|notes?|essay|letter|speech|cv|resume|reply|message|homework|thoughts|link|answer|"
    r"results?|signature|username|birthday)$|"
    r"\b(?:in|into|on|inside) (?:the |this |that |a )?(?:[\w-]+ ){0,2}(?:box|field|bar|form|document|editor|window|"
    r"search|console|prompt|chat|cell|"
    r"line|file|page|tab|browser|message|app)$|\bperiod$|"
    r"\b(?:at|to) the (?:very )?(?:start|beginning|top|bottom|end) of (?:the|this|my) (?:document|file|text|page|line|"
    r"list)$|\bon the (?:screen|page|(?:next|first|last) line)$",
    re.IGNORECASE,
)
# Only a part of it is in quotation marks: what is beside them may be an instruction.
_QUOTED_PART = re.compile(r"^(?:\"[^\"]+\"|'[^']+')(?=\W*\w)")
# "type hello but don't press enter": nothing is pressed that nobody asked for.
_NOT_SENT = re.compile(
    r",?(?: but| and)? (?:(?:don't|dont|do not|never) (?:press|hit|push|send|submit|confirm|run|execute)|"
    r"without (?:pressing|hitting|sending|submitting|confirming|running|executing))"
    r"(?: (?:it|that|the message|the form|(?:the )?(?:enter|return)(?: key)?))?(?: yet)?$",
    re.IGNORECASE,
)
_IN_APP = re.compile(
    r"^(?P<text>.+?) (?:in|into|inside|in to) (?:the )?(?P<where>it|there|that|here|this|[\w ]{1,30})$", re.IGNORECASE
)
# "write" asks for words to be thought of more often than it dictates them.
_NOT_TEXT = re.compile(
    r"^(?:an?|the|of|on|in|louder|notes?|me|my|to|back|it|that|this|down|code|something|about|full screen)\b|"
    r"^(?:pass(?:word|code)|user ?name|pin|login|credentials|address|name|date|code|number)$|"
    r"\b(?:functions?|programs?|scripts?|essays?|poems?|lyrics|html|javascript|sql)\b",
    re.IGNORECASE,
)
_CALCULATORS = ("calc", "alculator", "excel", "speedcrunch")  # parts of the names of programs in which sums are typed
_EDITORS = frozenset(("notepad", "calculator", "terminal", "text editor", "mousepad", "word", "gedit"))
_TERMINALS = frozenset(("terminal", "console", "command line", "shell", "xterm", "command prompt"))
_OPTION = re.compile(r"(?<= )((?:(?:minus|dash|hyphen) ){1,2})(?=\w)", re.IGNORECASE)
_NO_COMMAND = re.compile(r"^(?:it|that|this|the|a|an|my|something|some|all)\b", re.IGNORECASE)
# "type i believe in it", "type what is in there"
_SENTENCE = re.compile(
    r"^(?:i|we|you|he|she|they|people|to|what|who) |\b(?:is|are|was|were|be|what's|it's|believe|put|live|stay|come|go|"
    r"get|look) in(?:to|side)? \w+$",
    re.IGNORECASE,
)
# Signs that a command would have in their place; which, and with what spaces, is for the model.
_SPOKEN_SIGN = re.compile(r"\b(?:dot|slash|pipe|tilde|star|semicolon|redirect|greater than|less than)\b", re.IGNORECASE)
_THIS_THEN = re.compile(r"^(?:exactly )?(?:this|the following)(?: text)?: *(?=\S)", re.IGNORECASE)
# "type this is a test": the words begin with "this"; in "type this, hello" they begin after it.
_THIS_IS = re.compile(
    r"^type this (?:is|isn't|was|wasn't|will|won't|has|had|can|can't|could|should|would|may|might|must|needs|means|"
    r"and|or|one|time|day|week|weekend|month|year|morning|afternoon|evening|summer|winter|spring|autumn|page|"
    r"type|kind|sort|project|place|house|work|part|new|old|very) ",
    re.IGNORECASE,
)
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
    line = unquoted(said)
    if _sums(scene) and (sum_ := arithmetic(line)) is not None:
        return Reading((Call("type_text", {"text": sum_}),), free=True)
    text = _command(line) if _recent_app(scene).lower() in _TERMINALS else written(line)
    return Reading((Call("type_text", {"text": text}),), free=True)


def _command(text: str) -> str:
    """A shell command as it is written: "ls minus la" -> "ls -la", "dash dash all" -> "--all"."""
    return _OPTION.sub(lambda match: "-" * len(match[1].split()), written(text))


def _type(match: re.Match[str], scene: Scene) -> Reading | None:
    text = _THIS_THEN.sub("", _NOT_SENT.sub("", match["text"]))
    within = _IN_APP.match(text)
    where = within["where"].lower() if within else ""
    if within and _takes_text(where, scene):
        return _typed_in(where, within["text"], scene) if _dictated(within["text"]) else None
    if not _dictated(text):
        return None
    if _THIS_IS.match(match.group()):
        text = f"this {text}"
    if within and where in _IT:
        return None if _SENTENCE.search(text) else _type_in_it(within["text"], scene)
    done = typed(text, scene)
    terminal = _recent_app(scene).lower() in _TERMINALS
    return None if terminal and _SPOKEN_SIGN.search(str(done.calls[0].args["text"])) else done


def _dictated(text: str) -> bool:
    """Whether the words are what is to be typed, not a description of it."""
    return not any(kind.search(text) for kind in (_MADE_UP, _UNKNOWN_TEXT, _QUOTED_PART))


def _takes_text(where: str, scene: Scene) -> bool:
    return where in (scene.apps or ()) or where in _EDITORS


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


def _type_in(match: re.Match[str], scene: Scene) -> Reading | None:
    """As in "in the terminal type ls": "type ls in the terminal", said the other way round."""
    where, text = match["where"].lower(), _NOT_SENT.sub("", match["text"])
    return _typed_in(where, text, scene) if _takes_text(where, scene) and _dictated(text) else None


def _work_out(match: re.Match[str], scene: Scene) -> Reading | None:
    """A sum after "open the calculator" is worked out there."""
    sum_ = arithmetic(match["sum"]) if scene.before and _sums(scene) else None
    enter = Call("press_keys", {"keys": "enter"})
    return Reading((Call("type_text", {"text": sum_}), enter)) if sum_ else None


def _run_here(match: re.Match[str], scene: Scene) -> Reading | None:
    """A command for the terminal that was opened just before."""
    here = scene.before and _recent_app(scene).lower() in _TERMINALS
    return _ran((), match["text"]) if here else None


def _run_there(match: re.Match[str], scene: Scene) -> Reading | None:
    return _ran((Call("open_app", {"name": "terminal"}),), match["text"])


def _ran(opened: tuple[Call, ...], text: str) -> Reading | None:
    if _NO_COMMAND.search(text):
        return None
    command = _command(text)
    if _SPOKEN_SIGN.search(command):
        return None
    typing = Call("type_text", {"text": command})
    return Reading((*opened, typing, Call("press_keys", {"keys": "enter"})), free=True)


_PHRASES = r"""
= type
(type|enter text|type in|type out|insert text|input text|enter the text|type the text|type the words|type the \
word|type the phrase|dictate|key in|insert the text|type this|input) <text>

= write
(write|write out|enter) <text>

= type in
(in|into) [the] <where> (type|type in|write|enter) <text>
(write|type|make) a [short|quick|little] note (saying|that says) <text> (in|into) [the] <where>

= work out
(compute|calculate|work out|figure out|solve|do) <sum>

= run there
(run|execute) [the command] <text> (in|on) [the|a] (terminal|console|command line)

= run here
(run|execute) [the command] <text>
"""


def typing_rules() -> tuple[Rule, ...]:
    """type X, write X, in the editor type X, run X, work out X."""
    builds: dict[str, Build | Reading] = {
        "type": _type,
        "write": _write,
        "type in": _type_in,
        "work out": _work_out,
        "run there": _run_there,
        "run here": _run_here,
    }
    return book_rules(_PHRASES, builds, verbatim=("type", "write", "type in", "run there", "run here"))
