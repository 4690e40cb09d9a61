"""`./dev bench scale [AXIS...]`: measures n = 1, 2, 4, ... threads, processes, workers and ranks, and fits their slopes.

With --table it prints the rows of the table for large machines instead.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import doc
from groups.scale import AXES, Point, Side, point
from scaling import machine, report, table

TABLE_HEADS = ("", "Penstock", "s3torchconnector, best settings", "limit seen", "recorded")
POINT_S = 30  # of a point besides its measurement, for estimates
NOT_IN_TIME = "not measured: no time left"


def recorded() -> str:
    return f"{doc.today()}, {doc.commit()}"


def keep(file: Path | None) -> dict[str, Any]:
    """The figures of earlier runs on this machine, to which this run adds.

    Raises:
        ValueError: The file has figures of another machine.
    """
    fresh = {"machine": machine.description(), "axes": {}, "table": {}}
    if file is None or not file.exists():
        return fresh
    kept: dict[str, Any] = json.loads(file.read_text())
    if kept.get("machine") != fresh["machine"]:
        raise ValueError(f"{file} has figures of {kept.get('machine')!r}, and this is {fresh['machine']!r}: choose another file")
    return kept


def points_of(document: dict[str, Any]) -> list[Point]:
    made = []
    for each in document["points"]:
        sides = {name: Side(**each[name]) for name in ("client", "emulator")}
        made.append(Point(**(each | sides)))
    return made


def markdown(figures: dict[str, Any]) -> str:
    """All figures of the file: the table, then each axis with its slopes."""
    parts = [f"{figures['machine']}.\n"]
    if figures["table"]:
        rows = [f"| {' | '.join(TABLE_HEADS)} |", "| --- " * len(TABLE_HEADS) + "|"]
        for row in figures["table"].values():
            cells = (row["text"], row["ours"], row["connector"], row["limit"], row["recorded"])
            rows.append(f"| {' | '.join(cells)} |")
        parts.append("\n".join(rows) + "\n")
    for name, axis in figures["axes"].items():
        text = report.section(AXES[name], points_of(axis), axis["cores"])
        parts.append(f"{text}\nRecorded {axis['recorded']}; {axis['seconds']:g} s for each point.\n")
    return "\n".join(parts)


def measure_axis(name: str, values: list[int], args: argparse.Namespace, deadline: float) -> dict[str, Any]:
    points: list[Point] = []
    for n in values:
        if time.monotonic() + args.seconds + POINT_S > deadline:
            print(f"{name}: no time left for n = {n}; run `./dev bench scale {name} --values {n}`")
            break
        points.append(point(name, n, args.mib, args.seconds))
        print(f"{name} n = {n}: {report.number(points[-1].rate)} {AXES[name].unit}/s", flush=True)
    written = [dataclasses.asdict(each) for each in points]
    return {"points": written, "cores": machine.cores(), "seconds": args.seconds, "recorded": recorded()}


def merged(kept: dict[str, Any] | None, fresh: dict[str, Any]) -> dict[str, Any]:
    """An axis may be measured in several runs: points with another n are kept."""
    points = {each["n"]: each for each in (kept["points"] if kept else []) + fresh["points"]}
    return fresh | {"points": [points[n] for n in sorted(points)]}


def measure_row(name: str, args: argparse.Namespace, deadline: float) -> list[table.TableRow]:
    size = table.Size(args.mib, args.seconds, args.rounds)
    estimate = table.ROWS[name].estimate_s(size)
    if time.monotonic() + estimate > deadline:
        print(f"{name}: no time left (about {estimate:.0f} s); run `./dev bench scale --table {name}`")
        return [table.TableRow(name, f"row {name}", *[NOT_IN_TIME] * 3)]
    return table.ROWS[name].make(size)


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench scale", description=__doc__)
    parser.add_argument("axes", nargs="*", metavar="AXIS", help=f"one of {', '.join(AXES)}; default: all, or none with --table")
    default = ",".join(map(str, machine.default_values()))
    parser.add_argument("--values", default=default, metavar="N,...", help=f"points of each axis; default: {default}")
    parser.add_argument(
        "--table", action="append", default=[], metavar="ROW", help=f"a row: {', '.join(table.ROWS)}, or all; may be repeated"
    )
    parser.add_argument("--seconds", type=float, default=2.0, metavar="S", help="of each measurement, 1 to 60; default: 2")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of each cell of the table, 1 to 9; default: 3")
    parser.add_argument("--mib", type=int, default=128, metavar="MIB", help="size of objects and checkpoints; default: 128")
    parser.add_argument("--limit", type=float, default=600.0, metavar="S", help="start nothing that ends later; default: 600")
    parser.add_argument("--json", type=Path, metavar="FILE", help="add the figures to FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write all figures of --json, or of this run, into FILE")
    args = parser.parse_args(given)
    for chosen, known in ((args.axes, AXES), ([row for row in args.table if row != "all"], table.ROWS)):
        unknown = next((each for each in chosen if each not in known), None)
        if unknown is not None:
            parser.error(f"unknown name {unknown!r}: expected one of {', '.join(known)}")
    for name, value, most in (("--seconds", args.seconds, 60), ("--rounds", args.rounds, 9)):
        if not 1 <= value <= most:
            parser.error(f"{name} must be 1 to {most}, not {value:g}")
    try:
        args.values = machine.parse_values(args.values)
        machine.check_memory(args.mib, max(args.values) if args.axes or not args.table else 8)
    except ValueError as error:
        parser.error(str(error))
    return args


def main(given: list[str]) -> None:
    args = arguments(given)
    deadline = time.monotonic() + args.limit
    try:
        figures = keep(args.json)
    except ValueError as error:
        raise SystemExit(f"bench: {error}") from None
    for name in args.axes or ([] if args.table else AXES):
        figures["axes"][name] = merged(figures["axes"].get(name), measure_axis(name, args.values, args, deadline))
        save(args.json, figures)
    for name in table.ROWS if "all" in args.table else args.table:
        for row in measure_row(name, args, deadline):
            figures["table"][row.name] = dataclasses.asdict(row) | {"recorded": recorded()}
        save(args.json, figures)
    text = markdown(figures)
    print(text)
    if args.markdown:
        args.markdown.write_text(text)


def save(file: Path | None, figures: dict[str, Any]) -> None:
    """After each axis and row, so that an interrupted run keeps them."""
    if file is not None:
        file.write_text(json.dumps(figures, indent=2) + "\n")
