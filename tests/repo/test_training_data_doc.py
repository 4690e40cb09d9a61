"""Each Python program of docs/training-data.md runs and prints what its text says."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import penstock
import pyarrow as pa
import pyarrow.parquet as pq
from penstock.testing import Emulator

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/training-data.md").read_text(), re.M | re.S)
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
    printed = []
    with Emulator() as emulator:
        fill(emulator.client())
        for number, program in enumerate(PROGRAMS):
            file = tmp_path / f"program_{number}.py"
            file.write_text(program)
            done = subprocess.run(
                [sys.executable, str(file)],
                env=dict(os.environ) | emulator.environment(), capture_output=True, text=True, timeout=150, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            printed.append([int(count) for count in done.stdout.split()])
    samples = SHARDS * SAMPLES
    assert printed == [[samples, samples], [samples], [ROWS], [10, samples - 10], [25, 640]]
