"""Simulates a checkpoint job against a model of S3's partitions, in virtual time, to compare prefix strategies.

S3 limits the writes and reads per second of each partition of a bucket's keys. It splits a partition under sustained overload,
which takes minutes. The duration of a job therefore depends on the names of its files, on how many ranks start at once, and on
how its client retries. ``simulate`` takes a second or two, without AWS and without the emulator:

    report = penstock_emulator.simulate.simulate(ranks=4096, strategy="hex", client="crt")
    print(report.time_s, report.refused)
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from . import _core
from ._json_text import json_text

STRATEGIES = ("default", "binary", "hex")  # the strategies without required options
_COLORS = ("#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 900, 260, 70, 30


@dataclasses.dataclass(frozen=True)
class Report:
    """The result of a simulated job.

    Attributes:
        label: The name of the job in tables and charts.
        document: The complete report, described in ``penstock/simulate.h``; times in seconds.
    """

    label: str
    document: dict[str, Any]

    @property
    def completed(self) -> bool:
        """Whether every round completed: a save was committed, or a load received every byte."""
        rounds = self.document["rounds"]
        return bool(rounds) and all(r["completed"] for r in rounds)

    @property
    def time_s(self) -> float:
        """Duration of the longest round in seconds, completed or not."""
        return max((r["lasted_s"] for r in self.document["rounds"]), default=0.0)

    @property
    def requests(self) -> int:
        """Requests sent, with any outcome."""
        return int(self.document["requests"])

    @property
    def refused(self) -> int:
        """Requests with the response 503 SlowDown."""
        return int(self.document["refused"])

    @property
    def retries(self) -> int:
        """Requests after the first attempt."""
        return int(self.document["retries"])

    @property
    def ranks_failed(self) -> int:
        """Ranks that failed, in the round with the most failures."""
        return max((r["ranks_failed"] for r in self.document["rounds"]), default=0)

    @property
    def max_partitions(self) -> int:
        """The largest number of partitions at any time."""
        return max((int(i["partitions"]) for i in self.document["intervals"]), default=1)

    @property
    def partitions(self) -> int:
        """The number of partitions at the end."""
        intervals = self.document["intervals"]
        return int(intervals[-1]["partitions"]) if intervals else 1


def simulate(*, label: str | None = None, **job: Any) -> Report:
    """Simulates one job and returns the report.

    Args:
        label: The name of the report; None: the strategy.
        job: Members of the job, described in ``penstock/simulate.h``: ``ranks``, ``strategy``, ``client``, ``limits``, ... Times
            in seconds (``_s``), sizes in bytes.

    Raises:
        ValueError: A member is unknown or out of range. The message gives its name, the value and the limit.
    """
    document = json.loads(_core.simulate(json_text(job, "job")))
    return Report(label or str(document["strategy"]), document)


def compare(strategies: Iterable[str] = STRATEGIES, **job: Any) -> list[Report]:
    """Simulates the same job with several prefix strategies and returns the reports."""
    return [simulate(label=strategy, strategy=strategy, **job) for strategy in strategies]


def table(reports: Sequence[Report]) -> str:
    """Returns the reports as a plain text table."""
    head = ("strategy", "result", "time", "requests", "503", "retries", "ranks failed", "partitions")
    rows = [
        (
            r.label,
            "completed" if r.completed else "FAILED",
            f"{r.time_s:.1f} s",
            f"{r.requests:,}",
            f"{r.refused:,}",
            f"{r.retries:,}",
            f"{r.ranks_failed:,}",
            f"{r.partitions:,}",
        )
        for r in reports
    ]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (head, *rows)
    ]
    return "\n".join(line.rstrip() for line in lines)


def write_plot(reports: Sequence[Report], path: str | Path) -> None:
    """Writes charts of requests and refused requests over time, and of requests by partition.

    Args:
        reports: At least one report.
        path: A path that ends in ``.html`` (a self-contained file) or ``.png`` (requires matplotlib).

    Raises:
        ValueError: `path` has another extension.
        ModuleNotFoundError: `path` ends in ``.png``, and matplotlib is not installed.
    """
    path = Path(path)
    if path.suffix == ".html":
        path.write_text(_html(reports), encoding="utf-8")
    elif path.suffix == ".png":
        _write_png(reports, path)
    else:
        raise ValueError(f"unsupported plot format '{path}': expected a path that ends in .html or .png")


def _rates(report: Report, name: str) -> list[float]:
    interval_s = report.document["interval_s"]
    return [i[name] / interval_s for i in report.document["intervals"]]


def _times(report: Report, count: int) -> list[float]:
    interval_s = report.document["interval_s"]
    return [(i + 0.5) * interval_s for i in range(count)]


def _partition_series(report: Report) -> list[tuple[str, list[float]]]:
    interval_s = report.document["interval_s"]
    return [(p["begin"] or "(first key)", [n / interval_s for n in p["requests"]]) for p in report.document["partitions"][:6]]


def _figures(reports: Sequence[Report]) -> list[tuple[str, str, list[tuple[str, list[float], list[float]]]]]:
    """Returns the title, unit and lines (label, seconds, values) of each chart."""
    charts = []
    for title, name in (("Requests sent", "requests"), ("Refused with 503 SlowDown", "refused")):
        lines = [(r.label, _times(r, len(r.document["intervals"])), _rates(r, name)) for r in reports]
        charts.append((title, "per second", lines))
    for report in reports:
        lines = [(begin, _times(report, len(values)), values) for begin, values in _partition_series(report)]
        charts.append((f"{report.label}: requests of the busiest partitions", "per second", lines))
    return charts


def _svg(title: str, unit: str, lines: list[tuple[str, list[float], list[float]]]) -> str:
    end = max((x for _, xs, _ in lines for x in xs), default=1.0) or 1.0
    top = max((y for _, _, ys in lines for y in ys), default=1.0) or 1.0
    width, height = _WIDTH - _LEFT - 10, _HEIGHT - _BOTTOM - 30

    def point(x: float, y: float) -> str:
        return f"{_LEFT + x / end * width:.1f},{30 + height - y / top * height:.1f}"

    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">']
    parts.append(f'<text x="{_LEFT}" y="16" class="title">{escape(title)} ({escape(unit)})</text>')
    for share in (0, 0.5, 1):
        y = 30 + height - share * height
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share * top:,.0f}</text>')
        x = _LEFT + share * width
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">{share * end:,.1f} s</text>')
    for i, (label, xs, ys) in enumerate(lines):
        color = _COLORS[i % len(_COLORS)]
        points = " ".join(point(x, y) for x, y in zip(xs, ys, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        parts.append(f'<text x="{_WIDTH - 12}" y="{44 + 15 * i}" text-anchor="end" fill="{color}">{escape(label)}</text>')
    return "".join([*parts, "</svg>"])


def _html(reports: Sequence[Report]) -> str:
    style = (
        "body{font:14px system-ui,sans-serif;max-width:960px;margin:2em auto;color:#111}svg{width:100%;font-size:11px}"
        ".title{font-size:13px;font-weight:600}.grid{stroke:#ddd}pre{background:#f6f6f6;padding:1em;overflow:auto}"
    )
    charts = "".join(_svg(*figure) for figure in _figures(reports))
    about = escape(
        f"{reports[0].document['ranks']:,} ranks, {reports[0].document['operation']}, client {reports[0].document['client']}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>penstock simulate</title><style>{style}</style>'
        f"<h1>Simulated checkpoint job</h1><p>{about}</p><pre>{escape(table(reports))}</pre>{charts}</html>\n"
    )


def _write_png(reports: Sequence[Report], path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a .png plot requires matplotlib: pip install matplotlib, or write an .html plot", name="matplotlib"
        ) from error
    figures = _figures(reports)
    figure = Figure(figsize=(9, 2.6 * len(figures)), layout="constrained")
    for i, (title, unit, lines) in enumerate(figures):
        axes = figure.add_subplot(len(figures), 1, i + 1)
        for j, (label, xs, ys) in enumerate(lines):
            axes.plot(xs, ys, label=label, color=_COLORS[j % len(_COLORS)], linewidth=1.2)
        axes.set_title(f"{title} ({unit})", fontsize=10, loc="left")
        axes.set_xlabel("seconds")
        if lines:
            axes.legend(fontsize=8)
    figure.savefig(path, dpi=110)
