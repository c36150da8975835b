"""The time and the date, here and elsewhere."""

from __future__ import annotations

import re

from anovax.planner.rules.notation import Build, Reading, Rule, Scene, book_rules, call

_AROUND_PLACE = re.compile(r"^(?:the |city of )+|(?: right now| now| today| currently| at the moment)+$", re.IGNORECASE)
_TIME_FOR = re.compile(r"^(?:the )?time for\b", re.IGNORECASE)  # "time for bed"
_NO_PLACE = re.compile(
    r"\b(?:game|show|start|open|close|my|flight|bus|train|movie|minutes?|hours?|days?|is|are|does|and)\b", re.IGNORECASE
)


def _time(what: str) -> Build:
    def build(match: re.Match[str], scene: Scene) -> Reading | None:
        place = match.groupdict().get("place") or ""
        place = _AROUND_PLACE.sub("", place)
        if len(place.split()) > 4 or _TIME_FOR.match(match.group()) or _NO_PLACE.search(place):
            return None
        return call("get_time", what=what, place=place) if place else call("get_time", what=what)

    return build


_PHRASES = r"""
= time
(what time is it|what's the time|whats the time|what is the time|what time it is|time|current time|the time|\
what's the current time|what is the current time|whats the current time|what time do you have|what's the local \
time|what is the local time|what time|time please|what's the hour|what hour is it)
(what time is it|what's the time|whats the time|what is the time|what time it is|what's the current time|what is \
the current time|whats the current time|time|current time|what time|what is the local time|what's the local time|\
whats the local time) (now|right now|currently|at the moment|here|exactly)
(tell|give|show|read) [me] [what] [the] [current|exact|right|correct|local] time [is it|it is|now] [now|right now]
(say|check|announce|display|speak|get) [me] [the] [current] time
(do you|may i|can i|could i) (know|have|get) (the time|what time it is)
(what|how) late is it
(i need|i want|i'd like|i would like) the [current|exact] time
know (the|what) [current|exact] time [it is|is it]
(what time is|how late is) it (now|today)
[the] time [check|now] please
(what time is it|what's the time|whats the time|what is the time|what's the current time|what is the current time|\
time|current time|tell me the time|what's the local time|what is the local time|give me the time|show me the time|\
what time it is|tell me what time it is|the time|local time|tell me the current time) [right now|now|currently] \
(in|at|for|over in) <place>

= date
(what's|whats|what is|tell me|give me|show me|say|what was|check|display|i need|may i have) [the|today's|todays|\
what|me|what is] [current|exact|full] date [is|it is] [today|now|of today|for today]
(do you|may i|can i) (know|have) (the date|today's date|what date it is|the date today)
what date is [it|today] [today|now]
what's today
what is today
date
(show|check|display|announce) date
(today's|todays|current|the) date
(tell me|what is) [what] today's date [is]
tell me (today's|todays) date
what (month|year) is it [now|currently|right now]
(what|which) day of the month is (it|today) [today]
what is the (day|month|year) [today|now]
what's the (day and date|date and day)

= weekday
(what|which) day [of the week] is (it|today) [today|now]
(today is|today's) what day [of the week]
what's the day [of the week] [today]
(what is|what's|whats|tell me|which is) (today's|todays) day [of the week]
(do you know|can i know|know) (what|which) (day|weekday) [of the week] (it is|is it|today is|is today) [today]
what is the day of the week [today]
(what|which) weekday is (it|today)
tell me (what|which) day [of the week] (it is|is it|today is|is today) [today]
(what|which) day of the week [is] [it] [today]
is today [a] (monday|tuesday|wednesday|thursday|friday|saturday|sunday)
tell me the day [of the week] [today]
(what|which) day is today
(what's|what is) the day today
day of the week

= date there
(what|which) (day|date) is it in <place>
(what is|what's|whats|tell me) [the] [current|today's] date in <place>
"""


def clock_rules() -> tuple[Rule, ...]:
    """What time, what date, what day of the week."""
    builds: dict[str, Build | Reading] = {
        "time": _time("time"),
        "date": _time("date"),
        "weekday": _time("weekday"),
        "date there": _time("date"),
    }
    return book_rules(_PHRASES, builds)
