"""Opening, switching to and closing applications; sites and settings that are asked for in the same words."""

from __future__ import annotations

import re

from anovax.planner.normalise import address
from anovax.planner.rules.notation import Build, Call, Reading, Rule, Scene, book_rules, call
from anovax.planner.rules.sites import Sites

# What is generic enough that every desktop has it under some name; the launcher knows which.
_GENERIC = (
    "calculator|browser|web browser|internet browser|internet|web|terminal|console|command line|command prompt|shell|"
    "file manager|files|file explorer|explorer|finder|text editor|editor|notepad|notes|settings|system settings|"
    "control panel|calendar|clock|camera|webcam|music|music player|media player|video player|photos|pictures|"
    "image viewer|gallery|mail|email|emails|e-mail|email client|inbox|contacts|address book|maps|map|messages|games|"
    "paint|"
    "task manager|system monitor|word processor|spreadsheet|weather app|volume control|mixer|app store|"
    "software center|recycle bin|trash|downloads|documents|desktop settings|radio|podcasts|firefox|chrome|"
    "google chrome|chromium|edge|microsoft edge|safari|opera|brave|word|microsoft word|excel|microsoft excel|"
    "powerpoint|microsoft powerpoint|outlook|onenote|libreoffice|writer|gimp|inkscape|blender|audacity|vlc|steam|"
    "itunes|thunderbird|visual studio code|vs code|visual studio|vscode|sublime text|emacs|vim|obs|wordpad|"
    "snipping tool|mousepad|gedit|xterm|galculator|kate|nautilus|my computer|this pc|photoshop|minecraft|skype|"
    "discord|slack|zoom|spotify|whatsapp|telegram|teams|facetime|siri|windows terminal|windows defender|"
    "windows explorer|"
    "windows media player|windows security|windows store|microsoft store|task scheduler|device manager"
)
GENERIC = frozenset(_GENERIC.split("|"))
_ARTICLE = re.compile(
    r"^(?:up )?(?:the |my |our |your |an? (?=(?:web |internet )?browser$|terminal$|text editor$|calculator$|"
    r"console$)|an? (?=(?:app|application|program) (?:called|named) )|(?:app|application|program) (?:called|named) )+",
    re.IGNORECASE,
)
_SETTINGS = re.compile(
    r"^(?!(?:in|on|to|of)\b)[\w-]+(?: (?!(?:in|on|to|of)\b)[\w-]+)? (?:settings|preferences)$", re.IGNORECASE
)
_FOLDER = re.compile(
    r"^(?:downloads?|documents?|pictures|photos|music|videos|home|desktop) (?:folder|directory)$", re.IGNORECASE
)
_LIST = re.compile(r",? and |, ")
_KIND = re.compile(r" (?:app|application|program|software|tool)$", re.IGNORECASE)
_SITE_KIND = re.compile(r"(?:'s)? (?:web ?site\w?|site|web ?page|home ?page|page|online)$", re.IGNORECASE)
# Words that make what follows "open" something else than a name.
_FUNCTION_WORDS = (
    "the|my|our|your|about|as|to|and|or|but|not|for|with|in|on|at|of|from|by|into|that|which|this|these|those|it|them|"
    "then|because|if|"
    "when|me|you|i|"
    "a|an|some|any|all|every|another|after|before|until|unless|while|every|either|except|without|again|"
    "type|press|click|search|scroll|write|enter|go|play|read|tell|show|send"
)
_CLAUSE = re.compile(rf"\b(?:{_FUNCTION_WORDS})\b", re.IGNORECASE)
_NO_NAME = re.compile(
    rf"\b(?:{_FUNCTION_WORDS}|something|nothing|anything|one|damn|quickly|maybe|perhaps|actually|never|don't|dont|uh|um|new|recent|latest|first|second|address|bar|"
    r"bookmarks?|attachments?|instead|no wait|i mean|sorry|oops|extensions|add-?ons|plugins|"
    r"resume|cv|report|essay|homework|invoice|thesis|contract|"
    r"tab|tabs|window|windows|door|doors|gate|garage|blinds|curtains|account|link|file|"
    r"folder|document|page|menu|dialog|result|results|bottle|eyes|mouth|ticket|case|light|lights|lamp|tv|television|"
    r"heater|fan|"
    r"heating|oven|coffee|kettle|wifi|wi-fi|bluetooth|vacuum|vacuuming|alarm|timer|car|engine|running|over|again|"
    r"business|"
    r"running|diet|conversation|fire|war|fight|countdown|stopwatch|house|cleaning|laundry|dishwasher|water|"
    r"relationship|"
    r"song|songs|playlist|album|video|movie|podcast|episode|image|images|picture|article|message|emails?|email from|"
    r"chat|"
    r"apps|applications?|programs?|question|questions|marathon|errands?|late|away|low|wild|free|store|restaurant|shop|bank|position|mic|"
    r"microphone|up|out|off|down)\b",
    re.IGNORECASE,
)


_SEVERAL = re.compile(
    r"^(?:two|three|four|five|six|both|all|several|some|many|a few|a couple|every|everything)\b(?! (?:commander|of))|"
    r" (?:once|twice|\w+ times)$",
    re.IGNORECASE,
)
_NO_WINDOW = re.compile(
    r"\b(?:private|incognito|other|first|second|third|all|every|tab|mode|language|account|user|channel|voice|theme|"
    r"input|view|accent|field|box|bar|button|english|french|"
    r"spanish|german|"
    r"next|previous|song|track|gear|plan|side|topic|subject)\b",
    re.IGNORECASE,
)
_FILE = re.compile(r"\.(?:pdf|docx?|txt|xlsx?|pptx?|csv|odt|md|html?|jpe?g|png|mp[34]|zip|py|json)$", re.IGNORECASE)
# What follows "open" as an adjective: "open source licences", "open mic night".
_ADJECTIVE = re.compile(
    r"^(?:source|heart|world|minded|ended|air|plan|season|secret|letter|enrollment|invitation|kitchen|wound|sea|road|"
    r"marriage|mind|book|"
    r"access|standards?|house|mic|bar|sesame|wide|top|toe|back|faced|hours)\b(?! (?:player|app))",
    re.IGNORECASE,
)
# A short name after "close" that is not one of the other things one closes.
_CLOSABLE = re.compile(
    r"^(?!(?:private|incognito|both|two|first|second|last|previous|other|deal|sale|call|gap|friends?|eyes?|"
    r"bookmarks?|side ?bar|pop ?ups?|range|caption(?:ed|s)?|quarters|"
    r"encounters?|\w+ing|down|everything|all|"
    r"enough|quote|bracket|parenthesis|valve|lid|box|book|case|circuit|road|school|market|ad|ads|banner|notification|"
    r"laptop|computer|pc|fridge|mouth|shop|store|drawer|oven|umbrella|others?)\b)[\w.+-]+(?: [\w.+-]+)?$",
    re.IGNORECASE,
)

_PHRASES = r"""
open := (open|launch|start|run|load|execute|open up|start up|fire up|bring up|pull up|boot up|load up|startup|\
spin up|turn on|switch on)
this := [the|this|that|my|current|active|open]

= close
(close|exit|quit|kill|shut|end|terminate) [down|out of] {this} [active|open|current] (window|app|application|\
program|browser window)
(close|quit|exit) (this|that|it)
close

= several
{open} <app>

= open too
the <app>

= open
(open|launch|open up|start up|go ahead and open) <app>

= open to
(open|launch|open up|bring up|pull up) <app> (to|so that|so|because) <why>

= start
(start|run|load|execute|startup|spin up|fire up|bring up|pull up|boot up|show|show me|give me|display) <app>

= go
(go to|go on|go on to|goto|navigate to|browse to|visit|take me to|head to|head over to|bring me to|go over to|get \
me to|show me|show|i want to see|surf to|move to) <app>

= switch
(switch to|switch over to|switch back to) <app>
(bring|put) <app> [back] to [the] (front|foreground)

= switch to known
(change to|jump to|focus|focus on|activate|swap to|go back to|go over to|bring back) <app>

= paste into
paste [it|this|that|them|the text] (in|into|in to) <app>

= menu
(open|show|click|click on|pull down) [the] <app> menu

= close several
(close|quit) <app>

= close named
(close|quit|exit|kill|close down|shut down|terminate|stop|end|close out) <app>
(exit|get) out of <app>
"""


class Apps:
    """The rules that need to know names: what is installed, what is a site."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites

    def opened(self, name: str, scene: Scene) -> Call | None:
        """What "open <name>" means: a site, an installed application, or something that sounds like one."""
        bare = _ARTICLE.sub("", name).strip()
        if (url := address(bare)) is not None:
            return Call("open_url", {"url": url})
        if _SITE_KIND.search(bare):
            return self._site(_SITE_KIND.sub("", bare))
        app = _KIND.sub("", bare)
        if scene.apps is not None and app.lower() in scene.apps:
            return Call("open_app", {"name": app})
        if app == bare and (host := self._sites.host(app)) and not (scene.apps is None and app.lower() in GENERIC):
            return Call("open_url", {"url": host})
        return Call("open_app", {"name": self._plain(app)}) if self._is_name(app, sure=app != bare) else None

    @staticmethod
    def _plain(app: str) -> str:
        return {"internet": "browser", "web": "browser", "the internet": "browser"}.get(app.lower(), app)

    def _is_name(self, app: str, sure: bool) -> bool:
        """``sure``: it was called an app, so that a common noun is a name too ("the podcast app")."""
        if "," in app or " -" in app or _FILE.search(app) or _SEVERAL.search(app):
            return False
        if app.lower() in GENERIC or _SETTINGS.match(app):
            return True
        plain = not (_CLAUSE if sure else _NO_NAME).search(app) and not _ADJECTIVE.match(app)
        plain = plain or bool(_FOLDER.match(app))
        return plain and 1 <= len(app.split()) <= 4 and app[0].isalnum() and len(app) <= 40

    def _site(self, name: str) -> Call | None:
        host = self._sites.host(name)
        return Call("open_url", {"url": host}) if host else None

    def open(self, match: re.Match[str], scene: Scene) -> Reading | None:
        found = self.opened(match["app"], scene)
        return Reading((found,)) if found else None

    def open_to(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """As in "open X to do Y": opening X is what was asked; only where X is known."""
        return self.open(match, scene) if self._known(match["app"], scene) else None

    def start(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """Verbs such as "run" and "start" open only what is known as an application: one also runs errands."""
        name = _KIND.sub("", _ARTICLE.sub("", match["app"]))
        known = name.lower() in GENERIC or name.lower() in (scene.apps or ()) or name != _ARTICLE.sub("", match["app"])
        known = known or bool(_FOLDER.match(name) or _SETTINGS.match(name))
        found = self.open(match, scene)
        return found if found and (known or found.calls[0].tool == "open_url") else None

    def go(self, match: re.Match[str], scene: Scene) -> Reading | None:
        name = _SITE_KIND.sub("", _ARTICLE.sub("", match["app"]))
        if (url := address(name) or self._sites.host(name)) is not None:
            return call("open_url", url=url)
        return call("open_app", name=_KIND.sub("", name)) if _KIND.sub("", name).lower() in GENERIC else None

    def switch(self, match: re.Match[str], scene: Scene) -> Reading | None:
        name = _KIND.sub("", _ARTICLE.sub("", match["app"])).removesuffix(" window")
        if _CLAUSE.search(name) or _NO_WINDOW.search(name):
            return None
        return call("focus_window", name=name) if len(name.split()) <= 4 else None

    def known_switch(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """Verbs such as "focus on" and "change to" mean a window only where X is known as an application."""
        return self.switch(match, scene) if self._known(match["app"], scene) else None

    def paste_into(self, match: re.Match[str], scene: Scene) -> Reading | None:
        opened = self.opened(match["app"], scene) if self._known(match["app"], scene) else None
        keys = Call("press_keys", {"keys": "ctrl+v"})
        return Reading((opened, keys)) if opened and opened.tool == "open_app" else None

    @staticmethod
    def menu(match: re.Match[str], scene: Scene) -> Reading | None:
        named = len(match["app"].split()) <= 2 and match["app"].lower() not in ("the", "a", "my", "this", "that")
        return call("click", target=match["app"]) if named else None

    def close(self, match: re.Match[str], scene: Scene) -> Reading | None:
        said = match["app"]
        name = _KIND.sub("", _ARTICLE.sub("", said)).removesuffix(" window")
        if _NO_WINDOW.search(name):
            return None
        open_now = {window.app.lower() for window in scene.context.windows}
        known = name.lower() in GENERIC or name.lower() in (scene.apps or ()) or name.lower() in open_now
        if scene.apps is None and match.group().lower().startswith("close "):
            known = known or bool(_CLOSABLE.match(name) and not _NO_NAME.search(name))
        known = known or self._sites.host(name) is not None or name != _ARTICLE.sub("", said)
        return call("close_window", name=name) if known else None

    def several(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """As in "open firefox and notepad": only names that are known."""
        names = [n for n in _LIST.split(match["app"]) if n.strip()]
        found = [self.opened(name, scene) for name in names]
        sure = all(self._known(name, scene) for name in names)
        return Reading(tuple(f for f in found if f)) if sure and all(found) and len(found) > 1 else None

    def close_several(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """As in "close firefox and the editor": only names that are known."""
        names = [_KIND.sub("", _ARTICLE.sub("", name)) for name in _LIST.split(match["app"]) if name.strip()]
        sure = len(names) > 1 and all(self._known(name, scene) for name in names)
        return Reading(tuple(Call("close_window", {"name": name}) for name in names)) if sure else None

    def open_too(self, match: re.Match[str], scene: Scene) -> Reading | None:
        """As in "open firefox, then the calculator"."""
        opened = scene.before and scene.before[-1].tool == "open_app"
        return self.open(match, scene) if opened and self._known(match["app"], scene) else None

    def _known(self, name: str, scene: Scene) -> bool:
        bare = _KIND.sub("", _ARTICLE.sub("", name)).lower()
        return bare in GENERIC or bare in (scene.apps or ()) or (self._sites.host(bare) or address(bare)) is not None

    def rules(self) -> tuple[Rule, ...]:
        """Open, go to, switch to and close."""
        builds: dict[str, Build | Reading] = {
            "close": call("close_window"),
            "several": self.several,
            "open too": self.open_too,
            "open": self.open,
            "open to": self.open_to,
            "start": self.start,
            "go": self.go,
            "switch": self.switch,
            "switch to known": self.known_switch,
            "paste into": self.paste_into,
            "menu": self.menu,
            "close several": self.close_several,
            "close named": self.close,
        }
        return book_rules(_PHRASES, builds)
