"""S3ReaderConstructor: names for the kinds of reader."""

from __future__ import annotations

from functools import partial
from typing import cast

from .protocol import S3ReaderConstructorProtocol
from .ranged import RangedS3Reader
from .sequential import SequentialS3Reader

_NAMES = {SequentialS3Reader: "sequential", RangedS3Reader: "range_based"}


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
        """
        return cast(S3ReaderConstructorProtocol, partial(RangedS3Reader, buffer_size=buffer_size))

    @staticmethod
    def default() -> S3ReaderConstructorProtocol:
        return S3ReaderConstructor.sequential()

    @staticmethod
    def get_reader_type_string(constructor: S3ReaderConstructorProtocol | None) -> str:
        """Name of the kind of reader for the User-Agent; "unknown" for a constructor that is not ours."""
        if constructor is None:
            return _NAMES[SequentialS3Reader]
        return _NAMES.get(getattr(constructor, "func", None), "unknown")  # type: ignore[arg-type]
