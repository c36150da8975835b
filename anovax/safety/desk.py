"""The simulated desktop: what has the focus, what stands typed there and elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field

from anovax.plan import World
from anovax.safety.line import Line
from anovax.safety.places import Place, place_of_window

UNSEEN = "\x10"  # ends World.pending when something stands in the line that we cannot see


@dataclass
class Desk:
    """The simulated desktop. ``script`` is all that Enter has submitted to a command line so far, for commands that
    go over several lines; ``kept`` the lines of places that the focus has left."""

    place: Place
    line: Line
    clipboard: str | None = None
    script: str = ""
    kept: dict[Place, Line] = field(default_factory=dict)
    closing: bool = False

    @staticmethod
    def of(world: World) -> Desk:
        line = Line.of(world.pending.rstrip(UNSEEN))
        line.blind = "the history" if world.pending.endswith(UNSEEN) else ""
        others = [text for _, text in world.standing]
        kept = {Place.TERMINAL: Line.of(others[-1].rstrip(UNSEEN))} if others else {}
        if len(others) > 1 or (others and others[-1].endswith(UNSEEN)):
            kept[Place.TERMINAL].blind = "another window"
        return Desk(place_of_window(world.focus), line, world.clipboard, kept=kept)

    def go(self, place: Place, fresh: bool = False) -> None:
        """Move the focus. A command line keeps what stands in it; an unknown window may be the same one."""
        key = self._key(self.place)
        if self.place is not Place.UNKNOWN or self.line.text or self.line.blind:
            self.kept[key] = self.line  # an unknown window in which nothing stands says nothing of a terminal's line
        self.place, self.closing = place, False
        self.line = Line() if fresh else self.kept.get(self._key(place), Line())

    @staticmethod
    def _key(place: Place) -> Place:
        return Place.TERMINAL if place is Place.UNKNOWN else place
