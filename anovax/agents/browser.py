"""BrowserAgent: opens addresses and searches in the default browser."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from pydantic import Field

from anovax.desktop import Desktop
from anovax.desktop.application import Application
from anovax.desktop.browsing import Page, failure_on, is_browser, page_of, titles
from anovax.desktop.launch import Started
from anovax.desktop.web import address, browser_arguments, search_address
from anovax.desktop.windows_of import is_from
from anovax.errors import ToolError
from anovax.tool import (
    KB_MOUSE,
    Agent,
    Done,
    Effect,
    Risk,
    StepContext,
    ToolArgs,
    Undo,
    UndoAction,
    WindowRef,
    tool,
)

_RESERVE_S = 2.0  # kept of the TTL for a look at the page and for the answer
_LOOKS_S = (1.0, 3.0, 8.0)  # after which a page without a title is looked at: it may be an error page


class WebSearchArgs(ToolArgs):
    query: str = Field(description="what to look for", min_length=1, max_length=500)


class OpenUrlArgs(ToolArgs):
    url: str = Field(description="web address, such as wikipedia.org", min_length=1, max_length=2000)


class BrowserAgent(Agent):
    ttl_s: ClassVar[float] = 25.0
    retries: ClassVar[int] = 0
    locks: ClassVar[frozenset[str]] = frozenset({KB_MOUSE})

    @tool(
        risk=Risk.OPEN,
        description="search the web",
        label="Search for {query}",
        undo=Undo.REVERSIBLE,
        args=WebSearchArgs,
    )
    def web_search(self, args: WebSearchArgs, step: StepContext) -> Done:
        return self._open(self._search(args.query), step)

    @tool(
        risk=Risk.OPEN,
        description="open a web address or a well-known site",
        label="Go to {url}",
        undo=Undo.REVERSIBLE,
        args=OpenUrlArgs,
    )
    def open_url(self, args: OpenUrlArgs, step: StepContext) -> Done:
        return self._open(address(args.url) or self._search(args.url), step)

    def _search(self, query: str) -> str:
        template: str = self.parts.desktop.config.search_url
        url = search_address(template, query)
        if not url.startswith(("http://", "https://")) or "{query}" not in template:
            raise ToolError(
                "desktop.search_url is not an http address with {query} in it", "correct it in the configuration"
            )
        return url

    def _open(self, url: str, step: StepContext) -> Done:
        desktop: Desktop = self.parts.desktop
        browser = self._browser()
        before = titles(desktop.windows())
        step.guard(Effect(kind="open_url", payload=url))
        started = desktop.launch.start(browser, browser_arguments(browser, url))
        page = self._shown(browser, url, before, started, step)
        undo = _undo(desktop, page.window, new=page.window.id not in before)
        if failure := failure_on(desktop, page):
            raise ToolError(
                f"The page {url} did not load: {failure}",
                "check the address and the connection",
                "The page did not load.",
            )
        evidence = f"{browser.name} shows {page.title!r} for {url}"
        return Done(evidence=evidence, verified=page.loaded, result=url, undo=undo)

    def _browser(self) -> Application:
        """The default browser, or the only one; ToolError when there is none."""
        apps = self.parts.desktop.applications
        found: Application | None = apps.browser()
        if found is None:
            raise ToolError("No web browser is installed", "install one, such as Firefox or Chromium")
        return found

    def _shown(
        self, browser: Application, url: str, before: dict[int, str], started: Started, step: StepContext
    ) -> Page:
        """The browser's window with what it shows once the page has given its title, or after a while."""
        desktop: Desktop = self.parts.desktop

        def changed(window: WindowRef) -> bool:
            ours = is_browser(window, browser) or is_from(window.pid, started.pid)
            return ours and before.get(window.id) != window.title

        window = desktop.wait_for_window(changed, step.remaining - _RESERVE_S, step)
        if window is None:
            return self._unchanged(browser, url, step)
        return self._titled(window, url, step)

    def _titled(self, window: WindowRef, url: str, step: StepContext) -> Page:
        """The page once it has a title of its own; what does not come is looked at after a while, and at the end."""
        desktop: Desktop = self.parts.desktop
        page = page_of(window, url)
        for before, after in pairwise((0.0, *_LOOKS_S)):
            seconds = max(0.0, min(after - before, step.remaining - _RESERVE_S))
            desktop.wait_for_window(lambda now: now.id == window.id and page_of(now, url).loaded, seconds, step)
            page = page_of(next((now for now in desktop.windows() if now.id == window.id), window), url)
            if page.loaded or failure_on(desktop, page):
                break
        return page

    def _unchanged(self, browser: Application, url: str, step: StepContext) -> Page:
        """No window changed its title: the same page again, or nothing happened. Not to be called verified."""
        window = next((w for w in self.parts.desktop.windows() if is_browser(w, browser)), None)
        if window is None:
            raise ToolError(
                f"{browser.name} was started, but no window of it appeared", "look at the screen, or ask again"
            )
        return Page(window=window, url=url, title=window.title, loaded=False)


def _undo(desktop: Desktop, window: WindowRef, new: bool) -> UndoAction:
    def run(step: StepContext) -> Done:
        if new:
            desktop.close_window(window, step)
        else:
            desktop.press("ctrl+w", step, window)
        return Done(evidence="the page was asked to close")

    return UndoAction("Close the page", run, window=0 if new else window.id)
