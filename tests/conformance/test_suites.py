"""Penstock's client passes all suites against the emulator; s3torchconnector fails those that docs/how-to/conformance.md lists.

Runs a sample with seed 1 or PENSTOCK_PROPERTY_SEED; PENSTOCK_LONG=1 runs everything.
"""

from __future__ import annotations

import os

import pytest
from penstock_conformance import Access, Bench, run, suites
from penstock_conformance._admin import Admin
from penstock_conformance.clients import find

LONG = bool(os.environ.get("PENSTOCK_LONG"))
SEED = int(os.environ.get("PENSTOCK_PROPERTY_SEED", "1"))
# test_emulator.py and bindings/tests/emulator/test_fault_matrix.py run these.
ELSEWHERE = ("wire", "matrix")
SUITES = [name for name in suites.KNOWN if name not in ELSEWHERE]

# s3torchconnector fixes the rank when a dataset is created, and its loads read ranges sequentially and without If-Match. Its
# writer publishes in the finalizer after an exception.
REFERENCE_FAILS = {
    "sharding": {"sharding/made-before-the-group"},
    "dcp-ranges": {"dcp-ranges/parallel", "dcp-ranges/one-etag", "dcp-ranges/replaced-meanwhile"},
    "writes": {"writes/left"},
}


@pytest.fixture
def bench(standalone):
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with Bench(access, admin=Admin(standalone.admin), seed=SEED, thorough=LONG) as instance:
        yield instance


@pytest.mark.timeout(900)
@pytest.mark.parametrize("suite", SUITES)
def test_penstock_passes(bench, suite):
    report = run([suites.find(suite)], bench, [find("penstock")])
    assert {v.name: v.problems for v in report.failed} == {}, f"PENSTOCK_PROPERTY_SEED={SEED}"
    assert {v.name: v.reason for v in report.verdicts if v.outcome == "not run"} == {}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("suite", sorted(REFERENCE_FAILS))
def test_s3torchconnector_fails_the_documented_checks(bench, suite):
    """Runs only these checks, unless PENSTOCK_LONG=1."""
    only = [] if LONG else sorted(REFERENCE_FAILS[suite])
    report = run([suites.find(suite)], bench, [find("s3torchconnector")], only=only)
    assert {v.name for v in report.failed} == REFERENCE_FAILS[suite], {v.name: v.problems for v in report.failed}
