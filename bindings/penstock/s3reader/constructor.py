"""S3ReaderConstructor: names for the kinds of reader."""

from __future__ import annotations

from functools import partial
from types import NoneType
from typing import cast

from .._config import check_type
from .adaptive import AdaptiveS3Reader
from .protocol import S3ReaderConstructorProtocol
from .ranged import RangedS3Reader
from .sequential import SequentialS3Reader

# The default is a sequential reader to whoever asks, as it is the reference's.
_NAMES = {AdaptiveS3Reader: "sequential", SequentialS3Reader: "sequential", RangedS3Reader: "range_based"}


class S3ReaderConstructor:
    """Factory of reader constructors; never instantiated. Each result is picklable."""

    @staticmethod
    def sequential() -> S3ReaderConstructorProtocol:
        """Reads the object from its start and keeps what it has read: seeking back costs nothing."""
        return cast(S3ReaderConstructorProtocol, partial(SequentialS3Reader))

    @staticmethod
    def range_based(buffer_size: int | None = None) -> S3ReaderConstructorProtocol:
        """Reads just the ranges asked for; small reads through a buffer.

        Args:
            buffer_size: Bytes; None: 8 MiB; 0: no buffer.

        Raises:
            TypeError: buffer_size is not an int.
        """
        check_type("buffer_size", buffer_size, (int, NoneType))
        return cast(S3ReaderConstructorProtocol, partial(RangedS3Reader, buffer_size=buffer_size))

    @staticmethod
    def default() -> S3ReaderConstructorProtocol:
        """Fetches as the use of the object asks for: small objects whole, large ones in order ahead, or just what is read.

        Its readers are instances of :class:`SequentialS3Reader` and its name is "sequential".
        """
        return cast(S3ReaderConstructorProtocol, partial(AdaptiveS3Reader))

    @staticmethod
    def get_reader_type_string(constructor: S3ReaderConstructorProtocol | None) -> str:
        """Name of the kind of reader for the User-Agent; "unknown" for a constructor that is not ours."""
        if constructor is None:
            constructor = S3ReaderConstructor.default()
        return _NAMES.get(getattr(constructor, "func", None), "unknown")  # type: ignore[arg-type]
