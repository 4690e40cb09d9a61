"""Which memory is being written to: two reads into the same bytes must not be under way at once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING, Protocol

from ._boxes import Box

if TYPE_CHECKING:
    import torch
    from torch.distributed.checkpoint.planner import ReadItem


class Claim:
    """Parts of one tensor of the state dict, in memory [start, end)."""

    __slots__ = ("base", "end", "key", "requests", "start", "strides")

    def __init__(self, key: object, start: int, end: int, base: int, strides: tuple[int, ...]) -> None:
        self.key = key
        self.start = start
        self.end = end
        self.base = base  # where the tensor's own first element would be
        self.strides = strides
        self.requests: list[ReadItem] = []

    def meets(self, request: ReadItem) -> bool:
        box = Box(request.dest_offsets, request.lengths)
        return any(box.meets(Box(other.dest_offsets, other.lengths)) for other in self.requests)


class Claimant(Protocol):
    """What has claimed memory for a request."""

    claim: Claim | None
    request: ReadItem


class Claims:
    """Claims whose memory is disjoint. Those of one tensor are of boxes that are."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._by_start: dict[int, Claim] = {}
        self._by_tensor: dict[object, Claim] = {}

    def claim(self, request: ReadItem, target: torch.Tensor) -> Claim | None:
        """What to give back afterwards; None: some of the memory of `target` is claimed already."""
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
            known = Claim(key, start, end, base, strides)
        elif known.base != base or known.strides != strides or known.meets(request):
            return None
        else:
            self._take_out(known)
            start, end = min(start, known.start), max(end, known.end)
        if self._is_taken(start, end):
            if known.requests:
                self._put_in(known)
            return None
        known.start, known.end = start, end
        known.requests.append(request)
        self._put_in(known)
        return known

    def give_back(self, want: Claimant) -> None:
        """What it has claimed, if anything."""
        claim, want.claim = want.claim, None
        if claim is None:
            return
        claim.requests = [each for each in claim.requests if each is not want.request]
        if not claim.requests:
            self._take_out(claim)

    def _is_taken(self, start: int, end: int) -> bool:
        if start == end:
            return False
        at = bisect_right(self._starts, start)
        if at > 0 and self._by_start[self._starts[at - 1]].end > start:
            return True
        return at < len(self._starts) and self._starts[at] < end

    def _put_in(self, claim: Claim) -> None:
        self._by_tensor[claim.key] = claim
        if claim.start != claim.end:
            insort(self._starts, claim.start)
            self._by_start[claim.start] = claim

    def _take_out(self, claim: Claim) -> None:
        del self._by_tensor[claim.key]
        if claim.start != claim.end:
            del self._starts[bisect_left(self._starts, claim.start)]
            del self._by_start[claim.start]
