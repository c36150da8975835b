"""The ``gemini`` backend: Google's Gemini API.

Opt-in: it sends the request and its context to Google. The key comes from the environment variable named by
``planner.api_key_env``; ``planner.url`` is only needed for a gateway.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from anovax.config import PlannerConfig
from anovax.errors import ConfigError
from anovax.planner.remote import Remote
from anovax.planner.schema import plain_schema
from anovax.tool import Toolbox

ADDRESS = "https://generativelanguage.googleapis.com"
MODEL = "gemini-2.5-flash"


class _Generate:
    label = "Gemini"

    def __init__(self, config: PlannerConfig, schema: Mapping[str, Any]) -> None:
        self._key = os.environ.get(config.api_key_env, "")
        if not self._key:
            raise ConfigError(
                "The gemini backend needs a key", f"put it into the environment variable {config.api_key_env}"
            )
        self._config, self._schema = config, schema

    def call(self, system: str, user: str) -> tuple[str, Mapping[str, str], Mapping[str, Any]]:
        base = (self._config.url or ADDRESS).rstrip("/")
        body = {
            "systemInstruction": {"parts": [{"text": system}]},
            "contents": [{"role": "user", "parts": [{"text": user}]}],
            "generationConfig": {
                "temperature": 0,
                "maxOutputTokens": self._config.max_tokens,
                "responseMimeType": "application/json",
                "responseJsonSchema": self._schema,
                "thinkingConfig": {"thinkingBudget": 0},
            },
        }
        model = self._config.remote_model or MODEL
        return f"{base}/v1beta/models/{model}:generateContent", {"x-goog-api-key": self._key}, body

    def simpler(self) -> bool:
        return False

    def text(self, answer: Mapping[str, Any]) -> tuple[str, bool]:
        candidate = answer["candidates"][0]
        if candidate.get("finishReason") == "MAX_TOKENS":
            return "", True
        return "".join(part.get("text", "") for part in candidate["content"]["parts"]), False


class Gemini(Remote):
    """Raises ConfigError when there is no key in the environment."""

    def __init__(self, config: PlannerConfig, tools: Toolbox) -> None:
        super().__init__("gemini", _Generate(config, plain_schema(tools)), config, tools)
