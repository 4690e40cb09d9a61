"""Several client processes use one emulator with faults: the history of each key is linearizable.

A call that fails without a clear response may have taken effect, or may do so later. A call that is retried after a lost response
may take effect once per request; a conditional one only if its condition holds again. A normal run takes some seconds per store,
PENSTOCK_LONG=1 an hour; PENSTOCK_HISTORIES sets the number of generations per store.
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

import penstock
import pytest
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


def make_bucket(endpoint: str, bucket: str, versioned: bool) -> None:
    config = penstock.S3ClientConfig(force_path_style=True, access_key_id=ACCESS_KEY, secret_access_key=SECRET_KEY)
    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)
    client.create_bucket(bucket)
    if versioned:
        document = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
        Requests(endpoint.removeprefix("http://")).expect(200, "PUT", f"/{bucket}?versioning=", document)


def run_workers(endpoint: str, bucket: str, generations: int, seed: int, folder: Path) -> dict[str, int]:
    """Runs the client processes, which write their histories to `folder`. Returns the sums of their counts."""
    workers = []
    for number in range(WORKERS):
        arguments = [
            endpoint,
            ACCESS_KEY,
            SECRET_KEY,
            bucket,
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


def histories(folder: Path) -> dict[str, list[Operation]]:
    """The operations of all workers by key."""
    by_key: dict[str, list[Operation]] = defaultdict(list)
    for path in folder.iterdir():
        with path.open() as lines:
            for line in lines:
                key, begin, end, text, writes, only_if, only_unless, optional = json.loads(line)
                operation = Operation(
                    begin, math.inf if end is None else end, text, tuple(writes), only_if, only_unless, optional
                )
                by_key[key].append(operation)
    return by_key


def test_planted_stale_reads_are_found(tmp_path: Path) -> None:
    """The server returns the previous object for some reads, with matching checksums and ETag."""
    stale = {"corrupt": {"mode": "stale-version", "fix_checksum": True}}
    with emulator(STORES["memory"]) as (endpoint, admin):
        make_bucket(endpoint, "histories", versioned=False)
        admin.set_faults([{"when": {"operation": "GetObject", "probability": 0.2}, "do": stale}])
        folder = tmp_path / "histories"
        folder.mkdir()
        run_workers(endpoint, "histories", 2, SEED, folder)
        admin.clear_faults()
    assert any(explain(history) for history in histories(folder).values())


@pytest.mark.timeout(4 * TIMEOUT_S if LONG else 300)
@pytest.mark.parametrize("versioned", [False, True], ids=["plain", "versioned"])
@pytest.mark.parametrize("store", STORES)
def test_history_is_linearizable(tmp_path: Path, store: str, versioned: bool) -> None:
    totals: dict[str, int] = defaultdict(int)
    options = [option.format(folder=tmp_path / "data") for option in STORES[store]]
    with emulator(options) as (endpoint, admin):
        for first in range(0, GENERATIONS, BATCH):  # each batch in its own bucket, because their keys have the same names
            bucket = f"histories-{first}"
            make_bucket(endpoint, bucket, versioned)
            folder = tmp_path / f"from-{first}"
            folder.mkdir()
            seed = SEED * 10_000 + first
            admin.set_faults(scenario(seed))
            counts = run_workers(endpoint, bucket, min(BATCH, GENERATIONS - first), seed, folder)
            admin.clear_faults()
            for key, history in histories(folder).items():
                totals["operations"] += len(history)
                wrong = explain(history)
                assert wrong is None, f"{key}, seed {SEED}, from generation {first} ({folder}): {wrong}"
            for name, count in counts.items():
                totals[name] += count
    print(f"{store} {'versioned' if versioned else 'plain'}, seed {SEED}: {dict(totals)}")
    assert totals["retries"] > 0, "no fault fired"
