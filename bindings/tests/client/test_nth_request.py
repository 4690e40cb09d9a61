"""The Nth request of an operation fails, for each N. test_dcp_nth_request.py has the operations of distributed checkpoints.

Runs selected operations and failures with multipart objects; PENSTOCK_LONG=1 runs all.
"""

from __future__ import annotations

import os

import pytest
from penstock_conformance.matrix import judge, lanes, nth
from penstock_conformance.matrix.trials import Environment

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
FAILURES = tuple(nth.FAILURES) if LONG else ("503", "reset in the request body", "reset in the response body", "response lost")


@pytest.fixture
def environment():
    with Environment(10) as instance:
        yield instance


@pytest.mark.timeout(1800 if LONG else 180)
@pytest.mark.parametrize("kind", nth.KINDS)
@pytest.mark.parametrize("name", OPERATIONS if LONG else NAMED)
def test_the_nth_request_fails(environment, name, kind):
    operation = OPERATIONS[name]
    for size in operation.sizes if LONG else operation.sizes[-1:]:
        for failure in FAILURES:
            runs = list(nth.nth_request_fails(environment, operation, size, failure, kind))
            assert [run.outcome for run in runs if run.outcome.verdict in judge.DEFECTS] == []
            assert runs[-1].outcome.verdict == "right", "no fault occurs in the last run"
            assert runs[-1].fired == 0
            if kind == "transient":
                assert {run.outcome.verdict for run in runs} == {"right"}
            if failure == "503":
                assert len(runs) > 1


def test_an_operation_with_too_many_requests_is_an_error(environment, monkeypatch):
    monkeypatch.setattr(nth, "MAX_REQUESTS", 2)
    with pytest.raises(AssertionError, match="more than 2 requests"):
        list(nth.nth_request_fails(environment, OPERATIONS["read in steps"], "multipart", "503", "persistent"))
