"""Group `faults`: what instruments for tests cost: each beside the same emulator without it."""

from __future__ import annotations

import dataclasses
import statistics

from groups.emulator import prepare, wrk
from harness import Measurement, Row, interleave, rows
from servers import WITHOUT_JOURNAL, penstock_emulator

LOAD = (64, 1)  # wrk's connections and threads
PAIRS = 5  # measured for each round that is asked for: a ratio of short runs needs many


def paired(results: dict[str, list[Measurement]], ours: str, quantities: dict[str, tuple[str, str]]) -> list[Row]:
    """As `rows`, with ratios that are the median of the rounds' own: what one minute did to both does not show."""
    made = rows(results, ours, quantities)
    for number, quantity in enumerate(quantities):
        ratio = {
            peer: statistics.median(
                mine[quantity] / theirs[quantity] for mine, theirs in zip(results[ours], measured, strict=True)
            )
            for peer, measured in results.items()
            if peer != ours
        }
        made[number] = dataclasses.replace(made[number], ratio=ratio)
    return made


def journal(rounds: int) -> list[Row]:
    """1 KiB objects over 64 keep-alive connections, unsigned, every request written into a full journal."""
    with (
        penstock_emulator("--memory", "--auth=off", journal=True) as writing,
        penstock_emulator("--memory", "--auth=off") as not_writing,
    ):
        servers = {"penstock": writing, WITHOUT_JOURNAL: not_writing}
        urls = {label: prepare(server, 1 << 10).partition("?")[0] for label, server in servers.items()}
        wrk(writing, urls["penstock"], *LOAD)  # fills it: from then on the oldest entries go
        cells = {label: (lambda label=label: wrk(servers[label], urls[label], *LOAD)) for label in servers}
        quantities = {
            "requests": ("faults.journal", "requests/s"),
            "cpu_us": ("faults.journal.cpu", "server CPU-us/request"),
        }
        return paired(interleave(cells, rounds * PAIRS), "penstock", quantities)


SCENARIOS = [journal]
