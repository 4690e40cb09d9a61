"""`run_lifecycle` and `preview_lifecycle` of an emulator and of its namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest
from penstock_emulator import Emulator, Namespace, NotFoundError

DAY_S = 86_400
RULES = """<LifecycleConfiguration><Rule><ID>day</ID><Filter/><Status>Enabled</Status>
<Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>"""


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        yield instance


def fill(space: Emulator | Namespace) -> None:
    client = space.client()
    client.create_bucket("life")
    client.put_bucket_configuration("life", "lifecycle", RULES)
    client.put("life", "k", b"x")


def test_a_run_returns_its_actions_once(emulator: Emulator) -> None:
    fill(emulator)
    assert emulator.run_lifecycle()["actions"] == 0
    emulator.clock().advance(3 * DAY_S)
    account = emulator.run_lifecycle("life")
    assert [(entry["action"], entry["key"], entry["rule"]) for entry in account["log"]] == [("expire_object", "k", "day")]
    assert account["buckets"][0]["rules"] == [{"id": "day", "actions": {"expire_object": 1}}]
    assert emulator.run_lifecycle()["actions"] == 0


def test_a_preview_of_a_namespace_changes_nothing(emulator: Emulator) -> None:
    space = emulator.create_namespace("other")
    fill(space)
    by = datetime.now(timezone.utc) + timedelta(days=9)
    assert space.preview_lifecycle(by)["actions"] == 1
    assert space.preview_lifecycle()["actions"] == 0
    assert emulator.preview_lifecycle(by)["actions"] == 0
    assert space.client().get("life", "k").body == b"x"
    space.clock.advance(9 * DAY_S)
    assert space.run_lifecycle()["actions"] == 1


def test_wrong_arguments_name_the_value(emulator: Emulator) -> None:
    with pytest.raises(NotFoundError):
        emulator.run_lifecycle(namespace="absent")
    with pytest.raises(NotFoundError):
        emulator.run_lifecycle("absent")
    with pytest.raises(ValueError, match="no time zone"):
        emulator.preview_lifecycle(datetime(2030, 1, 1))
    with pytest.raises(ValueError, match="bucket is empty"):
        emulator.run_lifecycle("")
