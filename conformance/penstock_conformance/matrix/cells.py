"""The cells of the matrix: each fault, at each request of each client operation, once and always."""

from __future__ import annotations

import dataclasses
import functools
import random
from collections.abc import Iterator, Sequence
from typing import Any

from penstock.testing import JournalEntry

from .actions import Action, schema
from .trials import Environment, Operation

ONCE, ALWAYS = "once", "always"
PLANTED = "planted"  # id of the fault rule
CONNECTION = "connection"  # instead of an S3 operation, for faults of connections

# The S3 operations that Penstock's client sends.
_S3_OPERATIONS = (
    "AbortMultipartUpload", "CompleteMultipartUpload", "CopyObject", "CreateBucket", "CreateMultipartUpload", "CreateSession",
    "DeleteBucket", "DeleteObject", "DeleteObjects", "GetObject", "HeadBucket", "HeadObject", "ListBuckets",
    "ListDirectoryBuckets", "ListMultipartUploads", "ListObjectVersions", "ListObjectsV2", "ListParts", "PutObject",
    "RenameObject", "UploadPart", "UploadPartCopy",
)  # fmt: skip
# Operations for partial commits, delayed visibility and late errors (docs/reference/faults.md).
_TORN = ("PutObject", "UploadPart")
_HIDDEN = ("CompleteMultipartUpload", "CopyObject", "DeleteObject", "PutObject")
_LATE = ("CompleteMultipartUpload", "CopyObject", "UploadPartCopy")


@dataclasses.dataclass(frozen=True)
class Target:
    """The requests of one S3 operation that a client operation sends."""

    operation: str
    requests: int
    bytes_in: int  # length of the smallest request body, on the wire
    bytes_out: int  # length of the smallest response body


@dataclasses.dataclass(frozen=True)
class Cell:
    """One fault and one client operation."""

    action: Action
    operation: str
    size: str
    target: str  # an S3 operation, or CONNECTION
    nth: int  # index of the target's request, from 1; unused for ALWAYS
    times: str  # ONCE or ALWAYS
    body_bytes: int = 0

    @property
    def name(self) -> str:
        """The name that `--cell` accepts."""
        return f"{self.operation}/{self.size}/{self.target}#{self.nth}/{self.times}/{self.action.name}"

    def rule(self) -> dict[str, Any]:
        """The fault rule for the emulator."""
        when: dict[str, Any] = {} if self.target == CONNECTION else {"operation": self.target}
        if self.times == ONCE and self.nth > 1:
            when["nth"] = self.nth
        limit = {"limit": {"times": 1}} if self.times == ONCE else {}
        return {"id": PLANTED, "when": when, "do": self.action.rule_action(self.body_bytes), "must_fire": False, **limit}


def may_name_a_cell(text: str, operations: Sequence[Operation], actions: Sequence[Action]) -> bool:
    """Whether a cell name may contain `text`, judged without running the operations."""
    words = {ONCE, ALWAYS, *(one.name for one in operations), *(size for one in operations for size in one.sizes)}
    words |= {action.name for action in actions}

    def known(piece: str) -> bool:
        target, mark, number = piece.partition("#")
        targets = [each for each in (*_S3_OPERATIONS, CONNECTION) if (each.endswith(target) if mark else target in each)]
        return any(piece in word for word in words) or (bool(targets) and (not number or number.isdecimal()))

    return all(map(known, text.split("/")))


def traffic(environment: Environment, operation: Operation, size: str) -> list[Target]:
    """Runs an operation without faults and returns its requests, in the order of the first request for each S3 operation."""
    trial = operation.begin(environment, size)
    mark = environment.emulator.journal().last
    if not trial.right(trial.run()):
        raise AssertionError(f"{operation.name}, {size}: wrong result without a fault")
    entries = environment.emulator.journal().entries(after=mark)
    if trial.state is not None and (found := trial.state()) != "after":
        raise AssertionError(f"{operation.name}, {size}: state {found!r} without a fault")
    environment.clear()
    if unknown := sorted({entry.operation for entry in entries} - set(_S3_OPERATIONS)):
        raise AssertionError(f"{operation.name}, {size}: add {', '.join(unknown)} to _S3_OPERATIONS")
    by_operation: dict[str, list[JournalEntry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.began_s):
        by_operation.setdefault(entry.operation, []).append(entry)
    return [
        Target(name, len(of), min(entry.bytes_in for entry in of), min(entry.bytes_out for entry in of))
        for name, of in by_operation.items()
    ]


def cells_of(
    operation: Operation, size: str, targets: Sequence[Target], actions: Sequence[Action], *, product: bool = False
) -> Iterator[Cell]:
    """The cells of an operation, for all faults that can occur there.

    Args:
        product: All parameter values at all requests. Otherwise each parameter value has one cell, whose request and frequency
            are random, seeded by its name; stages and offsets are always complete.
    """
    for action in actions:
        cells = list(_of_action(action, operation.name, size, targets))
        if action.variant and not product and cells:
            cells = [random.Random(f"{operation.name} {size} {action.name}").choice(cells)]
        yield from cells


def _of_action(action: Action, operation: str, size: str, targets: Sequence[Target]) -> Iterator[Cell]:
    if of_connections(action):
        for times in (ONCE, ALWAYS):
            yield Cell(action, operation, size, CONNECTION, 1, times)
        return
    for target in targets:
        if not applies(action, target):
            continue
        body = target.bytes_in if action.stage == "body_in" else target.bytes_out
        yield Cell(action, operation, size, target.operation, 1, ONCE, body)
        if target.requests > 1:
            yield Cell(action, operation, size, target.operation, 2, ONCE, body)
        yield Cell(action, operation, size, target.operation, 1, ALWAYS, body)


def of_connections(action: Action) -> bool:
    """Whether the fault is one of connections, before any request."""
    return action.stage == "accept" or {"required": [action.kind]} in _connection_schema()


def needs_tls(action: Action) -> bool:
    """Whether it happens in a TLS handshake: an emulator without TLS refuses it."""
    return action.kind in ("tls_abort", "tls_certificate")


@functools.cache
def _connection_schema() -> list[Any]:
    return list(schema()["$defs"]["at_accept"]["anyOf"])


def applies(action: Action, target: Target) -> bool:
    """Whether the fault can occur at these requests: they have a body, the operation allows it (docs/reference/faults.md)."""
    if action.kind == "late_error":
        return target.operation in _LATE
    if action.kind == "partial_failure":
        return target.operation == "DeleteObjects"
    if action.kind == "commit_partial":
        return target.operation in _TORN and target.bytes_in > action.parameters["bytes"]
    if action.kind == "delay_visibility":
        return target.operation in _HIDDEN
    if action.kind == "duplicate_apply":
        return not target.operation.startswith(("Get", "Head", "List"))
    if action.parameters.get("mode") == "stale-version":
        return target.operation == "GetObject"
    if action.stage == "body_in":
        return target.bytes_in >= 2
    if action.stage == "body_out" or action.kind in ("corrupt", "truncate"):
        return target.bytes_out >= 2
    return True


def sample(cells: Sequence[Cell], count: int, seed: int) -> list[Cell]:
    """About `count` cells: each action, and each request of each operation and size, at least once; the rest by the seed."""
    shuffled = sorted(cells, key=lambda cell: cell.name)
    random.Random(seed).shuffle(shuffled)
    seen: set[Any] = set()
    chosen: list[Cell] = []
    others: list[Cell] = []
    for cell in shuffled:
        features = {cell.action.name, (cell.operation, cell.size, cell.target)}
        (chosen if features - seen else others).append(cell)
        seen |= features
    return chosen + others[: max(0, count - len(chosen))]


def some_of_each_operation(cells: Sequence[Cell], count: int, seed: int) -> list[Cell]:
    """`count` cells of each operation, selected by the seed."""
    by_operation: dict[str, list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.name):
        by_operation.setdefault(cell.operation, []).append(cell)
    chance = random.Random(seed)
    return [cell for of in by_operation.values() for cell in chance.sample(of, min(count, len(of)))]
