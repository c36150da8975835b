"""What running a line of text as a command would be, in the languages that command lines speak."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from anovax.safety.finding import APPROVED, Finding, ask, notice, strictest
from anovax.safety.normalise import readings
from anovax.safety.places import Place
from anovax.safety.posix.rules import judge
from anovax.safety.posix.shell import Run, TooDeepError
from anovax.safety.windows.judge import judge as judge_windows

if TYPE_CHECKING:
    from tree_sitter import Parser

MAX_COMMAND = 4000


class CommandJudge:
    """Judges command lines. Holds the grammar, which is loaded when this is built."""

    def __init__(self) -> None:
        import tree_sitter_bash
        from tree_sitter import Language, Parser

        language = Language(tree_sitter_bash.language())
        self._new_parser: Callable[[], Parser] = lambda: Parser(language)  # a parser belongs to one thread

    def __call__(self, text: str, place: Place) -> Finding:
        if not text.strip():
            return APPROVED
        if len(text) > MAX_COMMAND:
            return ask("too_long", "the command is too long to be judged")
        return strictest(self._read(reading, place) for reading in readings(text))

    def _read(self, text: str, place: Place) -> Finding:
        prompt = re.match(r"\s*(?:[$#%>]\s+|:?!\s*)(?=\S)", text)
        texts = [text, text[prompt.end() :]] if prompt else [text]
        return strictest(found for one in texts for found in (self._posix(one, place), *judge_windows(one)))

    def _posix(self, text: str, place: Place) -> Finding:
        run = Run(self._new_parser().parse, judge)
        try:
            run.script(text)
        except (TooDeepError, RecursionError):
            run.found(ask("too_deep", "the command is too deeply nested to be judged"))
        found = strictest(run.findings)
        if run.broken and place is Place.TERMINAL:
            return strictest([found, notice("broken", "it is no whole command")])
        return found
