"""MemoryAgent: remembers, recalls and forgets facts."""

from __future__ import annotations

import re
from typing import ClassVar

from pydantic import Field

from anovax.errors import ToolError
from anovax.private import is_private
from anovax.tool import Agent, Done, FactStore, Risk, StepContext, ToolArgs, Undo, UndoAction, tool


class RememberArgs(ToolArgs):
    fact: str = Field(description="the fact in the user's words", min_length=1, max_length=1000)


class RecallArgs(ToolArgs):
    query: str = Field(
        description="what the user wants to know about themselves or what they asked to remember",
        min_length=1,
        max_length=300,
    )


class MemoryAgent(Agent):
    ttl_s: ClassVar[float] = 5.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({"facts"})

    @property
    def _facts(self) -> FactStore:
        if self.parts.facts is None:
            raise ToolError("Memory is switched off here", "switch it on in the configuration (memory.enabled)")
        return self.parts.facts

    @tool(
        risk=Risk.STORE,
        description="keep a fact for later",
        label="Remember {fact}",
        undo=Undo.REVERSIBLE,
        args=RememberArgs,
    )
    def remember(self, args: RememberArgs, step: StepContext) -> Done:
        step.check()
        facts = self._facts
        if not facts.remember(args.fact):
            return Done(
                evidence="it was in memory already",
                verified=True,
                say="I know that already.",
                secret=is_private(args.fact),
            )
        kept = " ".join(args.fact.split())
        verified = kept in facts.recall(kept, 5)  # read back from the file, not from what was meant
        undo = UndoAction("Forget it again", lambda context: _forgotten(facts.forget(kept)))
        evidence = "read back from memory" if verified else "written to memory"
        return Done(
            evidence=evidence, verified=verified, say="I will remember that.", undo=undo, secret=is_private(kept)
        )

    @tool(
        risk=Risk.READ,
        description="look up what the user told you earlier",
        label="Recall {query}",
        undo=Undo.NOTHING_TO_UNDO,
        args=RecallArgs,
        locks=frozenset(),
        retries=1,
        core=False,
    )
    def recall(self, args: RecallArgs, step: StepContext) -> Done:
        step.check()
        found = self._facts.recall(args.query)
        if not found:
            return Done(evidence="no fact fits", verified=True, say="You have not told me that.")
        everything = len(found) > 1 and _asks_for_all(args.query)
        chosen = found if everything else found[:1]
        said = " ".join(_sentence(second_person(fact)) for fact in chosen)
        secret = any(is_private(fact) for fact in chosen)
        result = "\n".join(chosen if secret else found)
        return Done(evidence=f"{len(found)} facts fit", verified=True, result=result, say=said, secret=secret)

    @tool(
        risk=Risk.STORE,
        description="forget a remembered fact",
        label="Forget {query}",
        undo=Undo.REVERSIBLE,
        args=RecallArgs,
    )
    def forget(self, args: RecallArgs, step: StepContext) -> Done:
        step.check()
        facts = self._facts
        gone = facts.forget(args.query)
        if not gone:
            raise ToolError(
                "Nothing in memory fits that", "ask what I remember", candidates=facts.recall(args.query, 3)
            )
        return _forgotten(gone, UndoAction("Remember it again", lambda context: _again(facts, gone)))


def _forgotten(gone: tuple[str, ...], undo: UndoAction | None = None) -> Done:
    if not gone:
        raise ToolError("It is no longer in memory")
    return Done(evidence=f"{len(gone)} deleted", verified=True, say="Forgotten.", undo=undo)


def _again(facts: FactStore, texts: tuple[str, ...]) -> Done:
    for text in texts:
        facts.remember(text)
    return Done(evidence=f"{len(texts)} restored", verified=True, say="I remember it again.")


def _asks_for_all(query: str) -> bool:
    return bool(re.search(r"\b(list|everything|all|things|what do you (know|remember)|reminders|facts)\b", query, re.I))


_TURNED = {
    "i was": "you were", "i am": "you are", "am i": "are you", "i'm": "you are", "you are": "I am", "you were": "I was",
    "you're": "I am", "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i've": "you have",
    "i'll": "you will", "i'd": "you would", "we": "you", "us": "you", "our": "your", "your": "my", "yours": "mine",
    "yourself": "myself",
}  # fmt: skip
_PRONOUNS = re.compile(r"\b(" + "|".join(sorted(_TURNED, key=len, reverse=True)) + r")\b(?!')", re.I)


def second_person(fact: str) -> str:
    """A fact in the user's words, turned to the user: "my name is Jake" -> "your name is Jake"."""
    plain = fact.replace("’", "'")
    plain = re.sub(r"^\s*(?:please\s+)?(?:you can\s+)?call me\s", "my name is ", plain, flags=re.I)
    return _PRONOUNS.sub(lambda match: _TURNED[match[0].lower()], plain)


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")
