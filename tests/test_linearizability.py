"""The checker of tests/linearizability.py accepts linearizable histories and rejects all others."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from linearizability import ABSENT, Operation, explain


def write(begin: float, end: float, value: str, **more: object) -> Operation:
    return Operation(begin, end, f"write {value}", writes=(value,), **more)  # type: ignore[arg-type]


def read(begin: float, end: float, value: str) -> Operation:
    return Operation(begin, end, f"read {value}", only_if=value)


def create(begin: float, end: float, value: str, **more: object) -> Operation:
    return write(begin, end, value, only_if=ABSENT, **more)


def refused(begin: float, end: float) -> Operation:
    """412 for If-None-Match."""
    return Operation(begin, end, "refused", only_unless=ABSENT)


GOOD = {
    "one after the other": [write(0, 1, "a"), read(2, 3, "a"), write(4, 5, ABSENT), read(6, 7, ABSENT)],
    "a read beside a write sees either": [write(0, 9, "a"), read(1, 2, ABSENT), read(3, 4, "a")],
    "two writes, either first": [write(0, 9, "a"), write(0, 9, "b"), read(10, 11, "a")],
    "one of two creations": [create(0, 9, "a"), refused(0, 9), read(10, 11, "a")],
    "a failed write takes effect much later": [write(0, math.inf, "a", optional=True), read(50, 51, ABSENT), read(60, 61, "a")],
    "a failed write never happens": [write(0, math.inf, "a", optional=True), read(50, 51, ABSENT)],
    "a write of one of two values": [Operation(0, 9, "copy", writes=("a", "b")), read(10, 11, "b")],
    "sent twice": [
        write(0, 9, "a"), write(0, 9, "a", optional=True), read(1, 2, "a"), write(3, 4, "b"), read(5, 6, "b"), read(10, 11, "a"),
    ],
    "the same tick": [write(0, 1, "a"), read(1, 2, ABSENT)],
}  # fmt: skip
BAD = {
    "a stale read": [write(0, 1, "a"), write(2, 3, "b"), read(4, 5, "a")],
    "a lost write": [write(0, 1, "a"), read(2, 3, ABSENT)],
    "a value from nowhere": [read(0, 1, "a")],
    "a read before its write": [read(0, 1, "a"), write(2, 3, "a")],
    "reads that go back": [write(0, 9, "a"), read(1, 2, "a"), read(3, 4, ABSENT)],
    "two creations": [create(0, 9, "a"), create(0, 9, "b")],
    "a creation that took effect twice": [
        create(0, 9, "a"), read(1, 2, "a"), write(3, 4, ABSENT), read(5, 6, ABSENT), read(10, 11, "a"),
    ],
    "a refusal without an object": [refused(0, 1), write(2, 3, "a")],
    "a failed write that happened twice": [
        write(0, math.inf, "a", optional=True), read(1, 2, "a"), write(3, 4, "b"), read(5, 6, "b"), read(7, 8, "a"),
    ],
    "a second sending after the answer": [
        write(0, 1, "a"), write(0, 1, "a", optional=True), write(3, 4, "b"), read(5, 6, "b"), read(7, 8, "a"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_a_linearizable_history_is_accepted(name: str) -> None:
    assert explain(GOOD[name]) is None


@pytest.mark.parametrize("name", BAD)
def test_a_history_that_is_not_linearizable_is_found(name: str) -> None:
    assert explain(BAD[name]) is not None


def explained_by_some_order(history: list[Operation]) -> bool:
    """The definition of linearizability: tries every order and every choice of the optional operations."""
    optional = [operation for operation in history if operation.optional]
    for left_out in itertools.chain.from_iterable(itertools.combinations(optional, n) for n in range(len(optional) + 1)):
        happened = [operation for operation in history if operation not in left_out]
        for order in itertools.permutations(happened):
            if any(order[j].end < order[i].begin for i in range(len(order)) for j in range(i + 1, len(order))):
                continue
            state = ABSENT
            for operation in order:
                after = operation.apply(state)
                if not after:
                    break
                state = after[0]
            else:
                return True
    return False


@pytest.mark.parametrize("seed", range(300))
def test_the_checker_agrees_with_the_definition(seed: int) -> None:
    chance = random.Random(seed)
    ticks = chance.sample(range(100), 12)
    history = []
    for number in range(6):
        begin, end = sorted(ticks[2 * number : 2 * number + 2])
        value = chance.choice([ABSENT, "a", "b"])
        made = chance.choice([write, write, read, read, create, lambda b, e, _: refused(b, e)])(begin, end, value)
        if made.writes and chance.random() < 0.3:
            made = Operation(begin, chance.choice([end, math.inf]), made.text, made.writes, made.only_if, optional=True)
        history.append(made)
    assert (explain(history) is None) == explained_by_some_order(history)
