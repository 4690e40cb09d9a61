"""Group `faults`: the cost of fault rules and of the journal, compared with an emulator without them."""

from __future__ import annotations

import dataclasses
import json
import statistics
import tempfile
from pathlib import Path

from groups.emulator import prepare, wrk
from harness import Measurement, Row, interleave, rows
from servers import WITHOUT_JOURNAL, penstock_emulator

WITHOUT_RULES = "without rules"
LOAD = (64, 1)  # wrk's connections and threads
PAIRS = 5  # measurements per round: a ratio of short runs needs many


def paired(results: dict[str, list[Measurement]], ours: str, quantities: dict[str, tuple[str, str]]) -> list[Row]:
    """As `rows`, but each ratio is the median of the ratios of single rounds, which excludes noise that affects both sides."""
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
    """1 KiB objects over 64 keep-alive connections, unsigned, each request recorded in a full journal."""
    with (
        penstock_emulator("--memory", "--auth=off", journal=True) as writing,
        penstock_emulator("--memory", "--auth=off") as not_writing,
    ):
        servers = {"penstock": writing, WITHOUT_JOURNAL: not_writing}
        urls = {label: prepare(server, 1 << 10).partition("?")[0] for label, server in servers.items()}
        wrk(writing, urls["penstock"], *LOAD)  # fills the journal: from now on it drops its oldest entries
        cells = {label: (lambda label=label: wrk(servers[label], urls[label], *LOAD)) for label in servers}
        quantities = {
            "requests": ("faults.journal", "requests/s"),
            "cpu_us": ("faults.journal.cpu", "server CPU-us/request"),
        }
        return paired(interleave(cells, rounds * PAIRS), "penstock", quantities)


def unmet_rules() -> list[dict[str, object]]:
    """A hundred rules for GetObject that match no request of the benchmark: 80 by key, 20 by other fields of the request."""
    by_key = [{"key": f"train/part-{number}/*"} for number in range(40)] + [
        {"key": {"prefix": f"obj-{number}"}} for number in range(40)
    ]
    by_head = [{"attempt": ">=2"}, {"header": {"x-run": "7"}}, {"client": {"rank": "3"}}, {"range": {"covers": 4096}}] * 5
    return [
        {"id": f"rule-{number}", "when": {"operation": "GetObject", **when}, "do": {"slow_down": {}}}
        for number, when in enumerate(by_key + by_head)
    ]


def idle(rounds: int) -> list[Row]:
    """1 KiB objects over 64 keep-alive connections, unsigned, with a hundred rules of which none matches."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "faults.json"
        file.write_text(json.dumps({"rules": unmet_rules()}))
        with (
            penstock_emulator("--memory", "--auth=off", "--faults", str(file)) as loaded,
            penstock_emulator("--memory", "--auth=off") as unloaded,
        ):
            servers = {"penstock": loaded, WITHOUT_RULES: unloaded}
            urls = {label: prepare(server, 1 << 10).partition("?")[0] for label, server in servers.items()}
            cells = {label: (lambda label=label: wrk(servers[label], urls[label], *LOAD)) for label in servers}
            quantities = {
                "requests": ("faults.idle", "requests/s"),
                "cpu_us": ("faults.idle.cpu", "server CPU-us/request"),
            }
            return paired(interleave(cells, rounds * PAIRS), "penstock", quantities)


SCENARIOS = [idle, journal]
