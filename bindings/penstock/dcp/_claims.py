"""Leases of target memory, so that no two reads write to the same bytes at the same time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING, Protocol

from ._boxes import Box

if TYPE_CHECKING:
    import torch
    from torch.distributed.checkpoint.planner import ReadItem


class MemoryLease:
    """Memory [start, end) of one tensor of the state dict that reads in progress write to."""

    __slots__ = ("base", "end", "key", "requests", "start", "strides")

    def __init__(self, key: object, start: int, end: int, base: int, strides: tuple[int, ...]) -> None:
        self.key = key
        self.start = start
        self.end = end
        self.base = base  # address of the tensor's first element; may precede `start`
        self.strides = strides
        self.requests: list[ReadItem] = []

    def overlaps(self, request: ReadItem) -> bool:
        box = Box(request.dest_offsets, request.lengths)
        return any(box.overlaps(Box(other.dest_offsets, other.lengths)) for other in self.requests)


class LeasedRead(Protocol):
    """A read that can hold a lease."""

    lease: MemoryLease | None
    request: ReadItem


class MemoryLeases:
    """A set of leases with disjoint memory ranges. One lease may hold several disjoint boxes of the same tensor."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._by_start: dict[int, MemoryLease] = {}
        self._by_tensor: dict[object, MemoryLease] = {}

    def acquire(self, request: ReadItem, target: torch.Tensor) -> MemoryLease | None:
        """Leases the memory of `target`.

        Returns:
            The lease, which `release` ends; None if another read holds some of the memory.
        """
        strides = target.stride()
        itemsize = target.element_size()
        start = target.data_ptr()
        elements = target.numel()
        if elements and not target.is_contiguous():
            elements = 1 + sum((size - 1) * stride for size, stride in zip(target.size(), strides, strict=True))
        end = start + elements * itemsize
        base = start
        if any(request.dest_offsets) and len(strides) == len(request.dest_offsets):
            base -= Box(request.dest_offsets, request.lengths).first(strides) * itemsize
        key = (request.dest_index.fqn, request.dest_index.offset)
        known = self._by_tensor.get(key)
        if known is None:
            known = MemoryLease(key, start, end, base, strides)
        elif known.base != base or known.strides != strides or known.overlaps(request):
            return None
        else:
            self._remove(known)
            start, end = min(start, known.start), max(end, known.end)
        if self._is_leased(start, end):
            if known.requests:
                self._insert(known)
            return None
        known.start, known.end = start, end
        known.requests.append(request)
        self._insert(known)
        return known

    def release(self, read: LeasedRead) -> None:
        """Ends the lease of `read`, if it has one."""
        lease, read.lease = read.lease, None
        if lease is None:
            return
        lease.requests = [each for each in lease.requests if each is not read.request]
        if not lease.requests:
            self._remove(lease)

    def _is_leased(self, start: int, end: int) -> bool:
        if start == end:
            return False
        at = bisect_right(self._starts, start)
        if at > 0 and self._by_start[self._starts[at - 1]].end > start:
            return True
        return at < len(self._starts) and self._starts[at] < end

    def _insert(self, lease: MemoryLease) -> None:
        self._by_tensor[lease.key] = lease
        if lease.start != lease.end:
            insort(self._starts, lease.start)
            self._by_start[lease.start] = lease

    def _remove(self, lease: MemoryLease) -> None:
        del self._by_tensor[lease.key]
        if lease.start != lease.end:
            del self._starts[bisect_left(self._starts, lease.start)]
            del self._by_start[lease.start]
