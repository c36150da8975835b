"""Conversions between everyday units, computed exactly: "how many ounces in a pound", "convert 10 miles to km"."""

from __future__ import annotations

import re
from fractions import Fraction

from anovax.planner.numbers import spoken_numbers
from anovax.planner.rules.notation import Reading, Rule, Scene, rules, said
from anovax.planner.rules.sums import spoken

# kind: names of a unit = its size in the kind's base unit (metre, kilogram, litre, second, byte, metre per second)
_UNITS = """
length: mm millimeter millimeters millimetre millimetres = 0.001
length: cm centimeter centimeters centimetre centimetres = 0.01
length: m meter meters metre metres = 1
length: km kilometer kilometers kilometre kilometres = 1000
length: inch inches in = 0.0254
length: foot feet ft = 0.3048
length: yard yards yd = 0.9144
length: mile miles mi = 1609.344
mass: mg milligram milligrams = 0.000001
mass: g gram grams gramme grammes = 0.001
mass: kg kilo kilos kilogram kilograms = 1
mass: tonne tonnes = 1000
mass: ounce ounces oz = 0.028349523125
mass: pound pounds lb lbs = 0.45359237
mass: stone stones = 6.35029318
volume: ml milliliter milliliters millilitre millilitres = 0.001
volume: l liter liters litre litres = 1
volume: teaspoon teaspoons tsp = 0.00492892159375
volume: tablespoon tablespoons tbsp = 0.01478676478125
volume: cup cups = 0.2365882365
volume: pint pints = 0.473176473
volume: quart quarts = 0.946352946
volume: gallon gallons = 3.785411784
time: second seconds = 1
time: minute minutes = 60
time: hour hours = 3600
time: day days = 86400
time: week weeks = 604800
"""
_DEGREES = {"celsius": "c", "centigrade": "c", "c": "c", "fahrenheit": "f", "f": "f"}
_NUMBER = re.compile(r"^-?\d+(?:\.\d+)?$")


class Units:
    """``spoken`` rules for conversions. US measures of volume; ounces are of mass."""

    def __init__(self) -> None:
        self._units: dict[str, tuple[str, Fraction]] = {}
        for line in _UNITS.strip().splitlines():
            kind, names, size = re.split(r": | = ", line)
            for name in names.split():
                self._units[name] = kind, Fraction(size)

    def convert(self, amount: Fraction, source: str, target: str) -> Fraction | None:
        """The amount in the other unit; None when they do not measure the same thing."""
        if source in _DEGREES and target in _DEGREES:
            same = _DEGREES[source] == _DEGREES[target]
            warm = amount * 9 / 5 + 32 if _DEGREES[source] == "c" else (amount - 32) * 5 / 9
            return amount if same else warm
        if source not in self._units or target not in self._units:
            return None
        (kind, size), (other, unit) = self._units[source], self._units[target]
        return amount * size / unit if kind == other else None

    def _answer(self, match: re.Match[str], scene: Scene) -> Reading | None:
        slots = match.groupdict()
        amount = spoken_numbers((slots.get("n") or "1").lower()).replace(",", "")
        amount = {"a": "1", "an": "1", "half a": "0.5", "half an": "0.5"}.get(amount, amount)
        source, target = match["source"].lower(), match["target"].lower()
        if not _NUMBER.match(amount) or len(amount) > 15:
            return None
        value = self.convert(Fraction(amount), source, target)
        return None if value is None else said(f"That is {spoken(value)} {target}.")

    def rules(self) -> tuple[Rule, ...]:
        """How many A in B, convert N A to B, what is N A in B."""
        return rules(
            self._answer,
            "how (many|much) <target> (in|are in|is in|are there in|make|make up|equal|is|are) <n> <source>",
            "(convert|change|turn|what is|what's|how much is|what are|calculate|tell me) <n> [degrees] <source> "
            "(to|in|into|as) [degrees] <target>",
            "<n> [degrees] <source> (to|in|into) [degrees] <target>",
        )
