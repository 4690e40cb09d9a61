"""One upload: between the C++ core and the writers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from ._exceptions import S3Exception

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._progress import ProgressCallback

    Buffer = bytes | bytearray | memoryview
    Metadata = Sequence[tuple[str, str]]


class PutObjectStream:
    """One upload. :meth:`close` publishes the object; :meth:`abort`, or losing the stream, leaves nothing behind.

    Args:
        content_type: None: S3's default.
        metadata: Names without ``x-amz-meta-``, and values of printable ASCII.
        if_none_match: Publish only where no object has that key; else ``close`` raises S3PreconditionFailedError.
    """

    def __init__(
        self,
        client: _core.Client,
        bucket: str,
        key: str,
        storage_class: str | None,
        part_size: int | None,
        progress: ProgressCallback | None = None,
        parallel: int | None = None,
        *,
        content_type: str | None = None,
        metadata: Metadata = (),
        if_none_match: bool = False,
        size_hint: int | None = None,
    ) -> None:
        self.bucket = bucket
        self.key = key
        self._closed = False
        self._progress = progress
        self._writer = _core.Writer(
            client,
            bucket,
            key,
            storage_class or "",
            content_type or "",
            list(metadata),
            part_size,
            parallel,
            if_none_match,
            size_hint,
        )

    def write(self, data: Buffer) -> int:
        """Takes all bytes of a buffer and returns their number."""
        if self._closed:
            raise S3Exception("Cannot write to closed object")
        return self._writer.write(data, self._progress)

    def lend(self, address: int, size: int, owner: object) -> None:
        """Writes memory from where it lies; `owner` keeps it, unchanged, until :meth:`settle`, close or abort has returned."""
        if self._closed:
            raise S3Exception("Cannot write to closed object")
        self._writer.lend(address, size, owner, self._progress)

    def settle(self) -> None:
        """Waits until nothing that was lent is needed any more."""
        self._writer.settle(self._progress)

    def close(self) -> None:
        if self._closed:
            raise S3Exception("Cannot close object more than once")
        self._closed = True
        self._writer.finish(self._progress)

    def abort(self) -> None:
        """Gives the upload up; does nothing after a successful close."""
        self._closed = True
        self._writer.abort()
