"""PutObjectStream: one upload by the C++ core, used by the writers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import NoneType
from typing import TYPE_CHECKING

from . import _core
from ._config import check_text, check_type
from ._exceptions import S3Exception

if TYPE_CHECKING:
    from ._progress import ProgressCallback

    Buffer = bytes | bytearray | memoryview
    Metadata = Mapping[str, str] | Iterable[tuple[str, str]]


def _metadata_pairs(metadata: Metadata) -> list[tuple[str, str]]:
    """Checks the metadata and returns it as pairs. Errors name the parameter and never contain a value."""
    if not isinstance(metadata, Iterable) or isinstance(metadata, (str, bytes)):
        raise TypeError(f"metadata must be a mapping of str to str, or pairs of str, not {type(metadata).__name__}")
    pairs: list[tuple[str, str]] = []
    for pair in metadata.items() if isinstance(metadata, Mapping) else metadata:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            length = f" with {len(pair)} elements" if isinstance(pair, (tuple, list)) else ""
            raise TypeError(f"metadata[{len(pairs)}] must be a pair of str, not {type(pair).__name__}{length}")
        name, value = pair
        check_type("a name in metadata", name, (str,))
        check_text("a name in metadata", name)
        check_type(f"metadata[{name!r}]", value, (str,))
        check_text(f"metadata[{name!r}]", value)
        pairs.append((name, value))
    return pairs


class PutObjectStream:
    """One upload. :meth:`close` publishes the object; :meth:`abort` and garbage collection discard the upload.

    Args:
        client: The C++ client.
        bucket: The bucket.
        key: The object key.
        storage_class: None: S3's default.
        part_size: Bytes of each part. None: chosen by the client.
        progress: Called with the uploaded bytes and the total number of bytes.
        parallel: Maximum number of concurrent part uploads. None: chosen by the client.
        content_type: None: S3's default.
        metadata: A mapping, or pairs, of names without ``x-amz-meta-`` to values of printable ASCII.
        if_none_match: Create the object only if none has this key; otherwise ``close`` raises S3PreconditionFailedError.
        size_hint: Approximate size of the object in bytes. None: unknown.

    Raises:
        TypeError: `storage_class`, `content_type` or `metadata` is of another type.
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
        check_type("storage_class", storage_class, (str, NoneType))
        check_type("content_type", content_type, (str, NoneType))
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
            _metadata_pairs(metadata),
            part_size,
            parallel,
            if_none_match,
            size_hint,
        )

    def write(self, data: Buffer) -> int:
        """Writes all bytes of a buffer and returns their number."""
        if self._closed:
            raise S3Exception("Cannot write to closed object")
        return self._writer.write(data, self._progress)

    def write_no_copy(self, address: int, size: int, owner: object) -> None:
        """Writes `size` bytes at `address` without copying them.

        `owner` keeps the memory alive. It must not change before :meth:`drain`, :meth:`close` or :meth:`abort` returns.
        """
        if self._closed:
            raise S3Exception("Cannot write to closed object")
        self._writer.write_no_copy(address, size, owner, self._progress)

    def write_no_copy_with_crc(self, address: int, size: int, owner: object) -> int:
        """As :meth:`write_no_copy`; returns the CRC64NVME of the bytes."""
        if self._closed:
            raise S3Exception("Cannot write to closed object")
        return self._writer.write_no_copy_with_crc(address, size, owner, self._progress)

    def reserve_head(self, size: int) -> None:
        """Reserves the first bytes of the object for :meth:`replace_head`, before the first write.

        The first part, of at least 5 MiB, then stays in memory until :meth:`close`.
        """
        self._writer.reserve_head(size)

    def replace_head(self, data: Buffer) -> None:
        """Replaces the first bytes of the object, which must be reserved and written."""
        self._writer.replace_head(data)

    def drain(self) -> None:
        """Waits until the upload no longer uses memory passed to :meth:`write_no_copy`."""
        self._writer.drain(self._progress)

    @property
    def inside(self) -> bool:
        """Whether this thread is inside a call of this stream, that is, in its progress callback or in a signal handler."""
        return self._writer.inside()

    def close(self) -> None:
        """Publishes the object and waits for S3's acknowledgement."""
        if self.inside:
            self._writer.finish()  # raises ValueError
        if self._closed:
            raise S3Exception("Cannot close object more than once")
        self._closed = True
        self._writer.finish(self._progress)

    def abort(self) -> None:
        """Discards the upload. Does nothing after a successful close."""
        self._closed = True
        self._writer.abort()
