"""Examples by the thousand: one process per core, a bounded queue each way, progress, and an end at any moment."""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from anovax.errors import AnovaxError
from anovax.training import Told, untold
from anovax.training.examples import Example, Maker, Scene
from anovax.training.voices import Choir

WAITING = 16  # scenes and examples that lie in a queue
POLL_S = 1.0


class Factory:
    """Makes examples in ``processes`` processes; 0 makes them here. ``choir`` makes the voices: ``gather`` with its
    arguments, or anything else that can be sent to a process. Close it."""

    def __init__(self, choir: Callable[[], Choir], features_dir: Path, processes: int = 2) -> None:
        self._prepare: Callable[[], Maker] = lambda: Maker(choir(), features_dir)
        self._here: Maker | None = None
        self._processes: list[Any] = []
        if processes:
            context = multiprocessing.get_context("spawn")
            self._orders, self._made = context.Queue(WAITING), context.Queue(WAITING)
            for _ in range(processes):
                arguments = (choir, features_dir, self._orders, self._made)
                self._processes.append(context.Process(target=_work, args=arguments, daemon=True))
                self._processes[-1].start()

    def make(self, scenes: Sequence[Scene], stage: str = "speaking", told: Told = untold) -> Iterator[Example]:
        """An example per scene, in any order. Raises AnovaxError when one cannot be made."""
        makers = self._made_there(scenes) if self._processes else self._made_here(scenes)
        for done, example in enumerate(makers, 1):
            told(stage, done, len(scenes))
            yield example

    def close(self) -> None:
        """End the processes at once. Safe twice."""
        processes, self._processes = self._processes, []
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(5)
        if processes:
            for waiting in (self._orders, self._made):
                waiting.cancel_join_thread()
                waiting.close()

    def _made_here(self, scenes: Sequence[Scene]) -> Iterator[Example]:
        self._here = self._here or self._prepare()
        yield from map(self._here.make, scenes)

    def _made_there(self, scenes: Sequence[Scene]) -> Iterator[Example]:
        waiting, missing = list(reversed(scenes)), len(scenes)
        while missing:
            while waiting:
                try:
                    self._orders.put_nowait(waiting[-1])
                except queue.Full:
                    break
                waiting.pop()
            yield self._next()
            missing -= 1

    def _next(self) -> Example:
        made, alive = None, True
        while made is None and alive:
            alive = all(process.is_alive() for process in self._processes)
            with contextlib.suppress(queue.Empty):
                made = self._made.get(timeout=POLL_S)
        if isinstance(made, Example):
            return made
        raise AnovaxError(*(made or ("A process that makes examples has died", "free memory and try again")))


def _work(choir: Callable[[], Choir], features_dir: Path, orders: Any, made: Any) -> None:
    """The life of one process: scenes in, examples (or the two sentences of an error) out, while its parent lives."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that gave the orders
    parent = multiprocessing.parent_process()
    try:
        maker = Maker(choir(), features_dir)
        while parent is not None and parent.is_alive():
            try:
                scene = orders.get(timeout=POLL_S)
            except queue.Empty:
                continue
            made.put(maker.make(scene))
    except AnovaxError as error:
        made.put((error.problem, error.fix))
    if parent is None or not parent.is_alive():
        made.cancel_join_thread()  # nobody reads it any more
