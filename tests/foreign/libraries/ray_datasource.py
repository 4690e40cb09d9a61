"""Reads objects with penstock.ray.S3Datasource as Ray does, without a cluster, and prints the results as JSON.

ray_datasource.py BUCKET; the Python of requirements-engines.txt runs it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from typing import Any

import penstock
import penstock.ray._datasource
from penstock.ray import S3Datasource
from ray import cloudpickle

BUCKET = sys.argv[1]
FOLDER = f"s3://{BUCKET}/data/"


def put(key: str, data: bytes) -> None:
    with penstock.S3Client("us-east-1").put_object(BUCKET, key) as writer:
        writer.write(data)


def read(tasks: Iterable[Any]) -> list[tuple[str, str]]:
    """Returns the path and the MD5 of each row, of tasks that were sent to another process."""
    tables = [table for task in tasks for table in cloudpickle.loads(cloudpickle.dumps(task))()]
    assert all(table.schema.equals(tables[0].schema) for table in tables)
    rows = [row for table in tables for row in table.to_pylist()]
    return [(row["path"], hashlib.md5(row["bytes"]).hexdigest()) for row in rows]


def error_of(*arguments: Any, **options: Any) -> str:
    try:
        read(S3Datasource(*arguments, region="us-east-1", **options).get_read_tasks(1))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def rows() -> Any:
    return read(S3Datasource(FOLDER).get_read_tasks(3))


def objects_in_order() -> Any:
    return read(S3Datasource([f"{FOLDER}b.bin", f"{FOLDER}a.bin"]).get_read_tasks(1))


def tasks() -> Any:
    source = S3Datasource(FOLDER)
    made = source.get_read_tasks(3)
    return {
        "name": source.get_name(),
        "bytes": source.estimate_inmemory_data_size(),
        "tasks": [[task.metadata.num_rows, task.metadata.size_bytes] for task in made],
        "many": len(source.get_read_tasks(1000)),
        "schema": str(made[0].schema),
        "torch": "torch" in sys.modules,
    }


def row_limit() -> Any:
    source = S3Datasource(f"s3://{BUCKET}/limited/")
    return len(read(source.get_read_tasks(2, per_task_row_limit=3)))


def small_blocks() -> Any:
    source = S3Datasource(f"s3://{BUCKET}/large/")
    return [table.num_rows for task in source.get_read_tasks(1) for table in task()]


def extensions() -> Any:
    return [path for path, _ in read(S3Datasource(FOLDER, file_extensions=["TXT", ".x"]).get_read_tasks(1))]


def replaced() -> Any:
    source = S3Datasource(f"s3://{BUCKET}/replaced")
    put("replaced", b"second")
    try:
        read(source.get_read_tasks(1))
    except penstock.S3PreconditionFailedError as error:
        return [error.bucket, error.key]
    return "no error"


def errors() -> Any:
    found = {
        "missing": error_of([f"{FOLDER}a.bin", f"{FOLDER}missing"]),
        "empty": error_of(f"s3://{BUCKET}/none/"),
        "extension": error_of(FOLDER, file_extensions=["jpg"]),
        "text": error_of(FOLDER, file_extensions="jpg"),
        "scheme": error_of("/data"),
        "region": error_of(FOLDER, endpoint=1),
    }
    penstock.ray._datasource.MAX_ROW_BYTES = 10
    return found | {"large": error_of(FOLDER)}


CASES = (
    rows, objects_in_order, tasks, row_limit, small_blocks, extensions, replaced, errors,
)  # fmt: skip

if __name__ == "__main__":
    print(json.dumps({case.__name__: case() for case in CASES}))
