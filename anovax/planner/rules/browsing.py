"""The browser: tabs, pages, zoom, bookmarks. Most are one chord."""

from __future__ import annotations

import re

from anovax.planner.numbers import number
from anovax.planner.rules.notation import Call, Reading, Rule, Scene, call, chord_rules

# A heading that is no key of ``builds`` below is the chord that is pressed.
_PHRASES = r"""
this := [the|this|that|my] [current|active|open|whole|entire]
a := [a|the|my|another]
bit := [a bit|a little|a little bit|some|slightly|more|a lot|a notch|a bit more|a little more|even more|further]

= ctrl+t
[open|add|create|make|start|launch|give me|show me|show] {a} [blank|empty|fresh] new [browser|blank|empty] tab
(open|add|create) {a} [blank|browser] tab
new tab

= ctrl+w
(close|shut|kill|exit) [down|out] {this} [open|active|browser] tab

= ctrl+shift+w
(close|shut|exit) (all|all of) [the|my|these] [open|browser] tabs
(close|shut) every tab

= ctrl+shift+t
(reopen|restore|undo close|undo closing|bring back|unclose|open) [the|my|that] [last|recently|previously] (closed|\
close) tab
(reopen|restore|bring back|unclose|undo close|undo closing) [the|my|that] [last] tab
undo (tab close|closing tab|closing [the|that|this] tab|closed tab|the last closed tab)

= ctrl+tab
[go|switch|move|jump|change] [over] [to] [the] right [browser] tab
[go|switch|move|jump|change|cycle] [over] [to] [the] next [browser] tab
[go] one tab (right|forward)
(switch|change|cycle) (tabs|tab)
tab right

= ctrl+shift+tab
[go|switch|move|jump|change] [over] [to] [the] left [browser] tab
[go|switch|move|jump|change|cycle] [back] [over] [to] [the] previous [browser] tab
[go] one tab (left|back)
tab left
[go] back one tab

= ctrl+9
[go|switch|move|jump|change|show|open|select] [over] [to] [the|my] last [browser] tab

= ctrl+n
[open|create|make|start|launch|give me] {a} [blank|empty|fresh] new [browser|blank] window
open (a|another) window

= ctrl+shift+p
[open|create|start|launch|give me] [a|the] [new] (private|private browsing) (window|tab|browser)
(open|start|enter|turn on|switch to) private browsing [mode]

= ctrl+shift+n
[open|create|start|launch|give me] [a|the] [new] incognito [mode|window|tab|browser]

= alt+left
[go|navigate|move|browser|page] back [one|a] [page]
[go|navigate] back to [the] (previous|last) page
(go to|open|show) [the] (previous|last) page
previous page

= pages back
(go|navigate|move|browser) back <n> pages

= alt+right
(go|navigate|move|browser) forward [one|a] [page]

= f5
(reload|refresh) {this} [web] [page|tab|site|website|browser|screen]
(reload|refresh) {this} (web page|it)

= alt+home
(go|open|show|take me|navigate) [to] [the|my] (home page|homepage|browser home)

= ctrl+l
(focus|select|go to|click|open|show) [on] [the] (address bar|url bar|location bar)

= ctrl+plus
zoom [it|this|that|the page|page|the screen] in {bit}
zoom in [on] {this} [page|it|screen|tab] {bit}
(enlarge|magnify) {this} [page|text|it]
(increase|raise|enlarge) [the|this] (zoom|font size|text size|font|zoom level|size of the text) {bit}
make [the|this|that] [text|font|page|it|letters] (bigger|larger)

= ctrl+minus
zoom [it|this|that|the page|page|the screen] out {bit}
zoom out [of|from] {this} [page|it|screen|tab] {bit}
(decrease|reduce|lower) [the|this] (zoom|font size|text size|font|zoom level|size of the text) {bit}
make [the|this|that] [text|font|page|it|letters] smaller

= ctrl+0
(reset|restore|normalize) {this} [page] zoom [level]
zoom (reset|to normal|to one hundred percent|to 100%|to 100 percent|normal|back to normal)
(reset|set|return|restore) {this} (zoom|zoom level) [back] [to] [default|normal|100%|100 percent|one hundred \
percent]
(normal|default|actual|original) (zoom|size|zoom level)

= ctrl+f
find (in|on) [the|this] page
(open|show) [the] (find bar|search bar|find dialog)
(find|search) (in|on) (page|this page|the page)
search (the|this) page
find

= ctrl+u
(view|show) [the|page] [page] source

= ctrl+d
bookmark [this|the|that|current|my] [page|site|tab|website|it|web page]
(add|save|create|make) [a|this|the|that|this page] [page|site|tab|website|new] [to|as|as a|to my|to the|in|in my] \
(bookmark|bookmarks|favorites|favourites)

= ctrl+shift+o
(open|show|view|display|see|go to|list|take me to) [me] [all] [my|the] (bookmarks|bookmark manager|bookmarks manager|\
bookmark list)

= ctrl+h
(open|show|view|display|see|go to) [me] [my|the] [recent] (history|browser history|browsing history|history \
sidebar|browsing history sidebar|browser's history)

= ctrl+shift+delete
(clear|delete|erase|wipe) [all] [my|the] [recent] (history|browser history|browsing history|browsing data|cache|cookies)

= ctrl+shift+i
(open|show|toggle) [the] (developer tools|dev tools|web developer tools|inspector|devtools)

= ctrl+alt+r
[open|enter|show|turn on|start|switch to|toggle|close|exit|leave] [the|this] [page] [in] (reader mode|reader view|\
reading mode|reading view)

= tab number
[go|switch|move|jump|change|select] [to] [the] tab [number] <n>
[go|switch|move|jump|change|select|show] [over] [to] [the] <n> tab
(open|show) tab [number] <n>
open [the] <n> tab

= find here
(find|search for|search|look for|locate) <what> (on|in|within) [the|this|current] (page|document|text|web page|\
webpage|tab|file)
(find|search) (in|on|within) [the|this] (page|document|text|file) [for] <what>
search this (page|document|text|file) for <what>
"""


def _tab_number(match: re.Match[str], scene: Scene) -> Reading | None:
    n = number(match["n"])
    return call("press_keys", keys=f"ctrl+{n}") if n and 1 <= n <= 8 else None


def _pages_back(match: re.Match[str], scene: Scene) -> Reading | None:
    n = number(match["n"])
    return call("press_keys", keys="alt+left", times=n) if n and 1 < n <= 20 else None


def _find_here(match: re.Match[str], scene: Scene) -> Reading | None:
    text = re.sub(r"^(?:the )?(?:word|phrase|text) (?=\S)", "", match["what"])
    return Reading((Call("press_keys", {"keys": "ctrl+f"}), Call("type_text", {"text": text})))


def browsing_rules() -> tuple[Rule, ...]:
    """Tabs, going back and forward, zoom, finding in the page."""
    return chord_rules(
        _PHRASES,
        {
            "tab number": _tab_number,
            "pages back": _pages_back,
            "find here": _find_here,
        },
    )
