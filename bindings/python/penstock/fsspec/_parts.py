"""Multipart uploads: copies above the size limit of one request, appending, and writes with any attribute."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .._exceptions import S3Exception
from .._writer import check_process
from ..requests._parts import MAX_COPY_BYTES, JoinedObject, copied_attributes, copy_in_parts, merged

if TYPE_CHECKING:
    from .._client import S3Client
    from .._streams import Buffer
    from ..requests import ObjectMetadata
    from ..requests._parts import Attributes

MIB = 1024**2
MIN_PART = 5 * MIB  # S3's minimum part size, except for the last part
APPENDED_PART = 16 * MIB


def copy_with_attributes(
    client: S3Client,
    source: tuple[str, str],
    target: tuple[str, str],
    *,
    version_id: str | None = None,
    override: Attributes | None = None,
) -> None:
    """Copies one version of an object of any size inside S3, in parallel, with its attributes and tags.

    Args:
        client: Sends the requests.
        source: Bucket and key.
        target: Bucket and key.
        version_id: Version to copy; None: the current one.
        override: Attributes of the copy that differ from those of the source.
    """
    head = client.head(*source, version_id=version_id)
    attributes = merged(copied_attributes(client, *source, head), override or {})
    copy_in_parts(client, source, target, head, attributes, version_id=version_id)


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
        self._process = os.getpid()
        self._closed = self._wrote = False
        self._sending = self._aborted = False  # a thread is in write(); another has called abort()
        if after is not None:
            joined = self._begun()
            with joined.abort_on_error():
                joined.copy(bucket, key, after, part_bytes=MAX_COPY_BYTES)

    def _begun(self) -> JoinedObject:
        if self._joined is None:
            self._joined = JoinedObject(*self._place, self._attributes)
        return self._joined

    def _part_bytes(self) -> int:
        return APPENDED_PART << ((self._joined.parts if self._joined is not None else 0) // 1000)

    def write(self, data: Buffer) -> int:
        check_process(self._process)
        if self._closed:
            raise S3Exception("Cannot write to closed object")
        view = memoryview(data).cast("B")
        self._wrote = self._wrote or len(view) > 0
        self._rest += view
        while len(self._rest) >= self._part_bytes():
            part = bytes(memoryview(self._rest)[: self._part_bytes()])
            self._closed = self._sending = True  # stays closed if sending fails
            try:
                joined = self._begun()
                with joined.abort_on_error():
                    self._check_not_aborted()
                    joined.write(part)
                    self._check_not_aborted()
            finally:
                self._sending = False
            self._closed = False
            del self._rest[: len(part)]
        return len(view)

    def close(self) -> None:
        check_process(self._process)
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

    def _check_not_aborted(self) -> None:
        if self._aborted:
            raise S3Exception("the upload was aborted during this call")

    def abort(self) -> None:
        """Discards the upload, also while another thread is in :meth:`write`, which then raises. Does nothing after `close`."""
        if not self._closed or self._sending:
            self._closed = self._aborted = True
            self._rest = bytearray()
            if self._joined is not None:
                self._joined.abort()
