"""Where the payload is in an item of a distributed checkpoint, before any of it was read.

An item is a file of torch.save with one tensor. Its records begin at multiples of 64, so that what follows the payload has a
length that depends on the payload's length modulo 64 and on the version of torch, and on nothing else; and what precedes it is
the rest. A prediction is not taken for true: what was fetched says itself where it is (``_core.TensorArchives``).
"""

from __future__ import annotations

import functools
import io
from array import array

import torch

from .. import _core

ALIGNMENT = 64
MOST_AROUND = 4096  # bytes that precede or follow a payload, at most
# From here on zip64 fields make what follows longer; there it is looked at first.
LARGE = 0xFFFF_0000

# dtype, sizes, strides, storage offset, storage bytes
Layout = tuple[str, tuple[int, ...], tuple[int, ...], int, int]
Found = Layout | int | None


@functools.cache
def _tail_of_this_torch(payload: int) -> int:
    """Bytes that this version of torch writes after a payload of so many."""
    file = io.BytesIO()
    torch.save(torch.zeros(payload, dtype=torch.uint8, device="cpu"), file)
    begin = payload_begin(file.getvalue())
    return 0 if begin is None else len(file.getvalue()) - begin - payload


def payload_begin(item: bytes) -> int | None:
    """Where the payload of a whole item begins; None: it is no plain tensor."""
    memory = torch.frombuffer(bytearray(item), dtype=torch.uint8)
    found = _core.TensorArchives().read(array("Q", (memory.data_ptr(), 0, 0, memory.data_ptr(), len(item))))[0]
    return found if isinstance(found, int) else None


class Tails:
    """How many bytes follow a payload. Starts with what this version of torch writes and learns from what is found."""

    def __init__(self) -> None:
        self._learned: dict[tuple[int, bool], int] = {}

    @staticmethod
    def _kind(payload: int) -> tuple[int, bool]:
        return (payload % ALIGNMENT if payload else -1, payload >= LARGE)

    def known(self, payload: int) -> int | None:
        """None: it has to be looked at."""
        kind = self._kind(payload)
        tail = self._learned.get(kind)
        if tail is None and not kind[1]:
            tail = self._learned[kind] = _tail_of_this_torch((kind[0] or ALIGNMENT) if payload else 0)
        return tail

    def learn(self, payload: int, tail: int) -> None:
        if 0 < tail <= MOST_AROUND:
            self._learned[self._kind(payload)] = tail


def same_layout(found: Layout, expected: Layout) -> bool:
    """Whether both mean the same elements: strides of dimensions that have none to step over say nothing."""
    if found == expected:
        return True
    if (found[0], found[1], *found[3:]) != (expected[0], expected[1], *expected[3:]):
        return False
    return 0 in found[1] or all(
        size == 1 or one == other for size, one, other in zip(found[1], found[2], expected[2], strict=True)
    )
