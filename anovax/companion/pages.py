"""The page's files as a fixed table, read once at start: a path that is not in it does not exist."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from anovax.errors import CompanionError

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
LIMIT = 512 * 1024


@dataclass(frozen=True)
class File:
    body: bytes
    type: str
    etag: str


def page_folder() -> Path:
    """Where the page is: beside the package in a checkout, inside it when installed."""
    inside = Path(__file__).parent / "page"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "companion"


def load(folder: Path) -> dict[str, File]:
    """URL path -> file, for every file of a known type directly in ``folder``; ``/`` is index.html."""
    table: dict[str, File] = {}
    for path in sorted(folder.glob("*")):
        if path.suffix in TYPES and path.is_file() and not path.is_symlink() and path.stat().st_size <= LIMIT:
            body = path.read_bytes()
            table[f"/{path.name}"] = File(body, TYPES[path.suffix], f'"{hashlib.sha256(body).hexdigest()[:16]}"')
    if "/index.html" not in table:
        raise CompanionError(f"The phone's page is not in {folder}", "install AnovaX again")
    return {**table, "/": table["/index.html"]}


def respond(request: web.Request, file: File) -> web.Response:
    """The file, or 304 when the browser has it; browsers ask every time."""
    headers = {"Content-Type": file.type, "ETag": file.etag, "Cache-Control": "no-cache"}
    if request.headers.get("If-None-Match") == file.etag:
        return web.Response(status=304, headers=headers)
    return web.Response(body=file.body, headers=headers)
