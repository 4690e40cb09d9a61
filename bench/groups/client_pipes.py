"""Group `client`, the DataPipes: lines of sharded text through a DataLoader, compared with torchdata's other ways to S3."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from harness import Measurement, Row, interleave, rows, run_json
from servers import CREDENTIALS, penstock_emulator

PROGRAM = str(Path(__file__).parent.parent / "clients/python_pipes.py")
PYTHON = os.environ.get("PENSTOCK_DATAPIPES_PYTHON", sys.executable)
SHARDS, LINES, LINE_BYTES = 4, 100_000, 1600
BATCHES = 1000
SECONDS = 10  # the measurement ends after as many
CLIENTS = ("penstock", "torchdata", "s3fs")
# A connection to S3: "about 85-90 MB/s" (Amazon S3 User Guide, performance guidelines).
S3 = {"latency": {"first_byte_ms": 30, "bytes_per_second": 90_000_000}}


def lines(rounds: int, workers: int, name: str, *options: str) -> list[Row]:
    with penstock_emulator("--memory", *options) as server:
        client = server.boto3()
        client.create_bucket(Bucket="bench")
        line = b'{"text": "' + b"x" * (LINE_BYTES - 13) + b'"}\n'
        for shard in range(SHARDS):
            client.put_object(Bucket="bench", Key=f"shards/{shard:03}.jsonl", Body=line * LINES)

        def measure(client: str) -> Measurement:
            command = [PYTHON, PROGRAM, client, server.endpoint, "bench", str(workers), str(BATCHES), str(SECONDS)]
            return run_json(command, CREDENTIALS | {"S3_ENDPOINT_URL": server.endpoint, "AWS_REGION": "us-east-1"})

        results = interleave({client: partial(measure, client) for client in CLIENTS}, rounds)
    quantities = {"rate": (name, "lines/s"), "cpu": (f"{name}.cpu", "CPU-us/line"), "steady": (f"{name}.p0", "p0 / p50")}
    return rows(results, "penstock", quantities)


def pipes(rounds: int) -> list[Row]:
    """Batches of 512 lines of 1.6 KB, shards of 160 MB; without workers, and with 4."""
    return lines(rounds, 0, "pipes.lines") + lines(rounds, 4, "pipes.lines_4")


def pipes_s3(rounds: int) -> list[Row]:
    """The same without workers, with the latency and the bandwidth of a connection to S3."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(S3, file)
        file.flush()
        return lines(rounds, 0, "pipes.lines_s3", "--limits", file.name)


SCENARIOS = [pipes, pipes_s3]
