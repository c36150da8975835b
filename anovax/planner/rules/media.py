"""Volume, mute and the media keys."""

from __future__ import annotations

import re

from anovax.planner.numbers import number
from anovax.planner.rules.notation import Build, Reading, Rule, Scene, book_rules, call, phrasebook

# A heading that is no key of ``builds`` below is the key that is pressed.
_PHRASES = r"""
this := [the|this|that|my] [current|active|open|whole|entire]
sound := (speaker volume|speakers volume|music volume|volume (of|on) [the|my] (music|sound|video|song|speaker|\
speakers|audio)|\
volume|sound|audio|speaker|speakers|music|volume level|sound level|system volume|computer|pc|laptop)
song := (movie|film|audiobook|audio book|track|song|tune|music|video|audio|playback|media|player|podcast|radio|it|\
this|that)
bit := [a bit|a little|a little bit|some|slightly|more|a lot|a notch|a bit more|a little more|even more|further]
sounds := speaker volume|music volume|volume|sound|audio|speaker|speakers|music|volume level|sound level|system \
volume|computer|pc|laptop

= volumeup
(turn|crank|bring|push|put) [the|my|your] {sound} [way] up {bit}
(turn|crank|bring|pump|bump) up [the|my|your] {sound} {bit}
(increase|raise|boost|up) [up] [the|my|your] {sound} {bit}
[the|my] (volume|sound) up {bit}
(turn|crank|pump) (it|this|that) up {bit}
[make it|make that|make this|make the music|play it] [a bit|a little|a little bit|much|even] louder [please]
make [the|my|your] {sound} (louder|higher) {bit}
(i need|i want|i'd like|i would like) [the|my|your] {sound} [to be] (louder|higher|up) {bit}
(more|higher) volume
turn up
amplify the volume
(speak|talk|be|play) [a little|a bit|much|more] (louder|up)
(it's|it is|this is|that is|that's|you are|you're|the music is|the sound is|the volume is) [way|far|a bit|a little|\
much] \
too (quiet|low|soft) [turn it up|can you turn it up|could you turn it up|please turn it up|turn the volume up]
(i can't|i cannot|i can't really|i can hardly|i can barely) hear (it|the music|the sound|that|this|the video) [turn \
it up|turn \
the volume up|turn up the volume]

= volumedown
(turn|bring|tone|put) [the|my|your] {sound} [way] down {bit}
(turn|bring|tone) down [the|my|your] {sound} {bit}
(decrease|lower|reduce|drop|quiet|soften) [down] [the|my|your] {sound} {bit}
[the|my] (volume|sound) down {bit}
(turn|tone) (it|this|that) down {bit}
[make it|make that|make this|make the music|play it] [a bit|a little|a little bit|much|even] (quieter|softer)
make [the|my|your] {sound} (quieter|lower|softer|less loud) {bit}
make it (less loud|not so loud)
(i need|i want|i'd like|i would like) [the|my|your] {sound} [to be] (quieter|lower|softer|down) {bit}
(less|lower) volume
turn down
quiet down the music
(speak|talk|be|play) [a little|a bit|much|more] (quieter|softer|softly|quietly)
(it's|it is|this is|that is|that's|you are|you're|the music is|the sound is|the volume is) [way|far|a bit|a little|\
much] \
too loud [turn it down|can you turn it down|could you turn it down|please turn it down|turn the volume down]

= volumemute
(mute|unmute) [the|this|that|all|my|all the|all my] [other] (tab|tabs)
(mute|silence|unmute|un mute) [the|this|my|all|that] [{sounds}|sounds|it|video|song|everything|system|device]
[turn|switch|shut] (off|on) [the|my] (sound|audio|volume|speakers|speaker)
(turn|switch|shut) [the|my] (sound|audio|volume|speakers|speaker) (off|on)
(no sound|sound off|sound on|volume off|volume on|toggle mute|mute toggle)
(turn|set|put) [the|my] {sound} (to zero|to 0|on mute|to mute)

= playpause
(pause|resume|unpause|un pause|continue|start|restart) [playing|with] [the|this|that|my] {song}
(pause|resume|unpause|play pause|pause playback|resume playback|resume playing|continue playing|keep playing)
(play|hit play|start|put on|play me) [the|some|my|a|me] [some|a] (music|song|songs|tunes|playback)
stop [playing] [the|this|that|my] (music|song|track|playback|video|radio|podcast|audio|tune)
play [it|this|that] [the] [this] [video|song|track|movie|podcast]
stop (playing|playback)
(turn|switch|shut) (off|on) [the|my|some] (music|song|track)
(turn|switch|shut) [the|my] music (off|on)

= nexttrack
[play|go to|skip to|jump to|put on|switch to|move to|start|move on to|go on to] [the|a|my] next [podcast] (track|song|\
tune|\
one|music|video|episode|podcast|chapter)
skip [over|past] {this} [podcast|episode|song|track|tune|one|music|video|it|ahead|forward]
skip to the next
(change|switch) the (song|track|music)
(i do not|i don't) (like|want) (this|that) (song|track|one) [skip it|skip|next|play the next one|play another]
[play|go to|skip to|change to|switch to|move to] [the] next (song|track) (on|in|from|of) [the|this|my] (playlist|list|\
album|queue)
play next
(hear|listen to) [the] next (song|track|one|tune)
change to [the] next (track|song|tune|one)

= prevtrack
[play|go to|skip to|jump to|put on|switch to|go back to|skip back to|return to] [the|a|my] (previous|last|prior) \
[podcast] (track|song|tune|music|video|episode|chapter) [again]
(go|skip) back (a|one) (song|track)

= volume up by
(turn|increase|raise) [up] [the] {sound} [up] [by] <n> (times|notches|steps)
(turn|increase|raise) [up] [the] {sound} [up] by <n>
volume up [by] <n> [times|notches|steps]

= volume down by
(turn|decrease|lower|reduce) [down] [the] {sound} [down] [by] <n> (times|notches|steps)
(turn|decrease|lower|reduce) [down] [the] {sound} [down] by <n>
volume down [by] <n> [times|notches|steps]

= volume full
(turn|crank|set|put|bring) [up] [the|my] {sound} [up] (all the way up|all the way|to max|to maximum|to the max|to \
the maximum|at maximum|to full|to 100|to 100%|to 100 percent|to one hundred percent|to full blast)
[turn|go|crank] [to] (max|maximum|full) volume
volume [all the way] [to] [the] (max|maximum|full|highest)
(increase|raise) [the|my|your] {sound} to [the] (max|maximum|full|highest) [level]
(put|set) [the|my|your] {sound} (at|on) [the] (max|maximum|full|highest)
(maximize|maximise|max out) [the|my] (volume|sound)
"""


def _many(keys: str) -> Build:
    def build(match: re.Match[str], scene: Scene) -> Reading | None:
        n = number(match["n"])
        return call("press_keys", keys=keys, times=n) if n and 1 <= n <= 50 else None

    return build


def media_rules() -> tuple[Rule, ...]:
    """Louder, quieter, mute, play, pause, next, previous."""
    builds: dict[str, Build | Reading] = {
        "volume up by": _many("volumeup"),
        "volume down by": _many("volumedown"),
        "volume full": call("press_keys", keys="volumeup", times=50),
    }
    keys = {head: call("press_keys", keys=head) for head, _ in phrasebook(_PHRASES) if head not in builds}
    return book_rules(_PHRASES, {**builds, **keys})
