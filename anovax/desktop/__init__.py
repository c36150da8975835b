"""Acting on a real desktop: ``build`` makes the facade, the rest are the models that it speaks in."""

from anovax.desktop.backend import Image, Monitor, Rect, Typed
from anovax.desktop.chords import Chord, parse_chords
from anovax.desktop.facade import Desktop, build

__all__ = ["Chord", "Desktop", "Image", "Monitor", "Rect", "Typed", "build", "parse_chords"]
