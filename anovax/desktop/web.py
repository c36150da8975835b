"""Spoken addresses and browsers: what a request names, and how a browser is asked to open it."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from urllib.parse import quote, urlsplit

from anovax.desktop.application import Application
from anovax.errors import ToolError

# Sites that people name without their address. Anything else that is no address is searched for.
SITES: dict[str, str] = {
    "amazon": "amazon.com", "bbc": "bbc.com", "bing": "bing.com", "cnn": "cnn.com", "duckduckgo": "duckduckgo.com",
    "ebay": "ebay.com", "etsy": "etsy.com", "facebook": "facebook.com", "github": "github.com", "gitlab": "gitlab.com",
    "gmail": "mail.google.com", "google": "google.com", "google calendar": "calendar.google.com",
    "google docs": "docs.google.com", "google drive": "drive.google.com", "google images": "images.google.com",
    "google maps": "maps.google.com", "google news": "news.google.com", "google translate": "translate.google.com",
    "guardian": "theguardian.com", "hacker news": "news.ycombinator.com", "imdb": "imdb.com", "imgur": "imgur.com",
    "instagram": "instagram.com", "linkedin": "linkedin.com", "nasa": "nasa.gov", "netflix": "netflix.com",
    "new york times": "nytimes.com", "open street map": "openstreetmap.org", "pandora": "pandora.com",
    "paypal": "paypal.com", "pinterest": "pinterest.com", "quora": "quora.com", "reddit": "reddit.com",
    "soundcloud": "soundcloud.com", "stack overflow": "stackoverflow.com", "tiktok": "tiktok.com",
    "twitch": "twitch.tv", "twitter": "twitter.com", "washington post": "washingtonpost.com",
    "wikipedia": "wikipedia.org", "yahoo": "yahoo.com", "yelp": "yelp.com", "youtube": "youtube.com",
}  # fmt: skip

_SPOKEN = (
    (r"\s+dot\s+", "."),
    (r"\s+(?:forward )?slash\s*", "/"),
    (r"\s*\bcolon\b\s*", ":"),
    (r"\s+(?:dash|hyphen)\s+", "-"),
    (r"\s+underscore\s+", "_"),
)
_HOST = re.compile(
    r"(?=.{1,253}$)(localhost|[\w-]{1,63}(\.[\w-]{1,63})*\.[^\W\d_][\w-]{1,62}|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:]+\])(:\d{1,5})?$",
    re.I,
)
_FILLER = re.compile(r"^(?:please\s+|go to\s+|open\s+|the\s+)+|(?:'s)?\s+(?:web\s?site|home\s?page|page|site)$", re.I)


def site(name: str) -> str:
    """The address of a well-known site, such as ``https://wikipedia.org``; empty when it is none."""
    said = _FILLER.sub("", " ".join(name.casefold().replace(".", " dot ").split())).replace(" dot com", "")
    spaced = SITES.get(said) or {key.replace(" ", ""): value for key, value in SITES.items()}.get(said.replace(" ", ""))
    return f"https://{spaced}" if spaced else ""


def address(spoken: str) -> str:
    """The http(s) address that was meant ("wikipedia dot org" -> ``https://wikipedia.org``), empty when it is no
    address (something to search for). ToolError for any other scheme."""
    text = spoken.strip().strip(".,!?\"'")
    for pattern, by in _SPOKEN:
        text = re.sub(pattern, by, text, flags=re.I)
    scheme = re.match(r"([a-z][a-z0-9+.-]*):(?!\d)", text, re.I)
    if scheme and scheme[1].lower() not in ("http", "https"):
        raise ToolError(f"{scheme[1].lower()}: addresses are not opened", "only http and https are")
    if not scheme and (known := site(spoken)):
        return known
    return _with_scheme(text, bool(scheme))


def _with_scheme(text: str, has: bool) -> str:
    text = text if has else _FILLER.sub("", text)
    if not has:
        host, slash, rest = text.partition("/")
        text = (
            f"{_scheme(host)}://{host.replace(' ', '')}{slash}{rest}"
            if _HOST.match(host.replace(" ", "")) and host
            else ""
        )
    text = _ascii(text)
    try:
        parts = urlsplit(text)
        valid = bool(parts.hostname and _HOST.match(parts.netloc.rpartition("@")[2])) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        return ""
    if "@" in parts.netloc:
        raise ToolError("Addresses with a user name in them are not opened", "give the plain address")
    return text


def _ascii(text: str) -> str:
    """Non-ASCII hosts in their IDNA form, everything else percent-encoded."""
    scheme, colon, rest = text.partition("://")
    host, slash, path = rest.partition("/")
    with suppress(UnicodeError):
        host = host.encode("idna").decode() if not host.isascii() else host
    return scheme + colon + quote(host + slash + path, safe=":/?#[]@!$&'()*+,;=%~-._")


def _scheme(host: str) -> str:
    """Local machines rarely have a certificate."""
    name = host.rsplit(":", 1)[0]
    return "http" if name == "localhost" or re.fullmatch(r"[\d.]+|\[.*\]", name) or name.endswith(".local") else "https"


def search_address(template: str, query: str) -> str:
    """``template`` with ``{query}`` replaced by the URL-quoted query."""
    return template.replace("{query}", quote(" ".join(query.split()), safe=""))


def host_words(url: str) -> tuple[str, ...]:
    """What a page of this address is likely to carry in its title: the site's own names."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    return (host, *(part for part in host.split(".")[:-1] if len(part) > 3))


# What a browser is started with, by program name. The Chromium flags keep it from fetching updates, field trials and
# hints by itself (https://peter.sh/experiments/chromium-command-line-switches): the page is all that is loaded.
QUIET_CHROMIUM = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--metrics-recording-only",
    "--disable-client-side-phishing-detection",
    "--no-pings",
    "--component-updater=url-source=http://127.0.0.1:9/",  # where nobody listens: some parts are asked for nevertheless
    "--disable-features=OptimizationHints,MediaRouter,AutofillServerCommunication,NetworkTimeServiceQuerying",
)
_CHROMIUMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "brave-browser",
    "microsoft-edge",
    "vivaldi",
)


def is_chromium(app: Application) -> bool:
    return app.program in _CHROMIUMS


def browser_arguments(app: Application, url: str, root: bool | None = None) -> tuple[str, ...]:
    """Arguments that open ``url``. As root Chromium cannot have its sandbox; only then is it switched off."""
    return (*own_flags(app, root), url)


def own_flags(app: Application, root: bool | None = None) -> tuple[str, ...]:
    """What ``app`` is started with beyond its own command: nothing, unless it is a Chromium."""
    if not is_chromium(app):
        return ()
    root = _is_root() if root is None else root
    return (*QUIET_CHROMIUM, *(("--no-sandbox", "--test-type") if root else ()))


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
