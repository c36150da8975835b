"""How often plans are right: tool sequence, key argument, by kind of request, with every miss.

The file is a TSV with a head line: text, expected_tools (alternatives by "|", steps by ">"), key_argument (several by
";", alternatives by "|"). Arguments are compared loosely: case, address form and key names do not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anovax.bench.table import percentile, read_table, table, wilson

WORDS = frozenset({"chat", "out_of_scope", "speak"})
# What may stand for what: a window can be closed with a key, scrolled with a key, and so on.
STANDS_FOR: dict[str, frozenset[str]] = {
    "close_window": frozenset({"press_keys", "click"}),
    "close_app": frozenset({"close_window", "press_keys"}),
    "focus_window": frozenset({"open_app", "press_keys"}),
    "scroll": frozenset({"press_keys"}),
    "press_keys": frozenset({"scroll", "focus_window", "close_window"}),
    "open_app": frozenset({"focus_window"}),
}
LOOSE = frozenset({"scroll", "focus_window", "close_window", "get_time"})
KEY_NAMES = {"control": "ctrl", "return": "enter", "escape": "esc", "windows": "win", "super": "win"}


@dataclass(frozen=True)
class Case:
    """One labelled request. ``alternatives``: tool sequences, each right."""

    text: str
    alternatives: tuple[tuple[str, ...], ...]
    key: str = ""

    @property
    def words_only(self) -> bool:
        return all(not _acting(steps) for steps in self.alternatives)

    @property
    def compound(self) -> bool:
        return all(len(steps) > 1 for steps in self.alternatives)


@dataclass
class Score:
    """Counts over a file of cases; ``misses`` are lines (kind, text, expected, got)."""

    tools: list[bool] = field(default_factory=list)
    arguments: list[bool] = field(default_factory=list)
    compounds: list[bool] = field(default_factory=list)
    words: list[bool] = field(default_factory=list)
    fast: list[bool] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    misses: list[tuple[str, str, str, str]] = field(default_factory=list)

    def add(self, case: Case, planned: dict[str, Any]) -> None:
        """Judge one plan in the shape of ``anovax plan --json``."""
        refused = planned.get("verdict", {}).get("decision") == "refuse"
        steps = [] if refused else planned.get("plan", {}).get("steps", [])
        matched = match(case, steps)
        right = matched is not None
        self.tools.append(right)
        if case.compound:
            self.compounds.append(right)
        if case.words_only:
            self.words.append(right)
        if planned.get("backend") == "fastpath":
            self.fast.append(right)
        if "ms" in planned:
            self.ms.append(planned["ms"]["plan"])
        expected = " > ".join(case.alternatives[0])
        got = " > ".join(step["tool"] for step in steps) or "words"
        self.confusion[expected if not right else got, got] += 1
        if matched is None:
            self.misses.append(("tools", case.text, expected, shown(steps)))
        elif matched and case.key:
            good = key_right(case.key, matched)
            self.arguments.append(good)
            if not good:
                self.misses.append(("argument", case.text, case.key, shown(steps)))

    def report(self, misses: bool = True) -> str:
        rows = [
            _row("tool sequence", self.tools),
            _row("key argument", self.arguments),
            _row("compounds", self.compounds),
            _row("words only", self.words),
            _row("fast path", self.fast),
        ]
        text = table(rows, ("", "right", "of", "%", "95% interval"))
        text += f"\n\nplan ms: p50 {percentile(self.ms, 0.5):.1f}, p95 {percentile(self.ms, 0.95):.1f}"
        wrong = [(a, b, n) for (a, b), n in self.confusion.most_common() if a != b]
        if wrong:
            text += "\n\n" + table(wrong, ("expected", "planned instead", "times"))
        if misses and self.misses:
            text += "\n\n" + table(self.misses, ("miss", "request", "expected", "planned"))
        return text


def read_cases(path: Path) -> list[Case]:
    """The labelled requests of a file. UsageError when it is not one."""
    rows = read_table(path, ("text", "expected_tools"))
    labelled = (row for row in rows if row["text"] and row["expected_tools"])
    return [Case(row["text"], alternatives(row["expected_tools"]), row.get("key_argument", "")) for row in labelled]


def alternatives(field_text: str) -> tuple[tuple[str, ...], ...]:
    """Tool sequences, each right: "open_app>type_text|web_search"."""
    return tuple(tuple(step.strip() for step in way.split(">")) for way in field_text.split("|"))


def match(case: Case, steps: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The planned steps that answer the first fitting alternative (empty for words), None when no alternative fits."""
    acting = [step for step in steps if step["tool"] != "speak"]
    for way in case.alternatives:
        wanted = _acting(way)
        if not wanted:
            looked_up = "chat" in way and [step["tool"] for step in acting] == ["web_search"]
            if not acting or looked_up:  # looking a fact up is as good an answer as words
                return []
            continue
        for candidate in (list(steps), acting, _without_opening(acting, wanted)):
            if len(candidate) == len(wanted) and all(map(_fits, wanted, (s["tool"] for s in candidate))):
                return candidate
    return None


def _acting(way: Iterable[str]) -> list[str]:
    return [tool for tool in way if tool not in WORDS]


def _without_opening(acting: list[dict[str, Any]], wanted: list[str]) -> list[dict[str, Any]]:
    """Opening the browser first does not make an address or a search wrong."""
    browsing = len(acting) == 2 and acting[0]["tool"] == "open_app" and wanted[0] in ("open_url", "web_search")
    return acting[1:] if browsing else acting


def _fits(wanted: str, got: str) -> bool:
    return got == wanted or got in STANDS_FOR.get(wanted, ())


def key_right(key: str, steps: list[dict[str, Any]]) -> bool:
    """Whether every part of the expected argument occurs in some step."""
    given = [(step["tool"], plain(" ".join(str(v) for k, v in step.items() if k != "tool"))) for step in steps]
    return all(
        any(tool in LOOSE or alike(plain(way), got) for tool, got in given for way in part.split("|"))
        for part in key.split(";")
    )


def alike(expected: str, got: str) -> bool:
    """One within the other, the same keys in another order, or two thirds of the words."""
    if not expected or expected in got or expected.replace(" ", "") in got.replace(" ", ""):
        return True
    if got and got in expected and len(got) >= 0.6 * len(expected):
        return True
    if "+" in expected:
        return set(expected.replace(" ", "").split("+")) == set(got.replace(" ", "").split("+"))
    wanted, given = set(re.findall(r"\w+", expected)), set(re.findall(r"\w+", got))
    return bool(wanted) and 3 * len(wanted & given) >= 2 * len(wanted)


def plain(text: str) -> str:
    """Lower case, key names canonical, no scheme and no punctuation but "." and "+"."""
    text = text.lower()
    for name, short in KEY_NAMES.items():
        text = re.sub(rf"\b{name}\b", short, text)
    text = re.sub(r"https?://|\bwww\.", "", text)
    return " ".join(re.sub(r"[^\w+.]+", " ", text).split())


def shown(steps: Sequence[dict[str, Any]]) -> str:
    calls = (f"{s['tool']}({', '.join(str(v) for k, v in s.items() if k != 'tool')})" for s in steps)
    return "; ".join(calls)[:120] or "words"


def _row(name: str, hits: list[bool]) -> tuple[str, int, int, float, str]:
    low, high = wilson(sum(hits), len(hits))
    share = 100 * sum(hits) / len(hits) if hits else float("nan")
    return name, sum(hits), len(hits), round(share, 1), f"{100 * low:.0f}–{100 * high:.0f}"
