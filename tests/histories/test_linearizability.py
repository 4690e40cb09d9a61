"""The checker of linearizability.py accepts linearizable histories and rejects all others."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from linearizability import ABSENT, Operation, State, explain


def write(begin: float, end: float, value: str, **more: object) -> Operation:
    return Operation(begin, end, f"write {value}", writes=(value,), **more)  # type: ignore[arg-type]


def read(begin: float, end: float, value: str, key: int = 0) -> Operation:
    return Operation(begin, end, f"read {value}", only_if=value, key=key)


def create(begin: float, end: float, value: str, **more: object) -> Operation:
    return write(begin, end, value, only_if=ABSENT, **more)


def refused(begin: float, end: float) -> Operation:
    """412 for If-None-Match."""
    return Operation(begin, end, "refused", only_unless=ABSENT)


def op(begin: float, end: float, does: str, *of: object, **more: object) -> Operation:
    return Operation(begin, end, does, does=does, of=of, **more)  # type: ignore[arg-type]


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
    "a second sending after the response": [
        write(0, 1, "a"), write(0, 1, "a", optional=True), write(3, 4, "b"), read(5, 6, "b"), read(7, 8, "a"),
    ],
}  # fmt: skip


A_AND_B = [write(0, 1, "a"), write(2, 3, "b"), op(4, 5, "list versions", ("2", "b"), ("1", "a"))]
GOOD_VERSIONS = {
    "the version below is current again": [*A_AND_B, op(6, 7, "remove version", "2"), read(8, 9, "a")],
    "a version that is not current is deleted": [*A_AND_B, op(6, 7, "remove version", "1"), read(8, 9, "b")],
    "a deletion repeated": [*A_AND_B, op(6, 7, "remove version", "2"), op(6, 7, "remove version", "2"), read(8, 9, "a")],
    "an undelete": [
        write(0, 1, "a"), write(2, 3, ABSENT), op(4, 5, "list versions", ("2", ABSENT), ("1", "a")), read(6, 7, ABSENT),
        op(8, 9, "remove version", "2"), read(10, 11, "a"),
    ],
    "a version read, deleted and read": [
        *A_AND_B, op(6, 7, "read version", "1", "a"), op(8, 9, "remove version", "1"), op(10, 11, "read version", "1", None),
    ],
    "tags of a version come back": [
        write(0, 1, "a"), op(2, 3, "tag", "t"), write(4, 5, "b"), op(6, 7, "read tags", ""),
        op(8, 9, "list versions", ("2", "b"), ("1", "a")), op(10, 11, "remove version", "2"), op(12, 13, "read tags", "t"),
    ],
}  # fmt: skip
BAD_VERSIONS = {
    "the deleted version is read": [*A_AND_B, op(6, 7, "remove version", "2"), read(8, 9, "b")],
    "nothing below": [*A_AND_B, op(6, 7, "remove version", "2"), read(8, 9, ABSENT)],
    "a listing without a version": [write(0, 1, "a"), write(2, 3, "b"), op(4, 5, "list versions", ("2", "b"))],
    "a version with two ids": [*A_AND_B, op(6, 7, "list versions", ("2", "b"), ("3", "a"))],
    "a deleted version is read by its id": [*A_AND_B, op(6, 7, "remove version", "1"), op(8, 9, "read version", "1", "a")],
    "tags of the version above": [
        write(0, 1, "a"), write(2, 3, "b"), op(4, 5, "tag", "t"), op(6, 7, "list versions", ("2", "b"), ("1", "a")),
        op(8, 9, "remove version", "2"), op(10, 11, "read tags", "t"),
    ],
}  # fmt: skip
LINE, NEXT = "a.2/", "b.3/"
GOOD_PAIRS = {
    "a rename": [write(0, 1, "a"), op(2, 3, "rename", 1, False), read(4, 5, ABSENT), read(4, 5, "a", key=1)],
    "a rename replaces": [write(0, 1, "a"), write(0, 1, "b", key=1), op(2, 3, "rename", 1, False), read(4, 5, "a", key=1)],
    "an append": [write(0, 1, LINE), op(2, 3, "append", NEXT, 2), read(4, 5, LINE + NEXT)],
    "an append creates": [op(0, 1, "append", LINE, 0), read(2, 3, LINE)],
    "an append repeated after a lost response": [
        write(0, 1, LINE), op(2, 5, "append", NEXT, 2), op(2, 5, "append", NEXT, 2, optional=True), read(6, 7, LINE + NEXT),
    ],
    "another offset is refused": [write(0, 1, LINE), op(2, 3, "append refused", 3)],
    "tags": [write(0, 1, "a"), op(2, 3, "tag", "t"), op(4, 5, "read tags", "t"), write(6, 7, "b"), op(8, 9, "read tags", "")],
    "tags of a copy": [op(0, 1, "copy", "a"), op(2, 3, "read tags", "t"), op(4, 5, "read tags", "t")],
}  # fmt: skip
BAD_PAIRS = {
    "a rename leaves its source": [write(0, 1, "a"), op(2, 3, "rename", 1, False), read(4, 5, "a")],
    "a rename of nothing": [op(2, 3, "rename", 1, False)],
    "a rename replaces against its condition": [write(0, 1, "a"), write(0, 1, "b", key=1), op(2, 3, "rename", 1, True)],
    "a rename in two steps": [
        write(0, 1, "a"), op(2, 9, "rename", 1, False), read(3, 4, ABSENT), read(5, 6, ABSENT, key=1), read(10, 11, "a", key=1),
    ],
    "a lost append": [write(0, 1, LINE), op(2, 3, "append", NEXT, 2), read(4, 5, LINE)],
    "an append at another offset": [write(0, 1, LINE), op(2, 3, "append", NEXT, 3)],
    "an append twice": [write(0, 1, LINE), op(2, 3, "append", NEXT, 2), read(4, 5, LINE + NEXT + NEXT)],
    "the right offset is refused": [write(0, 1, LINE), op(2, 3, "append refused", 2)],
    "tags stay with the key": [write(0, 1, "a"), op(2, 3, "tag", "t"), write(4, 5, "b"), op(6, 7, "read tags", "t")],
    "tags of a copy change": [op(0, 1, "copy", "a"), op(2, 3, "read tags", "t"), op(4, 5, "read tags", "")],
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD_VERSIONS)
def test_versions_are_explained(name: str) -> None:
    assert explain(GOOD_VERSIONS[name], versioned=True) is None


@pytest.mark.parametrize("name", BAD_VERSIONS)
def test_wrong_versions_are_found(name: str) -> None:
    assert explain(BAD_VERSIONS[name], versioned=True) is not None


@pytest.mark.parametrize("name", GOOD_PAIRS)
def test_renames_appends_and_tags_are_explained(name: str) -> None:
    assert explain(GOOD_PAIRS[name], 2) is None


@pytest.mark.parametrize("name", BAD_PAIRS)
def test_wrong_renames_appends_and_tags_are_found(name: str) -> None:
    assert explain(BAD_PAIRS[name], 2) is not None


@pytest.mark.parametrize("name", GOOD)
def test_a_linearizable_history_is_accepted(name: str) -> None:
    assert explain(GOOD[name]) is None


@pytest.mark.parametrize("name", BAD)
def test_a_history_that_is_not_linearizable_is_found(name: str) -> None:
    assert explain(BAD[name]) is not None


def explained_by_some_order(history: list[Operation], keys: int = 1, *, versioned: bool = False) -> bool:
    """The definition of linearizability: tries every order and every choice of the optional operations."""
    optional = [operation for operation in history if operation.optional]
    for left_out in itertools.chain.from_iterable(itertools.combinations(optional, n) for n in range(len(optional) + 1)):
        happened = [operation for operation in history if operation not in left_out]
        for order in itertools.permutations(happened):
            if any(order[j].end < order[i].begin for i in range(len(order)) for j in range(i + 1, len(order))):
                continue
            state: State = ((),) * keys
            for operation in order:
                after = operation.apply(state, versioned=versioned)
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


def real_history(chance: random.Random, *, versioned: bool) -> list[Operation]:
    """Seven operations on two keys (on one, if versioned), with the results of a sequential run and intervals around it."""
    held: list[list[list[str]]] = [[], []]  # by key: value, version id and tags, newest first
    listed: list[tuple[float, list[str]]] = []  # the end of a listing, and its version ids
    history = []
    for step in range(7):
        begin, end = 10 * step - chance.randrange(16), 10 * step + 1 + chance.randrange(15)
        at = 0 if versioned else chance.randrange(2)
        own, value, tags = held[at], f"{step}.1/", f"tags {step}"
        seen = own[0][0] if own else ABSENT
        ids = [one for until, found in listed if until < begin for one in found]
        does = chance.choice(
            ["write", "write", "delete", "read", "tag", "read tags", *(["list", "remove"] if versioned else ["append", "rename"])]
        )
        if does in ("write", "delete") or (does == "append" and not own):
            value = ABSENT if does == "delete" else value
            held[at] = ([[value, str(step), ""]] if versioned or value else []) + (own if versioned else [])
            history.append(write(begin, end, value, key=at))
        elif does == "append":
            history.append(op(begin, end, "append", value, len(own[0][0]) // 4, key=at))
            own[0] = [seen + value, str(step), ""]
        elif does == "rename" and own:
            history.append(op(begin, end, "rename", 1 - at, False, key=at))
            held[1 - at], held[at] = own, []
        elif does == "list":
            history.append(op(begin, end, "list versions", *((one[1], one[0]) for one in own)))
            listed.append((end, [one[1] for one in own]))
        elif does == "remove" and ids:
            chosen = chance.choice(ids)
            history.append(op(begin, end, "remove version", chosen))
            held[0] = [one for one in own if one[1] != chosen]
        elif does == "tag" and seen:
            own[0][2] = tags
            history.append(op(begin, end, "tag", tags, key=at))
        elif does == "read tags" and seen:
            history.append(op(begin, end, "read tags", own[0][2], key=at))
        else:
            history.append(read(begin, end, seen, at))
    return history


@pytest.mark.parametrize("versioned", [False, True])
def test_the_checker_agrees_about_versions_renames_appends_and_tags(versioned: bool) -> None:
    rejected = 0
    for seed in range(150):
        chance = random.Random(seed)
        history = real_history(chance, versioned=versioned)
        assert explain(history, 2, versioned=versioned) is None, history
        del history[chance.randrange(len(history))]
        if explain(history, 2, versioned=versioned) is None:
            assert explained_by_some_order(history, 2, versioned=versioned), history
        else:
            assert not explained_by_some_order(history, 2, versioned=versioned), history
            rejected += 1
    assert rejected > 10
