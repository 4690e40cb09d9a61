"""A kill during the creation of a store leaves a data directory that `fsck` accepts and a start cleans up.

One emulator starts, creates a namespace and resets all namespaces while every change of its data directory is recorded. The test
checks the directory as a kill after each of these changes leaves it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from power_failure import CREATE, MAKE_DIRECTORY, RENAME, SYNC, UNLINK, Change, kill_at, read_log, recording_of
from store_process import Requests, Server, fsck, serving

BETWEEN_CHECKS = 4  # changes between two checks; each change of a name is checked too
BETWEEN_STARTS = 24  # each start takes longer than fsck


@dataclass
class Recording:
    data: Path
    changes: list[Change]
    # Lengths of the record.
    namespace_begun: int
    namespace_done: int
    reset_begun: int
    reset_done: int
    stored: int  # the object of the default namespace


def record(folder: Path) -> Recording:
    data, log, environment = recording_of(folder)
    with serving(data, environment=environment) as server:
        s3, admin = Requests(server.netloc), Requests(server.admin)
        s3.expect(200, "PUT", "/plain")
        s3.expect(200, "PUT", "/plain/key", b"body")
        lengths = [log.stat().st_size]
        admin.expect(201, "POST", "/_penstock/namespaces", json.dumps({"name": "one"}).encode())
        lengths += [log.stat().st_size, log.stat().st_size]
        admin.expect(200, "POST", "/_penstock/reset")
        lengths.append(log.stat().st_size)
    begun, done, reset, ended = lengths
    return Recording(data, read_log(log), begun, done, reset, ended, begun)


def namespaces_of(server: Server) -> list[str]:
    return json.loads(Requests(server.admin).expect(200, "GET", "/_penstock/namespaces"))["namespaces"]


def check_start(image: Path, recording: Recording, end: int) -> None:
    with serving(image) as server:
        names = namespaces_of(server)
        status = Requests(server.netloc).send("GET", "/plain/key")[0]
        if end < recording.namespace_begun:
            assert names == ["default"], end
        if end >= recording.namespace_done:
            assert names == ["default", "one"], end
        if recording.stored <= end <= recording.reset_begun:
            assert status == 200, end
        if end >= recording.reset_done:
            assert status == 404, end
        if "one" not in names:  # the name can be used again
            Requests(server.admin).expect(201, "POST", "/_penstock/namespaces", json.dumps({"name": "one"}).encode())
    status, report, error = fsck(image)
    assert (status, report["leftovers"]) == (0, []), (end, report, error)


@pytest.mark.timeout(180)
def test_fsck_and_a_start_succeed_after_a_kill_during_the_creation_of_a_store(tmp_path: Path) -> None:
    recording = record(tmp_path)
    image = tmp_path / "image"
    leftovers = 0
    for number, change in enumerate(recording.changes):
        if number % BETWEEN_CHECKS != 0 and change.kind not in (CREATE, RENAME, UNLINK, MAKE_DIRECTORY):
            continue
        kill_at(recording.changes, change.end, recording.data, image)
        if not any(image.iterdir()):
            continue
        status, report, error = fsck(image)
        assert status == 0, f"a kill after change {number} of {len(recording.changes)}: {report} {error}"
        leftovers += len(report["leftovers"])
        if number % BETWEEN_STARTS == 0:
            check_start(image, recording, change.end)
    assert leftovers > 0


def unsynced_directories(changes: list[Change], data: Path) -> set[str]:
    """Directories with a new directory or a renamed file whose name is not durable."""
    unsynced: dict[int, str] = {}
    for change in changes:
        if change.kind in (MAKE_DIRECTORY, RENAME):
            directory = Path(change.other or change.path).parent
            if directory.is_relative_to(data) and directory.exists():
                unsynced[directory.stat().st_ino] = str(directory.relative_to(data))
        elif change.kind == SYNC:
            unsynced.pop(change.inode, None)
    return set(unsynced.values())


def test_in_strict_mode_the_names_of_a_new_store_are_durable_before_the_response(tmp_path: Path) -> None:
    data, log, environment = recording_of(tmp_path)
    with serving(data, "--durability", "strict", environment=environment) as server:
        assert unsynced_directories(read_log(log), data) == set()
        admin = Requests(server.admin)
        body = json.dumps({"name": "one"}).encode()
        for path, document, status in [("namespaces", body, 201), ("reset", b"", 200), ("reset", b'{"namespace": "one"}', 200)]:
            admin.expect(status, "POST", f"/_penstock/{path}", document)
            assert unsynced_directories(read_log(log), data) == set(), path
