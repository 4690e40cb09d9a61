"""The report as a self-contained HTML page with charts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from html import escape

from ._report import Report, cell_text
from ._suite import Suite
from ._verdict import Chart, Table, Verdict

_COLORS = ("#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2", "#be185d", "#4d7c0f")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 900, 300, 70, 170, 34, 46
_STYLE = (
    "body{font:14px system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;color:#111;background:#fff}"
    "table{border-collapse:collapse;margin:.8em 0}td,th{padding:.25em .7em;border-bottom:1px solid #e5e5e5;text-align:left;"
    "vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}svg{width:100%;font-size:11px}"
    ".passed{color:#047857}.failed{color:#b91c1c;font-weight:600}.not-run{color:#6b7280}.grid{stroke:#ddd}"
    ".title{font-size:13px;font-weight:600}ul{margin:.3em 0}code{background:#f3f4f6;padding:0 .25em}"
    "summary{cursor:pointer;margin:.6em 0}"
)
MAX_ROWS = 60  # a suite with more checks shows only those that failed; the others are collapsed


def page(report: Report) -> str:
    """The page as HTML."""
    body = "".join(_suite(report, suite) for suite in report.suites)
    clients = ", ".join(f"{name} {version}" for name, version in report.clients.items()) or "none"
    scope = "all checks" if report.thorough else f"a sample, seed {report.seed}"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>S3 conformance</title>'
        f"<style>{_STYLE}</style><h1>S3 conformance</h1>"
        f"<p>Endpoint <code>{escape(report.endpoint)}</code>. Clients under test: {escape(clients)}. Scope: {scope}.</p>"
        f"{_overview(report)}{body}</html>\n"
    )


def _overview(report: Report) -> str:
    clients = list(dict.fromkeys(verdict.client for verdict in report.verdicts))
    head = "".join(f"<th>{escape(client or 'the server')}</th>" for client in clients)
    rows = []
    for suite in report.suites:
        cells = []
        for client in clients:
            outcomes = Counter(v.outcome for v in report.verdicts if (v.suite, v.client) == (suite.name, client))
            said = [f'<span class="{_class(o)}">{outcomes[o]} {o}</span>' for o in ("passed", "failed", "not run") if outcomes[o]]
            cells.append(f"<td>{', '.join(said)}</td>")
        rows.append(f'<tr><td><a href="#{escape(suite.name)}">{escape(suite.name)}</a></td>{"".join(cells)}</tr>')
    return f"<table><tr><th>suite</th>{head}</tr>{''.join(rows)}</table>"


def _suite(report: Report, suite: Suite) -> str:
    mine = [verdict for verdict in report.verdicts if verdict.suite == suite.name]
    if not mine:
        return ""
    checks = list(dict.fromkeys((verdict.check, verdict.claim) for verdict in mine))
    clients = list(dict.fromkeys(verdict.client for verdict in mine))
    by_place = {(verdict.check, verdict.client): verdict for verdict in mine}
    head = "".join(f"<th>{escape(client or 'the server')}</th>" for client in clients)
    shown: list[str] = []
    collapsed: list[str] = []
    for check, claim in checks:
        verdicts = [by_place.get((check, client)) for client in clients]
        row = f"<tr><td>{escape(check)}</td><td>{escape(claim)}</td>{''.join(map(_outcome, verdicts))}</tr>"
        (shown if any(v and v.outcome == "failed" for v in verdicts) or len(checks) <= MAX_ROWS else collapsed).append(row)
    columns = f"<tr><th>check</th><th>claim</th>{head}</tr>"
    parts = [f'<h2 id="{escape(suite.name)}">{escape(suite.title)}</h2><p>{escape(suite.about)}</p>']
    parts += [f"<table>{columns}{''.join(shown)}</table>"] if shown else []
    if collapsed:
        rest = f"<summary>{len(collapsed)} checks without failures</summary>"
        parts.append(f"<details>{rest}<table>{columns}{''.join(collapsed)}</table></details>")
    for verdict in mine:
        parts += [_table(table, verdict.client) for table in verdict.tables]
        parts += [chart_svg(chart, verdict.client) for chart in verdict.charts]
    return "".join(parts)


def _outcome(verdict: Verdict | None) -> str:
    if verdict is None:
        return "<td></td>"
    problems = "".join(f"<li>{escape(problem)}</li>" for problem in verdict.problems)
    more = f"<ul>{problems}</ul>" if problems else f": {escape(verdict.reason)}" if verdict.reason else ""
    return f'<td><span class="{_class(verdict.outcome)}">{verdict.outcome}</span>{more}</td>'


def _class(outcome: str) -> str:
    return outcome.replace(" ", "-")


def _table(table: Table, client: str) -> str:
    numeric = [bool(table.rows) and all(isinstance(row[i], (int, float)) for row in table.rows) for i in range(len(table.head))]
    mark = [' class="n"' if right else "" for right in numeric]
    head = "".join(f"<th{m}>{escape(name)}</th>" for m, name in zip(mark, table.head, strict=True))
    rows = "".join(
        f"<tr>{''.join(f'<td{m}>{escape(cell_text(value))}</td>' for m, value in zip(mark, row, strict=True))}</tr>"
        for row in table.rows
    )
    return f"<h3>{escape(_titled(table.title, client))}</h3><table><tr>{head}</tr>{rows}</table>"


def _titled(title: str, client: str) -> str:
    return f"{title} ({client})" if client else title


def chart_svg(chart: Chart, client: str = "") -> str:
    """The chart as SVG; empty if it has no points."""
    points = [point for _, line in chart.lines for point in line]
    if not points:
        return ""

    def scale(x: float) -> float:
        return math.log2(x) if chart.logarithmic else x

    low, high = min(scale(x) for x, _ in points), max(scale(x) for x, _ in points)
    top = max(y for _, y in points) or 1.0
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def at_x(x: float) -> float:
        return _LEFT + (scale(x) - low) / ((high - low) or 1.0) * width

    def at_y(y: float) -> float:
        return _TOP + height - y / top * height

    title = _titled(chart.title, client)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">']
    parts.append(f'<text x="{_LEFT}" y="16" class="title">{escape(title)}</text>')
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = at_y(share * top)
        parts.append(f'<line x1="{_LEFT}" x2="{_LEFT + width}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(share * top)}</text>')
    for x in _ticks(sorted({x for x, _ in points})):
        parts.append(f'<text x="{at_x(x):.1f}" y="{_TOP + height + 16}" text-anchor="middle">{_number(x)}</text>')
    parts.append(f'<text x="{_LEFT + width / 2:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(chart.x_label)}</text>')
    parts.append(f'<text x="{_LEFT - 60}" y="{_TOP - 6}">{escape(chart.y_label)}</text>')
    for i, (label, line) in enumerate(chart.lines):
        color = _COLORS[i % len(_COLORS)]
        drawn = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in line)
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{color}" stroke-width="1.8"/>')
        parts += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="2.5" fill="{color}"/>' for x, y in line]
        parts.append(f'<text x="{_WIDTH - _RIGHT + 12}" y="{_TOP + 8 + 16 * i}" fill="{color}">{escape(label)}</text>')
    return "".join([*parts, "</svg>"])


def _ticks(values: Sequence[float]) -> Sequence[float]:
    return values if len(values) <= 12 else values[:: math.ceil(len(values) / 12)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:,.2f}"
