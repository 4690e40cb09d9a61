"""Several client processes use one emulator with faults: the history of each key is linearizable.

A call that fails without a clear response may have taken effect; after a timeout it may do so later. A call that is retried
after a lost response may take effect once per request; a conditional one only if its condition holds again; a rename only once;
an append only once too, except at 0, where the object may have been removed in between. In a directory bucket the keys of a
generation are checked together, because renames combine them. A normal run takes some seconds per store, PENSTOCK_LONG=1 an
hour; PENSTOCK_HISTORIES sets the number of generations per store.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import penstock
import pytest
from histories_worker import KEYS
from linearizability import Operation, explain
from penstock_conformance._admin import Admin
from store_process import PROGRAM, Requests

LONG = bool(os.environ.get("PENSTOCK_LONG"))
GENERATIONS = int(os.environ.get("PENSTOCK_HISTORIES", "600" if LONG else "2"))
SEED = int(os.environ.get("PENSTOCK_SEED", "1"))
WORKERS = 4
BATCH = 50  # generations that are checked together
TIMEOUT_S = 3600
ACCESS_KEY, SECRET_KEY = "penstock", "penstock-secret"
STORES = {
    "memory": ["--memory"],
    "relaxed": ["--data", "{folder}", "--durability", "relaxed"],
    "strict": ["--data", "{folder}", "--durability", "strict"],
}
# What the workers must have done in each kind of bucket, by the names that they count.
KINDS = {
    "plain": ["put", "create", "replace", "delete", "copy", "complete", "tag", "tags"],
    "versioned": ["put", "create", "replace", "delete", "copy", "complete", "tag", "tags", "delete version"],
    "directory": ["put", "create", "replace", "delete", "copy", "complete", "rename", "append", "append refused"],
}
# Effects without which the checker must find each history wrong, by their names in `linearizability`.
EFFECTS = {"plain": ["tag"], "versioned": ["tag", "remove version"], "directory": ["rename", "append"]}
FAULTS = {
    "before": [0.01, {"reset": {}, "at": "before_commit"}],
    "lost": [0.01, {"reset": {}, "at": "after_commit"}],
    "late-error": [0.005, {"error": {"code": "InternalError"}, "at": "after_commit"}],
    "failed": [0.01, {"error": {"code": "InternalError"}}],
    "throttled": [0.01, {"slow_down": {}}],
    "cut": [0.01, {"fin": {}, "at": "body_out@20"}],
}


def scenario(seed: int) -> dict[str, object]:
    rules = [{"id": name, "when": {"bucket": {"prefix": "histories-"}, "probability": often}, "do": action}
             for name, (often, action) in FAULTS.items()]  # fmt: skip
    return {"seed": seed, "rules": rules}


@contextlib.contextmanager
def emulator(options: list[str]) -> Iterator[tuple[str, Admin]]:
    process = subprocess.Popen([str(PROGRAM), "--port", "0", "--auth", "off", *options], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    ready = json.loads(process.stdout.readline())
    try:
        yield ready["endpoint"], Admin(ready["admin"])
    finally:
        process.terminate()
        assert process.wait(60) == 0


def make_bucket(endpoint: str, bucket: str, kind: str) -> None:
    config = penstock.S3ClientConfig(force_path_style=True, access_key_id=ACCESS_KEY, secret_access_key=SECRET_KEY)
    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)
    client.create_bucket(bucket)
    if kind == "versioned":
        document = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
        Requests(endpoint.removeprefix("http://")).expect(200, "PUT", f"/{bucket}?versioning=", document)


def run_workers(endpoint: str, bucket: str, kind: str, generations: int, seed: int, folder: Path) -> dict[str, int]:
    """Runs the client processes, which write their histories to `folder`. Returns the sums of their counts."""
    workers = []
    for number in range(WORKERS):
        arguments = [
            endpoint,
            ACCESS_KEY,
            SECRET_KEY,
            bucket,
            kind,
            str(seed * 100 + number),
            str(generations),
            str(folder / f"{number}"),
        ]
        command = [sys.executable, str(Path(__file__).with_name("histories_worker.py")), *arguments]
        workers.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    counts: dict[str, int] = defaultdict(int)
    try:
        for worker in workers:
            output, _ = worker.communicate(timeout=TIMEOUT_S)
            assert worker.returncode == 0
            for name, count in json.loads(output).items():
                counts[name] += count
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    return counts


def histories(folder: Path, kind: str) -> dict[str, list[Operation]]:
    """The operations of all workers by key, in a directory bucket by generation."""
    rows = [json.loads(line) for path in folder.iterdir() for line in path.read_text().splitlines()]
    values: dict[str, str] = {}
    for row in rows:
        if "etag" in row:
            assert values.setdefault(f"ETag {row['etag']}", row["value"]) == row["value"], f"{row['etag']} has two bodies"
    found: dict[str, list[Operation]] = defaultdict(list)
    for row in rows:
        if "etag" in row or not_resolved(row, values):
            continue
        name, _, number = row["key"].partition("/") if kind == "directory" else (row["key"], "", "0")
        row["key"] = int(number)
        row["end"] = math.inf if row["end"] is None else row["end"]
        row["of"] = tuple(row.get("of", ()))
        if row.get("does") == "rename":
            row["of"] = (int(row["of"][0].partition("/")[2]), row["of"][1])
        found[name].append(Operation(**row | {"writes": tuple(row["writes"])}))
    return found


def not_resolved(row: dict[str, Any], values: dict[str, str]) -> bool:
    """Replaces an ETag of `only_if` by its value. True: an operation without effect has an ETag that no reader has seen."""
    only_if = row.get("only_if")
    if only_if is None or not only_if.startswith("ETag "):
        return False
    row["only_if"] = values.get(only_if)
    return row["only_if"] is None and not row["writes"]


def problems(found: dict[str, list[Operation]], kind: str, without: str | None = None) -> dict[str, str]:
    """The violations in histories. `without`: the name of an effect that is left out, as if the server had not carried it out."""
    keys = KEYS if kind == "directory" else 1
    checked = {
        name: explain([one for one in history if one.does != without], keys, versioned=kind == "versioned")
        for name, history in found.items()
    }
    return {name: problem for name, problem in checked.items() if problem}


def test_planted_stale_reads_are_found(tmp_path: Path) -> None:
    """The server returns the previous object for some reads, with matching checksums and ETag."""
    stale = {"corrupt": {"mode": "stale-version", "fix_checksum": True}}
    with emulator(STORES["memory"]) as (endpoint, admin):
        make_bucket(endpoint, "histories", "plain")
        admin.set_faults([{"when": {"operation": "GetObject", "probability": 0.2}, "do": stale}])
        run_workers(endpoint, "histories", "plain", 2, SEED, tmp_path)
        admin.clear_faults()
    assert problems(histories(tmp_path, "plain"), "plain")


@pytest.mark.timeout(4 * TIMEOUT_S if LONG else 300)
@pytest.mark.parametrize(
    ("store", "kind"), [(store, kind) for store in STORES for kind in KINDS if LONG or (store, kind) != ("relaxed", "directory")]
)
def test_history_is_linearizable(tmp_path: Path, store: str, kind: str) -> None:
    totals: dict[str, int] = defaultdict(int)
    options = [option.format(folder=tmp_path / "data") for option in STORES[store]]
    with emulator(options) as (endpoint, admin):
        for first in range(0, GENERATIONS, BATCH):  # each batch in its own bucket, because their keys have the same names
            bucket = f"histories-{first}" + ("--use1-az4--x-s3" if kind == "directory" else "")
            make_bucket(endpoint, bucket, kind)
            folder = tmp_path / f"from-{first}"
            folder.mkdir()
            seed = SEED * 10_000 + first
            admin.set_faults(scenario(seed))
            counts = run_workers(endpoint, bucket, kind, min(BATCH, GENERATIONS - first), seed, folder)
            admin.clear_faults()
            found = histories(folder, kind)
            wrong = problems(found, kind)
            assert not wrong, f"seed {SEED}, from generation {first} ({folder}): {wrong}"
            for effect in EFFECTS[kind] if first == 0 else ():
                assert problems(found, kind, effect), f"the checker does not miss what {effect!r} did"
            totals["operations"] += sum(map(len, found.values()))
            for name, count in counts.items():
                totals[name] += count
    print(f"{store} {kind}, seed {SEED}: {dict(totals)}")
    assert totals["retries"] > 0, "no fault fired"
    assert not [name for name in KINDS[kind] if not totals[name]], totals
