"""ClockAgent: the time, the date and the weekday, here or elsewhere, in words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import ClassVar, Literal

from pydantic import Field

from anovax.places import zone_of
from anovax.tool import Agent, AgentParts, Done, Risk, StepContext, ToolArgs, Undo, tool


class GetTimeArgs(ToolArgs):
    what: Literal["time", "date", "weekday"] = Field("time", description="what is asked for")
    place: str = Field("", description="city or zone when it is not here", max_length=100)


class ClockAgent(Agent):
    ttl_s: ClassVar[float] = 2.0
    retries: ClassVar[int] = 1
    locks: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, parts: AgentParts, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        super().__init__(parts)
        self._now = now

    @tool(
        risk=Risk.READ,
        description="tell the time, date or weekday",
        label="Tell the {what} {place}",
        undo=Undo.NOTHING_TO_UNDO,
        args=GetTimeArgs,
    )
    def get_time(self, args: GetTimeArgs, step: StepContext) -> Done:
        step.check()
        here = self._now().astimezone()
        there = self._now().astimezone(zone_of(args.place)) if args.place.strip() else here
        evidence = f"the system clock: {there.isoformat(timespec='seconds')}"
        return Done(
            evidence=evidence,
            verified=True,
            result=_result(args.what, there),
            say=sentence(args.what, there, args.place, here),
        )


def _result(what: str, moment: datetime) -> str:
    """Data for later steps: 15:20, 2026-11-30 or Monday."""
    if what == "time":
        return f"{moment:%H:%M}"
    return moment.date().isoformat() if what == "date" else _WEEKDAYS[moment.weekday()]


def sentence(what: str, moment: datetime, place: str = "", here: datetime | None = None) -> str:
    """The answer as it is spoken. With a place whose day is another than ours, the day is said too."""
    where = f"In {_name(place)} " if place.strip() else ""
    day = _WEEKDAYS[moment.weekday()]
    if what == "time":
        other_day = f", on {day}" if here is not None and moment.date() != here.date() else ""
        return f"{where}it is {time_words(moment.hour, moment.minute)}{other_day}.".replace(
            "it is", "It is" if not where else "it is", 1
        )
    words = (
        f"{day}, the {_ordinal(moment.day)} of {_MONTHS[moment.month - 1]}, {year_words(moment.year)}"
        if what == "date"
        else day
    )
    return f"{where}it is {words}." if where else f"Today is {words}."


def _name(place: str) -> str:
    said = " ".join(place.split()).removeprefix("in ")
    return said if any(letter.isupper() for letter in said) else said.title()


_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = "January February March April May June July August September October November December".split()
_ORDINALS = {1: "first", 2: "second", 3: "third", 5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth"}


def number_words(number: int) -> str:
    """0..99 in words."""
    if number < 20:
        return _UNITS[number]
    tens, unit = divmod(number, 10)
    return _TENS[tens] + (f"-{_UNITS[unit]}" if unit else "")


def _ordinal(day: int) -> str:
    if day in _ORDINALS:
        return _ORDINALS[day]
    if day % 10 == 0:
        return number_words(day)[:-1] + "ieth"
    if day > 20:
        return f"{_TENS[day // 10]}-{_ordinal(day % 10)}"
    return number_words(day) + "th"


def year_words(year: int) -> str:
    """2026 -> twenty twenty-six; 2005 -> two thousand five; 1900 -> nineteen hundred."""
    century, rest = divmod(year, 100)
    if century % 10 == 0 and rest < 10:
        return f"{_UNITS[century // 10]} thousand" + (f" {_UNITS[rest]}" if rest else "")
    if rest == 0:
        return f"{number_words(century)} hundred"
    return f"{number_words(century)} {'oh ' if rest < 10 else ''}{number_words(rest)}"


def time_words(hour: int, minute: int) -> str:
    """15:20 -> twenty past three in the afternoon; 12:00 -> noon; 07:41 -> seven forty-one in the morning."""
    if (hour, minute) in ((0, 0), (12, 0)):
        return "midnight" if hour == 0 else "noon"
    when = _part_of_day(hour)
    named, after = _UNITS[hour % 12 or 12], _UNITS[(hour + 1) % 12 or 12]
    if minute == 0:
        return f"{named} o'clock {when}"
    if minute == 30:
        return f"half past {named} {when}"
    if minute % 5 == 0:
        span = "a quarter" if minute in (15, 45) else number_words(minute if minute < 30 else 60 - minute)
        return f"{span} past {named} {when}" if minute < 30 else f"{span} to {after} {_part_of_day((hour + 1) % 24)}"
    return f"{named} {'oh ' if minute < 10 else ''}{number_words(minute)} {when}"


def _part_of_day(hour: int) -> str:
    if 4 <= hour < 12:
        return "in the morning"
    if 12 <= hour < 18:
        return "in the afternoon"
    return "in the evening" if 18 <= hour < 22 else "at night"
