"""penstock.ray.S3Datasource returns the tasks and rows that Ray Data expects. examples/engines run it on a cluster."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from penstock.testing import Emulator

BUCKET = "ray-data"
OBJECTS = {"a.bin": b"a" * 300_000, "b.bin": b"", "c/d.txt": b"c" * 70_000, "e.TXT": b"e" * 600_000, "ü x": b"one row"}
LEFT_OUT = (".hidden", "_SUCCESS", "_delta/1.bin", "folder/")


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    with Emulator() as emulator:
        client = emulator.client()
        client.create_bucket(BUCKET)
        keys = {f"data/{name}": data for name, data in OBJECTS.items()} | {f"data/{name}": b"x" for name in LEFT_OUT}
        keys |= {f"limited/{number}": b"x" for number in range(20)} | {"replaced": b"first"}
        keys |= {f"large/{number}": bytes(size) for number, size in enumerate((3 << 20, 3 << 20, 3 << 20, 9 << 20, 1))}
        for key, data in keys.items():
            with client.put_object(BUCKET, key) as writer:
                writer.write(data)
        done = subprocess.run(
            [os.environ["PENSTOCK_ENGINES_PYTHON"], str(Path(__file__).parent / "ray_datasource.py"), BUCKET],
            env=dict(os.environ) | emulator.environment(), capture_output=True, text=True, timeout=150, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        limited = [entry for entry in emulator.journal().entries() if entry.key.startswith("limited/")]
        return found | {"requests": [entry.operation for entry in limited].count("GetObject")}


def row(name: str) -> list[str]:
    return [f"{BUCKET}/data/{name}", hashlib.md5(OBJECTS[name]).hexdigest()]


def test_rows_come_in_the_order_of_keys(results: dict[str, Any]) -> None:
    assert results["rows"] == [row(name) for name in OBJECTS]


def test_objects_come_in_the_order_of_their_uris(results: dict[str, Any]) -> None:
    assert results["objects_in_order"] == [row("b.bin"), row("a.bin")]


def test_tasks_have_about_the_same_number_of_bytes(results: dict[str, Any]) -> None:
    total = sum(map(len, OBJECTS.values()))
    assert results["tasks"] == {
        "name": "S3",
        "bytes": total,
        "tasks": [[2, 300_000], [1, 70_000], [2, 600_007]],
        "many": len(OBJECTS),
        "schema": "bytes: binary\npath: string",
        "torch": False,
    }


def test_a_row_limit_reads_no_more_objects(results: dict[str, Any]) -> None:
    assert results["row_limit"] == 6
    assert results["requests"] == 6


def test_blocks_are_small(results: dict[str, Any]) -> None:
    assert results["small_blocks"] == [2, 1, 1, 1]


def test_other_extensions_are_left_out(results: dict[str, Any]) -> None:
    assert results["extensions"] == [f"{BUCKET}/data/c/d.txt", f"{BUCKET}/data/e.TXT"]


def test_a_task_reads_only_the_listed_version(results: dict[str, Any]) -> None:
    assert results["replaced"] == [BUCKET, "replaced"]


def test_errors_name_the_object_and_the_fix(results: dict[str, Any]) -> None:
    errors = results["errors"]
    assert errors["missing"].startswith("S3NotFoundError: ")
    assert "data/missing" in errors["missing"]
    assert errors["empty"].startswith(f"ValueError: found no object below 's3://{BUCKET}/none/'; check the prefix")
    assert errors["extension"] == "ValueError: no object ends with .jpg; check file_extensions"
    assert errors["text"] == "TypeError: file_extensions must be a collection of str, not the str 'jpg'; write ['jpg']"
    assert errors["scheme"] == "ValueError: Only s3:// URIs are supported, not '/data'; write s3://bucket/key"
    assert errors["region"] == "TypeError: endpoint must be str or None, not int"
    assert errors["large"] == (
        f"ValueError: s3://{BUCKET}/data/e.TXT has 600000 bytes, and a row can have 10; leave it out, or read it in parts with"
        " penstock.fsspec"
    )
