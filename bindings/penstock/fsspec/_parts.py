"""Multipart uploads: copies above the size limit of one request, appending, merging, and writes with any attribute."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from .._exceptions import S3Exception, S3NotFoundError
from ._attributes import copied_attributes, merged

if TYPE_CHECKING:
    from .._client import S3Client
    from .._streams import Buffer
    from ..requests import CompletedPart, ObjectMetadata
    from ._attributes import Attributes

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
        attributes: Attributes of the new object.
    """

    def __init__(self, client: S3Client, bucket: str, key: str, attributes: Attributes) -> None:
        self._client, self._bucket, self._key = client, bucket, key
        self._parts: list[CompletedPart] = []
        self._size = 0
        self._upload_id = client.create_multipart_upload(bucket, key, **attributes)

    def copy(self, bucket: str, key: str, source: ObjectMetadata, part_bytes: int, version_id: str | None = None) -> None:
        """Copies the version of an object that `source` describes, in parts of at most about `part_bytes` bytes.

        Without `version_id`, it must still be the current version.
        """
        ranges = shares(source.size, max(part_bytes, -(-source.size // (MAX_PARTS // 2))))
        first = len(self._parts) + 1

        def copy_part(number: int) -> CompletedPart:
            return self._client.upload_part_copy(
                self._bucket, self._key, self._upload_id, first + number, bucket, key,
                src_range=ranges[number], src_if_match=source.etag, src_version_id=version_id,
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

    def publish(self, if_none_match: bool = False) -> None:
        """Publishes the object. With `if_none_match`, only if the key has no object."""
        try:
            self._client.complete_multipart_upload(
                self._bucket, self._key, self._upload_id, self._parts, if_none_match=if_none_match
            )
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


def copy_in_parts(
    client: S3Client,
    source: tuple[str, str],
    target: tuple[str, str],
    part_bytes: int = COPY_PART,
    *,
    version_id: str | None = None,
    override: Attributes | None = None,
) -> None:
    """Copies one version of an object of any size inside S3, in parallel, with its attributes and tags.

    Args:
        client: Sends the requests.
        source: Bucket and key.
        target: Bucket and key.
        part_bytes: The most bytes of one part.
        version_id: Version to copy; None: the current one.
        override: Attributes of the copy that differ from those of the source.
    """
    head = client.head(*source, version_id=version_id)
    joined = JoinedObject(client, *target, merged(copied_attributes(client, *source, head), override or {}))
    with joined.abort_on_error():
        joined.copy(*source, head, part_bytes, version_id)
        joined.publish()


class PartsStream:
    """A stream for :class:`~penstock.S3Writer` with all attributes of an object, and with existing bytes before the written ones.

    Objects below 16 MiB are written by one request, others by a multipart upload, one part after the other.

    Args:
        client: Sends the requests.
        bucket: Bucket.
        key: Key.
        attributes: Attributes of the object.
        create: Publish only if the object does not exist.
        after: The version of the object to append to: S3 copies its bytes, at least 5 MiB. Nothing changes before :meth:`close`,
            or if nothing is written. None: the stream replaces the object.
    """

    def __init__(
        self,
        client: S3Client,
        bucket: str,
        key: str,
        attributes: Attributes,
        *,
        create: bool = False,
        after: ObjectMetadata | None = None,
    ) -> None:
        self._place = (client, bucket, key)
        self._attributes = attributes
        self._create = create
        self._appends = after is not None
        self._rest = bytearray()
        self._joined: JoinedObject | None = None
        self._closed = self._wrote = False
        if after is not None:
            joined = self._begun()
            with joined.abort_on_error():
                joined.copy(bucket, key, after, MAX_COPY_BYTES)

    def _begun(self) -> JoinedObject:
        if self._joined is None:
            self._joined = JoinedObject(*self._place, self._attributes)
        return self._joined

    def _part_bytes(self) -> int:
        return APPENDED_PART << ((self._joined.parts if self._joined is not None else 0) // 1000)

    def write(self, data: Buffer) -> int:
        if self._closed:
            raise S3Exception("Cannot write to closed object")
        view = memoryview(data).cast("B")
        self._wrote = self._wrote or len(view) > 0
        self._rest += view
        while len(self._rest) >= self._part_bytes():
            part = bytes(memoryview(self._rest)[: self._part_bytes()])
            self._closed = True  # stays so if sending fails
            joined = self._begun()
            with joined.abort_on_error():
                joined.write(part)
            self._closed = False
            del self._rest[: len(part)]
        return len(view)

    def close(self) -> None:
        if self._closed:
            raise S3Exception("Cannot close object more than once")
        if self._appends and not self._wrote:
            return self.abort()
        self._closed = True
        joined = self._joined
        if joined is None:
            client, bucket, key = self._place
            client.put(bucket, key, bytes(self._rest), if_none_match=self._create, **self._attributes)
            return None
        with joined.abort_on_error():
            if self._rest:
                joined.write(bytes(self._rest))
            joined.publish(self._create)
        return None

    def abort(self) -> None:
        if not self._closed:
            self._closed = True
            self._rest.clear()
            if self._joined is not None:
                self._joined.abort()
