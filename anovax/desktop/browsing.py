"""What a browser's window says about the page in it: pure reading of titles, and a look for error pages."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from anovax.desktop.application import Application
from anovax.desktop.facade import Desktop
from anovax.desktop.others import SYSTEM_BROWSER
from anovax.desktop.windows_of import belongs
from anovax.tool import WindowRef

_BROWSER_TAIL = re.compile(
    r"\s+[-–—]\s+(?:Chromium|Google Chrome|Mozilla Firefox|Firefox|Brave|Microsoft Edge|Vivaldi|[\w ]*Browser)\b.*$"
)
_NO_TITLE = frozenset(["", "untitled", "new tab", "about:blank", "mozilla firefox", "chromium", "loading", "neuer tab"])
_ERROR_TITLES = frozenset(
    [
        "problem loading page",
        "server not found",
        "unable to connect",
        "page load error",
        "connection refused",
        "secure connection failed",
    ]
)
_ERROR_TEXT = re.compile(
    r"ERR_[A-Z_]+|can.?t be reached|no internet|refused to connect|took too long to respond|server not found|"
    r"unable to connect|address wasn.?t understood|not private|check your connection",
    re.I,
)


class Page(BaseModel):
    """``title``: the page's own, without the browser's name. ``loaded``: it has given one other than its address."""

    model_config = ConfigDict(frozen=True)

    window: WindowRef
    url: str
    title: str
    loaded: bool


_BROWSER_NAMES = re.compile(
    r"^(safari|(google )?chrome|chromium|firefox|(microsoft |ms)?edge|brave( browser)?|opera|vivaldi)(\.exe)?$", re.I
)


def is_browser(window: WindowRef, browser: Application) -> bool:
    """Whether a window is one of ``browser``; when the system chooses the browser, of any well-known one."""
    if browser.id == SYSTEM_BROWSER:
        return bool(_BROWSER_NAMES.match(window.app))
    return belongs(window, browser)


def titles(windows: tuple[WindowRef, ...]) -> dict[int, str]:
    return {window.id: window.title for window in windows}


def page_of(window: WindowRef, url: str) -> Page:
    """Read a browser window's title. A page under way or failed is titled by its address."""
    title = _BROWSER_TAIL.sub("", window.title).strip()
    plain = title.casefold()
    own = plain not in _NO_TITLE and plain not in _ERROR_TITLES and not _is_address(plain, url)
    return Page(window=window, url=url, title=title, loaded=own)


def _is_address(title: str, url: str) -> bool:
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    bare = re.sub(r"^(https?://)?(www\.)?", "", title).rstrip("/")
    whole = re.sub(r"^(www\.)?", "", f"{parts.netloc}{parts.path}").rstrip("/").casefold()
    return (
        bare in (host, parts.netloc.casefold(), whole)
        or bare.startswith(whole)
        or (" " not in bare and "/" in bare and bare.startswith(host))
    )


def failure_on(desktop: Desktop, page: Page) -> str:
    """Why the page did not load, as the browser tells it; empty when nothing speaks against it. Only a page without a
    title of its own is looked at: reading the picture costs about a second."""
    if page.title.casefold() in _ERROR_TITLES:
        return page.title
    if page.loaded:
        return ""
    text = " ".join(box.text for box in desktop.ocr.read(desktop.screenshot(page.window)))
    match = _ERROR_TEXT.search(text)
    return match[0] if match else ""
