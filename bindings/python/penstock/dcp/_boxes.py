"""Maps boxes of row-major tensors to byte ranges in an object and in memory. No I/O; independent of torch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

SHORT_ROW = 4096  # bytes; shorter rows are read through scratch memory instead of directly into the target
SHORT_GAP = 32 * 1024  # bytes; gaps up to this size between short rows are read too

# (begin, address, bytes, count, step in the object, step in memory): `count` pieces.
Strip = tuple[int, int, int, int, int, int]


def row_major(sizes: Sequence[int]) -> tuple[int, ...]:
    """Returns the strides, in elements, of a contiguous tensor of `sizes`."""
    strides = []
    step = 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_one_run(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether a tensor of these sizes and strides fills one memory range without gaps or overlaps, in any dimension order."""
    expected = 1
    for stride, size in sorted(zip(strides, sizes, strict=True)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


class Rows:
    """A box of a stored tensor as runs of bytes, each contiguous in the object and in memory.

    Args:
        lengths: Size of the box in each dimension, in elements.
        stored: Strides of the stored tensor, in elements.
        memory: Strides of the destination, in elements.
        itemsize: Size of an element, in bytes.
    """

    def __init__(self, lengths: Sequence[int], stored: Sequence[int], memory: Sequence[int], itemsize: int) -> None:
        self.run = itemsize  # bytes of one run
        levels: list[tuple[int, int, int]] = []  # innermost first: (count, step in the object, step in memory), steps in bytes
        for size, in_object, in_memory in zip(reversed(lengths), reversed(stored), reversed(memory), strict=True):
            if size == 1:
                continue
            step, memory_step = in_object * itemsize, in_memory * itemsize
            if not levels and step == self.run == memory_step:
                self.run *= size
            elif levels and (step, memory_step) == (levels[-1][0] * levels[-1][1], levels[-1][0] * levels[-1][2]):
                levels[-1] = (levels[-1][0] * size, *levels[-1][1:])
            else:
                levels.append((size, step, memory_step))
        if 0 in lengths:
            self.run, levels = 0, []
        self.levels = levels

    def strips(self, begin: int, address: int) -> Iterator[Strip]:
        if self.run == 0:
            return
        count, step, memory_step = self.levels[0] if self.levels else (1, 0, 0)
        outer = self.levels[1:]
        for at in product(*(range(level[0]) for level in reversed(outer))):
            from_begin = sum(i * level[1] for i, level in zip(at, reversed(outer), strict=True))
            from_address = sum(i * level[2] for i, level in zip(at, reversed(outer), strict=True))
            yield begin + from_begin, address + from_address, self.run, count, step, memory_step


class Box:
    """Elements [offsets, offsets + lengths) of a tensor."""

    __slots__ = ("lengths", "offsets")

    def __init__(self, offsets: Sequence[int], lengths: Sequence[int]) -> None:
        self.offsets = tuple(offsets)
        self.lengths = tuple(lengths)

    @property
    def elements(self) -> int:
        return math.prod(self.lengths)

    def first(self, strides: Sequence[int]) -> int:
        """Returns the offset of the first element in a tensor with these strides, in elements."""
        return sum(offset * stride for offset, stride in zip(self.offsets, strides, strict=True))

    def is_run(self, sizes: Sequence[int]) -> bool:
        """Whether the box is contiguous in a row-major tensor of `sizes`."""
        begun = False
        for length, size in zip(self.lengths, sizes, strict=True):
            if begun and length != size:
                return False
            begun = begun or length > 1
        return True

    def parts(self, most: int) -> Iterator[Box]:
        """Splits the box into parts of at most `most` elements (but at least one), in row-major order."""
        if self.elements <= max(most, 1):
            yield self
            return
        dim = next(dim for dim, length in enumerate(self.lengths) if length > 1)
        inside = self.elements // self.lengths[dim]
        step = max(1, most // inside)
        for start in range(0, self.lengths[dim], step):
            offsets, lengths = list(self.offsets), list(self.lengths)
            offsets[dim] += start
            lengths[dim] = min(step, self.lengths[dim] - start)
            yield from Box(offsets, lengths).parts(most)

    def widened(self, sizes: Sequence[int], itemsize: int) -> Box:
        """Extends the box over the gaps between its rows where rows are short and close together in a tensor of `sizes`."""
        offsets, lengths = list(self.offsets), list(self.lengths)
        stored = row_major(sizes)
        for dim in range(len(sizes) - 1, 0, -1):
            row = math.prod(lengths[dim:]) * itemsize
            if row >= SHORT_ROW or stored[dim - 1] * itemsize - row > SHORT_GAP:
                break
            offsets[dim], lengths[dim] = 0, sizes[dim]
        return Box(offsets, lengths)
