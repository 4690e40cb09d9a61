"""Assertions on the journal: they fail if matching entries were dropped, and reject filters that can match nothing."""

from __future__ import annotations

import json
from typing import Any

import boto3
import penstock
import pytest
from botocore.config import Config
from penstock.testing import Emulator


@pytest.fixture
def world() -> Any:
    with Emulator() as emulator:
        yield emulator


def boto(world: Emulator) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=world.endpoint,
        region_name=world.region,
        aws_access_key_id=world.access_key_id,
        aws_secret_access_key=world.secret_access_key,
        config=Config(s3={"addressing_style": "path"}),
    )


def test_assertions_fail_if_entries_that_may_match_were_dropped() -> None:
    with Emulator(journal_bytes=128 << 10, auth="off") as world:
        client = world.client()
        for _ in range(1000):
            with pytest.raises(penstock.S3NotFoundError):
                client.head_object("none", "key")
        journal = world.journal()
        lost = f"{journal.dropped} of the selected entries were dropped.*raise journal_bytes"
        reads = {"bucket": "none", "operations": "GetObject"}
        with pytest.raises(AssertionError, match=lost):
            journal.assert_count(0, status=503)
        with pytest.raises(AssertionError, match=lost):
            journal.assert_max_concurrency(1)
        with pytest.raises(AssertionError, match=lost):
            journal.assert_no_request_after({"operations": "HeadObject"}, {"operations": "PutObject"})
        with pytest.raises(AssertionError, match="never fetched"):
            journal.assert_ranges("none", "key", [(0, 1)])
        assert journal.count(**reads) == 0
        kept = journal.dropped_up_to
        assert kept == journal.dropped
        journal.assert_count(0, status=503, after=kept)
        journal.assert_max_concurrency(1, after=kept)
        assert journal.ranges("none", "key").dropped == journal.dropped
        assert journal.ranges("none", "key", after=kept).dropped == 0


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
def test_a_filter_that_can_select_nothing_is_rejected(world: Emulator, filter: Any) -> None:
    journal = world.journal()
    (field,) = filter
    for ask in (journal.count, journal.entries, journal.max_concurrency, journal.retries, journal.tail):
        with pytest.raises(ValueError, match=field):
            ask(**filter)
    with pytest.raises(ValueError, match=field):
        journal.assert_count(0, **filter)
    with pytest.raises(ValueError, match=field):
        journal.assert_no_request_after({}, filter)
    with pytest.raises(ValueError, match=field):
        journal.requests_after({}, filter)


def test_assert_ranges_rejects_an_empty_list(world: Emulator) -> None:
    with pytest.raises(ValueError, match="wanted is empty"):
        world.journal().assert_ranges("bucket", "key", [])
    assert world.journal().ranges("bucket", "key").missing == []


def test_a_received_response_is_a_finished_entry(world: Emulator) -> None:
    """Sequential requests on two connections are never concurrent in the journal, and are in order."""
    for _ in range(100):
        world.journal().clear()
        for client in (boto(world), boto(world)):
            client.list_buckets()
        first, second = world.journal().entries()
        assert first.began_s + first.lasted_s <= second.began_s + 1e-9
        assert world.journal().max_concurrency() == 1
        assert [entry.number for entry in world.journal().requests_after({"connection": first.connection})] == [second.number]
