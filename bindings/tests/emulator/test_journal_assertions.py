"""Assertions on the journal. They fail if matching entries were dropped, and reject filters that can never match."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import penstock
import pytest
from botocore.config import Config
from penstock.testing import Emulator


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        yield instance


def boto(emulator: Emulator) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=emulator.endpoint,
        region_name=emulator.region,
        aws_access_key_id=emulator.access_key_id,
        aws_secret_access_key=emulator.secret_access_key,
        config=Config(s3={"addressing_style": "path"}),
    )


def test_assertions_fail_if_entries_that_may_match_were_dropped() -> None:
    with Emulator(journal_size=128 << 10, auth="off") as emulator:
        client = emulator.client()
        for _ in range(1000):
            with pytest.raises(penstock.S3NotFoundError):
                client.head_object("none", "key")
        journal = emulator.journal()
        dropped_error = f"{journal.dropped} of the selected entries were dropped.*raise journal_size"
        reads = {"bucket": "none", "operations": "GetObject"}
        with pytest.raises(AssertionError, match=dropped_error):
            journal.assert_count(0, status=503)
        with pytest.raises(AssertionError, match=dropped_error):
            journal.assert_max_concurrency(1)
        with pytest.raises(AssertionError, match=dropped_error):
            journal.assert_no_request_after({"operations": "HeadObject"}, {"operations": "PutObject"})
        with pytest.raises(AssertionError, match="never fetched"):
            journal.assert_ranges("none", "key", [(0, 1)])
        assert journal.count(**reads) == 0
        last_dropped = journal.dropped_up_to
        assert last_dropped == journal.dropped
        journal.assert_count(0, status=503, after=last_dropped)
        journal.assert_max_concurrency(1, after=last_dropped)
        assert journal.ranges("none", "key").dropped == journal.dropped
        assert journal.ranges("none", "key", after=last_dropped).dropped == 0


@pytest.mark.parametrize(
    "filter",
    [
        {"operations": "PutObjekt"},
        {"operations": ["GetObject", "Nope"]},
        {"operations": []},
        {"status": 7},
        {"status": 999},
        {"method": "get"},
        {"colour": "red"},
    ],
    ids=json.dumps,
)
def test_a_filter_that_can_never_match_is_rejected(emulator: Emulator, filter: Any) -> None:
    journal = emulator.journal()
    (field,) = filter
    for query in (journal.count, journal.entries, journal.max_concurrency, journal.retries, journal.tail):
        with pytest.raises(ValueError, match=field):
            query(**filter)
    with pytest.raises(ValueError, match=field):
        journal.assert_count(0, **filter)
    with pytest.raises(ValueError, match=field):
        journal.assert_no_request_after({}, filter)
    with pytest.raises(ValueError, match=field):
        journal.requests_after({}, filter)


def test_assert_ranges_rejects_an_empty_list(emulator: Emulator) -> None:
    with pytest.raises(ValueError, match="wanted is empty"):
        emulator.journal().assert_ranges("bucket", "key", [])
    assert emulator.journal().ranges("bucket", "key").missing == []


def test_an_entry_is_complete_when_the_client_has_the_response(emulator: Emulator) -> None:
    """Sequential requests on two connections are never concurrent in the journal, and are in order."""
    for _ in range(100):
        emulator.journal().clear()
        for client in (boto(emulator), boto(emulator)):
            client.list_buckets()
        first, second = emulator.journal().entries()
        assert first.began_s + first.lasted_s <= second.began_s + 1e-9
        assert emulator.journal().max_concurrency() == 1
        assert [entry.number for entry in emulator.journal().requests_after({"connection": first.connection})] == [second.number]
