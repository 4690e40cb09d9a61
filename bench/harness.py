"""Runs benchmarks and reports them: interleaved rounds, medians, ratios, one row per number."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

Measurement = dict[str, float]  # quantity -> value, of one cell

BUILD = Path(os.environ["PENSTOCK_BUILD_DIR"])


@dataclasses.dataclass
class Row:
    """One number: ours, the peers', and ours divided by each peer's. `spread` is (max - min) / median of ours."""

    name: str
    unit: str
    ours: float
    peers: dict[str, float]
    ratio: dict[str, float]
    rounds: int
    spread: float


def interleave(cells: dict[str, Callable[[], Measurement]], rounds: int) -> dict[str, list[Measurement]]:
    """Runs every cell once per round, in a new order each round, so that noise affects all cells alike."""
    order = list(cells)
    shuffle = random.Random(1).shuffle
    results: dict[str, list[Measurement]] = {name: [] for name in cells}
    for number in range(rounds):
        shuffle(order)
        for name in order:
            print(f"\rround {number + 1}/{rounds}: {name:<40}", end="", file=sys.stderr, flush=True)
            results[name].append(cells[name]())
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    return results


def rows(
    results: dict[str, list[Measurement]], ours: str, quantities: dict[str, tuple[str, str]], scale: float = 1.0
) -> list[Row]:
    """Rows of one scenario. `quantities`: key in the measurement -> (row name, unit)."""
    made = []
    for quantity, (name, unit) in quantities.items():
        values = {cell: [m[quantity] * scale for m in measured if quantity in m] for cell, measured in results.items()}
        medians = {cell: statistics.median(v) for cell, v in values.items() if v}
        own = values[ours]
        peers = {cell: value for cell, value in medians.items() if cell != ours}
        made.append(
            Row(
                name=name,
                unit=unit,
                ours=medians[ours],
                peers=peers,
                ratio={cell: medians[ours] / value for cell, value in peers.items() if value},
                rounds=len(own),
                spread=(max(own) - min(own)) / medians[ours] if medians[ours] else 0.0,
            )
        )
    return made


def run_json(command: list[str], env: dict[str, str] | None = None, timeout: float = 300) -> Measurement:
    """Runs a program that prints one JSON line."""
    done = subprocess.run(
        command, env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=timeout, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(command)} failed:\n{done.stderr}")
    measured: Measurement = json.loads(done.stdout.splitlines()[-1])
    return measured


def per_gigabyte(measured: Measurement) -> Measurement:
    """Computes throughput in GB/s and CPU in seconds per GB from `seconds`, `cpu` and `bytes`."""
    gigabytes = measured["bytes"] / 1e9
    return {
        "gb_per_s": gigabytes / measured["seconds"],
        "cpu_per_gb": measured["cpu"] / gigabytes,
        "peak_mib": measured.get("peak_mib", 0.0),
    }


def process_cpu_seconds(pid: int) -> float:
    """User plus system time of all threads of a running process."""
    return stat_cpu_seconds(Path(f"/proc/{pid}/stat"))


def stat_cpu_seconds(stat: Path) -> float:
    """User plus system time in the file `stat` of a process or a thread."""
    fields = stat.read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
