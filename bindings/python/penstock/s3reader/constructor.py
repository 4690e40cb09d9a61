"""S3ReaderConstructor: factory of the kinds of reader."""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from functools import partial
from types import NoneType
from typing import Any, cast

from .._config import check_type, size_of
from .adaptive import AdaptiveS3Reader
from .dcp_optimized import DEFAULT_MAX_GAP_SIZE, FALLBACK_GUIDANCE, DCPOptimizedS3Reader, checked_max_gap_size
from .protocol import GetObjectInfoCallable, GetStreamCallable, ItemRange, S3Reader, S3ReaderConstructorProtocol
from .ranged import RangedS3Reader
from .sequential import SequentialS3Reader

log = logging.getLogger(__name__)

# Names for the User-Agent. The default reader reports "sequential", as the reference connector's default does.
_NAMES = {AdaptiveS3Reader: "sequential", SequentialS3Reader: "sequential", RangedS3Reader: "range_based"}


class DCPOptimizedConstructor:
    """Makes a :class:`DCPOptimizedS3Reader` for each object that a load plan reads. Picklable.

    Args:
        max_gap_size: The most bytes between two items that one request fetches and drops, as a number or a text such as
            ``"1MiB"``; ``float("inf")``: no limit.

    Raises:
        ValueError: `max_gap_size` is negative, or a text that is not a size.
        TypeError: `max_gap_size` is neither a number nor a text.

    Source: ``s3torchconnector.s3reader.DCPOptimizedConstructor``.
    """

    def __init__(self, max_gap_size: int | float | str = DEFAULT_MAX_GAP_SIZE) -> None:
        self._max_gap_size = checked_max_gap_size(max_gap_size)
        self._item_ranges_by_file: dict[str, list[ItemRange]] = {}

    def set_item_ranges_by_file(
        self, plan_items: list[Any], storage_data: dict[Any, Any], base_path: str | os.PathLike[str]
    ) -> None:
        """Sets the ranges to read to those of `plan_items`. Replaces earlier ranges.

        Arguments as in :meth:`DCPS3ReaderConstructorProtocol.set_item_ranges_by_file`.

        Raises:
            ValueError: `storage_data` is empty, but `plan_items` is not.
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
        """Returns a reader for an object. For ``.metadata``, which is not part of a plan, returns a sequential reader.

        Raises:
            ValueError: The plan has no ranges of the object.
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
    """Factory of reader constructors, which are picklable. Not instantiated.

    Source: ``s3torchconnector.S3ReaderConstructor``.
    """

    @staticmethod
    def sequential() -> S3ReaderConstructorProtocol:
        """Returns a constructor of readers that read the object from its start and keep all bytes, so seeking back is free."""
        return cast(S3ReaderConstructorProtocol, partial(SequentialS3Reader))

    @staticmethod
    def range_based(buffer_size: int | str | None = None) -> S3ReaderConstructorProtocol:
        """Returns a constructor of readers that fetch only the ranges they read. Small reads use a buffer.

        Args:
            buffer_size: Bytes, or a text such as ``"1MiB"``; None: 8 MiB; 0: no buffer.

        Raises:
            ValueError: `buffer_size` is a text that is not a size.
            TypeError: `buffer_size` is neither an int nor a str.
        """
        check_type("buffer_size", buffer_size, (int, str, NoneType))
        return cast(S3ReaderConstructorProtocol, partial(RangedS3Reader, buffer_size=size_of("buffer_size", buffer_size)))

    @staticmethod
    def dcp_optimized(max_gap_size: int | float | str = DEFAULT_MAX_GAP_SIZE) -> DCPOptimizedConstructor:
        """Returns a constructor of readers for the planned ranges of a distributed checkpoint, read in order.

        For ``S3StorageReader``. One request fetches ranges that are close to each other.

        Args:
            max_gap_size: The most bytes between two ranges of one request, as a number or a text such as ``"1MiB"``;
                ``float("inf")``: no limit; 0: only adjacent ranges.

        Raises:
            ValueError: `max_gap_size` is negative, or a text that is not a size.
            TypeError: `max_gap_size` is neither a number nor a text.
        """
        return DCPOptimizedConstructor(max_gap_size)

    @staticmethod
    def default() -> S3ReaderConstructorProtocol:
        """Returns a constructor of readers that adapt to the access pattern.

        They fetch small objects as a whole, prefetch large ones during sequential reads, and otherwise fetch only what is read.
        The readers are instances of :class:`SequentialS3Reader`, and their type string is "sequential".
        """
        return cast(S3ReaderConstructorProtocol, partial(AdaptiveS3Reader))

    @staticmethod
    def get_reader_type_string(constructor: S3ReaderConstructorProtocol | None) -> str:
        """Returns the kind of reader that `constructor` makes, for the User-Agent; "unknown" for other constructors."""
        if constructor is None:
            constructor = S3ReaderConstructor.default()
        if isinstance(constructor, DCPOptimizedConstructor):
            return "dcp_optimized"
        return _NAMES.get(getattr(constructor, "func", None), "unknown")  # type: ignore[arg-type]
