"""Prefix strategies of distributed checkpoints: exact keys, distribution over partitions, and resulting 503 responses."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from penstock_emulator import simulate

from .._admin import Admin
from .._suite import Suite, Trial
from .._verdict import Chart, NotRun
from ._endpoint import needs
from ._ranks import as_rank
from ._saves import save_by_ranks

suite = Suite(
    "prefixes",
    "Prefix strategies of distributed checkpoints",
    "The exact keys of each strategy, their distribution over S3's partitions, and the number of requests that S3 throttles.",
)

DATA: dict[str, Any] = json.loads(Path(__file__).with_name("prefixes.json").read_text())
RANKS = (4, 8, 16, 32, 64, 128, 256, 512)
PARTITIONS = 16
STRATEGIES = ("default", "binary", "hex", "round-robin")
EARLIER_SAVES = 8  # saves that determined the partition boundaries of a bucket
# A partition accepts the concurrent writes of one or two ranks, but not those of all ranks.
LIMITS = {"preset": "aws-strict", "writes_per_second": 10, "burst_ms": 1000}
# Retry model of the simulation for each client under test; default: standard, the model of the AWS SDKs.
RETRIES = {"penstock": "penstock", "s3torchconnector": "crt"}


def _strategy(trial: Trial, name: str, arguments: Mapping[str, Any], world: int | None = None) -> Any:
    """Creates a strategy, with torch.distributed reporting `world` ranks if given."""
    with as_rank(0, world) if world else contextlib.nullcontext():
        return trial.client.prefix_strategy(name, **arguments)


def _for_ranks(trial: Trial, name: str, ranks: int) -> Any:
    """Creates the strategy for a job with this number of ranks."""
    arguments: dict[str, Any] = {"user_prefixes": _user_prefixes()} if name == "round-robin" else {}
    return _strategy(trial, name, arguments, ranks)


def _user_prefixes() -> list[str]:
    return [f"{i:x}-shards" for i in range(PARTITIONS)]


@suite.check("exact-prefixes", "each strategy generates exactly the documented prefix for a rank")
def exact_prefixes(trial: Trial) -> None:
    for row in DATA["prefixes"]:
        arguments = row.get("arguments", {})
        found = _strategy(trial, row["strategy"], arguments, row.get("world"))(row["rank"])
        where = f"{row['strategy']} {arguments or ''} in a world of {row.get('world', 'one')}, rank {row['rank']}"
        trial.expect_equal(found, row["prefix"], where)
    trial.evidence(prefixes=len(DATA["prefixes"]))


@suite.check("refusals", "invalid arguments raise ValueError when the strategy is created")
def refusals(trial: Trial) -> None:
    for row in DATA["refusals"]:
        try:
            _strategy(trial, row["strategy"], row["arguments"])
        except ValueError:
            continue
        trial.expect(False, f"{row['strategy']} accepts {row['arguments']}")


@suite.check("exact-keys", "a save writes exactly the documented keys and `.metadata`, and no others")
def exact_keys(trial: Trial) -> None:
    needs(trial, "objects", "parts")
    bucket = trial.bucket()
    for i, row in enumerate(DATA["layouts"]):
        path = f"layout-{i}"
        strategy = _strategy(trial, row["strategy"], row.get("arguments", {}))
        _save(trial, f"s3://{bucket}/{path}", row["ranks"], row["thread_count"], strategy)
        found = sorted(key.removeprefix(f"{path}/") for key in trial.store.keys(bucket, f"{path}/"))
        trial.expect_equal(found, sorted(row["keys"]), f"{row['ranks']} ranks of {row['thread_count']}, {row['strategy']}")


@suite.check("custom-strategy", "a custom strategy determines the part of the key between the path and the file number")
def custom_strategy(trial: Trial) -> None:
    needs(trial, "objects", "parts")
    base: Any = trial.client.prefix_strategy_base()

    class Custom(base):  # type: ignore[misc]
        def generate_prefix(self, rank: int) -> str:
            return f"custom_x/{rank}/"

    bucket = trial.bucket()
    _save(trial, f"s3://{bucket}/ck", 2, 1, Custom())
    trial.expect_equal(
        sorted(trial.store.keys(bucket)), ["ck/.metadata", "ck/custom_x/0/0.distcp", "ck/custom_x/1/0.distcp"], "keys"
    )


@suite.check("ranks-apart", "no two ranks of a job have the same prefix, at 4 to 512 ranks")
def ranks_apart(trial: Trial) -> None:
    for name in STRATEGIES:
        for ranks in RANKS:
            strategy = _for_ranks(trial, name, ranks)
            prefixes = Counter(strategy(rank) for rank in range(ranks))
            shared = [prefix for prefix, count in prefixes.items() if count > 1]
            trial.expect(not shared, f"{name} at {ranks} ranks: {len(shared)} shared prefixes, such as {', '.join(shared[:3])}")


# ---- partitions


def _keys(strategy: Any, name: str, ranks: int, step: int) -> list[str]:
    """One key per rank. With the default strategy, the path contains the step, as is usual."""
    path = f"checkpoint/step_{step}" if name == "default" else "checkpoint"
    return [f"{path}/{strategy(rank)}{step}.distcp" for rank in range(ranks)]


def _boundaries(strategy: Any, name: str, ranks: int) -> list[str]:
    """Partition boundaries after earlier saves: each partition has the same number of their keys."""
    earlier = sorted(key for step in range(EARLIER_SAVES) for key in _keys(strategy, name, ranks, step))
    return sorted({earlier[len(earlier) * i // PARTITIONS] for i in range(1, PARTITIONS)})


def _busiest(keys: list[str], boundaries: list[str]) -> int:
    """Number of keys in the partition with the most keys."""
    return max(Counter(sum(boundary <= key for boundary in boundaries) for key in keys).values())


@suite.check("spread", "in a bucket partitioned by earlier saves, binary, hex and round-robin use all partitions evenly")
def spread(trial: Trial) -> None:
    rows, lines = [], []
    for name in STRATEGIES:
        points = []
        for ranks in RANKS:
            strategy = _for_ranks(trial, name, ranks)
            boundaries = _boundaries(strategy, name, ranks)
            busiest = _busiest(_keys(strategy, name, ranks, EARLIER_SAVES), boundaries)
            points.append((float(ranks), 100 * busiest / ranks))
            even = -(-ranks // PARTITIONS)
            if name != "default":
                trial.expect(busiest <= 2 * even, f"{name}: {busiest} of {ranks} ranks in one of {PARTITIONS} partitions")
        rows.append([name, *(f"{share:.0f} %" for _, share in points)])
        lines.append((name, points))
    trial.table("percentage of ranks in the busiest of 16 partitions", ["strategy", *(f"{ranks} ranks" for ranks in RANKS)], rows)
    trial.chart(Chart("Ranks in the busiest partition", "ranks", "percent", lines, logarithmic=True))


@suite.check("slowed-down", "saves complete under throttling, and binary and hex are throttled less than default")
def slowed_down(trial: Trial) -> None:
    needs(trial, "objects", "parts")
    admin = trial.admin_for("request limits")
    rows: list[tuple[str, int, int, int]] = []
    lines = []
    with _limits_restored(admin):
        for name in ("default", "binary", "hex"):
            points = []
            for ranks in (4, 8, 16, 32) if trial.thorough else (4, 24):
                bucket = trial.bucket()
                strategy = _for_ranks(trial, name, ranks)
                boundaries = _boundaries(strategy, name, ranks)
                admin.set_limits({**LIMITS, "buckets": {bucket: {"boundaries": boundaries}}})
                trial.forget()
                path = f"checkpoint/step_{EARLIER_SAVES}" if name == "default" else "checkpoint"
                _save(trial, f"s3://{bucket}/{path}", ranks, 2, strategy, concurrency=ranks)
                refused = len(trial.records.of(status=503))
                points.append((float(ranks), float(refused)))
                rows.append((name, ranks, len(trial.records), refused))
                admin.set_limits(None)
                keys = trial.store.keys(bucket, f"{path}/")
                trial.expect_equal(len(keys), 2 * ranks + 1, f"{name}, {ranks} ranks: number of objects")
            lines.append((name, points))
    total = {name: sum(refused for _, refused in points) for name, points in lines}
    trial.evidence(refused=total)
    trial.table("measured with 16 partitions of 10 writes/s", ("strategy", "ranks", "requests", "503"), rows)
    trial.chart(Chart("Requests rejected with 503, measured", "ranks", "requests", lines, logarithmic=True))
    if not total["default"]:
        raise NotRun("no request with default keys was throttled: the endpoint is too slow to reach the limits")
    for name in ("binary", "hex"):
        less = total[name] < total["default"]
        trial.expect(less, f"{name}: {total[name]:.0f} requests rejected, default: {total['default']:.0f}")


@suite.check("slowed-down-simulated", "simulated: binary and hex are throttled no more than default, at 4 to 512 ranks")
def slowed_down_simulated(trial: Trial) -> None:
    retries = RETRIES.get(trial.client.name, "standard")
    job: dict[str, Any] = {"limits": "aws-strict", "file_bytes": 64 << 20, "client": retries, "seed": trial.bench.seed}
    rows = []
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in ("default", "binary", "hex")}
    for ranks in RANKS:
        reports = {r.label: r for r in simulate.compare(lines, ranks=ranks, warm_partitions=PARTITIONS, **job)}
        cold = simulate.simulate(ranks=ranks, strategy="hex", **job)
        for name, points in lines.items():
            points.append((float(ranks), float(reports[name].refused)))
            more = reports[name].refused - reports["default"].refused
            trial.expect(more <= 0, f"{name} at {ranks} ranks: {more} more rejections than default")
        rows.append([ranks, *(reports[name].refused for name in lines), cold.refused])
    trial.table(f"simulated 503 responses, limits aws-strict, retry model {retries}", ("ranks", *lines, "hex, new bucket"), rows)
    trial.chart(Chart("Requests rejected with 503, simulated", "ranks", "requests", list(lines.items()), logarithmic=True))


@contextlib.contextmanager
def _limits_restored(admin: Admin) -> Iterator[None]:
    """Restores the limits on exit."""
    before = admin.request("GET", f"limits/{admin.namespace}")["limits"]
    try:
        yield
    finally:
        admin.set_limits(before)


def _save(trial: Trial, uri: str, ranks: int, threads: int, strategy: Any, *, concurrency: int = 1) -> None:
    states = [{f"rank{rank}.{i}": torch.full((16,), float(rank + i)) for i in range(threads)} for rank in range(ranks)]
    client = trial.client
    save_by_ranks(
        states, lambda: client.storage_writer(uri, prefix_strategy=strategy, thread_count=threads), concurrency=concurrency
    )
