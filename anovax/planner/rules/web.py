"""Searching the web, a site, or a map; and addresses."""

from __future__ import annotations

import re
from dataclasses import replace

from anovax.planner.normalise import unquoted, without_tail
from anovax.planner.rules.notation import Build, Call, Reading, Rule, Scene, book_rules
from anovax.planner.rules.sites import Sites

_ON_SITE = re.compile(
    r"^(?P<what>.+) (?:on|in|at|from|using|with|via|through) (?:the )?(?P<site>[\w .'+]+?)(?: (?:website|site|app))?$",
    re.IGNORECASE,
)
_WEB_NAMES = "internet|web|net|online|browser|world wide web|the internet|the web|my browser|firefox|chrome"
_THE_WEB = frozenset(_WEB_NAMES.split("|"))
_NO_QUERY = (
    "|for|up|about|it|that|this|something|them|him|her|me|us|yourself|the web|again|more|results|now|here|there|"
    "next|back|for me"
)
_ELSEWHERE = re.compile(r"\bin (?:a|another) (?:new )?(?:tab|window|browser)$", re.IGNORECASE)  # needs a step before
_NOTHING = frozenset(_NO_QUERY.split("|"))
# "search my bookmarks …", "search and replace …", "search engine …": not for the web, or no search at all.
_OWN_PLACES = re.compile(
    r"^(?:at|to|and|is|are|was|or|of|my|engines?|warrants?|parties|party)\b|^contacts? |"
    r"^(?:(?:browser|browsing) )?(?:bookmarks|history|tabs|inbox) (?:for|about)\b|"
    r"^(?:through |in )?(?:my|this|the) (?:bookmarks?|"
    r"history|e-?mails?|mail|files?|computer|inbox|contacts?|documents?|tabs?|page|photos|folder|"
    r"downloads|notes|desktop|screen|calendar)\b|"
    r".*\b(?:in|on|from|through) (?:my|this|the) (?:contacts?|computer|pc|laptop|e-?mails?|inbox|files|notes|bookmarks|"
    r"history|calendar|desktop|phone|photos|messages|documents|downloads)$",
    re.IGNORECASE,
)
_SEARCH_A_PLACE = re.compile(r"^search (?:the|this) \w+ for ", re.IGNORECASE)  # "search the house for my keys"
_MEDIA = frozenset(("youtube.com", "soundcloud.com", "netflix.com", "twitch.tv"))
_PLAY = re.compile(r"^(?:play|watch|put on)\b", re.IGNORECASE)
# After "open youtube" these look there, the others ("google …", "do a web search for …") do not.
_HERE = re.compile(
    r"^(?:search|look up|look for|find)\b(?!.*\b(?:web|online|internet|net|near|nearby)\b)", re.IGNORECASE
)
_NOT_NAMED = re.compile(
    r"^(?:out|it|that|this|them|something|anything|one|music|my|"
    r"the (?:first|second|last|next|latest|newest)|all|a video|videos?)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"^(?:for|about|up|me|on) ", re.IGNORECASE)

_PHRASES = r"""
where := (the web|the internet|the net|online|internet|web|google)

= google site
google <what>

= there
(play|watch|find|look for|play me|find me|put on) <what>

= about google
google (stock|share|shares|news|headquarters|ceo|pixel|home|assistant|earnings|employees|founders|layoffs) [<rest>]

= images
(search|look|google|find|show me|search google|search the web|look up|search for|find me|show) [for] [google|some|\
me|up|the] (images|pictures|photos|pics|image|gifs|gif|wallpapers) (of|for) <what>
[google] (images|pictures|photos|pics) of <what>
(search|google) <what> (images|pictures|photos)
[google] image search [for] <what>

= maps
(show|find|locate|look up) [me] <what> on [the|a|google] (map|maps)
(show|find|open|get) map of <what>
map of <what>
show me [a|the] map of <what>

= site first
(search|check|look on|look in|search on|search in|look through|browse|look at|query|go on) [the] <site> (for|\
about) [me] <what>

= search
(search|look|browse|check|hunt|surf) [on|in|up|through|around] {where} (for|about|to find|and find|and display) \
[me] [the] <what>
(search|look) [up] [for] <what> (on|in|over) {where}
(find|find me|search|search for|look up|look for) <what> online
(find|find me|find out|get me|look up) <what> (on|in|over) {where}
(use|ask|have) [the] (google|internet|web) [to] [search|find|look up|look for|tell me|tell us] [for] [me] <what>
(web|internet|online|google|bing|duckduckgo) search [for|about|on] <what>
(do|run|make|perform) [a|an] [web|internet|online|google|quick] search (for|on|about|of) <what>
(search up|search for|search|google for|google|look up|lookup|look for|bing|search about|search on|duckduckgo|\
research) <what>

= on site
(play|watch|find|find me|show me|stream|listen to|put on) [me] <what> (on|in|from|at) [the] <site>
"""


class Web:
    def __init__(self, sites: Sites) -> None:
        self._sites = sites

    @staticmethod
    def about_google(match: re.Match[str], scene: Scene) -> Reading | None:
        """A question about Google itself, such as "google stock price"."""
        return _search(match.group())

    def query(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """As in "search for X [on SITE]": the site's own search where its form is known, else the web."""
        what = match["what"]
        place = what.lower().removeprefix("on ")
        if place in _THE_WEB or self._sites.host(place):
            return None  # "search amazon": for what?
        if (on := _ON_SITE.match(what)) is not None:
            if on["site"].lower() in _THE_WEB:
                return _search(on["what"])
            if (host := self._sites.host(on["site"])) is not None:
                return self.on_site(host, on["site"], on["what"])
        found = None if _SEARCH_A_PLACE.match(match.group()) else _search(what)
        if found and _HERE.match(match.group()) and (url := self._opened(scene, what)):
            google = scene.before[-1].args.get("url") == "google.com"
            return replace(found if google else Reading((Call("open_url", {"url": url}),)), free=True, folds=True)
        return found

    def _opened(self, scene: Scene, what: str) -> str | None:
        """The address that searches the site which the request has just opened."""
        before = scene.before[-1] if scene.before else None
        return self._sites.search(str(before.args["url"]), what) if before and before.tool == "open_url" else None

    def on_site(self, host: str, name: str, what: str) -> Reading | None:
        if _ELSEWHERE.search(what):
            return None
        url = self._sites.search(host, what)
        if url is None or host == "google.com":
            return _search(what if url else f"{what} {name}")
        return Reading((Call("open_url", {"url": url}),), free=True)

    def site_first(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """As in "search wikipedia for X"."""
        if match["site"].lower() in _THE_WEB:
            return _search(match["what"])
        host = self._sites.host(match["site"])
        return self.on_site(host, match["site"], match["what"]) if host else None

    def play(self, match: re.Match[str], scene: Scene) -> Reading | None:
        host = self._sites.host(match["site"])
        return self.on_site(host, match["site"], match["what"]) if host else None

    def there(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """As in "go to youtube and play X": the site that was opened just before is searched."""
        what = re.sub(r"^(?:me|the|some|a|an|for) ", "", match["what"])
        media = bool(scene.before) and scene.before[-1].args.get("url") in _MEDIA
        sure = (media or not _PLAY.match(match.group())) and not _NOT_NAMED.match(match["what"])
        url = self._opened(scene, what) if sure else None
        return Reading((Call("open_url", {"url": url}),), free=True, folds=True) if url else None

    def images(self, match: re.Match[str], scene: Scene) -> Reading | None:
        if re.search(r"\bfor\b", match["what"]):
            return None  # "search reddit for cat pictures": reddit is to be searched
        return self.on_site("images.google.com", "images", match["what"])

    def maps(self, match: re.Match[str], scene: Scene) -> Reading | None:
        return self.on_site("maps.google.com", "map", match["what"])

    def google(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """A site whose name begins so: "google maps" is one, "google shoes" is a search."""
        host = self._sites.host(match.group())
        return Reading((Call("open_url", {"url": host}),)) if host and " " in match.group() else None

    def rules(self) -> tuple[Rule, ...]:
        """Searches of the web, of sites, for pictures and on maps."""
        builds: dict[str, Build | Reading] = {
            "google site": self.google,
            "about google": self.about_google,
            "there": self.there,
            "images": self.images,
            "maps": self.maps,
            "site first": self.site_first,
            "search": self.query,
            "on site": self.play,
        }
        return book_rules(_PHRASES, builds)


def _search(what: str) -> Reading | None:
    what = unquoted(what)
    while (about := _ABOUT.match(what)) and what[about.end() :].strip():
        what = what[about.end() :]
    found = (
        without_tail(what).lower() not in _NOTHING
        and not _ELSEWHERE.search(what)
        and not _OWN_PLACES.match(what)
        and len(what) <= 300
    )
    return Reading((Call("web_search", {"query": what}),), free=True) if found else None
