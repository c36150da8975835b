"""Sums, computed exactly: "what is 1243 times 45", "15 percent of 80", "the square root of 144"."""

from __future__ import annotations

import re
from fractions import Fraction
from math import isqrt

from anovax.planner.normalise import arithmetic
from anovax.planner.numbers import number, spoken_numbers
from anovax.planner.rules.notation import Reading, Rule, Scene, rules, said

_LIMIT = 10**30
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[-+*/^()%]")
_N = r"(-?\d+(?:\.\d+)?)"
# Spoken forms that are no infix sum, on text whose numbers are digits already.
_FORMS = (
    (re.compile(rf"^{_N} ?(?:percent|per cent|%) of {_N}$"), "{0}*{1}/100"),
    (re.compile(rf"^{_N} ?(?:percent|per cent|%) off(?: of)? {_N}$"), "{1}*(100-{0})/100"),
    (re.compile(rf"^(?:the )?sum of {_N} and {_N}$"), "{0}+{1}"),
    (re.compile(rf"^(?:the )?product of {_N} and {_N}$"), "{0}*{1}"),
    (re.compile(rf"^(?:the )?difference (?:between|of) {_N} and {_N}$"), "{0}-{1}"),
    (re.compile(rf"^(?:add )?{_N} (?:and|to|added to) {_N}$"), "{0}+{1}"),
    (re.compile(rf"^subtract {_N} from {_N}$"), "{1}-{0}"),
    (re.compile(rf"^multiply {_N} (?:by|and|with|times) {_N}$"), "{0}*{1}"),
    (re.compile(rf"^divide {_N} by {_N}$"), "{0}/{1}"),
    (re.compile(rf"^half of {_N}$"), "{0}/2"),
    (re.compile(rf"^(?:double|twice) {_N}$"), "2*{0}"),
    (re.compile(rf"^(?:a |one )?(?:third|3rd) of {_N}$"), "{0}/3"),
    (re.compile(rf"^(?:a |one )?quarter of {_N}$"), "{0}/4"),
)
_POWER = re.compile(rf"^{_N} (?:raised )?to the ([\w-]+) power$")
_ROOT = re.compile(r"^(?:the )?(?:square )?root of (\d{1,30})$")


def evaluate(expression: str) -> Fraction | None:
    """The exact value of + - * / ^ ( ) % over decimals; None when malformed, divided by zero or out of bounds
    (values up to 1e30, exponents up to 100)."""
    tokens = _TOKEN.findall(expression)
    if not tokens or len(tokens) > 60 or "".join(tokens) != expression.replace(" ", ""):
        return None
    try:
        value, at = _sum(tokens, 0)
    except (ValueError, ZeroDivisionError, IndexError, OverflowError):
        return None
    return value if at == len(tokens) else None


def _sum(tokens: list[str], at: int) -> tuple[Fraction, int]:
    value, at = _product(tokens, at)
    while at < len(tokens) and tokens[at] in "+-":
        right, after = _product(tokens, at + 1)
        value, at = _bounded(value + right if tokens[at] == "+" else value - right), after
    return value, at


def _product(tokens: list[str], at: int) -> tuple[Fraction, int]:
    value, at = _power(tokens, at)
    while at < len(tokens) and tokens[at] in "*/":
        right, after = _power(tokens, at + 1)
        value, at = _bounded(value * right if tokens[at] == "*" else value / right), after
    return value, at


def _power(tokens: list[str], at: int) -> tuple[Fraction, int]:
    value, at = _atom(tokens, at)
    if at < len(tokens) and tokens[at] == "^":
        exponent, at = _power(tokens, at + 1)
        if exponent.denominator != 1 or abs(exponent) > 100 or abs(value) > 10**6:
            raise ValueError
        value = _bounded(value**exponent.numerator)
    return value, at


def _atom(tokens: list[str], at: int) -> tuple[Fraction, int]:
    token = tokens[at]
    if token in "+-":
        value, at = _power(tokens, at + 1)
        return (value if token == "+" else -value), at
    if token == "(":
        value, at = _sum(tokens, at + 1)
        if tokens[at] != ")":
            raise ValueError
        return value, at + 1
    value = _bounded(Fraction(token))
    return (value / 100, at + 2) if tokens[at + 1 : at + 2] == ["%"] else (value, at + 1)


def _bounded(value: Fraction) -> Fraction:
    if abs(value.numerator) > _LIMIT or value.denominator > _LIMIT:
        raise ValueError
    return value


def spoken(value: Fraction) -> str:
    """A number as it is read out: whole with thousands separators, else rounded to six places."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    exact = (value * 10**6).denominator == 1
    text = f"{float(value):,.6f}".rstrip("0").rstrip(".")
    return text if exact else f"about {text}"


def answer(text: str) -> str | None:
    """The sentence that answers a sum, None when the text is no sum."""
    line = spoken_numbers(re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.lower())).strip(" =?")
    if power := _POWER.match(line):
        n = number(power[2])
        line = f"{power[1]}^{n}" if n is not None else line
    if root := _ROOT.match(line):
        return _root(int(root[1]))
    expression = arithmetic(line)
    for pattern, form in _FORMS:
        if expression is None and (match := pattern.match(line)):
            expression = form.format(*match.groups())
    if expression is None:
        return None
    value = evaluate(expression.rstrip("="))
    return None if value is None else f"That is {spoken(value)}."


def _root(number: int) -> str:
    root = isqrt(number)
    return f"That is {root:,}." if root * root == number else f"That is about {number**0.5:,.4f}."


def _answered(match: re.Match[str], scene: Scene) -> Reading | None:
    sentence = answer(match["sum"])
    if any("calc" in str(call.args.get("name", "")).lower() for call in scene.before):
        return None  # "open the calculator and work out 5 times 9": it is to be done there
    return None if sentence is None else said(sentence)


def sum_rules() -> tuple[Rule, ...]:
    """Questions that are a sum, and sums said alone."""
    return rules(
        _answered,
        "(what is|what's|whats|what are|what does|what do you get if you|what would be|how much is|how much are|"
        "calculate|compute|work out|"
        "solve|evaluate|do|find|figure out|give me|tell me|tell me what) [the] [result of|answer to|"
        "value of] [what] [is] "
        "<sum> [is|equal|make|equals|come to]",
        "<sum>",
        "(if you|if i) <sum> what (do|is) [you|i|it] [get]",
    )
