"""Searching the web, a site, or a map; and addresses."""

from __future__ import annotations

import re

from anovax.planner.rules.grammar import Call, Reading, Rule, Scene, rules
from anovax.planner.rules.sites import Sites

_ON_SITE = re.compile(r"^(?P<what>.+?) (?:on|in|at|from|using|with|via|through) (?:the )?(?P<site>[\w .'+]+?)(?: (?:website|site|app))?$", re.IGNORECASE)
_THE_WEB = frozenset({"internet", "web", "net", "online", "browser", "world wide web", "the internet", "the web", "my browser", "firefox", "chrome"})
_NOTHING = frozenset(("", "for", "up", "about", "it", "that", "this", "something", "them", "him", "her", "me", "us", "the web"))
_OWN_PLACES = re.compile(
    r"^(?:at|to|and|is|are|was|or|of|my)\b|^(?:the|this) \w+ for |^(?:through |in )?(?:my|this|the) (?:bookmarks?|history|e-?mails?|mail|files?|computer|inbox|contacts?|documents?|tabs?|page|photos|folder|"
    r"downloads|notes|desktop|screen|calendar)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"^(?:for|about|up|me|on) ", re.IGNORECASE)


class Web:
    def __init__(self, sites: Sites) -> None:
        self._sites = sites

    def query(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """"search for X [on SITE]": the site's own search where its form is known, else the web."""
        what = match["what"]
        if self._sites.host(what) or what.lower().removeprefix("on ") in _THE_WEB or self._sites.host(what.removeprefix("on ")):
            return None
        if (on := _ON_SITE.match(what)) is not None:
            if on["site"].lower() in _THE_WEB:
                return _search(on["what"])
            if (host := self._sites.host(on["site"])) is not None:
                return self.on_site(host, on["site"], on["what"])
        before = scene.before[-1] if scene.before else None
        if before and before.tool == "open_url" and (url := self._sites.search(str(before.args["url"]), what)):
            return Reading((Call("open_url", {"url": url}),), free=True, folds=True)
        return _search(what)

    def on_site(self, host: str, name: str, what: str) -> Reading:
        url = self._sites.search(host, what)
        if url is None:
            return _search(f"{what} {name}")
        return Reading((Call("open_url", {"url": url}),), free=True)

    def site_first(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """"search wikipedia for X"."""
        if match["site"].lower() in _THE_WEB:
            return _search(match["what"])
        host = self._sites.host(match["site"])
        return self.on_site(host, match["site"], match["what"]) if host else None

    def play(self, match: re.Match[str], scene: Scene) -> Reading | None:
        host = self._sites.host(match["site"])
        return self.on_site(host, match["site"], match["what"]) if host else None

    def images(self, match: re.Match[str], scene: Scene) -> Reading | None:
        return self.on_site("images.google.com", "images", match["what"])

    def maps(self, match: re.Match[str], scene: Scene) -> Reading | None:
        return self.on_site("maps.google.com", "map", match["what"])

    def google(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """"google maps" names a site, "google shoes" is a search."""
        host = self._sites.host(match.group())
        return Reading((Call("open_url", {"url": host}),)) if host and " " in match.group() else None

    def rules(self) -> tuple[Rule, ...]:
        where = "(the web|the internet|the net|online|internet|web|google)"
        return (
            *rules(self.google, "google <what>"),
            *rules(self.images, "(search|look|google|find|show me|search google|search the web|look up|search for|find me|show) [for] [google|some|me|up] (images|pictures|photos|pics|image) (of|for) <what>",
                   "(search|google) <what> (images|pictures|photos)", "image search [for] <what>"),
            *rules(self.maps, "(show|find|locate|look up) [me] <what> on [the|a|google] (map|maps)", "map of <what>", "show me [a|the] map of <what>"),
            *rules(self.site_first, "(search|check|look on|look in|search on|search in|look through|browse|look at|query|go on) [the] <site> (for|about) [me] <what>"),
            *rules(self.query,
                   f"(search|look|browse|check|hunt|surf) [on|in|up|through|around] {where} (for|about|to find|and find|and display) [me] [the] <what>",
                   f"(search|look) [up] [for] <what> (on|in|over) {where}", "(find|find me|search|search for|look up|look for) <what> online",
                   f"(find|find me|find out|get me|look up) <what> (on|in|over) {where}",
                   f"(web|internet|online|google|bing|duckduckgo) search [for|about|on] <what>",
                   f"(do|run|make|perform) [a|an] [web|internet|online|google|quick] search (for|on|about|of) <what>",
                   "(search up|search for|search|google for|google|look up|lookup|look for|bing|search about|search on|duckduckgo|research) <what>"),
            *rules(self.play, "(play|watch|find|find me|show me|stream|listen to|put on) [me] <what> (on|in|from|at) [the] <site>"),
        )  # fmt: skip


def _search(what: str) -> Reading | None:
    what = what.strip(" ,\"'")
    while (about := _ABOUT.match(what)) and what[about.end() :].strip():
        what = what[about.end() :]
    found = what.lower() not in _NOTHING and not _OWN_PLACES.match(what) and len(what) <= 300
    return Reading((Call("web_search", {"query": what}),), free=True) if found else None
