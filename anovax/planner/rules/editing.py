"""Editing: the clipboard, saving, marking, moving about. Most are one chord."""

from __future__ import annotations

import re

from anovax.planner.rules.notation import Reading, Rule, Scene, call, chord_rules

# A heading that is no key of ``builds`` below is the chord that is pressed.
_PHRASES = r"""
= ctrl+n
[create|start|begin|open|make] [a] new (document|file|text file)

= ctrl+c
copy [the|this|that|it|my] [selection|selected|text|selected text|highlighted text] [to clipboard|to the clipboard|\
to my clipboard]

= ctrl+x
cut [the|this|that|it] [selection|text|selected text|to clipboard|to the clipboard]

= ctrl+v
paste [the|it|this|that|from|here|in|my] [clipboard|text|in|here|the clipboard|from clipboard|from the clipboard] \
[here|in|there]

= ctrl+z
undo [the|my] [last] (typing|edit|change)
scratch (that|this|it)

= ctrl+y
redo [it|that|this|the last|my last] [action|change|edit|step]

= ctrl+a
select (all|everything|all text|all of it|all the text|the whole text|the entire document|the whole page|whole page)
(highlight|mark) (all|everything|all text)

= save
save [the|this|my|that|it] [file|document|page|work|changes|web page]
save (the changes|my changes|it)

= ctrl+shift+s
save [the|this|my] [file|document|it] as

= ctrl+p
print [out] [the|this|my|that|it] [page|document|file|tab|out|web page|it] [out]
(open|show) [the] print dialog

= ctrl+b
(bold|make bold) [that|this|it|the] [text|selection|selected text]
make [the|this|that|it] [text|selection|selected text] bold
bold

= ctrl+i
(italic|italics|italicize|italicise) [that|this|it|the] [text|selection|selected text]
make [the|this|that|it] [text|selection|selected text] (italic|italics|italicized)

= ctrl+u
underline [that|this|it|the] [text|selection|selected text]
make [the|this|that|it] [text|selection|selected text] underlined

= ctrl+backspace
(delete|remove|erase|scratch) [the|that] [last|previous] word

= delete
delete (that|this|it|selection|the selection|the selected text)

= ctrl+home
(go|jump|move) to [the] (start|beginning|top) of [the|this] (document|file|text)

= ctrl+end
(go|jump|move) to [the] end of [the|this] (document|file|text)

= home
(go|jump|move) to [the] (start|beginning) of [the|this] line

= end
(go|jump|move) to [the] end of [the|this] line

= enter
(new line|newline|next line|insert a new line|start a new line|line break)

= tab
[go to|focus|select|move to] [the] next field

= shift+tab
[go to|focus|select|move to] [the] previous field

= paragraph
(new paragraph|start a new paragraph|next paragraph)

= pagedown
(go|move) down (a|one) page
page down

= pageup
(go|move) up (a|one) page
page up
"""


def _save(match: re.Match[str], scene: Scene) -> Reading | None:
    """The file in front; after a screenshot "save it" means that, which is saved as it is taken."""
    shot = scene.before and scene.before[-1].tool == "screenshot"
    return Reading() if shot else call("press_keys", keys="ctrl+s")


def _delete(match: re.Match[str], scene: Scene) -> Reading | None:
    """What is selected; not what has just been typed, which the key would not delete."""
    steps = [step.tool for turn in scene.context.turns[-1:] for step in turn.plan.steps]
    tools = [*steps, *(done.tool for done in scene.before)]
    return None if tools[-1:] == ["type_text"] else call("press_keys", keys="delete")


def editing_rules() -> tuple[Rule, ...]:
    """Copy, paste, undo, save, and moving about in a text."""
    return chord_rules(
        _PHRASES,
        {
            "save": _save,
            "delete": _delete,
            "paragraph": call("press_keys", keys="enter", times=2),
        },
    )
