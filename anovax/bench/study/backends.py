"""The backends of a study, by the names they have on the command line.

``fastpath`` are the rules alone; ``0.5B``, ``1.5B`` or any model id or GGUF file is llama.cpp alone; ``openai`` and
``gemini`` are remote ones, at the address after ``=`` or as configured; ``simulated`` is the Gemini backend in front of
a local server behind a modelled network. ``rules+NAME`` puts the rules before any of them, as the assistant does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from anovax.app import build_planner
from anovax.config import Config
from anovax.errors import UsageError
from anovax.planner.llamacpp import model_path
from anovax.planner.protocol import Planner
from anovax.tool import Toolbox

SHORT = {"0.5B": "qwen2.5-coder-0.5b", "1.5B": "qwen2.5-coder-1.5b"}
REMOTE = {"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}
SIMULATED = "simulated"
KEY = "ANOVAX_SIMULATED_KEY"  # a remote backend wants one; the simulated server takes any


@dataclass(frozen=True)
class Backend:
    """``name`` as given; ``planner`` is what of PlannerConfig it changes."""

    name: str
    planner: dict[str, Any]

    @property
    def simulated(self) -> bool:
        return self.planner.get("api_key_env") == KEY

    def config(self, config: Config) -> Config:
        return config.model_copy(update={"planner": config.planner.model_copy(update=self.planner)})

    def build(self, config: Config, tools: Toolbox) -> Planner:
        """Raises what the backend raises: ConfigError without a key, WeightsError without weights."""
        return build_planner(self.config(config), tools)


def named(name: str, config: Config, simulated_url: Callable[[], str] = str) -> Backend:
    """The backend of that name. UsageError when there is none, ConfigError or WeightsError when it lacks something."""
    plain = name.removeprefix("rules+")
    changes: dict[str, Any] = {"fast_path": plain != name, "fall_back_to_local": False}
    if plain == "fastpath":
        changes["backend"] = plain
    elif plain == SIMULATED:
        url = simulated_url()
        if not url:
            raise UsageError("The simulated backend needs a network", "add --simulate-cloud delay=80,jitter=20,loss=1")
        os.environ.setdefault(KEY, "none")
        changes |= {"backend": "gemini", "url": url, "api_key_env": KEY, "remote_model": SIMULATED, "timeout_s": 60.0}
    elif plain.partition("=")[0] in REMOTE:
        changes |= _remote(*plain.partition("=")[::2], config)
    else:
        changes |= {"backend": "llamacpp", "model": SHORT.get(plain, plain)}
        model_path(changes["model"])
    return Backend(name, changes)


def _remote(name: str, address: str, config: Config) -> dict[str, Any]:
    """Address, model and key that are configured belong to the configured backend: no other server shall get them. One
    that is not configured may have its key in the variable that is usual for it."""
    changes: dict[str, Any] = {"backend": name}
    if REMOTE[name] in os.environ and config.planner.backend != name:
        changes["api_key_env"] = REMOTE[name]
    if address:
        changes["url"] = address
    elif name == "gemini" and config.planner.backend != name:
        changes |= {"url": "", "remote_model": ""}
    return changes


def leaves(backends: list[Backend], config: Config) -> list[str]:
    """Names of those that send the requests to another machine."""
    remote = [backend for backend in backends if backend.planner["backend"] in REMOTE and not backend.simulated]
    hosts = ((backend.name, urlsplit(backend.config(config).planner.url).hostname) for backend in remote)
    return [name for name, host in hosts if host not in ("localhost", "127.0.0.1", "::1")]
