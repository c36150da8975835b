"""The conversation itself: stop, repeat, again, what was asked, "it" and "the other one"; and words made to order."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from anovax.planner.normalise import unquoted
from anovax.planner.numbers import number
from anovax.planner.rules.notation import Build, Call, Reading, Rule, Scene, book_rules, call, said
from anovax.planner.rules.typing import last_opened

ALL_RIGHT = "All right."

_JOKES = (
    "I asked my keyboard for a break. It offered me a pause key.",
    "The cursor blinks because it has stared at this screen all day.",
    "I once counted up to infinity, but somebody closed the window.",
    "My memory is excellent. It is only the recall that needs an index.",
)
_FACTS = (
    "Honey keeps for centuries without spoiling.",
    "An octopus has three hearts.",
    "A day on Venus is longer than its year.",
    "To a botanist, a banana is a berry and a strawberry is not.",
)
_SAYINGS = (
    "Well begun is half done.",
    "Many hands make light work.",
    "Still waters run deep.",
    "Measure twice, cut once.",
)
_PHRASES = r"""
joke := (tell|hear|give|say|share|know|do you know|do you have|have you got|got|hit|crack|make|i want|i want to hear|\
i'd like \
to hear|let me hear|let's hear)

= stop
(stop|cancel|never mind|nevermind|forget it|forget that|forget about it|abort|halt|quit it|leave it|drop it|\
enough|disregard|wait|dismiss) [it|that|this|now|everything|please|then|about it|i changed my mind|what i said|\
talking|speaking|reading|listening]
(cancel|ignore|disregard|forget) (the|that) last thing [i said|i asked|i asked for]
(stop|cancel|ignore|disregard|forget|skip) [that|my|the|it|this|what] [last] [i] (it|that|request|command|action|\
said|asked|task|message)
(don't do|do not do) (that|it|anything)
(that's|that is) enough
i (changed|have changed|'ve changed) my mind
(i've|i have) changed my mind
stop (doing that|talking|speaking|listening|reading|what you are doing|what you're doing|right there|dictating)
(be quiet|shut up|quiet|silence|hush|go to sleep|shush|be silent|go away)
(hold|hang) on
(one|just a|wait a|give me a) (moment|second|minute)
(no|oh|actually) (stop|cancel|never mind|nevermind|forget it|wait) ~

= spell
(spell|spell out|spelling of|the spelling of) [the] [word] <word>
how (do you|do i|to|would you|does one|should i) (spell|write) [out] [the] [word] <word>
how is [the] [word] <word> (spelled|spelt|written)
(tell|show|give) me (how to spell|how you spell|the spelling of|the correct spelling of|how do you spell) [the] \
[word] <word>
what is the [correct|right|proper] spelling (of|for) [the] [word] <word>
what's the [correct|right|proper] spelling (of|for) [the] [word] <word>
(what letters|what are the letters) (are in|in|spell) [the] [word] <word>

= joke
{joke} [me|us] [a|another|some|any|one|your|one of your] [good|funny|best|random|new|short|silly|great|dad|nerdy] \
(joke|jokes|one liner|one-liner) [to] [make me laugh]

= joke about
{joke} [me|us] ~ (joke|jokes) (about|involving|that) ~

= joke
(tell|say) [me] something [really] (funny|funny to me|to make me laugh|humorous|hilarious|that will make me laugh|\
that'll make me laugh)
(make|get) me [to] (laugh|smile) ~
(joke|another joke|be funny|do you know any jokes|know any jokes|cheer me up|i want to laugh|i need a laugh|\
entertain me|amuse me|i could use a [good] laugh|i need a [good] laugh|i could use a joke)
say [me] [a] joke

= fact about
(tell|give|share|do you know|know|got) [me] [a|an|another|some|any] [good|new|random|cool] [fun|interesting|random|\
cool] (fact|\
facts|trivia) (about|on) <x>

= fact
(tell|give|share|say|do you know|know|i want|i'd like|let's hear|got) [me|to hear] [a|an|another|some|any|\
something] [good|new|random|cool] (fun|interesting|random|fascinating|cool|amazing|weird) (fact|facts|tidbit|\
trivia|thing|things|piece of trivia) ~
(tell|teach|say|give) me (something|anything) ~ (interesting|new|i don't know|i do not know|cool|fun|fascinating|\
random|i didn't know)
[a] (fun|random|interesting) fact
(tell|give) me [some|a] (trivia|fact|facts)

= quote
(tell|give|say|read|share) [me] [a|an|another|some] [good|random|inspiring|inspirational|famous|motivational|nice] \
(quote|\
proverb|saying|words of wisdom)

= coin
(flip|toss|throw|spin) [me|us] [a|the|your] (coin|quarter|penny|nickel|dime) ~
(flip|toss) a coin and (tell|give|show) ~
(heads or tails|coin flip|coin toss|do a coin flip|do a coin toss|i need a coin flip|i need you to flip a coin)
~ (flip|toss) (a|the) coin ~

= dice
(roll|throw|toss|cast) [me|us] [a|the|some|one|your] (die|dice) [and] [tell me] ~
(roll|throw) [me|us] <n> [six sided] dice ~
(roll|throw) [a|the] <sides> sided (die|dice) ~
~ (roll|throw) (a die|the dice|a dice) ~
dice roll

= between
(pick|choose|give me|tell me|generate|say|think of|select) [a] [random] number (between|from) <low> (and|to) <high>
[a] random number (between|from) <low> (and|to) <high>

= repeat
[please] (repeat|say) [that|it|what you said|what you just said|the last thing|your last|yourself|again] [once \
more|again|one more time|you said|thing|sentence|answer|response|statement|that you said|please|a second time|\
back to me]
(say|repeat) (that|it|what you said|what you just said|what you told me|the last thing|the last thing you said|\
your last statement|your last response|your last answer|yourself|your answer|that last thing|that last part|the \
last part) [again|one more time|once more|another time|please|for me|back to me|you said|a second time|slower]
(what|what's that|pardon|pardon me|excuse me|sorry|come again|what was that|huh|what did you say|what did you \
just say|say what|say again|i didn't hear you|i did not hear you|i didn't catch that|i didn't hear that|i missed \
that|i couldn't hear you|can i hear that again|could i hear that again|i need you to repeat that|one more time \
please|what was it you said|what was the last thing you said|what were you saying) [again|could you repeat|can \
you repeat|say it again|repeat it|repeat that|please]

= what did I ask
what (did|was) (i|it) [i] [just] (ask|say|tell|asked|said|want) [you] [to] [do] [for] [just now|before|earlier|a \
moment ago|last|last time]
what was my (last|previous) (question|request|command)
what was the last thing i (asked|said|asked for|told you)
what (have i|did i just) (asked|ask|say|said) ~
do you (remember|know) what i (just|last) (asked|said) ~
repeat what i [just] said

= again
(do|run) (it|that|this|the same|the last command|the same thing|my last command|that command) (again|once more|\
one more time)
(repeat|redo|do) (the last command|the last action|the same thing|my last command|that command|the same again)
(again|once more|one more time|same again|do that again|do it again|try again|try that again|try it again|redo \
that command)

= undo
(undo|undo that|undo it|undo this)

= take back
(take (that|it) back|undo (what you did|what you just did|[your|the|my] last action|the last thing you did|your last \
step)|revert (that|what you did))

= close it
close (it|that|that one|that again|it again)

= the other one
(no|nope|not that one|not this one|not that|i meant|i mean|wrong one|use|try|take|switch to|go to|open) [no|i \
meant|i mean] [the] other (one|window)
[the] other (one|window)

= the last one
(switch|go|change|jump) back
(switch|go|change|jump) [back] to [the] (last|previous) (one|window|app|application|program)

= speak
(say the words|say the word|say the phrase|say out loud|say aloud|speak out|pronounce the word|say|\
pronounce|repeat after me|read aloud|read out loud) <text>
how (do you|do i|to) pronounce [the] [word] <text>
"""


class Talk:
    """``chance`` draws coins, dice, jokes and numbers."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def _one_of(self, answers: tuple[str, ...]) -> Callable[[re.Match[str], Scene], Reading]:
        return lambda match, scene: said(self._chance.choice(answers))

    def _dice(self, match: re.Match[str], scene: Scene) -> Reading | None:
        slots = match.groupdict()
        sides, count = number(slots.get("sides") or "6"), number(slots.get("n") or "1")
        if not sides or not count or not 2 <= sides <= 1000 or not 1 <= count <= 10:
            return None
        return said("I rolled " + " and ".join(str(self._chance.randint(1, sides)) for _ in range(count)) + ".")

    def _between(self, match: re.Match[str], scene: Scene) -> Reading | None:
        low, high = number(match["low"]), number(match["high"])
        if low is None or high is None or low > high:
            return None
        return said(f"{self._chance.randint(low, high)}.")

    def rules(self) -> tuple[Rule, ...]:
        """Everything that is answered from the conversation or from chance."""
        builds: dict[str, Build | Reading] = {
            "stop": said(ALL_RIGHT),
            "spell": _spell,
            "joke": self._one_of(_JOKES),
            "joke about": self._one_of(tuple(f"I know none of that kind. But this one: {joke}" for joke in _JOKES)),
            "fact about": self._one_of(tuple(f"I know none about that. But this one: {fact}" for fact in _FACTS)),
            "fact": self._one_of(_FACTS),
            "coin": self._one_of(("Heads.", "Tails.")),
            "quote": self._one_of(_SAYINGS),
            "dice": self._dice,
            "between": self._between,
            "repeat": _last_said,
            "what did I ask": _last_heard,
            "again": _again,
            "undo": _undo,
            "take back": call("undo"),
            "close it": _close_it,
            "the other one": call("focus_window", name="the other one"),
            "the last one": call("focus_window", name="the last one"),
            "speak": _speak,
        }
        return book_rules(_PHRASES, builds)


def _spell(match: re.Match[str], scene: Scene) -> Reading | None:
    word = match["word"].strip("\"'.,")
    if word.lower() in ("check", "checker", "it", "that", "this") or re.match(
        r"(?:my|your|his|her|the)\b", word.lower()
    ):
        return None
    if not re.fullmatch(r"[A-Za-z'-]{2,30}(?: [A-Za-z'-]{1,20}){0,3}", word):
        return None
    letters = ", ".join(ch.upper() for ch in word if ch.isalpha())
    return said(f"{word.capitalize()}: {letters}.")


def _last_said(match: re.Match[str], scene: Scene) -> Reading | None:
    words = [turn.said for turn in scene.context.turns if turn.said]
    return said(words[-1] if words else "I have not said anything yet.")


def _last_heard(match: re.Match[str], scene: Scene) -> Reading | None:
    turns = scene.context.turns
    return said(f"You asked: {turns[-1].heard}." if turns else "You have not asked me anything yet.")


def _again(match: re.Match[str], scene: Scene) -> Reading | None:
    """The last plan that did something. A plan that needs consent is judged again like any other."""
    plans = [turn.plan for turn in scene.context.turns if turn.plan.steps]
    if not plans:
        return said("There is nothing to repeat yet.")
    return Reading(tuple(Call(step.tool, step.args.model_dump(exclude_none=True)) for step in plans[-1].steps))


def _undo(match: re.Match[str], scene: Scene) -> Reading | None:
    """After an action of ours, that is taken back; otherwise it is the application's own undo."""
    acted = scene.context.turns and scene.context.turns[-1].plan.steps
    return call("undo") if acted else call("press_keys", keys="ctrl+z")


def _close_it(match: re.Match[str], scene: Scene) -> Reading | None:
    name = last_opened(scene) if scene.before or scene.context.turns else ""
    return call("close_window", name=name) if name else call("close_window")


_NOT_WORDS = re.compile(
    r"^(?:something|anything|that|it|this|what|to|if|when|in|no to|yes to|my|the time|the date|the alphabet|a prayer|"
    r"a poem|grace|whatever|some\b.*)\b",
    re.IGNORECASE,
)


_ALOUD = re.compile(r"(?:,? (?:out loud|aloud|loudly))$", re.IGNORECASE)


def _speak(match: re.Match[str], scene: Scene) -> Reading | None:
    text = unquoted(_ALOUD.sub("", match["text"]))
    if _NOT_WORDS.match(text):
        return None
    return Reading(call("speak", text=text).calls, free=True)
