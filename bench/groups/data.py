"""Group `data`: formats of training sets, compared with the packages that read them over other clients."""

from __future__ import annotations

import io
import os
import sys
import tarfile
from functools import partial
from pathlib import Path

from harness import Measurement, Row, interleave, rows, run_json
from servers import CREDENTIALS, Server, penstock_emulator

PROGRAM = str(Path(__file__).parent.parent / "clients/python_formats.py")
PYTHON = os.environ.get("PENSTOCK_DATAPIPES_PYTHON", sys.executable)
SHARDS, SAMPLES, SAMPLE_BYTES = 8, 400, 100_000
WORKERS = 2
DELAY_MS = 25
SECONDS = 10  # a measurement ends after as many
CLIENTS = {"penstock": "penstock", "penstock_webdataset": "webdataset over penstock", "s3fs": "webdataset over s3fs"}


def put_shards(server: Server) -> None:
    client = server.boto3()
    client.create_bucket(Bucket="tars")
    data = os.urandom(SAMPLE_BYTES)
    for shard in range(SHARDS):
        memory = io.BytesIO()
        with tarfile.open(fileobj=memory, mode="w") as archive:
            for number in range(SAMPLES):
                for suffix, content in (("jpg", data), ("cls", b"7")):
                    info = tarfile.TarInfo(f"{shard:03}/{number:04}.{suffix}")
                    info.size = len(content)
                    archive.addfile(info, io.BytesIO(content))
        client.put_object(Bucket="tars", Key=f"{shard:03}.tar", Body=memory.getvalue())


def tar_100kb(rounds: int) -> list[Row]:
    """Samples of 100 KB in tar shards of 40 MB, 2 workers; the first byte of each response is delayed by 25 ms."""
    with penstock_emulator("--memory", "--first-byte-delay-ms", str(DELAY_MS)) as server:
        put_shards(server)

        def measure(client: str) -> Measurement:
            settings = {"AWS_ENDPOINT_URL": server.endpoint, "PENSTOCK_BENCH_SHARDS": str(SHARDS)}
            command = [PYTHON, PROGRAM, client, server.endpoint, "tars", str(WORKERS), str(SECONDS)]
            return run_json(command, CREDENTIALS | settings)

        results = interleave({name: partial(measure, client) for client, name in CLIENTS.items()}, rounds)
    return rows(results, "penstock", {"rate": ("data.tar_100kb", "samples/s"), "cpu": ("data.tar_100kb.cpu", "CPU-us/sample")})


SCENARIOS = [tar_100kb]
