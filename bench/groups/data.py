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
FILES, GROUPS, GROUP_ROWS = 6, 4, 65_536
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
    with penstock_emulator("--memory", "--first-byte-delay", f"{DELAY_MS}ms") as server:
        put_shards(server)

        def measure(client: str) -> Measurement:
            settings = {"AWS_ENDPOINT_URL": server.endpoint, "PENSTOCK_BENCH_SHARDS": str(SHARDS)}
            command = [PYTHON, PROGRAM, client, server.endpoint, "tars", str(WORKERS), str(SECONDS)]
            return run_json(command, CREDENTIALS | settings)

        results = interleave({name: partial(measure, client) for client, name in CLIENTS.items()}, rounds)
    return rows(results, "penstock", {"rate": ("data.tar_100kb", "samples/s"), "cpu": ("data.tar_100kb.cpu", "CPU-us/sample")})


def put_parquet(server: Server) -> None:
    """Puts files of 64 columns, with row groups of 64 chunks of about 0.5 MB."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    client = server.boto3()
    client.create_bucket(Bucket="columns")
    chance = np.random.default_rng(1)
    table = pa.table({f"c{number}": chance.integers(0, 2**62, GROUPS * GROUP_ROWS) for number in range(64)})
    memory = io.BytesIO()
    pq.write_table(table, memory, row_group_size=GROUP_ROWS, use_dictionary=False, compression="none")
    for number in range(FILES):
        client.put_object(Bucket="columns", Key=f"{number:03}.parquet", Body=memory.getvalue())


def parquet_8_of_64(rounds: int) -> list[Row]:
    """8 of 64 columns of 6 Parquet files of 134 MB, in one process; the first byte of each response is delayed by 25 ms."""
    with penstock_emulator("--memory", "--first-byte-delay", f"{DELAY_MS}ms") as server:
        put_parquet(server)

        def measure(client: str) -> Measurement:
            return run_json([PYTHON, PROGRAM, client, server.endpoint, "columns", "0", "0"], CREDENTIALS)

        names = {"penstock_parquet": "penstock", "pyarrow": "pyarrow's S3FileSystem", "pyarrow_dataset": "pyarrow.dataset"}
        results = interleave({name: partial(measure, client) for client, name in names.items()}, rounds)
    return rows(
        results, "penstock", {"rate": ("data.parquet_8_of_64", "rows/s"), "cpu": ("data.parquet_8_of_64.cpu", "CPU-us/row")}
    )


SCENARIOS = [tar_100kb, parquet_8_of_64]
