"""A start never replaces a lost store by an empty one and never deletes a restored backup. `fsck` reports the same ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from store_process import Requests, StartRefusedError, fsck, serving

BODY = b"x" * 100_000


def fill(data: Path, body: bytes = BODY) -> None:
    with serving(data) as server:
        s3 = Requests(server.netloc)
        s3.expect(200, "PUT", "/bucket")
        s3.expect(200, "PUT", "/bucket/key", body)
        Requests(server.admin).expect(201, "POST", "/_penstock/namespaces", b'{"name": "w1"}')
        server.stop()


def generation(directory: Path) -> Path:
    [path] = directory.glob("generation-*")
    return path


def remove_store(data: Path) -> None:
    shutil.rmtree(generation(data))


def empty_store(data: Path) -> None:
    shutil.rmtree(generation(data))
    (data / "generation-1").mkdir()


def rename_store(data: Path) -> None:
    (data / "generation-1").rename(data / "generation-01")


def remove_store_and_marks(data: Path) -> None:
    """As a build before the marks leaves it."""
    shutil.rmtree(generation(data))
    for mark in data.glob("created-*"):
        mark.unlink()


def remove_database(data: Path) -> None:
    for path in generation(data).glob("penstock.db*"):
        path.unlink()


def remove_database_and_mark(data: Path) -> None:
    for name in ("penstock.db", "penstock.db-mark"):
        (generation(data) / name).unlink()


def remove_all_but_created(data: Path) -> None:
    shutil.rmtree(generation(data))
    shutil.rmtree(data / "namespaces")
    for path in data.glob("users.*"):
        path.unlink()


@pytest.mark.parametrize("body", [BODY, b"small"])
@pytest.mark.parametrize(
    "damage",
    [
        remove_store,
        empty_store,
        rename_store,
        remove_store_and_marks,
        remove_database,
        remove_database_and_mark,
        remove_all_but_created,
    ],
)
def test_a_start_refuses_a_directory_that_lost_its_store(tmp_path: Path, damage: Callable[[Path], None], body: bytes) -> None:
    data = tmp_path / "data"
    fill(data, body)
    damage(data)
    status, report, error = fsck(data)
    assert (status, report["clean"]) == (1, False), (report, error)
    with pytest.raises(StartRefusedError, match="is missing"), serving(data):
        pass
    assert fsck(data)[0] == 1, "the refused start changed nothing"


def test_a_namespace_that_lost_its_store_is_an_error_and_keeps_its_keys(tmp_path: Path) -> None:
    data = tmp_path / "data"
    fill(data)
    shutil.rmtree(generation(data / "namespaces" / "w1"))
    status, report, error = fsck(data)
    assert (status, report["leftovers"][0]["kind"]) == (1, "damage"), (report, error)
    with serving(data) as server:
        admin = Requests(server.admin)
        assert "w1" in json.loads(admin.expect(200, "GET", "/_penstock/namespaces"))["namespaces"]
        assert b'"w1"' in admin.expect(200, "GET", "/_penstock/users")
        assert admin.send("POST", "/_penstock/reset", b'{"namespace": "w1"}')[0] == 500


def test_a_backup_that_was_copied_over_a_directory_is_not_deleted(tmp_path: Path) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup"
    fill(data)
    shutil.copytree(data, backup)
    with serving(data) as server:
        Requests(server.admin).expect(200, "POST", "/_penstock/reset")
        server.stop()
    assert generation(data).name != "generation-1"
    newer = generation(data).name
    shutil.copytree(backup, data, dirs_exist_ok=True)
    status, report, error = fsck(data)
    assert (status, report["leftovers"][0]["kind"]) == (1, "damage"), (report, error)
    with pytest.raises(StartRefusedError, match="two stores"), serving(data):
        pass
    assert {path.name for path in data.glob("generation-*")} == {"generation-1", newer}
    # What the message says.
    for path in (data / newer, data / newer.replace("generation", "created")):
        path.rename(tmp_path / path.name)
    with serving(data) as server:
        assert Requests(server.netloc).expect(200, "GET", "/bucket/key") == BODY


def test_a_kill_after_a_reset_leaves_a_store_that_the_next_start_removes(tmp_path: Path) -> None:
    data, before = tmp_path / "data", tmp_path / "before"
    fill(data)
    shutil.copytree(data, before)
    with serving(data) as server:
        Requests(server.admin).expect(200, "POST", "/_penstock/reset")
        server.stop()
    # The reset ended, and nothing of the old store was removed.
    shutil.copytree(before / "generation-1", data / "generation-1")
    (data / "replaced-1").touch()
    assert fsck(data)[0] == 0
    with serving(data) as server:
        assert Requests(server.netloc).send("GET", "/bucket/key")[0] == 404
    assert not (data / "generation-1").exists()
    assert not (data / "replaced-1").exists()
