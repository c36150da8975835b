"""Energy of the processor packages, where the machine tells it: Linux's powercap counters (Intel RAPL)."""

from __future__ import annotations

from pathlib import Path

POWERCAP = Path("/sys/class/powercap")


class Energy:
    """Reads the packages' counters (microjoules, which start again at their range). ``available`` is False on machines
    without them and where only root may read them: then there is nothing to say about energy."""

    def __init__(self, folder: Path = POWERCAP) -> None:
        self._ranges = {zone / "energy_uj": _number(zone / "max_energy_range_uj") or 0 for zone in _packages(folder)}
        self.available = bool(self._ranges) and all(_number(counter) is not None for counter in self._ranges)

    def read(self) -> list[int]:
        """One count per package; empty where there is none."""
        return [_number(counter) or 0 for counter in self._ranges] if self.available else []

    def joules(self, before: list[int]) -> float | None:
        """Joules since ``before``; None where the machine does not tell."""
        if not before:
            return None
        spent = zip(before, self.read(), self._ranges.values(), strict=True)
        return sum(now - then + (size if now < then else 0) for then, now, size in spent) / 1e6


def _packages(folder: Path) -> list[Path]:
    """Zones of whole packages; those within them would count twice."""
    try:
        zones = sorted(folder.glob("*rapl*:*"))
        return [zone for zone in zones if (zone / "name").read_text("ascii").startswith("package")]
    except OSError:
        return []


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None
