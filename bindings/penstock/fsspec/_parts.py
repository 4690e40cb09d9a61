"""Multipart uploads from existing objects: copies above the size limit of one request, and appending."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from .._exceptions import S3Exception, S3NotFoundError

if TYPE_CHECKING:
    from .. import _core
    from .._client import S3Client
    from .._streams import Buffer
    from ..requests import CompletedPart

log = logging.getLogger(__name__)

MIB = 1024**2
MIN_PART = 5 * MIB  # S3's minimum part size, except for the last part
MAX_COPY_BYTES = 5 * 1024 * MIB  # of one request
COPY_PART = 256 * MIB
APPENDED_PART = 16 * MIB
MAX_PARTS = 10_000
PARALLEL_COPIES = 8


def shares(size: int, limit: int) -> list[tuple[int, int]]:
    """Splits [0, size) into the minimum number of pieces of at most `limit` bytes and of about equal size."""
    count = max(1, -(-size // limit))
    return [(size * number // count, size * (number + 1) // count) for number in range(count)]


class JoinedObject:
    """A multipart upload of copied and written parts. Nothing is visible before :meth:`publish`.

    Args:
        client: Sends the requests.
        bucket: Bucket of the new object.
        key: Key of the new object.
        like: Provides content type, storage class and metadata of the new object.
    """

    def __init__(self, client: S3Client, bucket: str, key: str, like: _core.ObjectMetadata) -> None:
        self._client, self._bucket, self._key = client, bucket, key
        self._parts: list[CompletedPart] = []
        self._size = 0
        self._upload_id = client.create_multipart_upload(
            bucket, key, storage_class=like.storage_class, content_type=like.content_type, metadata=like.user_metadata
        )

    def copy(self, bucket: str, key: str, source: _core.ObjectMetadata, part_bytes: int) -> None:
        """Copies the version of an object that `source` describes, in parts of at most about `part_bytes` bytes."""
        ranges = shares(source.size, max(part_bytes, -(-source.size // (MAX_PARTS // 2))))
        first = len(self._parts) + 1

        def copy_part(number: int) -> CompletedPart:
            return self._client.upload_part_copy(
                self._bucket, self._key, self._upload_id, first + number, bucket, key,
                src_range=ranges[number], src_if_match=source.etag,
            )  # fmt: skip

        with ThreadPoolExecutor(min(PARALLEL_COPIES, len(ranges))) as threads:
            self._parts += threads.map(copy_part, range(len(ranges)))
        self._size += source.size

    def write(self, data: Buffer) -> None:
        number = len(self._parts) + 1
        self._parts.append(self._client.upload_part(self._bucket, self._key, self._upload_id, number, data))
        self._size += len(data)

    @property
    def parts(self) -> int:
        return len(self._parts)

    def publish(self) -> None:
        try:
            self._client.complete_multipart_upload(self._bucket, self._key, self._upload_id, self._parts)
        except S3NotFoundError as error:
            # An earlier attempt may have succeeded without a response.
            if error.code != "NoSuchUpload" or not self._is_there():
                raise

    def _is_there(self) -> bool:
        head = self._client.core.head_object(self._bucket, self._key)
        return head.size == self._size and head.etag.endswith(f"-{len(self._parts)}")

    def abort(self) -> None:
        with suppress(S3NotFoundError):
            self._client.abort_multipart_upload(self._bucket, self._key, self._upload_id)

    @contextmanager
    def abort_on_error(self) -> Iterator[None]:
        """A context manager that aborts the upload if the block raises. Errors of aborting are logged."""
        try:
            yield
        except BaseException:
            try:
                self.abort()
            except S3Exception:
                log.exception("cannot abort a multipart upload")
            raise


def copy_in_parts(client: S3Client, source: tuple[str, str], target: tuple[str, str], part_bytes: int = COPY_PART) -> None:
    """Copies one version of an object of any size inside S3, in parallel, with its content type and metadata."""
    head = client.core.head_object(*source)
    joined = JoinedObject(client, *target, head)
    with joined.abort_on_error():
        joined.copy(*source, head, part_bytes)
        joined.publish()


class AppendStream:
    """A stream for :class:`~penstock.S3Writer` that appends to an object of at least 5 MiB.

    Copies the existing bytes inside S3. Nothing changes before :meth:`close`, or if nothing is written.
    """

    def __init__(self, client: S3Client, bucket: str, key: str, head: _core.ObjectMetadata) -> None:
        self._joined = JoinedObject(client, bucket, key, head)
        self._rest = bytearray()
        self._closed = self._wrote = False
        with self._joined.abort_on_error():
            self._joined.copy(bucket, key, head, MAX_COPY_BYTES)

    def _part_bytes(self) -> int:
        return APPENDED_PART << (self._joined.parts // 1000)

    def write(self, data: Buffer) -> int:
        if self._closed:
            raise S3Exception("Cannot write to closed object")
        view = memoryview(data).cast("B")
        self._wrote = self._wrote or len(view) > 0
        self._rest += view
        while len(self._rest) >= self._part_bytes():
            part = bytes(memoryview(self._rest)[: self._part_bytes()])
            self._closed = True  # stays so if sending fails
            with self._joined.abort_on_error():
                self._joined.write(part)
            self._closed = False
            del self._rest[: len(part)]
        return len(view)

    def close(self) -> None:
        if self._closed:
            raise S3Exception("Cannot close object more than once")
        if not self._wrote:
            return self.abort()
        self._closed = True
        with self._joined.abort_on_error():
            if self._rest:
                self._joined.write(bytes(self._rest))
            self._joined.publish()
        return None

    def abort(self) -> None:
        if not self._closed:
            self._closed = True
            self._rest.clear()
            self._joined.abort()
