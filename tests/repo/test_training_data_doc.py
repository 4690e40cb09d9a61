"""Each Python program of docs/how-to/training-data.md runs and prints what its text says."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import penstock
import pyarrow as pa
import pyarrow.parquet as pq
from page_programs import printed_numbers
from penstock.testing import Emulator

SHARDS, SAMPLES, ROWS = 4, 6, 90


def put(client: penstock.S3Client, key: str, data: bytes) -> None:
    with client.put_object("my-bucket", key) as writer:
        writer.write(data)


def fill(client: penstock.S3Client) -> None:
    client.create_bucket("my-bucket")
    for shard in range(SHARDS):
        memory = io.BytesIO()
        with tarfile.open(fileobj=memory, mode="w") as archive:
            for number in range(SAMPLES):
                for suffix, data in (("jpg", b"an image"), ("cls", b"7")):
                    info = tarfile.TarInfo(f"{shard}-{number}.{suffix}")
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))
        put(client, f"train-{shard:06}.tar", memory.getvalue())
    memory = io.BytesIO()
    rows = list(range(ROWS))
    pq.write_table(pa.table({"text": [str(row) for row in rows], "label": rows, "more": rows}), memory, row_group_size=20)
    put(client, "table/0.parquet", memory.getvalue())
    for prefix, count in (("web", 20), ("books", 10)):
        for number in range(count):
            put(client, f"{prefix}/{number}", b"a text")


def test_the_programs_on_training_data_run(tmp_path: Path) -> None:
    with Emulator() as emulator:
        fill(emulator.client())
        printed = printed_numbers("how-to/training-data.md", tmp_path, emulator)
    samples = SHARDS * SAMPLES
    assert printed == [[samples, samples], [samples], [ROWS], [10, samples - 10], [25, 640]]
