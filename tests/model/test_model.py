"""The emulator behaves like the reference model in random sequences, and the comparison finds planted differences.

`PENSTOCK_PROPERTY_RUNS` sequences (`./dev test --long`: 10,000), from seed `PENSTOCK_PROPERTY_SEED` on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import s3_listing
from s3_reference import Bucket, Version
from s3_sequences import Bench, run_all, sequence
from s3_wire import Wire

RUNS = int(os.environ.get("PENSTOCK_PROPERTY_RUNS", "200"))
FIRST_SEED = int(os.environ.get("PENSTOCK_PROPERTY_SEED", "1"))


@pytest.fixture
def bench(standalone) -> Iterator[Bench]:
    wire = Wire(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    bench = Bench(wire)
    yield bench
    bench.close()


@pytest.mark.timeout(1800)
def test_the_emulator_behaves_like_the_model(bench):
    print(f"seeds {FIRST_SEED} to {FIRST_SEED + RUNS - 1}")
    failure = run_all(bench, range(FIRST_SEED, FIRST_SEED + RUNS))
    assert failure is None, str(failure)


def test_a_seed_determines_its_sequence():
    assert sequence(7) == sequence(7)
    assert sequence(7) != sequence(8)


def put_without_replacing_null(bucket: Bucket, key: str, version: Version) -> None:
    bucket.keys.setdefault(key, []).insert(0, version)


def page_that_truncates_late(rows, query):
    found = s3_listing_page(rows, query)
    found.truncated = found.truncated and query.limit > 1
    return found


s3_listing_page = s3_listing.page


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (Bucket, "put", put_without_replacing_null),
        (Bucket, "check_write", lambda *_: None),
        (Bucket, "shown_id", lambda _bucket, version: version.id),
        (s3_listing, "page", page_that_truncates_late),
    ],
)
def test_a_planted_difference_is_found_and_shrunk(bench, monkeypatch, where, name, wrong):
    """The model has the fault here. For the comparison it makes no difference which side is wrong."""
    monkeypatch.setattr(where, name, wrong)
    failure = run_all(bench, range(1, 200))
    assert failure is not None
    assert len(failure.steps) <= 5
    assert f"seed {failure.seed}" in str(failure)
