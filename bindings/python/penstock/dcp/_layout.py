"""Predicts the position of the payload in an item of a distributed checkpoint before the item is read.

An item is a ``torch.save`` archive of one tensor. Its records start at multiples of 64 bytes. The size of the trailer, all bytes
after the payload, therefore depends only on the payload size modulo 64 and on the program that wrote the item: a version of
torch, or Penstock. The header is the rest. ``_core.ItemLoader`` verifies each prediction.
"""

from __future__ import annotations

import functools
import io

import torch

from ..s3reader._zip_directory import entries_of, find_directory
from ..s3reader._zip_records import content_begin
from . import _archive

ALIGNMENT = 64
MAX_OVERHEAD = 4096  # bytes before a payload, and after it, at most
LARGE = 0xFFFF_0000  # from this payload size on, zip64 fields enlarge the trailer: read it first


@functools.cache
def _tail_of_this_torch(payload: int) -> int:
    """Returns the trailer size that this version of torch writes for a payload of `payload` bytes."""
    file = io.BytesIO()
    torch.save(torch.zeros(payload, dtype=torch.uint8, device="cpu"), file)
    data = file.getvalue()
    place = find_directory(data, len(data))
    entries = entries_of(data[place.start : place.end]) if place is not None else []
    start = next((entry.start for entry in entries if entry.name.endswith(b"/data/0")), None)
    return 0 if start is None else len(data) - (start + content_begin(data[start:])) - payload


@functools.cache
def _tail_of_our_writer(payload: int) -> int:
    """Returns the trailer size that :class:`S3StorageWriter` writes. Smaller, because it omits one record of torch."""
    return len(_archive.frame_of(b"", payload).tail)


class TrailerSizes:
    """Trailer sizes by payload size. Knows those of Penstock and of this version of torch, and learns others from items."""

    def __init__(self) -> None:
        self._learned: dict[tuple[int, bool], int] = {}

    @staticmethod
    def _kind(payload: int) -> tuple[int, bool]:
        return (payload % ALIGNMENT if payload else -1, payload >= LARGE)

    def find(self, payload: int, around: int) -> int | None:
        """Returns the trailer size of an item whose payload starts at a multiple of 64.

        Args:
            payload: Payload size in bytes.
            around: Size of header and trailer together, in bytes.

        Returns:
            The trailer size in bytes; None if it is unknown, and the item must be read first.
        """
        kind = self._kind(payload)
        learned = self._learned.get(kind)
        if learned is not None and around > learned and (around - learned) % ALIGNMENT == 0:
            return learned
        if kind[1]:
            return None
        like = (kind[0] or ALIGNMENT) if payload else 0
        for tail_of in (_tail_of_our_writer, _tail_of_this_torch):
            tail = tail_of(like)
            if around > tail and (around - tail) % ALIGNMENT == 0:
                return tail
        return None

    def learn(self, payload: int, tail: int) -> None:
        if 0 < tail <= MAX_OVERHEAD:
            self._learned[self._kind(payload)] = tail
