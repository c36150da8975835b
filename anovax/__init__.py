"""AnovaX: a fully offline, local-first voice assistant for the desktop."""

__version__ = "0.1.0"
