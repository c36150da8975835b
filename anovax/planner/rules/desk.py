"""Windows and the desktop: what is one chord."""

from __future__ import annotations

from anovax.planner.rules.notation import Rule, chord_rules

# Each heading is the chord that is pressed.
_PHRASES = r"""
this := [the|this|that|my] [current|active|open|whole|entire]

= f11
[go|make it|make this|enter|turn on|toggle|switch to|view|view in|put it in|in|exit|leave|quit|turn off|close|get \
out of|open] [the|this] [video] [in|to] (full screen|fullscreen|full-screen) [mode|view]
(make|set|show|put|view) {this} [video|window|browser|page|tab|it] [in|to|into] (full screen|fullscreen)

= win+up
(maximize|maximise|enlarge|expand) {this} [active] [window|app|application|it|screen|browser]
make [the|this] (window|it) (full size|bigger|as big as possible)

= win+down
(minimize|minimise) {this} [active] [window|app|application|it|screen|browser]
hide {this} window
restore [the|this|that] [window]

= win+d
(minimize|minimise|hide) (all|everything|all windows|all the windows|all my windows|all open windows)
(show|go to|open|display|view) [me] [the|my] desktop

= win+left
(snap|move|dock|tile|put) [the|this] (window|it) [to|on] [the] left [side|half] [of] [the] [screen]

= win+right
(snap|move|dock|tile|put) [the|this] (window|it) [to|on] [the] right [side|half] [of] [the] [screen]

= win+l
lock [the|my|this] (screen|computer|pc|laptop|workstation)

= win
(open|show|press) [the] start menu

= alt+tab
(switch|change|toggle|cycle|swap) [between|to] [the|my] [next|previous|other|last] (window|windows|apps|\
applications|app|application|program|programs)
[go|move|change|jump] [to] [the] (next|previous) window
alt tab

= win+tab
(show|open|view) [me] (all windows|all my windows|all open windows|task view|the task view|my open windows)

= ctrl+o
(open|show) [the] (open file dialog|file dialog)
"""


def desk_rules() -> tuple[Rule, ...]:
    """Windows, full screen, the desktop."""
    return chord_rules(_PHRASES)
