"""Writes benchmark rows as a table into a document and compares them with goals.py."""

from __future__ import annotations

import datetime
import importlib.metadata
import operator
import os
import platform
import subprocess
from pathlib import Path

from goals import Goal
from harness import Row
from scenarios import direction, language_of, scenario_of

RELATIONS = {"<=": operator.le, ">=": operator.ge}
SIGNS = {"<=": "≤", ">=": "≥"}
PEERS = ("boto3", "moto", "s3torchconnector", "torch")
COLUMNS = (
    "figure", "scenario", "unit, better", "added latency", "Penstock", "others (ours ÷ theirs)", "goal", "", "spread (rounds)",
    "recorded",
)  # fmt: skip
ROOT = Path(__file__).resolve().parents[1]


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def judged(row: Row, goals: list[Goal]) -> list[tuple[str, bool]]:
    """Each goal as text, and whether the row meets it. A goal relative to a peer without a measurement is not met."""
    out = []
    for goal in goals:
        relation, bound, peer = str(goal[0]), float(goal[1]), str(goal[2]) if len(goal) > 2 else None
        value = row.ours if peer is None else row.ratio.get(peer)
        text = f"{SIGNS[relation]} {number(bound)}" + (f" x {peer}" if peer else "")
        out.append((text, value is not None and RELATIONS[relation](value, bound)))
    return out


def table(rows: list[Row], goals: dict[str, list[Goal]]) -> str:
    """A Markdown table with a line per row. Rows that have a goal but no measurement are listed as "not measured"."""
    lines = [
        f"| {' | '.join(COLUMNS)} |",
        "| --- " * len(COLUMNS) + "|",
    ]
    when = f"{today()}, {commit()}"
    for row in rows:
        scenario = scenario_of(row.name)
        peers = "; ".join(
            f"{program(name)} {number(value)} ({number(row.ratio.get(name, 0))}x)" for name, value in row.peers.items()
        )
        met = judged(row, goals.get(row.name, []))
        words = "; ".join(text for text, _ in met)
        verdict = "" if not met else "met" if all(kept for _, kept in met) else "missed"
        cells = (
            f"`{row.name}`", scenario.text, f"{row.unit}, {direction(row.unit)}", scenario.latency,
            f"{number(row.ours)} ({scenario.language})", peers, words, verdict, f"{row.spread:.0%} ({row.rounds})", when,
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    measured = {row.name for row in rows}
    lines += [f"| `{name}` | | | | not measured | | | | | |" for name in goals if name not in measured]
    return "\n".join(lines) + "\n"


def program(peer: str) -> str:
    """A compared program with its version, if it is a Python package that is installed here, and its language."""
    language, package = language_of(peer), peer.partition(" ")[0].removesuffix("'s")
    installed = version(package) if language == "Python" and package not in ("penstock", "our", "page") else "not installed"
    named = peer if installed == "not installed" else peer.replace(package, f"{package} {installed}", 1)
    return f"{named} ({language})" if language else named


def cpu_model() -> str:
    """The processor's name as Linux reports it, otherwise its architecture."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def commit() -> str:
    command = ["git", "-C", ROOT, "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def today() -> datetime.date:
    return datetime.datetime.now(datetime.timezone.utc).date()


def conditions() -> str:
    """A line below a table: date, commit, processor and the versions of the compared packages."""
    versions = ", ".join(f"{package} {version(package)}" for package in PEERS)
    cpu = f"{cpu_model()}, {os.cpu_count()} cores"
    return f"\nMeasured {today()}, commit {commit()}, {cpu}, Python {platform.python_version()}, {versions}.\n"


def replace_figures(text: str, group: str, figures: str) -> str:
    """Replaces the lines between the group's two marks in `text` by `figures`.

    Raises:
        ValueError: `text` has no such marks.
    """
    begin, end = f"<!-- figures: {group} -->\n", f"<!-- end of figures: {group} -->"
    if begin not in text or end not in text:
        raise ValueError(f"the document has no {begin.strip()} … {end}")
    before, _, rest = text.partition(begin)
    return before + begin + figures + end + rest.partition(end)[2]
