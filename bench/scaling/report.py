"""What the points of an axis say, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scaling import fit

if TYPE_CHECKING:
    from groups.scale import Axis, Point, Side

LARGE = 16  # cores of the machine for which the CPU time per unit is extrapolated
ONE_THREAD = 0.5  # of a side's CPU time: more is called serial


def number(value: float) -> str:
    if value == math.inf:
        return "no limit"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def table(axis: Axis, points: Sequence[Point]) -> str:
    unit = axis.unit
    heads = (
        "n", f"{unit}/s", f"client CPU-s/{unit}", f"emulator CPU-s/{unit}", "client switches per request",
        "emulator switches per request", "busiest client thread", "busiest emulator thread", "lock waits per 1,000 requests",
        "lock wait, s/s",
    )  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    lines += [f"| {' | '.join(cells(point))} |" for point in points]
    return "\n".join(lines) + "\n"


def cells(point: Point) -> list[str]:
    def switches(side: Side) -> str:
        return f"{number(side.voluntary_per_request)} + {number(side.involuntary_per_request)}"

    def busiest(side: Side) -> str:
        return f"{side.busiest_share:.0%} of a core, {side.share_of_side:.0%} of its CPU time" if side.busiest else "not measured"

    locks = ["not permitted here"] * 2
    if point.lock_tool:
        locks = [number(point.lock_waits_per_1000_requests), number(point.lock_wait_s_per_s)]
    return [
        str(point.n), number(point.rate), number(point.client.cpu_per_unit), number(point.emulator.cpu_per_unit),
        switches(point.client), switches(point.emulator), busiest(point.client), busiest(point.emulator), *locks,
    ]  # fmt: skip


def conclusions(axis: Axis, points: Sequence[Point], cores: int) -> list[str]:
    """Statements about the slopes, and about the rates that larger machines can reach."""
    said = []
    for name, side in (("client", [point.client for point in points]), ("emulator", [point.emulator for point in points])):
        line = fit.line([(point.n, each.cpu_per_unit) for point, each in zip(points, side, strict=True)])
        if line is not None:
            said.append(f"CPU time of the {name} per {axis.unit}: {line.growth:+.1%} for each further n (least squares).")
    locks = fit.line([(point.n, point.lock_waits_per_1000_requests) for point in points if point.lock_tool])
    if locks is not None:
        slope = locks.at_one * locks.growth
        tool = points[-1].lock_tool
        said.append(f"Waits for the emulator's mutexes: {slope:+.3g} per 1,000 requests for each further n ({tool}).")
    said += serial(axis, points)
    said += [capacity(axis, points), scalability(axis, points, cores)]
    return [each for each in said if each]


def serial(axis: Axis, points: Sequence[Point]) -> list[str]:
    """A thread that has most of a program's work limits the rate, if n does not add such threads."""
    said = []
    for name, sides in (("client", [p.client for p in points]), ("emulator", [p.emulator for p in points])):
        if name == "client" and axis.name != "threads":
            continue  # each further process has its own threads
        point, side = max(zip(points, sides, strict=True), key=lambda each: each[0].n)
        if side.share_of_side >= ONE_THREAD and point.n > 1:
            limit = fit.serial_limit(point.rate, side.busiest_share)
            said.append(
                f"At n = {point.n} one thread has {side.share_of_side:.0%} of the {name}'s CPU time. At most {number(limit)}"
                f" {axis.unit}/s on any number of cores while one thread has this work (utilization law, Denning and Buzen 1978)."
            )
    return said


def capacity(axis: Axis, points: Sequence[Point]) -> str:
    total = fit.line([(point.n, point.client.cpu_per_unit + point.emulator.cpu_per_unit) for point in points])
    if total is None:
        return ""
    # A fall is noise, or the cost of idle threads, and does not go on.
    grown = fit.Line(total.at_one, max(0.0, total.growth)).at(LARGE)
    return (
        f"{LARGE} cores for client and emulator carry at most {number(LARGE / grown)} {axis.unit}/s at n = {LARGE}, if the"
        " CPU time per unit grows on as here."
    )


def scalability(axis: Axis, points: Sequence[Point], cores: int) -> str:
    law = fit.usl([(point.n, point.rate) for point in points], cores)
    if law is None:
        return (
            "Not known: where contention would flatten the rate, and the limit of the memory. A fit of the universal scalability"
            f" law needs {fit.MIN_POINTS} points up to the number of cores, and this machine has {cores} cores."
        )
    kind = "no peak" if law.peak == math.inf else f"the peak is at n = {law.peak:.0f}"
    return (
        f"Universal scalability law (Gunther 2007), fitted to n <= {cores}: contention {law.contention:.3g}, coherency"
        f" {law.coherency:.3g}; {kind}, at most {number(law.limit)} {axis.unit}/s, if larger n behave as these."
    )


def section(axis: Axis, points: Sequence[Point], cores: int) -> str:
    said = "".join(f"- {each}\n" for each in conclusions(axis, points, cores))
    return f"**{axis.name}**: n {axis.what}\n\n{table(axis, points)}\n{said}"
