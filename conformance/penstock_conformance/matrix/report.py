"""Reports of the matrix: Markdown tables, JSON of all cells, and an HTML table of faults and operations."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .cells import Cell
from .judge import DEFECTS, ERROR, IDLE, NOT_APPLICABLE, RIGHT, UNDETECTABLE, VERDICTS, Outcome

ORDER = (
    *DEFECTS,
    UNDETECTABLE,
    ERROR,
    RIGHT,
    IDLE,
    NOT_APPLICABLE,
)  # the verdict of a group is the first of these among its cells
COLOURS = {RIGHT: "#9fd49f", ERROR: "#f2dd8c", UNDETECTABLE: "#c9b6e4", IDLE: "#e6e6e6", NOT_APPLICABLE: "#ffffff"}
_DEFECT_COLOUR = "#e06c6c"
_MARKS = {RIGHT: "✓", ERROR: "e", UNDETECTABLE: "u", IDLE: "·", NOT_APPLICABLE: "-"}


def defects(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Outcomes with a verdict that is a defect."""
    return [outcome for outcome in outcomes if outcome.verdict in DEFECTS]


def summary(cells: Sequence[Cell], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Totals."""
    by_verdict = Counter(outcome.verdict for outcome in outcomes)
    return {
        "cells": len(outcomes),
        "actions": len({cell.action.name for cell in cells}),
        "kinds": len({cell.action.kind for cell in cells}),
        "operations": len({cell.operation for cell in cells}),
        "requests": sum(outcome.requests for outcome in outcomes),
        "faults_fired": sum(outcome.fired for outcome in outcomes),
        "verdicts": {verdict: by_verdict[verdict] for verdict in VERDICTS if by_verdict[verdict]},
        "silent_corruptions": by_verdict["wrong"] + by_verdict["partial"] + by_verdict["broken"],
        "hangs": by_verdict["hang"],
        "uploads_left_open": by_verdict["left open"],
        "slowest_s": round(max((outcome.seconds for outcome in outcomes), default=0.0), 2),
    }


def as_json(cells: Sequence[Cell], outcomes: Sequence[Outcome]) -> str:
    """The summary and all cells as JSON."""
    document = {"summary": summary(cells, outcomes), "verdicts": VERDICTS}
    rows = [
        {"cell": o.cell, "verdict": o.verdict, "fired": o.fired, "requests": o.requests, "seconds": round(o.seconds, 3)}
        | ({"note": o.note} if o.note else {})
        for o in sorted(outcomes, key=lambda outcome: outcome.cell)
    ]
    head = json.dumps(document, indent=1)[:-2]
    return head + ',\n "cells": [\n  ' + ",\n  ".join(json.dumps(row) for row in rows) + "\n ]\n}\n"


def as_markdown(cells: Sequence[Cell], outcomes: Sequence[Outcome]) -> str:
    """Verdict counts by fault, operation and frequency, and all defects."""
    facts = summary(cells, outcomes)
    lines = [
        f"{facts['cells']} cells: {facts['actions']} points of {facts['kinds']} faults, {facts['operations']} operations; "
        f"{facts['requests']} requests, {facts['faults_fired']} faults fired; the slowest cell took {facts['slowest_s']} s. "
        f"**{facts['silent_corruptions']} silent corruptions, {facts['hangs']} hangs, "
        f"{facts['uploads_left_open']} uploads left open.**",
        "",
        *(f"- `{verdict}`: {VERDICTS[verdict]}" for verdict in facts["verdicts"]),
        "",
    ]
    by_name = {cell.name: cell for cell in cells}
    lines += _counts("Fault", outcomes, lambda o: _moment(by_name[o.cell]))
    lines += ["", *_counts("Operation", outcomes, lambda o: f"{by_name[o.cell].operation}, {by_name[o.cell].size}")]
    lines += ["", *_counts("Frequency", outcomes, lambda o: by_name[o.cell].times)]
    for outcome in defects(outcomes):
        lines += ["", f"**{outcome.verdict}**: `{outcome.cell}`", "", "```text", outcome.note, "```"]
    return "\n".join(lines) + "\n"


def _moment(cell: Cell) -> str:
    return cell.action.kind + (f" at {cell.action.stage}" if cell.action.stage else "")


def _counts(title: str, outcomes: Sequence[Outcome], group: Callable[[Outcome], str]) -> list[str]:
    counts: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        counts.setdefault(group(outcome), Counter())[outcome.verdict] += 1
    verdicts = [verdict for verdict in VERDICTS if any(count[verdict] for count in counts.values())]
    lines = [f"| {title} | cells | {' | '.join(verdicts)} |", "| --- |" + " ---: |" * (len(verdicts) + 1)]
    for name in sorted(counts):
        cells = " | ".join(str(counts[name][verdict] or "") for verdict in verdicts)
        lines.append(f"| {name} | {counts[name].total()} | {cells} |")
    return lines


def as_html(cells: Sequence[Cell], outcomes: Sequence[Outcome]) -> str:
    """A table with a row per fault and a column per operation. Each field shows its worst verdict; the tooltip has all."""
    by_name = {cell.name: cell for cell in cells}
    fields: dict[tuple[str, str], Counter[str]] = {}
    for outcome in outcomes:
        cell = by_name[outcome.cell]
        fields.setdefault((cell.action.name, f"{cell.operation}, {cell.size}"), Counter())[outcome.verdict] += 1
    columns = list(dict.fromkeys(f"{cell.operation}, {cell.size}" for cell in cells))
    head = "".join(f"<th><div>{html.escape(column)}</div></th>" for column in columns)
    rows = [
        f"<tr><th>{html.escape(name)}</th>" + "".join(_field(fields.get((name, column))) for column in columns) + "</tr>"
        for name in dict.fromkeys(cell.action.name for cell in cells)
    ]
    facts = summary(cells, outcomes)
    legend = "".join(
        f'<li><b style="background:{COLOURS.get(verdict, _DEFECT_COLOUR)}">{_MARKS.get(verdict, "✗")}</b> '
        f"{verdict}: {html.escape(words)} ({facts['verdicts'].get(verdict, 0)})</li>"
        for verdict, words in VERDICTS.items()
    )
    return (
        f"<!doctype html><meta charset=utf-8><title>Fault matrix</title><style>{_STYLE}</style>"
        f"<h1>Fault matrix: {facts['cells']} cells, {facts['silent_corruptions']} silent corruptions, {facts['hangs']} hangs</h1>"
        f"<ul>{legend}</ul><table><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>\n"
    )


_STYLE = (
    "body{font:13px sans-serif}table{border-collapse:collapse}th{font-weight:normal;text-align:left;white-space:nowrap}"
    "td{width:16px;text-align:center;border:1px solid #fff}thead div{writing-mode:vertical-rl;transform:rotate(180deg)}"
    "tbody th{position:sticky;left:0;background:#fff}li b{display:inline-block;width:18px;text-align:center}ul{list-style:none}"
)


def _field(counts: Counter[str] | None) -> str:
    if counts is None:
        return "<td></td>"
    worst = next(verdict for verdict in ORDER if counts[verdict])
    tooltip = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    colour = COLOURS.get(worst, _DEFECT_COLOUR)
    return f'<td title="{html.escape(tooltip)}" style="background:{colour}">{_MARKS.get(worst, "✗")}</td>'
