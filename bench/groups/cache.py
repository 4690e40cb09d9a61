"""Group `cache`: the second epoch from the node cache, compared with plain files and with fsspec's caches over s3fs."""

from __future__ import annotations

import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from harness import Measurement, Row, interleave, rows, run_json
from servers import CREDENTIALS, Server, penstock_emulator

PROGRAM = str(Path(__file__).parent.parent / "clients/python_cache.py")
PYTHON = os.environ.get("PENSTOCK_DATAPIPES_PYTHON", sys.executable)
SECONDS = 4
CLIENTS = {"penstock": "penstock", "files": "page cache", "filecache": "fsspec filecache", "blockcache": "fsspec blockcache"}


def put_objects(server: Server, count: int, size: int) -> None:
    client = server.boto3()
    client.create_bucket(Bucket="epochs")
    data = os.urandom(size)
    for number in range(count):
        client.put_object(Bucket="epochs", Key=f"{number:05}", Body=data)


def second_epoch(name: str, count: int, size: int, rounds: int) -> list[Row]:
    with penstock_emulator("--memory") as server:
        put_objects(server, count, size)

        def measure(client: str) -> Measurement:
            with tempfile.TemporaryDirectory() as folder:
                return run_json([PYTHON, PROGRAM, client, server.endpoint, "epochs", folder, str(SECONDS)], CREDENTIALS)

        results = interleave({shown: partial(measure, client) for client, shown in CLIENTS.items()}, rounds)
    return rows(results, "penstock", {"rate": (name, "GB/s"), "cpu": (f"{name}.cpu", "CPU-s/GB")})


def large(rounds: int) -> list[Row]:
    """Later epochs over 8 objects of 32 MiB."""
    return second_epoch("cache.large", 8, 32 << 20, rounds)


def small(rounds: int) -> list[Row]:
    """Later epochs over 1,000 objects of 100 KB, in batches of 128."""
    return second_epoch("cache.small", 1000, 100_000, rounds)


SCENARIOS = [large, small]
