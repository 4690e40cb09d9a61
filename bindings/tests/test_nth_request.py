"""The Nth request of an operation fails, for every N. Those of DCP are in test_dcp_nth_request.py.

A normal run has the failures with the most side effects, and multipart objects. PENSTOCK_LONG=1 has all failures and operations.
"""

from __future__ import annotations

import os

import pytest
from penstock.conformance.matrix import judge, lanes, nth
from penstock.conformance.matrix.trials import World

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
def test_an_operation_survives_or_reports_the_failure_of_its_nth_request(world, name, kind):
    operation = OPERATIONS[name]
    for size in operation.sizes if LONG else operation.sizes[-1:]:
        for failure in FAILURES:
            runs = list(nth.nth_request_fails(world, operation, size, failure, kind))
            assert [run.outcome for run in runs if run.outcome.verdict in judge.DEFECTS] == []
            assert runs[-1].outcome.verdict == "right", "the last run has no failure"
            assert runs[-1].fired == 0
            if kind == "transient":
                assert {run.outcome.verdict for run in runs} == {"right"}
            if failure == "503":
                assert len(runs) > 1


def test_an_operation_without_an_end_is_reported(world, monkeypatch):
    monkeypatch.setattr(nth, "MOST_REQUESTS", 2)
    with pytest.raises(AssertionError, match="2 requests, and no end"):
        list(nth.nth_request_fails(world, OPERATIONS["read in steps"], "multipart", "503", "persistent"))
