"""`events` and `remove_events` of an emulator and of its namespaces."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from penstock_emulator import Emulator, Namespace, NotFoundError

RULES = """<NotificationConfiguration><QueueConfiguration><Id>all</Id><Queue>arn:aws:sqs:us-east-1:111122223333:q</Queue>
<Event>s3:ObjectCreated:*</Event></QueueConfiguration></NotificationConfiguration>"""


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        yield instance


def fill(space: Emulator | Namespace) -> None:
    client = space.client()
    client.create_bucket("watched")
    client.put_bucket_configuration("watched", "notification", RULES)
    client.put("watched", "k", b"x")


def test_events_are_read_until_they_are_removed(emulator: Emulator) -> None:
    fill(emulator)
    test, put = emulator.events()
    assert (test["number"], test["message"]["Event"]) == (1, "s3:TestEvent")
    assert put["message"]["Records"][0]["s3"]["object"]["key"] == "k"
    assert emulator.events(after=1) == [put]
    emulator.remove_events(1)
    assert emulator.events() == [put]
    emulator.remove_events()
    assert emulator.events() == []


def test_the_newest_events_are_read_in_order(emulator: Emulator) -> None:
    space = emulator.create_namespace("other")
    fill(space)
    for key in ("a", "b"):
        space.client().put("watched", key, b"x")
    assert [event["number"] for event in space.events(newest=2)] == [3, 4]
    assert [event["number"] for event in emulator.events(newest=2, namespace="other", after=3)] == [4]
    with pytest.raises(ValueError, match="newest must be from 0 to 1000, not 1001"):
        emulator.events(newest=1001)


def test_a_wait_for_events_ends_with_the_first(emulator: Emulator) -> None:
    space = emulator.create_namespace("other")
    fill(space)
    client = space.client()
    writer = threading.Thread(target=client.put, args=("watched", "later", b"x"))
    last = space.events()[-1]["number"]
    writer.start()
    [event] = space.events(after=last, wait_s=60)
    writer.join()
    assert event["message"]["Records"][0]["s3"]["object"]["key"] == "later"
    assert emulator.events() == []
    space.remove_events()
    assert space.events() == []


def test_bad_arguments_of_events_are_refused(emulator: Emulator) -> None:
    with pytest.raises(ValueError, match=r"after must be from 0 to .*, not -1"):
        emulator.events(after=-1)
    with pytest.raises(ValueError, match=r"wait_s must be from 0 to 60 seconds, not 61"):
        emulator.events(wait_s=61)
    with pytest.raises(ValueError, match=r"through must be from 0 to .*, not -1"):
        emulator.remove_events(-1)
    with pytest.raises(NotFoundError):
        emulator.events(namespace="absent")
