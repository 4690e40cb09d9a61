"""The abstract reader, the protocols of reader constructors, and argument checks that all readers share."""

from __future__ import annotations

import abc
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import SEEK_CUR, SEEK_END, SEEK_SET
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import os

    from .._objects import HeadObjectResult, ObjectInfo


@dataclass
class ItemRange:
    """Bytes [start, end) of an object.

    Source: ``s3torchconnector.s3reader.ItemRange``.
    """

    start: int
    end: int


class GetStreamCallable(Protocol):
    """Returns the bytes [start, end) of the object as an iterator of ``bytes``. None: from the first byte, or to the last.

    Source: ``s3torchconnector.s3reader.GetStreamCallable``.
    """

    def __call__(self, start: int | None = None, end: int | None = None) -> Iterator[bytes]: ...


class GetObjectInfoCallable(Protocol):
    """Returns metadata with the object's ``size`` in bytes. May send a HEAD request."""

    def __call__(self) -> ObjectInfo | HeadObjectResult: ...


class S3Reader(io.BufferedIOBase, abc.ABC):
    """A read-only, seekable file object over one S3 object. Sends no request before the first read.

    All bytes that a reader returns come from one version of the object: if the object changes, reads raise
    S3PreconditionFailedError. Not thread-safe.

    Source: ``s3torchconnector.S3Reader``.
    """

    @property
    @abc.abstractmethod
    def bucket(self) -> str: ...

    @property
    @abc.abstractmethod
    def key(self) -> str: ...

    @abc.abstractmethod
    def read(self, size: int | None = None) -> bytes:
        """Returns `size` bytes, fewer at the end, or all remaining bytes if `size` is None or negative.

        Raises:
            S3Exception: A request failed after all attempts.
            TypeError: `size` is neither an int nor None.
        """

    @abc.abstractmethod
    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        """Moves the position and returns it. A position beyond the end is clamped to the end.

        Args:
            offset: Bytes relative to `whence`.
            whence: ``io.SEEK_SET``, ``SEEK_CUR`` or ``SEEK_END``. ``SEEK_END`` may send a request for the size.

        Raises:
            ValueError: The position would be negative, or `whence` is another number.
            TypeError: `offset` or `whence` is not an int.
        """

    @abc.abstractmethod
    def tell(self) -> int: ...

    @abc.abstractmethod
    def readinto(self, buf: Any) -> int:
        """Fills the writable buffer `buf`. Returns the number of bytes read, 0 at the end.

        Raises:
            S3Exception: As from :meth:`read`.
            TypeError: `buf` is not a writable buffer.
        """

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False


class S3ReaderConstructorProtocol(Protocol):
    """Makes a reader. Always called with keyword arguments.

    Args:
        bucket: The object's bucket.
        key: The object's key.
        get_object_info: Returns metadata with the object's ``size`` in bytes; may send a HEAD request.
        get_stream: Returns a range of the object, see :class:`GetStreamCallable`.

    Source: ``s3torchconnector.s3reader.S3ReaderConstructorProtocol``.
    """

    def __call__(
        self, *, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable
    ) -> S3Reader: ...


@runtime_checkable
class DCPS3ReaderConstructorProtocol(Protocol):
    """Makes readers for the objects of a checkpoint, given the ranges that a load plan will read.

    Source: ``s3torchconnector.s3reader.DCPS3ReaderConstructorProtocol``.
    """

    _item_ranges_by_file: dict[str, list[ItemRange]]

    def __call__(
        self, *, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable
    ) -> S3Reader: ...

    def set_item_ranges_by_file(
        self, plan_items: list[Any], storage_data: dict[Any, Any], base_path: str | os.PathLike[str]
    ) -> None:
        """Sets the ranges that will be read.

        Args:
            plan_items: torch's ReadItems.
            storage_data: The locations of the items, from the checkpoint's metadata.
            base_path: The checkpoint's URI, ``s3://bucket/prefix``.
        """


def check_size(size: object) -> int | None:
    """Checks the `size` argument of read. Returns None for all remaining bytes."""
    if size is not None and not isinstance(size, int):
        raise TypeError(f"argument should be integer or None, not {type(size)!r}")
    return None if size is None or size < 0 else size


def seek_target(position: int, offset: object, whence: object, get_size: Callable[[], int]) -> int:
    """Returns the target of a seek from `position`, not clamped to the object's size. Calls `get_size` only for SEEK_END."""
    for value in (offset, whence):
        if not isinstance(value, int):
            raise TypeError(f"integer argument expected, got {type(value)!r}")
    assert isinstance(offset, int)
    if whence == SEEK_SET:
        target = offset
    elif whence == SEEK_CUR:
        target = position + offset
    elif whence == SEEK_END:
        target = get_size() + min(offset, 0)
    else:
        raise ValueError("Seek must be passed SEEK_CUR, SEEK_SET, or SEEK_END integers")
    if target < 0:
        raise ValueError(f"negative seek value {target}")
    return target


def writable_bytes(buf: Any) -> memoryview:
    """Returns a byte view of a writable buffer."""
    try:
        view = memoryview(buf)
    except TypeError:
        view = None
    if view is None or view.readonly:
        raise TypeError(f"argument must be a writable bytes-like object, not {type(buf).__name__}")
    return view.cast("B") if view.nbytes else memoryview(bytearray())  # memoryview cannot cast a shape with a zero
