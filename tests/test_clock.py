"""The clock answers in words, here and elsewhere."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from anovax.agents.clock import ClockAgent, GetTimeArgs, number_words, sentence, time_words, year_words
from anovax.errors import AmbiguousTarget, ToolError
from anovax.places import zone_of
from anovax.tool import AgentParts, CancelFlag, StepContext

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def step() -> StepContext:
    return StepContext("turn", 0, time.monotonic() + 5, CancelFlag(), threading.Event())


def ask(what: str, place: str = "", now: datetime = NOON) -> tuple[str, str]:
    done = ClockAgent(AgentParts(None), now=lambda: now).get_time(GetTimeArgs(what=what, place=place), step())  # type: ignore[arg-type]
    assert done.verified
    assert done.evidence
    return done.say, done.result


@pytest.mark.parametrize(
    ("hour", "minute", "words"),
    [
        (0, 0, "midnight"),
        (12, 0, "noon"),
        (0, 5, "five past twelve at night"),
        (3, 0, "three o'clock at night"),
        (4, 0, "four o'clock in the morning"),
        (7, 41, "seven forty-one in the morning"),
        (9, 7, "nine oh seven in the morning"),
        (11, 45, "a quarter to twelve in the afternoon"),
        (12, 30, "half past twelve in the afternoon"),
        (15, 20, "twenty past three in the afternoon"),
        (17, 55, "five to six in the evening"),
        (21, 59, "nine fifty-nine in the evening"),
        (23, 15, "a quarter past eleven at night"),
        (23, 45, "a quarter to twelve at night"),
    ],
)
def test_times_in_words(hour: int, minute: int, words: str) -> None:
    assert time_words(hour, minute) == words


def test_every_minute_has_its_own_words() -> None:
    said = [time_words(hour, minute) for hour in range(24) for minute in range(60)]
    assert len(set(said)) == 24 * 60
    assert not [words for words in said if any(letter.isdigit() for letter in words)]


@pytest.mark.parametrize(
    ("year", "words"),
    [
        (1900, "nineteen hundred"),
        (1905, "nineteen oh five"),
        (2000, "two thousand"),
        (2005, "two thousand five"),
        (2010, "twenty ten"),
        (2026, "twenty twenty-six"),
        (2100, "twenty-one hundred"),
    ],
)
def test_years(year: int, words: str) -> None:
    assert year_words(year) == words


def test_numbers() -> None:
    assert [number_words(n) for n in (0, 13, 20, 42, 99)] == ["zero", "thirteen", "twenty", "forty-two", "ninety-nine"]


@pytest.mark.parametrize(
    ("day", "words"),
    [
        (1, "the first"),
        (3, "the third"),
        (12, "the twelfth"),
        (20, "the twentieth"),
        (22, "the twenty-second"),
        (30, "the thirtieth"),
    ],
)
def test_days(day: int, words: str) -> None:
    assert f", {words} of " in sentence("date", datetime(2026, 12, day, tzinfo=UTC)).replace("January", "")


def test_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert ask("time") == ("It is noon.", "12:00")
    assert ask("date") == ("Today is Monday, the thirtieth of November, twenty twenty-six.", "2026-11-30")
    assert ask("weekday") == ("Today is Monday.", "Monday")


def test_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert ask("time", "berlin") == ("In Berlin it is one o'clock in the afternoon.", "13:00")
    assert ask("time", "in Tokyo") == ("In Tokyo it is nine o'clock in the evening.", "21:00")
    assert ask("time", "auckland") == ("In Auckland it is one o'clock at night, on Tuesday.", "01:00")
    assert ask("date", "Auckland")[1] == "2026-12-01"
    assert ask("time", "Kathmandu")[1] == "17:45"  # a zone of 5:45 hours


def test_summer_time_is_the_places_own() -> None:
    july = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
    assert ask("time", "Berlin", july)[1] == "14:00"
    assert ask("time", "Phoenix", july)[1] == "05:00"
    assert ask("time", "Sydney", july)[1] == "22:00"


@pytest.mark.parametrize(
    ("place", "zone"),
    [
        ("New York", "America/New_York"),
        ("new york city", "America/New_York"),
        ("Paris, France", "Europe/Paris"),
        ("paris texas", "America/Chicago"),
        ("london england", "Europe/London"),
        ("Germany", "Europe/Berlin"),
        ("the netherlands", "Europe/Amsterdam"),
        ("San Francisco", "America/Los_Angeles"),
        ("san fransisco", "America/Los_Angeles"),
        ("Zürich", "Europe/Zurich"),
        ("São Paulo", "America/Sao_Paulo"),
        ("mumbai", "Asia/Kolkata"),
        ("Beijing", "Asia/Shanghai"),
        ("eastern time", "America/New_York"),
        ("pacific time", "America/Los_Angeles"),
        ("gmt", "UTC"),
        ("Europe/Vienna", "Europe/Vienna"),
        ("ho chi minh", "Asia/Ho_Chi_Minh"),
        ("seatle", "America/Los_Angeles"),
        ("Buenos Aires", "America/Argentina/Buenos_Aires"),
        ("california", "America/Los_Angeles"),
    ],
)
def test_places(place: str, zone: str) -> None:
    moment = datetime(2026, 7, 1, tzinfo=UTC)
    assert moment.astimezone(zone_of(place)).utcoffset() == moment.astimezone(ZoneInfo(zone)).utcoffset()


def test_a_country_with_several_times_asks() -> None:
    with pytest.raises(AmbiguousTarget, match="more than one time zone") as asked:
        zone_of("the usa")
    assert "New York" in asked.value.candidates


@pytest.mark.parametrize("place", ["atlantis", "my kitchen", "mars", "xyzzy", "???"])
def test_unknown_places_are_named(place: str) -> None:
    with pytest.raises(ToolError, match="is not known"):
        zone_of(place)


def test_a_near_miss_names_the_place_that_was_meant() -> None:
    with pytest.raises(ToolError) as failed:
        zone_of("singaporre city")
    assert "Singapore" in failed.value.candidates
