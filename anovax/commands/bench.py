"""bench: measured latency, accuracy, safety, wake word, orchestrator, companion."""

from __future__ import annotations

import typer

app = typer.Typer(help="Measure: latency, accuracy, safety, wake, orchestrator, companion.", no_args_is_help=True)
