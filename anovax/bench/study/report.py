"""The reports of a study: Markdown for reading beside the data, and one HTML file that carries its own pictures."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from typing import Any

from anovax.bench.study.figures import PUBLISHED, PUBLISHED_LABEL, Group, groups, number
from anovax.bench.study.rows import Folder
from anovax.bench.study.targets import Target, resources, targets

Table = tuple[list[str], list[list[str]]]
Part = tuple[str, str | Table | bytes]  # a heading with a paragraph, a table or a picture
GOALS = ["figure", "target", "measured", "verdict"]
NOT_AVAILABLE = "not available"
STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}"
    "td,th{border:1px solid #ccc;padding:.2rem .6rem;text-align:left}img{max-width:100%}pre{overflow:auto}"
)


def write(folder: Folder) -> list[str]:
    """report.md, report.html and, with matplotlib, the plots. Names of what was written."""
    study, found = folder.study(), groups(folder.rows())
    try:
        from anovax.bench.study.plots import draw

        pictures = draw(found)
    except ImportError:
        pictures = {}
    for name, content in pictures.items():
        folder.write(name, content)
    parts = _parts(study, found, pictures, targets(found, resources(folder)))
    folder.write("report.md", markdown(parts))
    folder.write("report.html", page(parts))
    return [*pictures, "report.md", "report.html"]


def _parts(
    study: dict[str, Any], found: Sequence[Group], pictures: dict[str, bytes], goals: Sequence[Target]
) -> list[Part]:
    parts: list[Part] = [("Study", _summary(study, found)), ("Quality and time", quality(found))]
    if goals:
        parts.append(("Targets of the whole assistant", (GOALS, [goal.cells() for goal in goals])))
    parts += [("Stages", stages(found)), ("Published figures of the cloud chain", published())]
    if not pictures:
        parts.append(("Plots", "None: matplotlib is not installed (pip install 'anovax[bench]')."))
    parts += [(f"plots/{name.split('/')[-1]}", picture) for name, picture in pictures.items()]
    parts.append(("How to read this", READING))
    parts.append(("Settings and machine", _everything(study)))
    return parts


READING = (
    "Times are milliseconds. Values in brackets are 95% intervals: for times by a bootstrap over requests, for shares "
    "Wilson's. Warm: the model is loaded and has planned before. Cold: loaded for this one request. Live: spoken into "
    "a virtual microphone, done by the real agents on a virtual display, counted from the end of speech. Dispatch is "
    "the orchestrator with agents that do nothing, in live rows the time from verdict to first step. A plan counts as "
    "right when its tools are those of a right answer and the filter does not refuse it."
)


def _summary(study: dict[str, Any], found: Sequence[Group]) -> str:
    settings, about = study["settings"], study["about"]
    rows, machine = sum(len(group.rows) for group in found), about["machine"]
    what = f"{rows} rows from {settings['number_of_requests']} requests ({settings['recordings']} recordings)"
    code = f"seed {settings['seed']}, AnovaX {about['versions']['anovax']} {about['versions']['commit']}"
    said = [f"{what}, {code}, on {machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB."]
    if settings["network"]:
        said.append(f"Rows of the simulated backend passed a simulated network: {settings['network']}.")
    if not any(group.joules() is not None for group in found):
        said.append(f"Energy: {NOT_AVAILABLE} on this machine.")
    return " ".join(said)


def quality(found: Sequence[Group]) -> Table:
    head = ["backend", "rows", "errors", "right tools", "right argument", "word error rate", "plan p50", "plan p95"]
    body = []
    for group in found:
        right = [_percent(group, name) for name in ("tools_right", "argument_right")]
        rate = group.word_error_rate()
        shown = f"{100 * rate:.1f}%" if rate is not None else "not measured"
        times = [group.quantile("plan", q).shown() for q in (0.5, 0.95)]
        energy = group.joules()
        joules = NOT_AVAILABLE if energy is None else f"{number(energy)} J"
        body.append([group.title, str(len(group.rows)), str(group.errors), *right, shown, *times, joules])
    return [*head, "energy per request"], body


def _percent(group: Group, name: str) -> str:
    share = group.share(name)
    if not share.rows:
        return "not labelled"
    return f"{100 * share.value:.1f}% ({100 * share.low:.1f} to {100 * share.high:.1f})"


def stages(found: Sequence[Group]) -> Table:
    body = [
        [group.title, stage, str(p50.rows), p50.shown(), group.quantile(stage, 0.95).shown()]
        for group in found
        for stage in group.stages()
        if (p50 := group.quantile(stage, 0.5))
    ]
    return ["backend", "stage", "rows", "p50", "p95"], body


def published() -> Table:
    names = {"stt": "speech to text (cloud)", "plan": "planning (cloud)", "dispatch": "orchestrator"}
    body = [[names[stage], f"{low:g} to {high:g}", PUBLISHED_LABEL] for stage, (low, high) in PUBLISHED.items()]
    return ["stage", "ms", "source"], body


def _everything(study: dict[str, Any]) -> Table:
    flat = {**{f"settings: {k}": v for k, v in study["settings"].items()}, **study["about"]}
    return ["what", "value"], [[key, json.dumps(value, ensure_ascii=False)] for key, value in flat.items()]


def markdown(parts: Sequence[Part]) -> str:
    out = ["# AnovaX study"]
    for title, content in parts:
        if isinstance(content, bytes):
            out.append(f"![{title}]({title})")
            continue
        out += [f"## {title}", content if isinstance(content, str) else _md_table(content)]
    return "\n\n".join(out) + "\n"


def _md_table(content: Table) -> str:
    head, body = content
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in body)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(parts: Sequence[Part]) -> str:
    """One HTML document that needs nothing else."""
    body = "".join(_html(title, content) for title, content in parts)
    head = f'<meta charset="utf-8"><title>AnovaX study</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body><h1>AnovaX study</h1>{body}</body></html>\n'


def _html(title: str, content: str | Table | bytes) -> str:
    name = html.escape(title)
    if isinstance(content, bytes):
        return f'<p><img alt="{name}" src="data:image/png;base64,{base64.b64encode(content).decode("ascii")}"></p>'
    if isinstance(content, str):
        return f"<h2>{name}</h2><p>{html.escape(content)}</p>"
    head, body = content
    rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in body]
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    return f"<h2>{name}</h2><table><tr>{top}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
