"""Tables of the benchmarks, read and shown, and their intervals."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

from anovax.errors import UsageError


def read_text(path: Path) -> str:
    """A file in UTF-8, with or without a byte order mark; every line ends with ``\n``. UsageError when it is none."""
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "name a text file in UTF-8") from None


def read_table(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a tab-separated file whose head has ``columns``; what a short row lacks is "". UsageError."""
    reader = csv.DictReader(io.StringIO(read_text(path)), delimiter="\t", quoting=csv.QUOTE_NONE, restval="")
    try:
        if set(columns) <= set(reader.fieldnames or ()):
            return [{key: value for key, value in row.items() if key} for row in reader]
    except csv.Error as error:
        raise UsageError(f"Line {reader.line_num + 1} of {path} cannot be read: {error}", "shorten it") from None
    raise UsageError(f"{path} is no such table", f"its head must have: {', '.join(columns)}")


def table(rows: Sequence[Sequence[object]], head: Sequence[str]) -> str:
    """Aligned text; numbers to the right."""
    cells = [list(head), *([_shown(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    numeric = [all(isinstance(row[column], int | float) for row in rows) for column in range(len(head))]

    def line(row: list[str]) -> str:
        columns = zip(row, widths, numeric, strict=True)
        return "  ".join(cell.rjust(w) if right else cell.ljust(w) for cell, w, right in columns).rstrip()

    return "\n".join([line(cells[0]), "  ".join("-" * width for width in widths), *(line(row) for row in cells[1:])])


def percentile(values: Sequence[float], q: float) -> float:
    """The ``q``-quantile (0 to 1) by linear interpolation; NaN of nothing."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def wilson(hits: int, total: int) -> tuple[float, float]:
    """The 95% score interval of a proportion (Wilson 1927)."""
    if not total:
        return 0.0, 1.0
    z, share = 1.959964, hits / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return max(0.0, middle - half), min(1.0, middle + half)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"
    return str(value)
