"""Damage to a data directory: a flipped bit, a truncation or a removal of each file, after a kill and after a normal exit, and of
the logs while the emulator runs.

The emulator either does not start, and then `fsck` finds the damage, or it serves every object, version, tag, upload and access
key correctly or as an error. It never returns wrong bytes with status 200, never an empty store and never an empty list of users.
A normal run has a random sample, PENSTOCK_LONG=1 all cases.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from store_process import (
    BUCKETS,
    ListedVersion,
    Requests,
    Server,
    SignedRequests,
    StartRefusedError,
    admin,
    body_of,
    fsck,
    listed_versions,
    make_buckets,
    serving,
)

LONG = bool(os.environ.get("PENSTOCK_LONG"))
SAMPLE = 24  # cases of each state in a normal run
PART = 5 << 20


@dataclass
class State:
    """A data directory, and what a server must return from it."""

    data: Path
    objects: dict[str, str] = field(default_factory=dict)  # path -> SHA-256
    responses: dict[str, bytes] = field(default_factory=dict)  # path of a GET -> its body: tags, parts, bucket configuration
    versions: dict[str, list[ListedVersion]] = field(default_factory=dict)  # of the versioned bucket, by key
    keys: dict[str, tuple[str, str]] = field(default_factory=dict)  # access key -> its secret, the path of an object
    inactive: dict[str, tuple[str, str]] = field(default_factory=dict)
    users: bytes = b""  # the admin API's list


def fill(server: Server, state: State) -> None:
    s3 = Requests(server.netloc)

    def put(path: str, body: bytes) -> None:
        s3.expect(200, "PUT", path, body)
        state.objects[path] = hashlib.sha256(body).hexdigest()

    make_buckets(server)
    for number in range(30):
        put(f"/plain/small-{number}", body_of(f"small {number}", 900))
    for number in range(4):
        put(f"/plain/file-{number}", body_of(f"file {number}", 70_000))
        put("/versioned/key", body_of(f"version {number}", 2_000 if number % 2 else 50_000))
        state.objects[f"/versioned/key?versionId={s3.version}"] = state.objects["/versioned/key"]
        put(f"/{BUCKETS[2]}/key-{number}", body_of(f"directory {number}", 1_500))
    parts = [body_of("part 1", PART), body_of("part 2", 10_000)]
    s3.multipart("/plain/joined", parts)
    state.objects["/plain/joined"] = hashlib.sha256(b"".join(parts)).hexdigest()
    upload = s3.multipart("/plain/unfinished", [body_of("part", 50_000), body_of("part", 900)], complete=False)
    s3.expect(204, "DELETE", "/plain/small-0")
    del state.objects["/plain/small-0"]
    s3.expect(204, "DELETE", "/versioned/hidden")  # a delete marker
    for number in range(1, 4):
        tags = f"<Tagging><TagSet><Tag><Key>number</Key><Value>{number}</Value></Tag></TagSet></Tagging>"
        s3.expect(200, "PUT", f"/plain/small-{number}?tagging=", tags.encode())
    paths = [f"/plain/small-{number}?tagging=" for number in range(1, 5)]  # the last has none
    paths += [f"/plain/unfinished?uploadId={upload}", "/plain?uploads=", "/versioned?versioning="]
    state.responses = {path: s3.expect(200, "GET", path) for path in paths}
    state.versions = listed_versions(s3.expect(200, "GET", "/versioned?versions="))
    assert [len(state.versions[key]) for key in ("key", "hidden")] == [4, 1]


def fill_users(server: Server, state: State) -> None:
    """Creates users, an inactive key and a namespace, each key with an object."""
    keys = [
        [{"access_key_id": f"KEY{account}{n}", "secret_access_key": f"secret-{account}{n}"} for n in range(8)] for account in "AB"
    ]
    everything = {"name": "everything", "document": {"Statement": {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}}}
    accounts = [
        {"account_id": f"11112222333{number}", "display_name": f"team-{number}", "access_keys": own[:2],
         "users": [{"name": f"user-{number}", "access_keys": own[2:], "inline_policies": [everything]}]}
        for number, own in enumerate(keys)
    ]  # fmt: skip
    assert admin(server, "POST", "users", {"accounts": accounts})[0] == 200
    status, made = admin(server, "POST", "namespaces", {"name": "other"})
    assert status == 201
    key = json.loads(made)
    secrets = {key["access_key_id"]: key["secret_access_key"] for key in [*itertools.chain(*keys), key]}
    for number, (key_id, secret) in enumerate(secrets.items()):
        s3 = SignedRequests(server.netloc, key_id, secret)
        s3.expect(200, "PUT", f"/bucket-{number}")
        path, body = f"/bucket-{number}/key", body_of(key_id, 900)
        s3.expect(200, "PUT", path, body)
        state.objects[path] = hashlib.sha256(body).hexdigest()
        state.keys[key_id] = secret, path
    for key_id in ("KEYA1", "KEYB7"):
        assert admin(server, "PATCH", f"access-keys/{key_id}", {"active": False})[0] == 200
        state.inactive[key_id] = state.keys.pop(key_id)
    status, state.users = admin(server, "GET", "users")
    assert status == 200


FILLED: dict[str, tuple[Callable[[Server, State], None], str]] = {"data": (fill, "off"), "users": (fill_users, "verify")}


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], State]:
    """Directories as a kill leaves them, with all changes in the logs, and after a normal exit."""
    made = {}
    for content, (fill_it, auth) in FILLED.items():
        for end in ("killed", "closed"):
            state = State(tmp_path_factory.mktemp(f"{content}-{end}") / "data")
            with serving(state.data, auth=auth) as server:
                fill_it(server, state)
                if end == "closed":
                    server.stop()
            made[content, end] = state
    return made


@dataclass(frozen=True)
class Damage:
    """One change to one file. `offset` None: the file is removed. `cut`: it is truncated at `offset`, else a bit is flipped."""

    file: str  # below the data directory
    offset: int | None = None
    cut: bool = False

    def __str__(self) -> str:
        return f"{self.file} " + ("removed" if self.offset is None else f"{'cut' if self.cut else 'flipped'} at {self.offset}")

    def apply(self, data: Path) -> None:
        path = data / self.file
        if self.offset is None:
            path.unlink()
        elif self.cut:
            os.truncate(path, self.offset)
        else:
            content = bytearray(path.read_bytes())
            content[self.offset] ^= 1 << self.offset % 8
            path.write_bytes(content)


def offsets(size: int) -> set[int]:
    """Offsets to damage: every fifth of the first 64 bytes, about 40 of the rest, and the last one."""
    return {*range(0, min(size, 64), 5), *range(64, size, max(size // 40, 1)), size - 1} if size else set()


def damages(data: Path) -> list[Damage]:
    cases = []
    for path in sorted(data.rglob("*")):
        name = str(path.relative_to(data))
        if not path.is_file() or name.endswith(("-shm", "penstock.reserve")) or "/tmp/" in name:
            continue
        size = path.stat().st_size
        cuts = sorted({0, size // 2, size - 1}) if size else []
        cases += [Damage(name, cut, cut=True) for cut in cuts]
        cases.append(Damage(name))
        cases += [Damage(name, offset) for offset in sorted(offsets(size))]
    return cases


def check_objects(server: Server, state: State, damage: Damage) -> None:
    s3 = Requests(server.netloc)
    for path, digest in state.objects.items():
        status, body = s3.send("GET", path)
        if status == 200:
            assert hashlib.sha256(body).hexdigest() == digest, f"{damage}: wrong bytes of {path}"
        else:
            assert status >= 500, f"{damage}: {path} is {status} {body[:200]!r}"
    for path, expected in state.responses.items():
        status, body = s3.send("GET", path)
        assert (status == 200 and body == expected) or status >= 500, f"{damage}: {path} is {status} {body[:300]!r}"
    status, body = s3.send("GET", "/versioned?versions=")
    assert (status == 200 and listed_versions(body) == state.versions) or status >= 500, f"{damage}: versions: {status} {body!r}"
    listed = set()
    for bucket in BUCKETS:
        status, body = s3.send("GET", f"/{bucket}?list-type=2")
        assert status == 200 or status >= 500, f"{damage}: the listing is {status}"
        if status != 200:
            return
        listed |= {f"/{bucket}/{key}" for key in re.findall(r"<Key>([^<]+)", body.decode())}
    assert listed == {path for path in state.objects if "?" not in path}, damage


def check_users(server: Server, state: State, damage: Damage) -> None:
    for key, (secret, path) in state.keys.items():
        status, body = SignedRequests(server.netloc, key, secret).send("GET", path)
        right = status == 200 and hashlib.sha256(body).hexdigest() == state.objects[path]
        assert right or status >= 500, f"{damage}: {path} with {key} is {status} {body[:200]!r}"
    for key, (secret, path) in state.inactive.items():
        status, body = SignedRequests(server.netloc, key, secret).send("GET", path)
        assert status == 403 or status >= 500, f"{damage}: the inactive {key} gets {status}"
    status, body = admin(server, "GET", "users")
    assert (status == 200 and body == state.users) or status >= 500, f"{damage}: users: {status} {body!r}"


def check_responses(server: Server, state: State, damage: Damage) -> None:
    if state.keys:
        check_users(server, state, damage)
    else:
        check_objects(server, state, damage)


def check(state: State, damage: Damage, folder: Path) -> bool:
    """Checks one damage. Returns whether the emulator started."""
    data = folder / "data"
    shutil.copytree(state.data, data)
    try:
        damage.apply(data)
        status, report, error = fsck(data)
        parts = [*report.get("stores", []), report.get("users", {})]
        if damage.file.startswith("namespaces/"):  # is opened by its first request
            parts = []
        findings = [finding for part in parts for finding in part.get("findings", [])]
        is_lost = any(f["code"] == "log" and f["kind"] == "damage" for f in findings) or (status == 2 and bool(parts))
        try:
            with serving(data, auth="verify" if state.keys else "off") as server:
                assert not is_lost, f"{damage}: the emulator starts where fsck refuses: {findings or error}"
                check_responses(server, state, damage)
                return True
        except StartRefusedError as refused:
            assert status != 0, f"{damage}: the emulator refuses, fsck finds nothing: {refused}"
            assert len(str(refused)) > 20, damage
            return False
    finally:
        shutil.rmtree(data)


@pytest.mark.timeout(7200 if LONG else 180)
@pytest.mark.parametrize("end", ["killed", "closed"])
@pytest.mark.parametrize("content", FILLED)
def test_damaged_files_are_reported_at_the_start_or_by_an_error(
    content: str, end: str, states: dict[tuple[str, str], State], tmp_path: Path, seed: int
) -> None:
    state = states[content, end]
    cases = damages(state.data)
    if content == "users":  # the other files are damaged in "data"
        cases = [damage for damage in cases if damage.file.startswith(("users.db", "namespaces/"))]
    if not LONG:
        cases = random.Random(seed).sample(cases, min(SAMPLE, len(cases)))
    started = sum(check(state, damage, tmp_path) for damage in cases)
    print(f"{content}, {end}: {len(cases)} damages, {len(cases) - started} starts refused")
    assert started > 0, "a damaged mark or lock alone does not keep the emulator from starting"


def check_running(state: State, damage: Damage, folder: Path) -> bool:
    """Damages a log while the emulator runs, and then kills it. Returns whether a request found the damage."""
    data = folder / "data"
    shutil.copytree(state.data, data)
    auth = "verify" if state.keys else "off"
    try:
        with serving(data, auth=auth) as server:
            damage.apply(data)
            check_responses(server, state, damage)
            if not state.keys:  # stores the same body again
                path, body = "/plain/small-5", body_of("small 5", 900)
                assert hashlib.sha256(body).hexdigest() == state.objects[path]
                status, response = Requests(server.netloc).send("PUT", path, body)
                assert status == 200 or status >= 500, f"{damage}: PUT is {status} {response!r}"
            found = "database.page_damaged" in server.kill()
        try:
            with serving(data, auth=auth) as server:
                check_responses(server, state, damage)
        except StartRefusedError as refused:
            assert "--accept-loss" in str(refused), f"{damage}: {refused}"
            assert fsck(data)[0] == 1, damage
        return found
    finally:
        shutil.rmtree(data)


@pytest.mark.timeout(7200 if LONG else 180)
@pytest.mark.parametrize("content", FILLED)
def test_logs_that_are_damaged_during_a_run_cause_errors(
    content: str, states: dict[tuple[str, str], State], tmp_path: Path, seed: int
) -> None:
    state = states[content, "killed"]
    log = "penstock.db-wal" if content == "data" else "users.db-wal"
    cases = [damage for damage in damages(state.data) if damage.file.endswith(log)]
    assert cases
    if not LONG:
        cases = random.Random(seed).sample(cases, min(SAMPLE, len(cases)))
    found = sum(check_running(state, damage, tmp_path) for damage in cases)
    print(f"{content}: {len(cases)} damages of the log during a run, {found} found by requests")


def flip_pages_of_log(data: Path) -> None:
    """Flips a bit of the page of every frame of the log."""
    log = next(data.rglob("penstock.db-wal"))
    size = log.stat().st_size
    with log.open("r+b") as file:
        for page in range(32 + 24, size, 24 + 4096):
            file.seek(page + 2000)
            byte = file.read(1)[0]
            file.seek(page + 2000)
            file.write(bytes([byte ^ 4]))


@pytest.mark.parametrize("durability", ["relaxed", "strict"])
def test_every_kind_of_request_fails_over_a_damaged_log(durability: str, tmp_path: Path) -> None:
    data = tmp_path / "s3"
    bodies = {f"/bucket/{number}": body_of(f"body {number}", 3_000) for number in range(50)}
    with serving(data, "--durability", durability) as server:
        s3 = Requests(server.netloc)
        s3.expect(200, "PUT", "/bucket")
        for path, body in bodies.items():
            s3.expect(200, "PUT", path, body)
        server.kill()
    with serving(data, "--durability", durability) as server:  # nothing is in a cache
        s3 = Requests(server.netloc)
        flip_pages_of_log(data)
        for path in bodies:
            status, body = s3.send("GET", path)
            assert status == 500, (path, status, body[:100])
            assert b"penstock.db" not in body, "responses name no file of the emulator's machine"
        assert s3.send("GET", "/bucket?list-type=2")[0] == 500
        assert s3.send("PUT", "/bucket/copy", x_amz_copy_source="/bucket/1")[0] == 500
        assert s3.send("PUT", "/bucket/new", b"body")[0] == 500
        assert s3.send("DELETE", "/bucket/1")[0] == 500
        log = server.stop()  # its checkpoint must not make the damaged pages valid
        assert "database.page_damaged" in log, log
    status, report, error = fsck(data)
    assert status == 1, (report, error)
    with pytest.raises(StartRefusedError, match=r"penstock\.db-wal.*--accept-loss"):
        Server(data, "--durability", durability)


def test_a_zeroed_byte_of_the_log_does_not_empty_the_store(tmp_path: Path) -> None:
    data = tmp_path / "s3"
    with serving(data) as server:
        s3 = Requests(server.netloc)
        s3.expect(200, "PUT", "/bucket")
        for number in range(100):
            s3.expect(200, "PUT", f"/bucket/{number}", b"body")
        server.kill()
    log = next(data.rglob("penstock.db-wal"))
    content = bytearray(log.read_bytes())
    content[0] = 0
    log.write_bytes(content)
    for _ in range(2):  # a failed start changes nothing
        assert fsck(data)[0] != 0
        with pytest.raises(StartRefusedError, match=r"penstock\.db-wal.*--accept-loss"):
            Server(data)
    assert fsck(data, "--accept-loss")[0] == 0
    with serving(data) as server:
        assert Requests(server.netloc).send("GET", "/bucket/1")[0] == 404


def flip_an_early_page_of_log(data: Path) -> None:
    """Flips a bit of the last version of a page that was written early, after other pages in the order of page numbers."""
    log = next(data.rglob("penstock.db-wal"))
    content = bytearray(log.read_bytes())
    frame = 24 + 4096
    last = {}  # by page
    for at in range(32, len(content) - frame + 1, frame):
        last[int.from_bytes(content[at : at + 4], "big")] = at
    content[min(last[page] for page in sorted(last)[len(last) // 2 :]) + 24 + 2000] ^= 4
    log.write_bytes(content)


@pytest.mark.parametrize("log", ["first", "second"])
def test_a_loss_that_a_checkpoint_found_can_be_accepted(log: str, tmp_path: Path, seed: int) -> None:
    """The checkpoint has moved pages of later commits (decision 0091). The log's rest replaces only the pages that it has."""
    data = tmp_path / "s3"
    paths = [f"/bucket/{number:02}" for number in range(100)]
    if log == "second":
        with serving(data) as server:
            s3 = Requests(server.netloc)
            s3.expect(200, "PUT", "/bucket")
            for path in paths:
                s3.expect(200, "PUT", path, body_of(f"old {path}", 3_000))
            server.stop()
    with serving(data) as server:
        s3 = Requests(server.netloc)
        if log == "first":
            s3.expect(200, "PUT", "/bucket")
        for path in random.Random(seed).sample(paths, len(paths)):
            s3.expect(200, "PUT", path, body_of(f"new {path}", 3_000))
        flip_an_early_page_of_log(data)
        assert "database.page_damaged" in server.stop()
    assert fsck(data)[0] == 1
    with pytest.raises(StartRefusedError, match=r"penstock\.db-wal.*--accept-loss"):
        Server(data)
    status, report, _ = fsck(data, "--accept-loss")
    assert status == (1 if log == "second" else 0), report
    if status == 1:
        assert "database" in {finding["code"] for finding in report["stores"][0]["findings"]}, "the contradictions"
    with serving(data) as server:
        s3 = Requests(server.netloc)
        responses = {path: s3.send("GET", path) for path in paths}
        server.stop()
    for path, (code, body) in responses.items():
        bodies = [body_of(f"{version} {path}", 3_000) for version in ("old", "new")]
        assert (code == 200 and body in bodies) or code in ((404, 500) if log == "second" else (404,)), (path, code)
    assert {code for code, _ in responses.values()} >= {200, 500 if log == "second" else 404}
    assert fsck(data)[0] == status


@pytest.mark.parametrize("durability", ["relaxed", "strict"])
@pytest.mark.parametrize("what", ["data", "blobs", "blobs, moved", "generation-1, moved"])
def test_writes_fail_after_the_directory_was_removed(durability: str, what: str, tmp_path: Path) -> None:
    data = tmp_path / "s3"
    with serving(data, "--durability", durability) as server:
        s3 = Requests(server.netloc)
        s3.expect(200, "PUT", "/bucket")
        s3.expect(200, "PUT", "/bucket/large", body_of("large", 100_000))
        name, _, moved = what.partition(", ")
        directory = data if name == "data" else next(data.rglob(name))
        if moved:
            directory.rename(tmp_path / "moved")
        else:
            shutil.rmtree(directory)
        # Without a change of the entries of its own directory, a relaxed store checks at one of 16 commits.
        unnoticed = 15 if durability == "relaxed" and what != "data" else 0
        responses = [s3.send("PUT", "/bucket/key", b"small") for _ in range(unnoticed + 1)]
        responses.append(s3.send("PUT", "/bucket/key", body_of("large", 100_000)))
        assert [status for status, _ in responses[unnoticed:]] == [500, 500], responses
        response = responses[-1][1]
        assert b"directory was removed" in response
        assert s3.send("DELETE", "/bucket/large")[0] == 500
        assert "store.directory_removed" in server.kill()


@pytest.mark.parametrize("durability", ["relaxed", "strict"])
@pytest.mark.parametrize("what", ["data", "users.db"])
def test_changes_of_users_fail_after_their_file_was_removed(durability: str, what: str, tmp_path: Path) -> None:
    data = tmp_path / "s3"
    kept, other = (
        {"accounts": [{"account_id": account, "access_keys": [{"access_key_id": key, "secret_access_key": "secret"}]}]}
        for account, key in (("111122223333", "KEY"), ("444455556666", "OTHER"))
    )
    with serving(data, "--durability", durability, auth="verify") as server:
        assert admin(server, "POST", "users", kept)[0] == 200
        if what == "data":
            shutil.rmtree(data)
        else:
            for file in data.glob("users.db*"):
                file.unlink()
        responses = [
            admin(server, "POST", "users", other),
            admin(server, "PATCH", "access-keys/KEY", {"active": False}),
            admin(server, "DELETE", "access-keys/KEY"),
        ]
        assert [status for status, _ in responses] == [500] * 3, responses
        assert all(b"user database 'users.db' was removed" in body for _, body in responses), responses
        assert SignedRequests(server.netloc, "OTHER", "secret").send("GET", "/")[0] == 403
        assert SignedRequests(server.netloc, "KEY", "secret").send("GET", "/")[0] == 200
        assert "admin.request_failed" in server.kill()
