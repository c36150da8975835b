"""SpeechAgent: says a sentence aloud."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from anovax.tool import TTS, Agent, Done, Risk, StepContext, ToolArgs, Undo, tool


class SpeakArgs(ToolArgs):
    text: str = Field(description="what to say", min_length=1, max_length=2000)


class SpeechAgent(Agent):
    ttl_s: ClassVar[float] = 60.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({TTS})

    @tool(
        risk=Risk.SPEAK,
        description="say something aloud",
        label="Say “{text}”",
        undo=Undo.IRREVERSIBLE,
        args=SpeakArgs,
        core=False,
    )
    def speak(self, args: SpeakArgs, step: StepContext) -> Done:
        if self.parts.voice is None:
            return Done(evidence="no voice is switched on", result=args.text, say=args.text)
        spoken = self.parts.voice.say(args.text, step.cancel)
        return Done(evidence=f"played: {spoken}", verified=spoken == args.text, result=args.text)
