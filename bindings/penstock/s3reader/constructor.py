"""S3ReaderConstructor: names for the kinds of reader."""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from functools import partial
from types import NoneType
from typing import Any, cast

from .._config import check_type
from .adaptive import AdaptiveS3Reader
from .dcp_optimized import DEFAULT_MAX_GAP_SIZE, FALLBACK_GUIDANCE, DCPOptimizedS3Reader
from .protocol import GetObjectInfoCallable, GetStreamCallable, ItemRange, S3Reader, S3ReaderConstructorProtocol
from .ranged import RangedS3Reader
from .sequential import SequentialS3Reader

log = logging.getLogger(__name__)

# The default is a sequential reader to whoever asks, as it is the reference's.
_NAMES = {AdaptiveS3Reader: "sequential", SequentialS3Reader: "sequential", RangedS3Reader: "range_based"}


class DCPOptimizedConstructor:
    """Makes a :class:`DCPOptimizedS3Reader` of each object that a load plan reads. Picklable.

    Args:
        max_gap_size: Bytes between items that are received and dropped rather than ask twice; ``float("inf")``: any number.

    Raises:
        ValueError: max_gap_size is negative.
        TypeError: it is no number.

    Source: ``s3torchconnector.s3reader.DCPOptimizedConstructor``.
    """

    def __init__(self, max_gap_size: int | float = DEFAULT_MAX_GAP_SIZE) -> None:
        if max_gap_size < 0:
            raise ValueError("max_gap_size must be non-negative")
        self._max_gap_size = max_gap_size
        self._item_ranges_by_file: dict[str, list[ItemRange]] = {}

    def set_item_ranges_by_file(
        self, plan_items: list[Any], storage_data: dict[Any, Any], base_path: str | os.PathLike[str]
    ) -> None:
        """Replaces what it knows by the ranges of `plan_items`.

        Arguments as in :meth:`DCPS3ReaderConstructorProtocol.set_item_ranges_by_file`.

        Raises:
            ValueError: there are items, and `storage_data` is empty.
        """
        ranges: defaultdict[str, list[ItemRange]] = defaultdict(list)
        if not plan_items:
            log.debug("the plan has no items: no ranges to read")
        elif not storage_data:
            raise ValueError("storage_data must not be empty; required to map ReadItems to file ranges.")
        for item in plan_items:
            info = storage_data[item.storage_index]
            uri = os.path.join(os.fspath(base_path), info.relative_path)  # noqa: PTH118  (a URI)
            ranges[uri].append(ItemRange(info.offset, info.offset + info.length))
        self._item_ranges_by_file = ranges

    def __call__(self, bucket: str, key: str, get_object_info: GetObjectInfoCallable, get_stream: GetStreamCallable) -> S3Reader:
        """A reader of an object; of ``.metadata``, which no plan names, one that reads it from its start.

        Raises:
            ValueError: no plan names the object.
        """
        if key.endswith(".metadata"):
            return SequentialS3Reader(bucket, key, get_object_info, get_stream)
        uri = f"s3://{bucket}/{key}"
        if uri not in self._item_ranges_by_file:
            raise ValueError(
                f"No ranges found for {uri}. Make sure range injection is used in 'S3StorageReader.prepare_local_plan'.\n"
                + FALLBACK_GUIDANCE
            )
        ranges = self._item_ranges_by_file[uri]
        return DCPOptimizedS3Reader(bucket, key, ranges, get_object_info, get_stream, self._max_gap_size)


class S3ReaderConstructor:
    """Factory of reader constructors; never instantiated. Each result is picklable.

    Source: ``s3torchconnector.S3ReaderConstructor``.
    """

    @staticmethod
    def sequential() -> S3ReaderConstructorProtocol:
        """Gives readers that read the object from its start and keep what they have read: seeking back costs nothing."""
        return cast(S3ReaderConstructorProtocol, partial(SequentialS3Reader))

    @staticmethod
    def range_based(buffer_size: int | None = None) -> S3ReaderConstructorProtocol:
        """Gives readers that read just the ranges asked for; small reads through a buffer.

        Args:
            buffer_size: Bytes; None: 8 MiB; 0: no buffer.

        Raises:
            TypeError: buffer_size is not an int.
        """
        check_type("buffer_size", buffer_size, (int, NoneType))
        return cast(S3ReaderConstructorProtocol, partial(RangedS3Reader, buffer_size=buffer_size))

    @staticmethod
    def dcp_optimized(max_gap_size: int | float = DEFAULT_MAX_GAP_SIZE) -> DCPOptimizedConstructor:
        """Gives readers of the ranges of a distributed checkpoint's plan, in order, near ones by one request.

        For ``S3StorageReader``.

        Args:
            max_gap_size: Bytes between ranges up to which they are near; ``float("inf")``: always; 0: only neighbours.

        Raises:
            ValueError: max_gap_size is negative.
            TypeError: it is no number.
        """
        return DCPOptimizedConstructor(max_gap_size)

    @staticmethod
    def default() -> S3ReaderConstructorProtocol:
        """Gives readers that fetch as their use asks for: small objects whole, large ones in order ahead, or just what is read.

        They are instances of :class:`SequentialS3Reader` and its name is "sequential".
        """
        return cast(S3ReaderConstructorProtocol, partial(AdaptiveS3Reader))

    @staticmethod
    def get_reader_type_string(constructor: S3ReaderConstructorProtocol | None) -> str:
        """Name of the kind of reader for the User-Agent; "unknown" for a constructor that is not ours."""
        if constructor is None:
            constructor = S3ReaderConstructor.default()
        if isinstance(constructor, DCPOptimizedConstructor):
            return "dcp_optimized"
        return _NAMES.get(getattr(constructor, "func", None), "unknown")  # type: ignore[arg-type]
