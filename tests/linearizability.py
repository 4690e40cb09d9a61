"""Checks histories of one register for linearizability: Wing and Gong's search, event by event (Lowe, 2017).

A register holds an ETag, or nothing. A history is linearizable when each operation can be given an instant between its begin
and its end so that the operations, in the order of these instants, have the results that were observed. Linearizability is
local (Herlihy and Wing, 1990): the keys of a bucket are checked one by one, and a listing is a read of each key. That is a
necessary condition for the listing as a whole.

Operations that are optional may or may not have happened: calls that failed without a clear answer, and the second sending of
a request whose answer was lost. A call that failed may take effect at any time after its begin.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

ABSENT = ""
MOST_CONFIGURATIONS = 50_000


@dataclass(frozen=True)
class Operation:
    """One operation on one key.

    Attributes:
        begin, end: Seconds or ticks of one clock; `end` is infinite if the effect may happen at any later time.
        text: For the error message.
        writes: The values of which the register has one after the operation; empty: the operation changes nothing.
        only_if: The operation has this result only if the register has this value.
        only_unless: The operation has this result only if the register has another value.
        optional: The operation may not have happened.
    """

    begin: float
    end: float
    text: str
    writes: tuple[str, ...] = ()
    only_if: str | None = None
    only_unless: str | None = None
    optional: bool = False

    def apply(self, state: str) -> tuple[str, ...]:
        """The states after the operation in `state`; empty: the operation cannot have its result in `state`."""
        if (self.only_if is not None and state != self.only_if) or state == self.only_unless:
            return ()
        return self.writes or (state,)


class UndecidedError(Exception):
    """The history has more explanations than `MOST_CONFIGURATIONS`."""


class _Search:
    """All explanations of the events so far: the register's state, and the operations in progress that have taken effect."""

    def __init__(self) -> None:
        self.configurations: set[tuple[str, int]] = {(ABSENT, 0)}
        self.in_progress: dict[int, Operation] = {}  # by bit
        self._optional = 0
        self._reads: dict[int, Operation] = {}
        self._writes: dict[int, Operation] = {}

    def begin(self, operation: Operation) -> int:
        bit = 1
        while bit in self.in_progress:
            bit <<= 1
        self.in_progress[bit] = operation
        if operation.optional:
            self._optional |= bit
        if operation.writes:
            self._writes[bit] = operation
        else:
            self._reads[bit] = operation
            self.configurations = {self._with_reads(*one) for one in self.configurations}
        return bit

    def _with_reads(self, state: str, done: int) -> tuple[str, int]:
        """Completes all reads that are possible now. They change nothing, so no explanation is lost."""
        for bit, read in self._reads.items():
            if not done & bit and read.apply(state):
                done |= bit
        return state, done

    def end(self, bit: int) -> bool:
        """Ends an operation. Returns False if it cannot be explained."""
        operation = self.in_progress[bit]
        kept = set(self.configurations) if operation.optional else set()
        seen = set(self.configurations)
        open_ = list(seen)
        while open_:
            state, done = open_.pop()
            if done & bit:
                kept.add((state, done))
                continue
            for other, candidate in self._writes.items():
                if done & other:
                    continue
                for after in candidate.apply(state):
                    found = self._with_reads(after, done | other)
                    if found not in seen:
                        seen.add(found)
                        open_.append(found)
            if len(seen) > MOST_CONFIGURATIONS:
                raise UndecidedError(operation.text)
        for of_kind in (self.in_progress, self._reads, self._writes):
            of_kind.pop(bit, None)
        self._optional &= ~bit
        self.configurations = self._without_dominated({(state, done & ~bit) for state, done in kept})
        return bool(kept)

    def _without_dominated(self, found: set[tuple[str, int]]) -> set[tuple[str, int]]:
        """Removes each configuration that another one can still become: the same state with fewer optional operations done."""
        kept: dict[tuple[str, int], list[int]] = {}
        for state, done in sorted(found, key=lambda one: (one[1] & self._optional).bit_count()):
            optional = done & self._optional
            group = kept.setdefault((state, done & ~self._optional), [])
            if not any(fewer & optional == fewer for fewer in group):
                group.append(optional)
        return {(state, must | optional) for (state, must), group in kept.items() for optional in group}


def explain(history: Iterable[Operation]) -> str | None:
    """Checks the history of a register that is empty at first.

    Returns:
        None if the history is linearizable, else a description of the operation without an explanation.

    Raises:
        UndecidedError: The history has too many explanations.
    """
    events: list[tuple[float, int, int, Operation]] = []
    for number, operation in enumerate(history):
        events.append((operation.begin, 0, number, operation))
        if not math.isinf(operation.end):
            events.append((operation.end, 1, number, operation))
    events.sort(key=lambda event: event[:3])  # begins before ends of the same tick: these operations overlap
    search = _Search()
    bits: dict[int, int] = {}
    for _, is_end, number, operation in events:
        if not is_end:
            bits[number] = search.begin(operation)
            continue
        before = set(search.configurations)
        if not search.end(bits.pop(number)):
            beside = "; ".join(other.text for other in search.in_progress.values())
            states = ", ".join(sorted({state or "nothing" for state, _ in before}))
            return f"no instant explains: {operation.text}. The key held {states}. In progress beside it: {beside or 'nothing'}"
    return None
