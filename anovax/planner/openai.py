"""The ``openai`` backend: any OpenAI-compatible server (llama-server, vLLM, Ollama, a machine on the LAN).

Opt-in: it sends the request and its context to ``planner.url``. The key, where the server wants one, comes from the
environment variable named by ``planner.api_key_env``.
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


class _Chat:
    label = "The OpenAI-compatible server"

    def __init__(self, config: PlannerConfig, schema: Mapping[str, Any]) -> None:
        if not config.url.startswith(("http://", "https://")):
            raise ConfigError("The openai backend needs planner.url", "set it, such as http://192.168.1.20:8080/v1")
        self._config, self._schema = config, schema
        self._old = False

    def call(self, system: str, user: str) -> tuple[str, Mapping[str, str], Mapping[str, Any]]:
        key = os.environ.get(self._config.api_key_env, "")
        body = {
            "model": self._config.remote_model or "default",
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "temperature": 0,
            "max_tokens": self._config.max_tokens,
            "response_format": self._form(),
        }
        return (
            f"{self._config.url.rstrip('/')}/chat/completions",
            {"Authorization": f"Bearer {key}"} if key else {},
            body,
        )

    def _form(self) -> Mapping[str, Any]:
        """``json_schema`` is the common form; llama-cpp-python's server knows only the older one and refuses this."""
        if self._old:
            return {"type": "json_object", "schema": self._schema}
        return {"type": "json_schema", "json_schema": {"name": "plan", "schema": self._schema}}

    def simpler(self) -> bool:
        first, self._old = not self._old, True
        return first

    def text(self, answer: Mapping[str, Any]) -> tuple[str, bool]:
        choice = answer["choices"][0]
        return str(choice["message"]["content"]), choice.get("finish_reason") == "length"


class OpenAI(Remote):
    """Raises ConfigError when ``planner.url`` is not an HTTP address."""

    def __init__(self, config: PlannerConfig, tools: Toolbox) -> None:
        super().__init__("openai", _Chat(config, plain_schema(tools)), config, tools)
