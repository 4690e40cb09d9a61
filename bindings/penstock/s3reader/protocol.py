"""The abstract reader, how readers are made, and the argument rules all of them share."""

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
    """Gives the bytes [start, end) of the object as an iterator of ``bytes``; None: the object's ends.

    Source: ``s3torchconnector.s3reader.GetStreamCallable``.
    """

    def __call__(self, start: int | None = None, end: int | None = None) -> Iterator[bytes]: ...


class GetObjectInfoCallable(Protocol):
    """Gives something with the object's ``size``; may send a HEAD request."""

    def __call__(self) -> ObjectInfo | HeadObjectResult: ...


class S3Reader(io.BufferedIOBase, abc.ABC):
    """A read-only, seekable file over one S3 object. Nothing is requested before the first read.

    All bytes that one reader returns are of one version of the object: if it changes meanwhile, reading raises
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
        """Returns `size` bytes, fewer at the end; all the rest when `size` is None or negative.

        Raises:
            S3Exception: S3 refused, or all attempts were used up.
            TypeError: `size` is neither an int nor None.
        """

    @abc.abstractmethod
    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        """Moves the position; beyond the end it stays at the end. Returns it.

        Args:
            offset: Bytes from where `whence` says.
            whence: ``io.SEEK_SET``, ``SEEK_CUR`` or ``SEEK_END``, which may ask S3 for the size.

        Raises:
            ValueError: It would be before the beginning, or `whence` is another number.
            TypeError: One of them is no int.
        """

    @abc.abstractmethod
    def tell(self) -> int: ...

    @abc.abstractmethod
    def readinto(self, buf: Any) -> int:
        """Fills the writable buffer `buf`; returns how many bytes were read, 0 at the end.

        Raises:
            S3Exception: As from :meth:`read`.
            TypeError: `buf` is no buffer that can be written.
        """

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False


class S3ReaderConstructorProtocol(Protocol):
    """Makes a reader; always called with keywords.

    Args:
        bucket: The object's bucket.
        key: Its key.
        get_object_info: Gives something with its ``size`` in bytes; may send a HEAD request.
        get_stream: Gives bytes of it, see :class:`GetStreamCallable`.

    Source: ``s3torchconnector.s3reader.S3ReaderConstructorProtocol``.
    """

    def __call__(
        self, *, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable
    ) -> S3Reader: ...


@runtime_checkable
class DCPS3ReaderConstructorProtocol(Protocol):
    """Makes a reader of a checkpoint's object, and is told beforehand which ranges a load plan will read.

    Source: ``s3torchconnector.s3reader.DCPS3ReaderConstructorProtocol``.
    """

    _item_ranges_by_file: dict[str, list[ItemRange]]

    def __call__(
        self, *, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable
    ) -> S3Reader: ...

    def set_item_ranges_by_file(
        self, plan_items: list[Any], storage_data: dict[Any, Any], base_path: str | os.PathLike[str]
    ) -> None:
        """Tells which ranges will be read.

        Args:
            plan_items: torch's ReadItems.
            storage_data: What the checkpoint's metadata says of where they are.
            base_path: ``s3://bucket/prefix`` of the checkpoint.
        """


def check_size(size: object) -> int | None:
    """The `size` argument of read: None for "all the rest"."""
    if size is not None and not isinstance(size, int):
        raise TypeError(f"argument should be integer or None, not {type(size)!r}")
    return None if size is None or size < 0 else size


def seek_target(position: int, offset: object, whence: object, get_size: Callable[[], int]) -> int:
    """Where a seek from `position` leads, not yet clamped to the object's size. Asks for the size only for SEEK_END."""
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
    """A byte view of a writable buffer."""
    try:
        view = memoryview(buf)
    except TypeError:
        view = None
    if view is None or view.readonly:
        raise TypeError(f"argument must be a writable bytes-like object, not {type(buf).__name__}")
    return view.cast("B") if view.nbytes else memoryview(bytearray())  # memoryview casts no shape that has a zero
