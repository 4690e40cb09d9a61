"""Checks histories of keys for linearizability: Wing and Gong's search, event by event (Lowe, 2017).

A key holds an object, or nothing; in a versioned bucket, a stack of versions and delete markers. A history is linearizable when
each operation can be given an instant between its begin and its end so that the operations, in the order of these instants, have
the results that were observed. Linearizability is local (Herlihy and Wing, 1990): keys that no operation combines are checked one
by one, and a listing is a read of each key. That is a necessary condition for the listing as a whole. Renames combine keys, which
are then checked together.

Operations that are optional may or may not have happened: calls that failed without a clear response, and the second sending of
a request whose response was lost. A call that failed may take effect at any time after its begin.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

ABSENT = ""
MOST_CONFIGURATIONS = 50_000

# A value (an ETag, or names of pieces for `size_of`; ABSENT: a delete marker), the version id (empty until a listing shows it),
# and the tags (None until they are read: those of a copy, which come from its source).
Version = tuple[str, str, str | None]
State = tuple[tuple[Version, ...], ...]  # the versions of each key, newest first


def size_of(value: str) -> int:
    """The size of an object whose value names the pieces that were appended to it, each as `NAME.SIZE/`."""
    return sum(int(piece.split(".")[1]) for piece in value.split("/")[:-1])


@dataclass(frozen=True)
class Operation:
    """One operation on one key.

    Attributes:
        begin, end: Seconds or ticks of one clock; `end` is infinite if the effect may happen at any later time.
        text: For the error message.
        writes: The values of which the key has one after the operation; empty: the operation writes none.
        only_if: The operation has this result only if the key has this value.
        only_unless: The operation has this result only if the key has another value.
        optional: The operation may not have happened.
        key: The key's index among those that are checked together.
        does: A name in `apply`, with the arguments in `of`; empty: `writes` and the conditions are all.
    """

    begin: float
    end: float
    text: str
    writes: tuple[str, ...] = ()
    only_if: str | None = None
    only_unless: str | None = None
    optional: bool = False
    key: int = 0
    does: str = ""
    of: tuple[Any, ...] = ()

    def apply(self, state: State, *, versioned: bool = False) -> tuple[State, ...]:
        """The states after the operation in `state`; empty: the operation cannot have its result in `state`."""
        own = state[self.key]
        value = own[0][0] if own else ABSENT
        if (self.only_if is not None and value != self.only_if) or value == self.only_unless:
            return ()
        below = own if versioned else ()
        match self.does, *self.of:
            case ["copy", copied]:
                own = ((copied, "", None), *below)
            case ["append", piece, offset]:
                if size_of(value) != offset:
                    return ()
                own = ((value + piece, "", ""),)
            case ["append refused", offset]:
                if size_of(value) == offset:
                    return ()
            case ["rename", target, creates]:
                if value == ABSENT or (creates and state[target]):
                    return ()
                state, own = _changed(state, target, own), ()
            case ["remove version", version]:
                own = tuple(one for one in own if one[1] != version)
            case ["read version", version, seen]:
                if seen != next((one[0] for one in own if one[1] == version), None):
                    return ()
            case ["list versions", *seen]:
                if len(seen) != len(own) or any(
                    one[0] != v or one[1] not in ("", n) for one, (n, v) in zip(own, seen, strict=True)
                ):
                    return ()
                own = tuple((one[0], version, one[2]) for one, (version, _) in zip(own, seen, strict=True))
            case ["tag" | "read tags", tags]:
                if value == ABSENT or (self.does == "read tags" and own[0][2] not in (None, tags)):
                    return ()
                own = ((value, own[0][1], tags), *own[1:])
            case _:
                if self.writes:
                    return tuple(_changed(state, self.key, _written(each, below, versioned=versioned)) for each in self.writes)
        return (_changed(state, self.key, own),)

    @property
    def is_read(self) -> bool:
        """Whether the operation changes nothing but what is known of a version."""
        return not self.writes and self.does in ("", "append refused", "read version", "list versions", "read tags")


def _changed(state: State, key: int, versions: tuple[Version, ...]) -> State:
    return (*state[:key], versions, *state[key + 1 :])


def _written(value: str, below: tuple[Version, ...], *, versioned: bool) -> tuple[Version, ...]:
    return ((value, "", ""), *below) if versioned or value != ABSENT else ()


class UndecidedError(Exception):
    """The history has more explanations than `MOST_CONFIGURATIONS`."""


class _Search:
    """All explanations of the events so far: the keys' state, and the operations in progress that have taken effect."""

    def __init__(self, keys: int, *, versioned: bool) -> None:
        self.configurations: set[tuple[State, int]] = {(((),) * keys, 0)}
        self._versioned = versioned
        self.in_progress: dict[int, Operation] = {}  # by bit
        self._optional = 0
        self._equals: dict[int, int] = {}  # by bit: an earlier operation in progress that is the same; it is carried out first
        self._reads: dict[int, Operation] = {}

    def begin(self, operation: Operation) -> int:
        bit = 1
        while bit in self.in_progress:
            bit <<= 1
        self._equals[bit] = max((one for one, other in self.in_progress.items() if other == operation), default=0)
        self.in_progress[bit] = operation
        if operation.optional:
            self._optional |= bit
        if operation.is_read:
            self._reads[bit] = operation
            self.configurations = {self._with_reads(*one) for one in self.configurations}
        return bit

    def _with_reads(self, state: State, done: int) -> tuple[State, int]:
        """Completes all reads that are possible now and change nothing, so that no explanation is lost."""
        for bit, read in self._reads.items():
            if not done & bit and read.apply(state, versioned=self._versioned) == (state,):
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
            for other, candidate in self.in_progress.items():
                if done & other or self._equals[other] & ~done:
                    continue
                for after in candidate.apply(state, versioned=self._versioned):
                    found = self._with_reads(after, done | other)
                    if found not in seen:
                        seen.add(found)
                        open_.append(found)
            if len(seen) > MOST_CONFIGURATIONS:
                raise UndecidedError(operation.text)
        for by_bit in (self.in_progress, self._equals, self._reads):
            by_bit.pop(bit, None)
        self._equals = {one: equal & ~bit for one, equal in self._equals.items()}
        self._optional &= ~bit
        self.configurations = self._without_dominated({(state, done & ~bit) for state, done in kept})
        return bool(kept)

    def _without_dominated(self, found: set[tuple[State, int]]) -> set[tuple[State, int]]:
        """Removes each configuration that another one can still become: the same state with fewer optional operations done."""
        kept: dict[tuple[State, int], list[int]] = {}
        for state, done in sorted(found, key=lambda one: (one[1] & self._optional).bit_count()):
            optional = done & self._optional
            group = kept.setdefault((state, done & ~self._optional), [])
            if not any(fewer & optional == fewer for fewer in group):
                group.append(optional)
        return {(state, must | optional) for (state, must), group in kept.items() for optional in group}


def explain(history: Iterable[Operation], keys: int = 1, *, versioned: bool = False) -> str | None:
    """Checks the history of keys that are empty at first.

    Args:
        history: The operations on `keys` keys.
        keys: The number of keys that are checked together.
        versioned: Whether the bucket keeps replaced and deleted objects as versions.

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
    search = _Search(keys, versioned=versioned)
    bits: dict[int, int] = {}
    for _, is_end, number, operation in events:
        if not is_end:
            bits[number] = search.begin(operation)
            continue
        before = set(search.configurations)
        if not search.end(bits.pop(number)):
            beside = "; ".join(other.text for other in search.in_progress.values())
            held = {tuple(version[0] or "nothing" for version in state[operation.key]) for state, _ in before}
            states = " or ".join(sorted(", ".join(values) or "nothing" for values in held))
            return f"no instant explains: {operation.text}. The key held {states}. In progress beside it: {beside or 'nothing'}"
    return None
