"""S3Datasource: a datasource of Ray Data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import NoneType
from typing import Any

import pyarrow as pa
from ray.data import Datasource, ReadTask
from ray.data.block import BlockMetadata

from .._client import S3Client
from .._config import S3ClientConfig, check_text, check_type
from .._user_agent import UserAgent
from ._objects import Item, find_items, read_items, split_by_bytes

BLOCK_BYTES = 8 * 1024**2  # of a block that a task yields; Ray combines blocks up to DataContext.target_max_block_size
BLOCK_ROWS = 1024
MAX_ROW_BYTES = 2**31 - 2  # of a value of Arrow's type binary, whose offsets are 32-bit numbers
SCHEMA = pa.schema([("bytes", pa.binary()), ("path", pa.string())])


def _blocks(client: S3Client, items: Iterable[Item]) -> Iterator[pa.Table]:
    rows: list[bytes] = []
    paths: list[str] = []
    held = 0
    for item, data in read_items(client, items):
        if rows and (held + len(data) > BLOCK_BYTES or len(rows) == BLOCK_ROWS):
            yield pa.table([rows, paths], schema=SCHEMA)
            rows, paths, held = [], [], 0
        rows.append(data)
        paths.append(item.path)
        held += len(data)
    if rows:
        yield pa.table([rows, paths], schema=SCHEMA)


class S3Datasource(Datasource):
    """Objects of S3 as rows ``{"bytes": ..., "path": "bucket/key"}``, for ``ray.data.read_datasource``.

    The rows are those of ``ray.data.read_binary_files(..., include_paths=True)``. The constructor lists the objects. Each task
    reads a part of them with about the same number of bytes, the next ones in advance
    (``S3ClientConfig.look_ahead_bytes`` in each task), and only the version that was listed.

    Args:
        uris: ``s3://bucket/key`` of objects, and ``s3://bucket/prefix/`` or ``s3://bucket`` for all objects below a prefix, in
            the order of keys. One URI or several. As in ``read_binary_files``, names below a prefix that start with ``.`` or
            ``_`` are left out.
        region: AWS region of the buckets; empty: ``AWS_REGION``, ``AWS_DEFAULT_REGION``, the profile. The environment and
            configuration files are those of the node that reads.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.
        file_extensions: Only objects whose keys end with a dot and one of these, in upper or lower case; None: all.
        s3client_config: See :class:`penstock.S3ClientConfig`. It is sent to the nodes, with its credentials.

    Raises:
        TypeError: An argument is of another type.
        ValueError: A URI is not ``s3://bucket/key``, no object was found, or one has more than 2,147,483,646 bytes.
        ModuleNotFoundError: ray or pyarrow is not installed.
        S3Exception: A listing failed, or an object does not exist. From a task: an object cannot be read.
        S3PreconditionFailedError: From a task: an object was replaced since it was listed.
    """

    def __init__(
        self,
        uris: str | Iterable[str],
        *,
        region: str = "",
        endpoint: str | None = None,
        file_extensions: Iterable[str] | None = None,
        s3client_config: S3ClientConfig | None = None,
    ) -> None:
        super().__init__()
        check_type("region", region, (str,))
        check_text("region", region)
        check_type("endpoint", endpoint, (str, NoneType))
        if isinstance(file_extensions, str):
            raise TypeError(
                f"file_extensions must be a collection of str, not the str {file_extensions!r}; write [{file_extensions!r}]"
            )
        self._client = S3Client(region, endpoint=endpoint, user_agent=UserAgent(["md/ray"]), s3client_config=s3client_config)
        endings = None if file_extensions is None else tuple(f".{name.lstrip('.').lower()}" for name in file_extensions)
        self._items = [
            item
            for item in find_items(self._client, [uris] if isinstance(uris, str) else uris)
            if endings is None or item.key.lower().endswith(endings)
        ]
        if not self._items:
            raise ValueError(f"no object ends with {' or '.join(endings or ())}; check file_extensions")
        largest = max(self._items, key=lambda item: item.size)
        if largest.size > MAX_ROW_BYTES:
            raise ValueError(
                f"s3://{largest.path} has {largest.size} bytes, and a row can have {MAX_ROW_BYTES}; leave it out, or read it in"
                " parts with penstock.fsspec"
            )

    def estimate_inmemory_data_size(self) -> int:
        return sum(item.size for item in self._items)

    def get_read_tasks(self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None) -> list[ReadTask]:
        """Returns at most `parallelism` tasks. See :class:`ray.data.Datasource`."""
        del data_context
        return [self._task(items[:per_task_row_limit]) for items in split_by_bytes(self._items, parallelism)]

    def _task(self, items: list[Item]) -> ReadTask:
        client = self._client  # not `self`, which has all objects

        def read() -> Iterator[pa.Table]:
            return _blocks(client, items)

        metadata = BlockMetadata(
            num_rows=len(items),
            size_bytes=sum(item.size for item in items),
            exec_stats=None,
            input_files=tuple(item.path for item in items),
        )
        return ReadTask(read, metadata, schema=SCHEMA)
