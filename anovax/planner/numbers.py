"""Number words to digits: "twenty one" -> "21", "third" -> 3, "a hundred and five" -> "105"."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
_TIMES = {"once": 1, "twice": 2, "thrice": 3, "a couple of": 2, "a few": 3}

_SMALL = "|".join(sorted([*_UNITS, *_TENS], key=len, reverse=True))
_WORD = rf"(?:{_SMALL}|hundred|{'|'.join(_SCALES)})"
# "a hundred", "two thousand and five", "twenty-one", "three point five"
_PHRASE = re.compile(
    rf"\b(?:a (?=hundred|thousand|million|billion))?{_WORD}(?:(?:[\s-]+(?:and[\s-]+)?){_WORD})*"
    rf"(?:\s+point(?:\s+(?:{'|'.join(_UNITS)}|oh))+)?\b",
    re.IGNORECASE,
)

_SCALED = re.compile(rf"\b(\d{{1,12}}(?:\.\d{{1,9}})?)\s+({'|'.join(_SCALES)})\b", re.IGNORECASE)


def _whole(words: list[str]) -> int | None:
    """The value of one well-formed number phrase; None for a mere row of numbers ("one two three")."""
    total, group, last = 0, 0, 10**15
    for word in words:
        if word in _SCALES:
            scale = _SCALES[word]
            if not scale < last and total:
                return None
            total, group, last = total + max(group, 1) * scale, 0, scale
        elif word == "hundred":
            if not 0 <= group < 100:
                return None
            group = max(group, 1) * 100
        else:
            value = _UNITS.get(word, _TENS.get(word, 0))
            free = 100 if group % 100 == 0 else 10 if group % 10 == 0 and group % 100 >= 20 else 1
            if group and (value == 0 or value >= free):
                return None
            group += value
    return total + group


# "a hundred and five" is one number, "ten and twenty" are two.
_TWO_NUMBERS = re.compile(
    r"(?<!hundred)(?<!thousand)(?<!million)(?<!billion)(?<!trillion)(?P<and>[\s-]+and[\s-]+)", re.IGNORECASE
)


def _phrase(match: re.Match[str]) -> str:
    text = match.group().lower()
    if both := _TWO_NUMBERS.search(text):
        head, tail = match.group()[: both.start()], match.group()[both.end() :]
        return spoken_numbers(head) + both["and"] + spoken_numbers(tail)
    whole, point, fraction = text.partition(" point ")
    words = [w for w in re.split(r"[\s-]+", whole) if w not in ("and", "a")]
    value = _whole(words)
    if value is None:
        return match.group()
    if not point:
        return str(value)
    return f"{value}." + "".join(str(_UNITS.get(word, 0)) for word in fraction.split())


def spoken_numbers(text: str) -> str:
    """Every well-formed number phrase as digits; other words stay as they are. Idempotent."""
    return _PHRASE.sub(_phrase, _SCALED.sub(_scaled, text))


def _scaled(match: re.Match[str]) -> str:
    whole = Fraction(match[1]) * _SCALES[match[2].lower()]
    return str(whole) if whole.denominator == 1 else match.group()


def number(text: str) -> int | None:
    """A whole number from digits, words, an ordinal or "twice"; None when it is none."""
    line = " ".join(text.lower().split())
    if line in _TIMES:
        return _TIMES[line]
    if line in _ORDINALS:
        return _ORDINALS[line]
    if ordinal := re.fullmatch(r"(\d{1,9})(?:st|nd|rd|th)", line):
        return int(ordinal[1])
    digits = spoken_numbers(line)
    return int(digits) if re.fullmatch(r"\d{1,15}", digits) else None
