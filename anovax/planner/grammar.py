"""The plan schema as a llguidance grammar over the model's tokens, made by outlines' llguidance backend.

outlines' own loop samples every token and reads the whole prompt each time; the matcher is driven by our own
(decode.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from anovax.errors import PlannerError
from anovax.planner.engine import Engine
from anovax.planner.vocabulary import llg_tokenizer


def import_outlines() -> None:
    """Half a second that can be spent before the weights are there."""
    import outlines.backends.llguidance  # noqa: F401


class Grammar:
    """``schema`` is a JSON schema. Raises PlannerError when no grammar can be made of it."""

    def __init__(self, engine: Engine, schema: Mapping[str, Any]) -> None:
        self._made = _backend(engine).get_json_schema_logits_processor(json.dumps(schema))
        self.matcher()

    def matcher(self) -> Any:
        """A fresh LLMatcher at the grammar's start; about 1 ms."""
        from llguidance import LLMatcher

        matcher = LLMatcher(self._made.llg_tokenizer, self._made.grammar)
        if matcher.is_error():
            raise PlannerError(f"The plan grammar cannot be built ({matcher.get_error()})", "correct the newest tool")
        return matcher


def _backend(engine: Engine) -> Any:
    """outlines' backend over our engine: it knows only its own kinds of model, so the tokenizer is given to it."""
    from outlines.backends.llguidance import LLGuidanceBackend

    class Backend(LLGuidanceBackend):
        def _create_llg_tokenizer(self, model: Any) -> Any:
            return llg_tokenizer(model)

    made: Any = Backend
    return made(engine)
