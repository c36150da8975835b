"""What the user wants kept, and what they told before."""

from __future__ import annotations

import re

from anovax.planner.rules.notation import Build, Reading, Rule, Scene, book_rules, call

_POINTS_AWAY = re.compile(
    r"^(?:of |about )?(?:this|that|it|me|when|how|why|who|where|what|him|her|them|us|to)(?: down)?$|^taking ",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"^(?:when|how|why|who|where|what|if|whether|the (?:time|day) (?:when|we))\b", re.IGNORECASE)
_OWN = re.compile(
    r"^(?:(?:first|last|full|middle|nick ?)?name|nickname|birthday|birth date|date of birth|age|(?:home |work |"
    r"street |email |mailing )?address|"
    r"(?:phone|cell|mobile|telephone) number|anniversary|shoe size|favou?rite .{1,40}|hometown|job|hobby|hobbies|"
    r"locker (?:number|combination)|"
    r"(?:wife|husband|mother|mom|father|dad|brother|sister|son|daughter|dog|cat|partner|boss|friend|girlfriend|"
    r"boyfriend|mum|best friend)(?:'s)?(?: .{1,30})?|"
    r"(?:wifi|wi-fi) password|license plate|(?:to ?do|to-do|shopping|grocery|reminder|chore|task|packing|wish) list|"
    r"reminders?|notes?|lists?(?: of .{1,40})?)$",
    re.IGNORECASE,
)

_TODAY = re.compile(
    r" (?:for )?(?:today|tonight|tomorrow|this week|right now|now|at the moment|so far)$", re.IGNORECASE
)
_PHONE = re.compile(r"\b(?:i?phone|cell(?:phone)?|mobile|tablet|android)\b", re.IGNORECASE)
_NOT_CALLED = re.compile(
    r"\b(?:not|wrong|misspelled|spelled|pronounced|it's|on|mom|dad|back|and|when|if|later|at|a|an|the|cab|taxi|on|"
    r"for|what|off|called|maybe|again|anytime|soon|tomorrow|today|tonight)\b",
    re.IGNORECASE,
)


# "remind me at five to leave": the word that begins the time belongs to what is remembered.
_TIMES = frozenset(("at", "on", "in", "by", "when", "every", "tomorrow", "today", "next", "before", "after", "later"))


def _keep(match: re.Match[str], scene: Scene) -> Reading | None:
    fact = match["fact"].strip(" ,\"'")
    before = match.group()[: match.start("fact")].split()
    fact = f"{before[-1]} {fact}" if before and before[-1].lower() in _TIMES else fact
    if (
        _POINTS_AWAY.match(fact)
        or fact.startswith("and ")
        or _QUESTION.match(fact)
        or fact.lower() in ("my name", "me", "my birthday")
    ):
        return None
    return Reading(call("remember", fact=fact).calls, free=True)


def _keep_as(form: str) -> Build:
    def build(match: re.Match[str], scene: Scene) -> Reading | None:
        word = match["fact"].strip(" ,\"'")
        if len(word.split()) > 4 or "," in word or _NOT_CALLED.search(word):
            return None
        return call("remember", fact=form.format(word))

    return build


def _listed(match: re.Match[str], scene: Scene) -> Reading | None:
    fact = match.group()[match.start("fact") :]
    return None if _POINTS_AWAY.match(match["fact"]) else call("remember", fact=fact)


def _own(match: re.Match[str], scene: Scene) -> Reading | None:
    what = _TODAY.sub("", match["what"].strip(" ,\"'"))
    return call("recall", query=what) if _OWN.match(what) else None


# No fact to keep for good: "my dog is sick"; and "my name is not bob" is told in full elsewhere.
_STATE = re.compile(
    r"^my (?:name is|(?:\w+ )?(?:wife|husband|mother|mom|mum|father|dad|brother|sister|son|daughter|dog|cat|partner|"
    r"boss|friend|"
    r"girlfriend|boyfriend) (?:is|are) (?!named|called))",
    re.IGNORECASE,
)


def _own_is(match: re.Match[str], scene: Scene) -> Reading | None:
    """A fact that is told: "my favourite colour is blue"."""
    told = _OWN.match(match["what"]) and not _STATE.match(match.group()) and not _POINTS_AWAY.match(match["value"])
    return Reading(call("remember", fact=match.group()).calls, free=True) if told else None


def _where(match: re.Match[str], scene: Scene) -> Reading | None:
    """Where the user left something is what they may have told; a telephone they would want to be found."""
    return None if _PHONE.search(match["what"]) else call("recall", query=match["what"])


def _recall(match: re.Match[str], scene: Scene) -> Reading | None:
    return call("recall", query=match["what"].strip(" ,\"'"))


def _known(match: re.Match[str], scene: Scene) -> Reading | None:
    """What was told about the user; about anything else it is a question of fact."""
    return _recall(match, scene) if re.match(r"(?:me|us|my|our|myself)\b", match["what"], re.IGNORECASE) else None


def _reminders(match: re.Match[str], scene: Scene) -> Reading | None:
    notes = re.search(r"\bnotes\b", match.group(), re.IGNORECASE)
    return call("recall", query="notes" if notes else "reminders")


def _forget(match: re.Match[str], scene: Scene) -> Reading | None:
    what = match["what"]
    return None if _POINTS_AWAY.match(what) or "about it" in what else call("forget", query=what)


_PHRASES = r"""
= name
(what's|whats|what is|say|tell me|do you know|do you remember|do you recall|what was|can you tell me|remember) my \
[full|first|last|real] name [is|again]
who am i
do you know who i am
what (do|should|would|will|did) you call me
(what name|by what name|what) (do|are|did) you (call|calling|know|have) (me|for me) [by|as]
what am i called
(what|which) name do you (have|call|use) [me] [for|by] [me]
what do you have (as|for) my name
do you (know|remember) what my name is
tell me (what my name is|my name|who i am)
what did i (tell|say) [you] my name (is|was)
what is it that you call me

= name for me
(do you|can you|what|which) ~ (name|nickname) ~ for me

= reminders
what did i (ask|tell|want) you to (remind me of|remind me about|remember|remind me|keep in mind|note) [today|\
earlier|yesterday|for me|to do|about]
what (do|did) i (have|need|want) to (remember|be reminded of|be reminded about) [today]
what (are|were) [all] [of] my [current|upcoming|latest] (reminders|notes) [for|today|tomorrow] [today|tomorrow|this \
week]
do i have any (reminders|notes) [today|set|for today|coming up|tomorrow|left]
what reminders (do i have|are set|have i set|did i set|are there) (for|about|on|in|at) <when>
(show|list|read|tell|give|check|read out|pull up|go over|review|display|bring up) [me] [all] [of] [my|the] \
[current] (reminders|notes) [list] [to me|set]
what reminders (do i have|are set|are there|have i set|did i set|did i make) [today|set|for today]
(what|which) (things|stuff) (did i|do i|i) (ask|asked|want|need|have) (you to|to) (remember|remind me of|remind \
me about)
[what is|what's] on my (reminder|reminders) list [today|for today]
are there [any] (reminders|reminder) [for me|for today|set|for tomorrow|today]
(what|which) [things] (should|must) i (remember|be reminded of) [today|tomorrow]
remind me what [it was|i asked you to remember|i have to do|i need to do|was on my list]
what (is|was) it [that] i (asked|wanted|told) you to (remember|remind me of|remind me about)
what was i supposed to (remember|be reminded of)
what reminders

= lists
what (lists|list) (do i have|are there|have i got|did i make|have i made) [<x>]
(show|read|tell|list|give) [me] [all] [of] (my|all my|the names of my) lists
what (did|have|do) i (put|have|add|got) on my list [of things]

= recall
did i (tell|ask) you to (remind me|remember) (about|of|to|the) <what>
did i (ask|tell) you to remember <what>
what did i (tell|say to|say) [you] about <what>
do i have [a|any] [reminder|reminders|note|notes] (about|for|to) <what>
did i (set|make|create|add) [a|any] (reminder|reminders|note) (for|to|about|of) <what>
(is|are) <what> on (my|the|our) [to do|todo|to-do|shopping|grocery|groceries|chore|task|tasks|packing|wish|reminder|\
reminders] list [already|yet]
(did|have|do) i (put|add|added|have|write|wrote|include|got) <what> (on|to|in) (my|the|our) [to do|todo|to-do|\
shopping|grocery|groceries|chore|task|tasks|packing|wish|reminder|reminders] list [already|yet]
(do you remember|do you recall|recall) [that|the|my|what i said about|what i told you about] <what>
what do you remember about <what>

= known
what do you know about <what>

= recall
(what did i say|what was) my [note|reminder] about <what>

= own
(what's|whats|what is|what are|what was|what were|tell me|tell me about|do you know|recall|read|read me|read out|\
show me|show|check|list|when is|when's|what day is|what date is|where is|who is|give me|go over|pull up|review|what's \
on|whats on|what is \
on|what's in|what is in|what do i have on|what all is on|is there anything on|what things are on|do you remember|\
display|open|read off|what items are on|what else is on|what is left on|what's left on|tell me what's on|tell me what \
is on|tell me all the items on|\
tell me the items on|read the items on|list the items on|\
tell me everything on|what do i need on|what do i have in|what did i put on|give me the items on|let me see|let me \
hear) my <what>

= listed
(add|put|write|include|place) <fact> (to|on|onto|in) (my|the|our) [to do|todo|to-do|shopping|grocery|groceries|\
chore|task|packing|wish] list

= own is
my <what> (is|are) <value>

= where
where (did i|do i|have i) (put|leave|left|park|parked|keep|store|stored|hide) <what>

= parked
where (did i park|have i parked|i parked|is) [my|the] car [parked]
where (did i park|have i parked)

= own place
where do i live

= own age
how old am i

= keep
note to self [that|to] <fact>
(remember|please remember|do remember|keep in mind|bear in mind|make a mental note|don't forget|do not forget|\
dont forget|never forget|don't let me forget|do not let me forget|dont let me forget|memorize|memorise|store|keep \
a note|note|note down|jot down|take note|make note|make a note|make a note for me|take a note|add a note|add note|\
write a note|create a note|save a note|leave a note|write down|put down) (that|to|about|of|for|saying|the fact \
that|note) <fact>
(write|write down) note <fact>
(remember|keep in mind|bear in mind|don't forget|do not forget|dont forget|don't let me forget|memorize|jot down|\
note down|note|make a note|take a note|add a note|add note|create a note|create note|new note) <fact>
when := (to|about|of|that|for|on|in|at|by|set to|called|not to|when|every|tomorrow|today|next|saying|later|before|\
after|regarding)
(remind me|reminder) {when} <fact>
(set|create|make|add|put|give|send|i|schedule|leave|have|save|start|new|place) ~ (reminder|reminding) {when} <fact>
(set|create|make|add|new) [a] [new] reminder <fact>
[i|i'd|i would] [want|need|like|have] [to] (be reminded|get reminded|get a reminder) (to|of|about|that|on|at|in|\
for) <fact>
add <fact> to (my|the) (reminders|reminder list|notes|list of reminders|list of things to remember|memory)
put <fact> (on|in) (my|the) (reminders|reminder list|notes)

= call me
(from now on call me|call me|start calling me|refer to me as|address me as|begin calling me|just call me|you can \
call me|you may call me) <fact> [from now on|from here on out|going forward|instead|from today on|now on]
(my name is|my name's|i am called|i go by|my new name is|my friends call me|people call me|everyone calls me|my \
real name is|i'm called) <fact> [now|from now on]
(change|set|update|switch) (my name|what you call me|the name you call me|my username|my user name|my nickname|\
the name you have for me) (to|as) <fact> [from now on|instead]
i (want|would like|prefer|wish|need) [you] [to] (be called|call me|refer to me as|go by|be known as|be referred \
to as|have you call me) <fact> [from now on|instead]
[i'd] [like|prefer] [you] to (call me|refer to me as) <fact> [from now on|instead]

= forget
(forget|please forget|erase|delete what you know) (that|about|what i said about|what i told you about|the note \
about|the reminder to|the reminder about|my) <what>
"""


def memory_rules() -> tuple[Rule, ...]:
    """Remember, remind, recall, forget, and what the user is called."""
    builds: dict[str, Build | Reading] = {
        "name": call("recall", query="name"),
        "name for me": call("recall", query="name"),
        "reminders": _reminders,
        "recall": _recall,
        "known": _known,
        "parked": call("recall", query="where the car is parked"),
        "lists": call("recall", query="lists"),
        "own": _own,
        "listed": _listed,
        "own is": _own_is,
        "where": _where,
        "own place": call("recall", query="where I live"),
        "own age": call("recall", query="age"),
        "keep": _keep,
        "call me": _keep_as("my name is {}"),
        "forget": _forget,
    }
    return book_rules(_PHRASES, builds, verbatim=("name for me",))
