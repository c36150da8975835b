"""What running a line of text as a command would be, in the languages that command lines speak."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from anovax.safety.budget import Budget, TooDeepError
from anovax.safety.finding import APPROVED, Finding, ask, notice, strictest
from anovax.safety.normalise import fold, readings, words
from anovax.safety.places import Place
from anovax.safety.posix.code import judge_code
from anovax.safety.posix.rules import PROGRAMS, judge
from anovax.safety.posix.shell import Run
from anovax.safety.posix.tools import changes_data
from anovax.safety.windows.judge import VERBS
from anovax.safety.windows.judge import judge as judge_windows
from anovax.safety.windows.rules import PROGRAMS as WINDOWS_PROGRAMS

if TYPE_CHECKING:
    from tree_sitter import Parser

MAX_COMMAND = 2000
INTERRUPTED = "\x03"
_PROMPT = re.compile(r"\s*(?:[$%>]\s+|:?!\s*)(?=\S)")
_RECALLED = re.compile(r"(?<![\w$\[{(\"!?.,:])!(?:!|\$|\^|\*|\?\w|-?\w)|(?m:^[^\S\n]*\^[^\^\n]+\^)")
_AGAIN = re.compile(r"(?m)^r(?:[^\S\n]+-?\w+)?$")  # zsh and ksh
_PROSE = re.compile(r"(?:[^\S\n]*(?:[^\W_][\w ,.!?'’\"“”:()–—…-]*)?(?:\n|\Z))*\Z")
# Quotes around some letters of a word, or around none: an apostrophe has letters on both sides
_QUOTED_INSIDE = re.compile(r"\w\"\w*\"|\w'(?![A-Z][a-z]{2,}'s\b)\w*'|(?<!\w)['\"]\w*['\"]\w")
_CMDLET = re.compile(r"(?m)^[^\S\n]*([A-Za-z]+)-([A-Z]\w\w+|(?i:item|process|service|computer|content|itemproperty|"
                     r"alias|expression|command|webrequest|executionpolicy|eventlog|history|localuser|disk|partition|"
                     r"pssession|clipboard|adaccount|aduser|adaccountpassword|volume|scheduledtask)\b)")  # fmt: skip
_CODE = re.compile(r"\s*(import\s+[\w.]+\s*([;,\n]|as\b|\Z)|from\s+[\w.]+\s+import\b|(\w+\s*=\s*)?\w+(\.\w+)*\s*\()")
_HERE_BEGINS = re.compile(r"<<-?\s*['\"]?(\w+)")
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?([^\n]*)\n(?:.*?\n)??\s*\1[^\S\n]*(?=\n|\Z)", re.DOTALL)
_STATEMENT = re.compile(r";\s*\Z|[=({]|\b[A-Z]{4,}\b")
_NO_PROSE = re.compile(r"(?m)[-.:_](?:(?<=[-.])(?<!\S.)|(?<=\w[.:])(?=\w)|(?<=--)|(?<=__)|(?<=:)$)")
_TOO_DEEP = ask("too_deep", "the command is too deeply nested to be judged")
# They make a sentence; names of files they are not
_LINKING = words(
    """the is are was were with we you he she they my your his her our their for of an me it that this and but said who
    what if when"""
)
_NO_WORDS = words("""rm dd sudo mkfs del rd ri chmod chown su doas mv cp sh bash eval unlink rmdir erase reg
    killall pkill shred wipefs userdel systemctl reboot poweroff""")


def is_prose(text: str) -> bool:
    """Plain sentences: no sign that a shell would act on, and no line that begins with a program's name; neither as
    they are written nor with look-alike letters read as what they look like."""
    return _is_prose(text) and (text.isascii() or _is_prose(fold(text)))


def _is_prose(text: str) -> bool:
    text = "\n".join(line.rstrip() for line in text.split("\n")).replace("'n'", "n")
    if re.search("[$€£]", text):
        text = re.sub(r"(?<!\S)[$€£]\d[\d.,]*(?!\S)", "0", text)  # a price
    if not _PROSE.match(text) or _NO_PROSE.search(text) or _disguised(text):
        return False
    if changes_data(text) and _STATEMENT.search(text):
        return False
    return all(_opens_prose(line) for line in set(text.split("\n")) if line)


def _disguised(text: str) -> bool:
    """Signs that ordinary sentences have too, in places where they do not have them."""
    quoted = ("'" in text or '"' in text) and _QUOTED_INSIDE.search(text) is not None
    return quoted or ("-" in text and _names_cmdlet(text))


def _names_cmdlet(text: str) -> bool:
    """``Restart-Computer``: a verb that PowerShell uses, and a noun."""
    return any(match[1].casefold() in VERBS for match in _CMDLET.finditer(text))


def _opens_prose(line: str) -> bool:
    word = line.split(None, 1)[0].strip("'\"’“”,.:;!?()").casefold()
    return word == "yes" or not _starts(word) or _is_sentence(line.casefold())


def _starts(word: str) -> bool:
    return word in PROGRAMS or word in WINDOWS_PROGRAMS


def begins_command(text: str) -> bool:
    """A program's name with something behind it."""
    first, _, rest = text.strip().partition(" ")
    return bool(rest) and first.casefold() in _NO_WORDS


def _is_sentence(line: str) -> bool:
    """Words like "the" and "is" make "wipe the table" a sentence, although wipe is a program."""
    spoken = re.findall(r"[\w']+", line)
    needed = 2 if spoken[0] in _NO_WORDS else 1
    return len(spoken) > 2 and len(_LINKING & set(spoken[1:])) >= needed


def _closed(text: str) -> str:
    """A here-document that has not ended yet is read as if it ended here: its lines are no commands of the shell."""
    if "<<" not in text or "<<<" in text:
        return text
    begun = _HERE_BEGINS.search(_HERE_DOCUMENT.sub(r"\2", text))
    return text if begun is None else f"{text.rstrip()}\n{begun[1]}\n"


def goes_on(script: str) -> bool:
    """The shell waits for another line: a backslash, an open quote, a here-document, a loop."""
    text = script.rstrip("\n")
    if text.endswith(("\\", "\uff3c", "\u29f5", "\u2216")) or re.search(r"(\|\||&&|\||\bdo|\bthen|\{|\()\s*$", text):
        return True
    if "<<" in text and "<<<" not in text:
        text = _HERE_DOCUMENT.sub(r"\2", text)
        if _HERE_BEGINS.search(text):
            return True
    return re.search(r"['\"]", re.sub(r"'[^']*'|\"[^\"]*\"", "", re.sub(r"\\.", "", text))) is not None


class Session:
    """One shell over several lines: what earlier lines have set (variables, functions) holds for later ones."""

    def __init__(self, new_parser: Callable[[], Parser]) -> None:
        self._new_parser, self._budget = new_parser, Budget()
        self._runs: list[Run] = []
        self._unfinished = ""
        self._given_up = False

    def submit(self, text: str, place: Place) -> Finding:
        """What submitting these lines would be. INTERRUPTED: what was begun may have been given up before them, so that
        they are judged alone too."""
        if text == INTERRUPTED:
            self._given_up = bool(self._unfinished)
            return APPROVED
        if self._given_up:
            self._given_up = goes_on(self._unfinished + text)
            return strictest([self._fresh().submit(text, place), self._submit(text, place)])
        return self._submit(text, place)

    def _fresh(self) -> Session:
        return Session(self._new_parser)

    def _new_run(self) -> Run:
        return Run(self._new_parser().parse, judge, self._budget, lambda text: judge_windows(text, self._budget, 2))

    def _submit(self, text: str, place: Place) -> Finding:
        text = self._unfinished + text
        if not text.strip() or (place is Place.UNKNOWN and is_prose(text)):
            return APPROVED
        if len(text) > MAX_COMMAND:
            return ask("too_long", "the command is too long to be judged")
        self._unfinished = text + "\n" if goes_on(text) else ""
        return strictest(
            found
            for index, reading in enumerate(readings(_closed(text)))
            for found in self._within_bounds(reading, place, index)
        )

    def _within_bounds(self, text: str, place: Place, index: int) -> Iterator[Finding]:
        try:
            yield from self._read(text, place, index)
        except (TooDeepError, RecursionError):
            yield _TOO_DEEP

    def _read(self, text: str, place: Place, index: int) -> Iterator[Finding]:
        prompt = _PROMPT.match(text)
        for one in (text, text[prompt.end() :]) if prompt else (text,):
            yield from self._evaluate(one, index, place)
            yield from judge_windows(one, self._budget, other=self._nested)
        again = place is not Place.RUN_BOX and _RECALLED.search(re.sub(r"'[^'\n]*'|\\.", "", text))
        if again or (place is Place.TERMINAL and _AGAIN.search(text)):
            yield ask("blind", "it repeats an earlier command, which cannot be seen")
        if _CODE.match(text) and place is not Place.UNKNOWN:
            yield from self._as_code(text)
        if changes_data(text) and (place is Place.TERMINAL or _STATEMENT.search(text)):
            yield ask("database", "it changes or deletes data")

    def _as_code(self, text: str) -> Iterator[Finding]:
        """At an interpreter's own prompt, which a terminal may show, the line is code."""
        run = self._new_run()
        found = judge_code(text, run, python=True)
        yield from run.findings
        if found is not None and found.decision in ("ask", "refuse"):
            yield found

    def _evaluate(self, text: str, index: int, place: Place) -> Iterator[Finding]:
        while len(self._runs) <= index:
            self._runs.append(self._new_run())
        run = self._runs[index]
        run.findings, run.broken = [], False
        yield from _run(run, text)
        if run.broken and not goes_on(text) and re.search(r"[$`&|<>{}()*;]", text):
            decide = notice if place is Place.UNKNOWN else ask
            yield decide("broken", "it does not read as a command, so that it cannot be judged")

    def _nested(self, text: str) -> Iterator[Finding]:
        """What cmd.exe or PowerShell would hand to another program."""
        yield from _run(self._new_run(), text)


def _run(run: Run, text: str) -> list[Finding]:
    try:
        run.script(text)
    except (TooDeepError, RecursionError):
        run.found(_TOO_DEEP)
    return run.findings


# Judged when a judge is built, so that the first request does not wait until all expressions are compiled
_WARMING = (
    "x=\"$HOME/a b\"; cat a | sudo env A=1 sh -c 'rm -r \"$x\"/*' > out.txt; find . -name '*.py' -exec grep a {} +; "
    "echo YQ== | base64 -d; curl -o a https://example.org/a.txt; git push; python3 -c 'import os'; chmod +x a; mv a b; "
    'sed s/a/b/ c; powershell -c "del C:\\x"; kill 1; systemctl stop a; pip install a; tar xf a; docker ps; ssh a; make'
)


class CommandJudge:
    """Judges command lines. Holds the grammar, which is loaded when this is built."""

    def __init__(self) -> None:
        import tree_sitter_bash
        from tree_sitter import Language, Parser

        language = Language(tree_sitter_bash.language())
        self._new_parser: Callable[[], Parser] = lambda: Parser(language)  # a parser belongs to one thread
        self(_WARMING, Place.TERMINAL)

    def session(self) -> Session:
        return Session(self._new_parser)

    def __call__(self, text: str, place: Place) -> Finding:
        """One line by itself."""
        return self.session().submit(text, place)
