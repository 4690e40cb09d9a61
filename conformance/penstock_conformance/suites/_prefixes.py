"""Prefix strategies of distributed checkpoints: their exact keys, how they spread, and how often S3 slows them down."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from penstock import simulate

from .._admin import Admin
from .._suite import Chart, NotRun, Suite, Trial
from ._endpoint import needs
from ._ranks import as_rank
from ._saves import save_by_ranks

suite = Suite(
    "prefixes",
    "Prefix strategies of distributed checkpoints",
    "The keys that each strategy gives, to the letter; how evenly they fall on S3's partitions; "
    "and how many requests S3 refuses meanwhile.",
)

DATA: dict[str, Any] = json.loads(Path(__file__).with_name("prefixes.json").read_text())
RANKS = (4, 8, 16, 32, 64, 128, 256, 512)
PARTITIONS = 16
STRATEGIES = ("default", "binary", "hex", "round-robin")
PAST = 8  # saves that a bucket's partitions were cut by
# A partition takes as many writes at once as a rank or two of a spread save make in it, and far fewer than all ranks together.
LIMITS = {"preset": "aws-strict", "writes_per_second": 10, "burst_ms": 1000}
# How the simulation's clients retry, for the clients under test; others retry as AWS's SDKs do.
RETRIES = {"penstock": "penstock", "s3torchconnector": "crt"}


def _strategy(trial: Trial, name: str, arguments: Mapping[str, Any], world: int | None = None) -> Any:
    """As made in a world of so many ranks, or None: without torch.distributed."""
    with as_rank(0, world) if world else contextlib.nullcontext():
        return trial.client.prefix_strategy(name, **arguments)


def _for_ranks(trial: Trial, name: str, ranks: int) -> Any:
    """The strategy as a job of so many ranks would take it."""
    arguments: dict[str, Any] = {"user_prefixes": _user_prefixes()} if name == "round-robin" else {}
    return _strategy(trial, name, arguments, ranks)


def _user_prefixes() -> list[str]:
    return [f"{i:x}-shards" for i in range(PARTITIONS)]


@suite.check("exact-prefixes", "each strategy gives a rank exactly the documented prefix")
def exact_prefixes(trial: Trial) -> None:
    for row in DATA["prefixes"]:
        arguments = row.get("arguments", {})
        found = _strategy(trial, row["strategy"], arguments, row.get("world"))(row["rank"])
        where = f"{row['strategy']} {arguments or ''} in a world of {row.get('world', 'one')}, rank {row['rank']}"
        trial.expect_equal(found, row["prefix"], where)
    trial.evidence(prefixes=len(DATA["prefixes"]))


@suite.check("refusals", "arguments that give no prefix are refused with ValueError when the strategy is made")
def refusals(trial: Trial) -> None:
    for row in DATA["refusals"]:
        try:
            _strategy(trial, row["strategy"], row["arguments"])
        except ValueError:
            continue
        trial.expect(False, f"{row['strategy']} takes {row['arguments']}")


@suite.check("exact-keys", "a save has exactly the documented keys, `.metadata` at its top, and nothing beside them")
def exact_keys(trial: Trial) -> None:
    needs(trial, "objects", "parts")
    bucket = trial.bucket()
    for i, row in enumerate(DATA["layouts"]):
        path = f"layout-{i}"
        strategy = _strategy(trial, row["strategy"], row.get("arguments", {}))
        _save(trial, f"s3://{bucket}/{path}", row["ranks"], row["thread_count"], strategy)
        found = sorted(key.removeprefix(f"{path}/") for key in trial.store.keys(bucket, f"{path}/"))
        trial.expect_equal(found, sorted(row["keys"]), f"{row['ranks']} ranks of {row['thread_count']}, {row['strategy']}")


@suite.check("custom-strategy", "a strategy of one's own gives the text between the path and the file's number")
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


@suite.check("ranks-apart", "no two ranks of a job share a key, at 4 to 512 ranks")
def ranks_apart(trial: Trial) -> None:
    for name in STRATEGIES:
        for ranks in RANKS:
            strategy = _for_ranks(trial, name, ranks)
            prefixes = Counter(strategy(rank) for rank in range(ranks))
            shared = [prefix for prefix, count in prefixes.items() if count > 1]
            trial.expect(
                not shared, f"{name} at {ranks} ranks: {len(shared)} prefixes of several, such as {', '.join(shared[:3])}"
            )


# ---- partitions


def _keys(strategy: Any, name: str, ranks: int, step: int) -> list[str]:
    """One file of each rank. Default names are below a directory of the step, as programs write them."""
    path = f"checkpoint/step_{step}" if name == "default" else "checkpoint"
    return [f"{path}/{strategy(rank)}{step}.distcp" for rank in range(ranks)]


def _boundaries(strategy: Any, name: str, ranks: int) -> list[str]:
    """Where partitions begin that saves of the past have left: as many of their keys in each."""
    past = sorted(key for step in range(PAST) for key in _keys(strategy, name, ranks, step))
    return sorted({past[len(past) * i // PARTITIONS] for i in range(1, PARTITIONS)})


def _busiest(keys: list[str], boundaries: list[str]) -> int:
    """Keys in the partition that has most of them."""
    return max(Counter(sum(boundary <= key for boundary in boundaries) for key in keys).values())


@suite.check("spread", "in a bucket that was cut by earlier saves, binary, hex and round-robin load its partitions evenly")
def spread(trial: Trial) -> None:
    rows, lines = [], []
    for name in STRATEGIES:
        points = []
        for ranks in RANKS:
            strategy = _for_ranks(trial, name, ranks)
            boundaries = _boundaries(strategy, name, ranks)
            busiest = _busiest(_keys(strategy, name, ranks, PAST), boundaries)
            points.append((float(ranks), 100 * busiest / ranks))
            even = -(-ranks // PARTITIONS)
            if name != "default":
                trial.expect(busiest <= 2 * even, f"{name}: {busiest} of {ranks} ranks in one of {PARTITIONS} partitions")
        rows.append([name, *(f"{share:.0f} %" for _, share in points)])
        lines.append((name, points))
    trial.table("share of the ranks in the busiest of 16 partitions", ["strategy", *(f"{ranks} ranks" for ranks in RANKS)], rows)
    trial.chart(Chart("Share of ranks in the busiest partition", "ranks", "per cent", lines, logarithmic=True))


@suite.check("slowed-down", "saves complete where S3 refuses much; names that spread are refused less often than default ones")
def slowed_down(trial: Trial) -> None:
    needs(trial, "objects", "parts")
    admin = trial.admin_for("limits of requests")
    rows: list[tuple[str, int, int, int]] = []
    lines = []
    with _limits_kept(admin):
        for name in ("default", "binary", "hex"):
            points = []
            for ranks in (4, 8, 16, 32) if trial.thorough else (4, 24):
                bucket = trial.bucket()
                strategy = _for_ranks(trial, name, ranks)
                boundaries = _boundaries(strategy, name, ranks)
                admin.set_limits({**LIMITS, "buckets": {bucket: {"boundaries": boundaries}}})
                trial.forget()
                path = f"checkpoint/step_{PAST}" if name == "default" else "checkpoint"
                _save(trial, f"s3://{bucket}/{path}", ranks, 2, strategy, at_once=ranks)
                refused = len(trial.records.of(status=503))
                points.append((float(ranks), float(refused)))
                rows.append((name, ranks, len(trial.records), refused))
                admin.set_limits(None)
                keys = trial.store.keys(bucket, f"{path}/")
                trial.expect_equal(len(keys), 2 * ranks + 1, f"{name}, {ranks} ranks: objects")
            lines.append((name, points))
    total = {name: sum(refused for _, refused in points) for name, points in lines}
    trial.evidence(refused=total)
    trial.table("live, 16 partitions of 10 writes a second, cut by earlier saves", ("strategy", "ranks", "requests", "503"), rows)
    trial.chart(Chart("Requests refused with 503, live", "ranks", "requests", lines, logarithmic=True))
    if not total["default"]:
        raise NotRun("no request was refused under default names: the endpoint is too slow here to be slowed down")
    for name in ("binary", "hex"):
        less = total[name] < total["default"]
        trial.expect(less, f"{name}: {total[name]:.0f} requests were refused, of default names {total['default']:.0f}")


@suite.check("slowed-down-simulated", "at 4 to 512 ranks names that spread are refused no more often than default ones")
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
            trial.expect(more <= 0, f"{name} at {ranks} ranks: {more} more refusals than default names")
        rows.append([ranks, *(reports[name].refused for name in lines), cold.refused])
    trial.table(f"503s by the simulation, aws-strict, retries as {retries}", ("ranks", *lines, "hex, new bucket"), rows)
    trial.chart(Chart("Requests refused with 503, simulated", "ranks", "requests", list(lines.items()), logarithmic=True))


@contextlib.contextmanager
def _limits_kept(admin: Admin) -> Iterator[None]:
    """Puts back what was set."""
    before = admin.ask("GET", f"limits/{admin.namespace}")["limits"]
    try:
        yield
    finally:
        admin.set_limits(before)


def _save(trial: Trial, uri: str, ranks: int, threads: int, strategy: Any, *, at_once: int = 1) -> None:
    states = [{f"rank{rank}.{i}": torch.full((16,), float(rank + i)) for i in range(threads)} for rank in range(ranks)]
    client = trial.client
    save_by_ranks(states, lambda: client.storage_writer(uri, prefix_strategy=strategy, thread_count=threads), at_once=at_once)
