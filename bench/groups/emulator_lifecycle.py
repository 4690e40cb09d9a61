"""Group `emulator`, lifecycle: a run that expires 1,000,000 objects, and small requests beside it."""

from __future__ import annotations

import contextlib
import http.client
import shutil
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from groups.emulator_store import folder
from harness import BUILD, Measurement, Row, interleave, rows, run_json
from servers import Server, ask, penstock_emulator

KEYS = 1_000_000
IDLE_S = 4


@contextlib.contextmanager
def filled(data: Path) -> Iterator[Server]:
    """An emulator on a copy of the data directory, with a rule that expires everything in a day."""
    with folder() as own:
        shutil.copytree(data, own / "s3")
        # Without signatures: the client's clock does not follow the namespace's.
        with penstock_emulator("--data", str(own / "s3"), "--auth", "off") as server:
            client = server.boto3()
            client.create_bucket(Bucket="beside")
            client.put_object(Bucket="beside", Key="object", Body=b"x" * 1024)
            rules = {"Rules": [{"ID": "all", "Filter": {}, "Status": "Enabled", "Expiration": {"Days": 1}}]}
            client.put_bucket_lifecycle_configuration(Bucket="expired", LifecycleConfiguration=rules)
            yield server


def probe(server: Server, method: str, body: bytes, running: Callable[[], bool]) -> float:
    """The 99th percentile in milliseconds of 1 KiB requests, one after the other over one connection."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server.endpoint).netloc)
    taken = []
    while running():
        start = time.perf_counter()
        connection.request(method, "/beside/object", body)
        response = connection.getresponse()
        response.read()
        taken.append(time.perf_counter() - start)
        if response.status != 200:
            raise SystemExit(f"bench: {method} answered {response.status}")
    connection.close()
    return sorted(taken)[len(taken) * 99 // 100] * 1e3


def expire(server: Server) -> None:
    ask(server, "clock", {"advance_seconds": 3 * 86_400})
    # Waits for the run in the background that the clock has started.
    with urllib.request.urlopen(f"{server.admin}/_penstock/lifecycle/run", data=b"", timeout=300) as response:
        if f'"actions":{KEYS},'.encode() not in response.read():
            raise SystemExit("bench: the run did not expire every object")


def beside(server: Server, work: Callable[[], None]) -> Measurement:
    """Reads and writes during `work`."""
    thread = threading.Thread(target=work)
    measured = {}

    def write() -> None:
        measured["put_ms"] = probe(server, "PUT", b"x" * 1024, thread.is_alive)

    begin = time.perf_counter()
    thread.start()
    writer = threading.Thread(target=write)
    writer.start()
    measured["get_ms"] = probe(server, "GET", b"", thread.is_alive)
    thread.join()
    measured["seconds"] = time.perf_counter() - begin
    writer.join()
    return measured


def lifecycle_1m(rounds: int) -> list[Row]:
    """A run on a data directory with 1,000,000 objects, all of which expire."""
    quantities = {
        "seconds": ("emulator.lifecycle_1m", "s"),
        "get_ms": ("emulator.lifecycle_1m.get", "ms at p99"),
        "put_ms": ("emulator.lifecycle_1m.put", "ms at p99"),
    }

    def during() -> Measurement:
        with filled(data) as server:
            return beside(server, lambda: expire(server))

    def without() -> Measurement:
        measured = beside(idle, lambda: time.sleep(IDLE_S))
        del measured["seconds"]
        return measured

    with folder() as data:
        run_json([str(BUILD / "bench/bench_seed_store"), str(data), "expired", str(KEYS), "100", "16", "8"], timeout=600)
        with filled(data) as idle:
            cells = {"penstock": during, "without a run": without}
            return rows(interleave(cells, rounds), "penstock", quantities)


SCENARIOS = [lifecycle_1m]
