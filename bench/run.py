"""`./dev bench [GROUP...] [OPTION...]`: runs benchmark groups and prints a table; `--help` has the options.

`./dev bench scale` has points and slopes instead of rows, and options of its own (`scale.py`).
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import chart
import doc
from goals import GOALS
from harness import Row
from rich.console import Console
from rich.table import Table

GROUPS = {  # a group and its files in groups/
    "emulator": ["emulator", "emulator_store", "emulator_lifecycle", "emulator_limits"],
    "faults": ["faults", "faults_shape"],
    "console": ["console"],
    "dcp": ["dcp", "lightning"],
    "resilience": ["resilience"],
    "data": ["data"],
    "bulk": ["bulk"],
    "cache": ["cache"],
    "tls": ["tls"],
    "client": ["client", "client_readers", "client_writers", "client_listing", "client_python", "client_pipes", "client_gil"],
}


def show(rows: list[Row]) -> None:
    table = Table(title="Medians of interleaved rounds")
    for title in ("name", "unit", "ours", "peers (ours / peer)", "rounds", "spread"):
        table.add_column(title)
    for row in rows:
        peers = ", ".join(f"{name} {value:.4g} ({row.ratio.get(name, 0):.2f}x)" for name, value in row.peers.items())
        table.add_row(row.name, row.unit, f"{row.ours:.4g}", peers, str(row.rounds), f"{row.spread:.0%}")
    Console(width=160).print(table)


def use_real_time_priority() -> None:
    """Gives the processes of this run real-time priority, so that other processes do not affect the measurements."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        problem = "bench: --real-time is not permitted; run as root, give the process CAP_SYS_NICE, or omit the option"
        raise SystemExit(problem) from None


def write_figures(page: Path, by_group: dict[str, list[Row]]) -> None:
    """Writes the tables of the groups into a page, and draws the chart if it shows figures of that page."""
    text = page.read_text()
    for group, rows in by_group.items():
        text = doc.replace_figures(text, group, doc.table(rows, GOALS[group]) + doc.conditions())
    page.write_text(text)
    if chart.GROUP in by_group and page.resolve() == chart.page_of_figures():
        chart.main()


def main() -> None:
    if sys.argv[1:2] == ["scale"]:
        return importlib.import_module("scale").main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"one of {', '.join(GROUPS)}; default: all")
    parser.add_argument("-k", dest="pattern", default="", metavar="PATTERN", help="only scenarios whose names contain PATTERN")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows as a JSON list")
    parser.add_argument("--doc", type=Path, metavar="FILE", help="also write each group's table, with the goals, into FILE")
    parser.add_argument("--rounds", type=int, default=5, help="measurements per row; default: 5")
    parser.add_argument("--real-time", action="store_true", help="run with real-time priority (SCHED_RR)")
    args = parser.parse_args()
    unknown = sorted(set(args.groups) - set(GROUPS))
    if unknown:
        parser.error(f"unknown group {unknown[0]!r}; the groups are {', '.join(GROUPS)}")
    if args.real_time:
        use_real_time_priority()
    by_group: dict[str, list[Row]] = {group: [] for group in args.groups or GROUPS}
    failures: list[str] = []
    for group, made in by_group.items():
        for file in GROUPS[group]:
            scenarios = importlib.import_module(f"groups.{file}").SCENARIOS
            for scenario in (each for each in scenarios if args.pattern in each.__name__):
                try:  # the rows of the other scenarios are kept if one fails
                    made.extend(scenario(args.rounds))
                except (Exception, SystemExit) as failure:
                    failures.append(f"{scenario.__name__}: {failure}")
    everything = [row for rows in by_group.values() for row in rows]
    show(everything)
    if args.json:
        args.json.write_text(json.dumps([dataclasses.asdict(row) for row in everything], indent=2) + "\n")
    if args.doc:
        write_figures(args.doc, by_group)
    if failures:
        raise SystemExit("\n".join(["bench: these scenarios failed:", *failures]))
    return None


if __name__ == "__main__":
    main()
