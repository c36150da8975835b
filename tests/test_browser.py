"""Addresses as spoken, browsers as started, pages as loaded (a real Chromium and a server on loopback)."""

from __future__ import annotations

import http.server
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from anovax.agents.app import AppAgent, OpenAppArgs
from anovax.agents.browser import BrowserAgent, OpenUrlArgs, WebSearchArgs
from anovax.config import DesktopConfig
from anovax.desktop.application import Application
from anovax.desktop.applications import Applications
from anovax.desktop.browsing import is_browser, page_of
from anovax.desktop.facade import Desktop, build
from anovax.desktop.others import system_browser
from anovax.desktop.web import address, browser_arguments, search_address, site
from anovax.errors import ToolError
from anovax.tool import AgentParts, CancelFlag, Effect, StepContext, WindowRef

CHROMIUM = Application(id="chromium", name="Chromium", command=("/usr/bin/chromium",))


@pytest.mark.parametrize(
    ("spoken", "url"),
    [
        ("wikipedia dot org", "https://wikipedia.org"),
        ("Wikipedia", "https://wikipedia.org"),
        ("the new york times", "https://nytimes.com"),
        ("New York Times website", "https://nytimes.com"),
        ("youtube dot com", "https://youtube.com"),
        ("git hub", "https://github.com"),
        ("go to example.com", "https://example.com"),
        ("example dot com slash help", "https://example.com/help"),
        ("my dash site dot co dot uk", "https://my-site.co.uk"),
        ("HTTP://Example.com/A b?q=ü", "HTTP://Example.com/A%20b?q=%C3%BC"),
        ("https://example.com:8443/x#y", "https://example.com:8443/x#y"),
        ("localhost:8000/docs", "http://localhost:8000/docs"),
        ("192.168.0.1", "http://192.168.0.1"),
        ("printer.local", "http://printer.local"),
        ("http://[::1]:80/", "http://[::1]:80/"),
        ("münchen.de", "https://xn--mnchen-3ya.de"),
    ],
)
def test_addresses(spoken: str, url: str) -> None:
    assert address(spoken) == url


@pytest.mark.parametrize(
    "spoken", ["cheap tires", "what is love", "e.g.", "v1.2", "3.14", "http://", "https://exa mple.com/", "a..b", "..."]
)
def test_what_is_no_address_is_searched_for(spoken: str) -> None:
    assert address(spoken) == ""


@pytest.mark.parametrize(
    "spoken",
    ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "chrome://settings", "about:blank", "ssh://host"],
)
def test_other_schemes_are_refused(spoken: str) -> None:
    with pytest.raises(ToolError, match="only http and https"):
        address(spoken)


def test_a_name_in_the_address_is_refused() -> None:
    with pytest.raises(ToolError, match="user name"):
        address("https://bank.com@evil.com/")


def test_sites() -> None:
    assert site("imgur") == "https://imgur.com"
    assert site("the imgur website") == "https://imgur.com"
    assert site("calculator") == ""


def test_search_address() -> None:
    assert search_address("http://localhost:8888/?q={query}", "c++ & “tea”  time") == (
        "http://localhost:8888/?q=c%2B%2B%20%26%20%E2%80%9Ctea%E2%80%9D%20time"
    )


def test_the_sandbox_is_given_up_only_as_root() -> None:
    assert "--no-sandbox" in browser_arguments(CHROMIUM, "https://a.org", root=True)
    assert "--no-sandbox" not in browser_arguments(CHROMIUM, "https://a.org", root=False)
    assert "--disable-background-networking" in browser_arguments(CHROMIUM, "https://a.org", root=False)
    firefox = Application(id="firefox", name="Firefox", command=("firefox",))
    assert browser_arguments(firefox, "https://a.org", root=True) == ("https://a.org",)


@pytest.mark.parametrize(
    ("title", "own", "loaded"),
    [
        ("Example Domain - Chromium", "Example Domain", True),
        ("Tea — Mozilla Firefox", "Tea", True),
        ("127.0.0.1:80/x - Chromium", "127.0.0.1:80/x", False),
        ("127.0.0.1 - Chromium", "127.0.0.1", False),
        ("New Tab - Chromium", "New Tab", False),
        ("Problem loading page — Mozilla Firefox", "Problem loading page", False),
        ("Chromium", "Chromium", False),
    ],
)
def test_titles(title: str, own: str, loaded: bool) -> None:
    page = page_of(WindowRef(id=1, app="Chromium", title=title), "http://127.0.0.1:80/x")
    assert (page.title, page.loaded) == (own, loaded)


def test_where_the_system_chooses_the_browser() -> None:
    for platform, program in (("darwin", "open"), ("win32", "rundll32")):
        chosen = system_browser(platform)
        assert chosen is not None
        assert chosen.program == program
        assert is_browser(WindowRef(id=1, app="Safari"), chosen)
        assert is_browser(WindowRef(id=1, app="msedge.exe"), chosen)
        assert not is_browser(WindowRef(id=1, app="Finder"), chosen)
    assert system_browser("linux") is None
    assert not is_browser(WindowRef(id=1, app="Firefox"), CHROMIUM)


# --- a real browser --------------------------------------------------------------------------------------------------


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        body = b"no title here" if self.path == "/plain" else f"<title>About {self.path[1:9]}</title>page".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path != "/plain" else "text/plain")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on the console."""


@pytest.fixture(scope="module")
def server() -> Iterator[http.server.ThreadingHTTPServer]:
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    made.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture(scope="module")
def desktop(
    display: str, server: http.server.ThreadingHTTPServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desktop]:
    """Chromium with a profile of its own as the only browser."""
    if shutil.which("chromium") is None:
        pytest.skip("Chromium is not installed; scripts/start.py installs it")
    home = tmp_path_factory.mktemp("browser")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"HOME": home, "XDG_CONFIG_HOME": home / "config", "XDG_CACHE_HOME": home / "cache"}.items():
            patch.setenv(name, str(value))
        made = build(DesktopConfig(search_url=f"http://127.0.0.1:{server.server_port}/find?q={{query}}"), display)
        with made:
            yield made
            _end(made, home)


def _end(desktop: Desktop, home: Path) -> None:
    """Stop our Chromium, known by its profile, and wait for its processes."""
    import psutil

    for process in psutil.process_iter(["cmdline", "environ"]):
        with suppress(psutil.Error, OSError):
            if "chromium" in " ".join(process.info["cmdline"] or ()) and (process.info["environ"] or {}).get(
                "HOME"
            ) == str(home):
                process.send_signal(signal.SIGKILL)
    end = time.monotonic() + 5
    while desktop.windows() and time.monotonic() < end:
        time.sleep(0.02)


@pytest.fixture
def browser(desktop: Desktop) -> BrowserAgent:
    return BrowserAgent(AgentParts(desktop))


EFFECTS: list[Effect] = []


def step(ttl: float = 45.0) -> StepContext:
    EFFECTS.clear()
    end = time.monotonic() + ttl
    return StepContext("turn", 0, end, CancelFlag(), threading.Event(), recheck=EFFECTS.append)


@pytest.mark.e2e
@pytest.mark.timeout(120)
def test_searched_opened_and_closed_again(
    browser: BrowserAgent, desktop: Desktop, server: http.server.ThreadingHTTPServer
) -> None:
    base = f"http://127.0.0.1:{server.server_port}"
    found = browser.web_search(WebSearchArgs(query="cheap tires"), step())
    assert found.verified, found.evidence
    assert "About find?q=c" in found.evidence
    assert EFFECTS[0] == Effect(kind="open_url", payload=f"{base}/find?q=cheap%20tires")
    assert "/find?q=cheap%20tires" in server.asked  # type: ignore[attr-defined]
    page = browser.open_url(OpenUrlArgs(url=f"127.0.0.1:{server.server_port}/tea"), step())
    assert page.verified, page.evidence
    assert "About tea" in page.evidence
    assert len(desktop.windows()) == 1  # a tab of the open browser
    assert page.undo is not None
    page.undo.run(step())
    assert desktop.wait_for_window(lambda w: "About find" in w.title, 10, step())


@pytest.mark.e2e
@pytest.mark.timeout(120)
def test_a_page_that_does_not_load_is_a_failure(browser: BrowserAgent) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), Pages) as unused:
        port = unused.server_port  # nobody listens on it from here on
    with pytest.raises(ToolError, match=rf"127.0.0.1:{port}/x did not load") as failed:
        browser.open_url(OpenUrlArgs(url=f"127.0.0.1:{port}/x"), step())
    assert failed.value.spoken == "The page did not load."


@pytest.mark.e2e
@pytest.mark.timeout(120)
def test_a_page_without_a_title_is_not_called_verified(
    browser: BrowserAgent, server: http.server.ThreadingHTTPServer
) -> None:
    done = browser.open_url(OpenUrlArgs(url=f"127.0.0.1:{server.server_port}/plain"), step())
    assert not done.verified
    assert f"127.0.0.1:{server.server_port}/plain" in done.evidence


@pytest.mark.e2e
@pytest.mark.timeout(120)
def test_the_browser_opens_as_an_application_too(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it needs its flags to start at all."""
    command = (*CHROMIUM.command, "--new-window", "about:blank")  # not the start page, which is on the web
    blank = CHROMIUM.model_copy(update={"command": command})
    monkeypatch.setattr(desktop, "applications", Applications(read=lambda: (blank,)))
    done = AppAgent(AgentParts(desktop)).open_app(OpenAppArgs(name="chromium", new=True), step())
    assert done.verified, done.evidence
    assert done.undo is not None
    done.undo.run(step())


def test_no_browser_is_one_sentence(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop, "applications", Applications(env={"PATH": os.defpath}, read=lambda: ()))
    with pytest.raises(ToolError, match="No web browser is installed"):
        BrowserAgent(AgentParts(desktop)).open_url(OpenUrlArgs(url="example.com"), step())


def test_a_search_address_that_is_none(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop, "config", DesktopConfig(search_url="file:///search?{query}"))
    with pytest.raises(ToolError, match="search_url is not an http address"):
        BrowserAgent(AgentParts(desktop)).web_search(WebSearchArgs(query="x"), step())
