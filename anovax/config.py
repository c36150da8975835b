"""Configuration: one frozen model per part, read from a TOML file and from ANOVAX_* environment variables.

``ANOVAX_PLANNER__MODEL=qwen2.5-coder-0.5b`` sets ``[planner] model``. Unknown keys are an error.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_config_path, user_data_path
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from anovax.errors import ConfigError

Floor = Literal["approve", "notice", "ask", "refuse"]


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PlannerConfig(Part):
    """Which planner turns text into a plan. The two remote backends send the request's text to another machine."""

    backend: Literal["fastpath", "llamacpp", "gemini", "openai"] = Field("llamacpp", description="planner backend")
    model: str = Field(
        "qwen2.5-coder-1.5b", description="id below planner/ in the model manifest, or a path to a GGUF file"
    )
    fast_path: bool = Field(True, description="let rules answer what they can read with certainty")
    threads: int = Field(0, ge=0, description="llama.cpp threads; 0 chooses for this machine")
    max_tokens: int = Field(220, ge=16, le=2048, description="token budget of one plan")
    context_turns: int = Field(4, ge=0, le=20, description="earlier turns that the planner sees")
    url: str = Field("", description="base URL of an OpenAI-compatible server (backend openai)")
    remote_model: str = Field("", description="model name at the remote backend")
    api_key_env: str = Field("ANOVAX_API_KEY", description="environment variable that holds the remote key")
    timeout_s: float = Field(20.0, gt=0, description="time limit of one remote call")
    fall_back_to_local: bool = Field(False, description="plan locally when the remote backend fails")


class WakeConfig(Part):
    """The wake word detector."""

    word: str = Field("hey_jarvis", description="id below wake/ in the model manifest, or a path to an ONNX file")
    threshold: float = Field(0.5, gt=0, lt=1, description="score from which a wake word counts")


class EndpointConfig(Part):
    """When an utterance begins and ends. Times in seconds."""

    silence_s: float = Field(0.8, gt=0.1, le=5, description="silence that ends an utterance")
    max_s: float = Field(15.0, gt=1, le=60, description="hard cap of one utterance")
    start_s: float = Field(5.0, gt=0.5, le=30, description="give up when nobody speaks after the wake word")


class SttConfig(Part):
    """Speech to text."""

    model: str = Field("tiny.en", description="id below stt/ in the model manifest, or a path to a CTranslate2 model")
    language: str = Field("en", description="pinned language")
    threads: int = Field(2, ge=1, le=16, description="CPU threads")
    beam: int = Field(1, ge=1, le=10, description="beam width")
    hint: str = Field("", description="further words that are likely to be said, beside the installed applications")


class TtsConfig(Part):
    """Text to speech."""

    enabled: bool = Field(True, description="answer aloud")
    voice: str = Field("en_US-joe-medium", description="id below tts/ in the model manifest")
    volume: float = Field(1.0, ge=0, le=2, description="1 is unchanged")


class AudioConfig(Part):
    """Sound devices; empty means the system's default."""

    input_device: str = Field("", description="part of the microphone's name")
    output_device: str = Field("", description="part of the loudspeaker's name")
    earcon: bool = Field(True, description="a short sound when the wake word is heard")


class SafetyConfig(Part):
    """Consent policy. ``tools`` overrides the verdict floor of a tool; it can only make it stricter."""

    consent_s: float = Field(30.0, gt=1, le=300, description="seconds after which an unanswered question means no")
    tools: dict[str, Floor] = Field(default_factory=dict, description="minimum verdict per tool")
    tiers: dict[str, Floor] = Field(default_factory=dict, description="minimum verdict per risk tier")


class OrchestratorConfig(Part):
    workers: int = Field(8, ge=1, le=8, description="agents that run at once")
    backoff_s: float = Field(0.2, ge=0, le=5, description="first pause before a retry; doubles each time")
    locks: bool = Field(True, description="off only to see what is lost without it")


class RecoveryConfig(Part):
    enabled: bool = Field(True, description="repair failed core steps")
    turns: int = Field(6, ge=1, le=6, description="thinking turns at most")
    ahead: Literal["lasting", "all", "off"] = Field(
        "lasting",
        description="read-only steps that run while the model thinks: those whose result a repair does not change, or "
        "also looks at the screen (worth it with cores to spare)",
    )


class MemoryConfig(Part):
    enabled: bool = Field(True, description="off only to see what is lost without it")
    turns: int = Field(20, ge=1, le=200, description="conversation turns kept in RAM")
    facts_file: str = Field("", description="JSONL file of facts; empty: in the data folder")


class JournalConfig(Part):
    enabled: bool = Field(True, description="keep a record of every turn")
    folder: str = Field("", description="empty: in the data folder")
    keep_audio: bool = Field(False, description="keep a recording of each spoken request beside the record")
    keep_days: int = Field(30, ge=1, le=3650, description="older records are deleted")


class DesktopConfig(Part):
    search_url: str = Field(
        "https://duckduckgo.com/?q={query}", description="where web_search looks; {query} is replaced"
    )
    screenshots: str = Field("", description="folder for screenshots; empty: Pictures/AnovaX")
    aliases: dict[str, str] = Field(default_factory=dict, description="your own names for applications")


class CompanionConfig(Part):
    enabled: bool = Field(False, description="serve the phone's page")
    lan: bool = Field(False, description="off: loopback only")
    port: int = Field(8765, ge=1, le=65535, description="TCP port")
    screen: bool = Field(False, description="let paired phones see the screen")
    screen_fps: float = Field(10.0, gt=0, le=30, description="frames per second at most")
    exclude_windows: tuple[str, ...] = Field(("keepass", "bitwarden", "1password"), description="windows never shown")


class Config(BaseSettings):
    """Everything. ``data_dir`` holds facts, journal, pairing and caches."""

    model_config = SettingsConfigDict(env_prefix="ANOVAX_", env_nested_delimiter="__", frozen=True, extra="forbid")

    data_dir: Path = Field(
        default_factory=lambda: user_data_path("anovax"), description="where AnovaX keeps its own files"
    )
    planner: PlannerConfig = PlannerConfig()
    wake: WakeConfig = WakeConfig()
    endpoint: EndpointConfig = EndpointConfig()
    stt: SttConfig = SttConfig()
    tts: TtsConfig = TtsConfig()
    audio: AudioConfig = AudioConfig()
    safety: SafetyConfig = SafetyConfig()
    orchestrator: OrchestratorConfig = OrchestratorConfig()
    recovery: RecoveryConfig = RecoveryConfig()
    memory: MemoryConfig = MemoryConfig()
    journal: JournalConfig = JournalConfig()
    desktop: DesktopConfig = DesktopConfig()
    companion: CompanionConfig = CompanionConfig()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (env_settings, init_settings)  # the environment wins over the file


def config_path() -> Path:
    """``ANOVAX_CONFIG`` or the platform's place for anovax/config.toml."""
    return Path(os.environ.get("ANOVAX_CONFIG") or user_config_path("anovax") / "config.toml")


def isolated(config: Config, folder: Path) -> Config:
    """The configuration with all files in ``folder``, so that nothing of the user's is touched (demo, benchmarks)."""
    changes = {
        "data_dir": folder,
        "journal": config.journal.model_copy(update={"folder": ""}),
        "memory": config.memory.model_copy(update={"facts_file": ""}),
        "desktop": config.desktop.model_copy(update={"screenshots": str(folder)}),
    }
    return config.model_copy(update=changes)


def load_config(path: Path | None = None) -> Config:
    """Read the file (if any) and the environment. ConfigError names the first fault and where it stands."""
    path = path or config_path()
    _check_variables()
    try:
        raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return Config(**raw)
    except SettingsError as error:
        part = re.sub(r'.*for field "(\w+)".*', r"\1", str(error), flags=re.S).upper()
        problem = f"A variable ANOVAX_{part}… holds no JSON, as tables and lists must be written in variables"
        raise ConfigError(problem, 'write it like ANOVAX_SAFETY__TOOLS=\'{"close_window": "ask"}\'') from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ConfigError(f"{path} cannot be read: {why}", "correct the file or remove it") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        why = "there is no such setting" if first["type"] == "extra_forbidden" else first["msg"]
        raise ConfigError(f"The setting {where} is wrong: {why}", f"correct it in {path} or ANOVAX_*") from None


def _check_variables() -> None:
    """A misspelt part must not be passed over: ``ANOVAX_SAFTEY__TOOLS`` would leave the filter as it was."""
    for name in os.environ:
        part, inner, _ = name.removeprefix("ANOVAX_").partition("__")
        if name.startswith("ANOVAX_") and inner and part.casefold() not in Config.model_fields:
            raise ConfigError(
                f"There is no part {part.casefold()} for the variable {name}", "see: anovax config reference"
            )
