"""The Nth request of an upload, a download, an epoch, a checkpoint file fails, for every N; dcp's are in test_dcp_nth_request.py.

The gate takes the failures that leave most behind, and objects of parts; PENSTOCK_LONG=1 takes all, and the other operations.
"""

from __future__ import annotations

import os

import pytest
from penstock_conformance.matrix import judge, lanes, nth
from penstock_conformance.matrix.trials import World

LONG = bool(os.environ.get("PENSTOCK_LONG"))
OPERATIONS = {operation.name: operation for operation in lanes.every_operation()}
NAMED = (
    "put",
    "get whole",
    "read in steps",
    "map dataset",
    "iterable dataset",
    "dataset, nothing read",
    "Lightning save",
    "Lightning load",
    "fsspec get",
    "fsspec put",
    "directory put if none match",
    "directory rename over another",
    "directory append three records",
)
FAILURES = (
    tuple(nth.FAILURES) if LONG else ("503", "reset in the request's body", "reset in the answer's body", "acknowledgement lost")
)


@pytest.fixture
def world():
    with World(10) as instance:
        yield instance


@pytest.mark.timeout(1800 if LONG else 180)
@pytest.mark.parametrize("kind", nth.KINDS)
@pytest.mark.parametrize("name", OPERATIONS if LONG else NAMED)
def test_the_nth_request_fails(world, name, kind):
    operation = OPERATIONS[name]
    for size in operation.sizes if LONG else operation.sizes[-1:]:
        for failure in FAILURES:
            runs = list(nth.nth_request_fails(world, operation, size, failure, kind))
            assert [run.outcome for run in runs if run.outcome.verdict in judge.DEFECTS] == []
            assert runs[-1].outcome.verdict == "right", "the last one met no failure"
            assert runs[-1].fired == 0
            if kind == "transient":
                assert {run.outcome.verdict for run in runs} == {"right"}
            if failure == "503":
                assert len(runs) > 1


def test_an_operation_without_an_end_is_told(world, monkeypatch):
    monkeypatch.setattr(nth, "MOST_REQUESTS", 2)
    with pytest.raises(AssertionError, match="2 requests, and no end"):
        list(nth.nth_request_fails(world, OPERATIONS["read in steps"], "multipart", "503", "persistent"))
