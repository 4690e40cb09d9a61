"""A full disk: puts fail with 507; deletions, aborts and resets free space again without a restart.

A preloaded library enforces a quota (storage_quota.cc), so that most tests need no file system of their own.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ext4_disk import Disk, why_none
from store_process import Requests, Server, SignedRequests, StartRefusedError, body_of, fsck, serving

QUOTA = 12 << 20
NO_EXT4 = why_none()
INLINE, LARGEST_INLINE, IN_FILE = 20_000, 30_000, 300_000


@pytest.fixture
def quota(tmp_path: Path) -> dict[str, str]:
    library = tmp_path / "storage_quota.so"
    source = Path(__file__).with_name("storage_quota.cc")
    subprocess.run(
        [os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-shared", "-fPIC", "-o", str(library), str(source)], check=True
    )
    return {"LD_PRELOAD": str(library), "QUOTA_DIRECTORY": str(tmp_path / "data"), "QUOTA_BYTES": str(QUOTA)}


@pytest.fixture(params=["relaxed", "strict"])
def server(request: pytest.FixtureRequest, tmp_path: Path, quota: dict[str, str]) -> Iterator[Server]:
    with serving(tmp_path / "data", "--durability", request.param, environment=quota) as running:
        yield running


def fill(s3: Requests, size: int) -> list[str]:
    """Puts objects until the disk is full. Returns their keys."""
    keys = []
    for number in range(10_000):
        status, response = s3.send("PUT", f"/bucket/{number}", body_of(str(number), size))
        if status != 200:
            assert status == 507, response
            assert b"InsufficientStorage" in response
            return keys
        keys.append(str(number))
    raise AssertionError("the disk is never full")


def delete_all(s3: Requests, keys: list[str]) -> None:
    """Deletes the first five keys one by one, the rest with one request."""
    for key in keys[:5]:
        s3.expect(204, "DELETE", f"/bucket/{key}")
    listed = "".join(f"<Object><Key>{key}</Key></Object>" for key in keys[5:])
    response = s3.expect(200, "POST", "/bucket?delete=", f"<Delete>{listed}</Delete>".encode())
    assert b"<Error>" not in response, response


@pytest.mark.parametrize("size", [INLINE, IN_FILE])
def test_deletions_free_space(size: int, server: Server, tmp_path: Path) -> None:
    s3 = Requests(server.netloc)
    s3.expect(200, "PUT", "/bucket")
    for _ in range(2):
        keys = fill(s3, size)
        assert len(keys) > 10
        assert s3.expect(200, "GET", f"/bucket/{keys[0]}") == body_of(keys[0], size)
        fill(s3, 100)  # smaller objects do not fit either; the reserve is for deletions
        delete_all(s3, re.findall(r"<Key>([^<]+)", s3.expect(200, "GET", "/bucket?list-type=2").decode()))
    s3.expect(200, "PUT", "/bucket/again", body_of("again", size))
    server.kill()
    status, report, error = fsck(tmp_path / "data")
    assert status == 0, f"{report} {error}"


def test_settings_and_tags_can_be_deleted(server: Server) -> None:
    s3 = Requests(server.netloc)
    s3.expect(200, "PUT", "/bucket")
    tags = b"<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>"
    rule = b"<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>"
    for path, status, document in (
        ("/bucket?cors=", 200, b"<CORSConfiguration>" + rule * 90 + b"</CORSConfiguration>"),
        ("/bucket?tagging=", 204, tags),
    ):
        md5 = base64.b64encode(hashlib.md5(document).digest()).decode()
        s3.expect(status, "PUT", path, document, **{"content-md5": md5})
    s3.expect(200, "PUT", "/bucket/key", b"")
    s3.expect(200, "PUT", "/bucket/key?tagging=", tags)
    for path in ("/bucket/key?tagging=", "/bucket?tagging=", "/bucket?cors="):
        fill(s3, IN_FILE)
        fill(s3, INLINE)
        fill(s3, 0)
        s3.expect(204, "DELETE", path)


@pytest.mark.parametrize("end", ["stopped", "killed"])
@pytest.mark.parametrize("durability", ["relaxed", "strict"])
def test_a_store_on_a_full_disk_can_be_opened(durability: str, end: str, tmp_path: Path, quota: dict[str, str]) -> None:
    """A failed write used to be taken for a lost commit, and a killed process left no space to open the store."""
    with serving(tmp_path / "data", "--durability", durability, environment=quota) as server:
        s3 = Requests(server.netloc)
        s3.expect(200, "PUT", "/bucket")
        keys = fill(s3, LARGEST_INLINE)
        s3.expect(204, "DELETE", f"/bucket/{keys[0]}")
        if end == "killed":
            server.kill()
    with serving(tmp_path / "data", "--durability", durability, environment=quota) as server:
        s3 = Requests(server.netloc)
        assert s3.expect(200, "GET", f"/bucket/{keys[1]}") == body_of(keys[1], LARGEST_INLINE)
        delete_all(s3, keys[1:])
        s3.expect(200, "PUT", "/bucket/again", body_of("again", INLINE))


def test_an_abort_frees_space(server: Server) -> None:
    s3 = Requests(server.netloc)
    s3.expect(200, "PUT", "/bucket")
    upload = s3.multipart("/bucket/upload", [body_of("part", 2 << 20)], complete=False)
    fill(s3, IN_FILE)
    fill(s3, 100)
    s3.expect(204, "DELETE", f"/bucket/upload?uploadId={upload}")
    s3.expect(200, "PUT", "/bucket/again", body_of("again", IN_FILE))


def test_a_reset_frees_space(server: Server) -> None:
    s3 = Requests(server.netloc)
    s3.expect(200, "PUT", "/bucket")
    fill(s3, IN_FILE)
    fill(s3, 100)
    Requests(server.admin).expect(200, "POST", "/_penstock/reset")
    s3.expect(200, "PUT", "/bucket")
    fill(s3, IN_FILE)


def used(data: Path) -> int:
    """Bytes on disk. The emulator may remove files meanwhile; they count nothing."""
    blocks = 0
    for folder, _, names in os.walk(data):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                blocks += Path(folder, name).stat().st_blocks
    return blocks * 512


def fill_with_a_foreign_file(data: Path) -> None:
    """Writes a file that is not the emulator's until the quota is used up."""
    with (data / "ballast").open("ab") as ballast:
        ballast.write(bytes(max(QUOTA - used(data), 0) // 4096 * 4096))


def users_of(admin: Requests) -> object:
    return json.loads(admin.expect(200, "GET", "/_penstock/users"))


@pytest.mark.parametrize("durability", ["relaxed", "strict"])
def test_closed_namespaces_on_a_full_disk_can_be_reset_and_deleted(
    durability: str, tmp_path: Path, quota: dict[str, str]
) -> None:
    """Idle namespaces are closed. On a full disk they, and the emulator itself, used to have no space to open again."""
    data = tmp_path / "data"
    options = ("--durability", durability)
    spaces = {}
    with serving(data, *options, auth="verify") as server:  # the reserves of open stores are larger than the quota
        admin = Requests(server.admin)
        for name in ("read", "reset", "deleted", "kept"):
            spaces[name] = json.loads(admin.expect(201, "POST", "/_penstock/namespaces", json.dumps({"name": name}).encode()))
            s3 = SignedRequests(server.netloc, spaces[name]["access_key_id"], spaces[name]["secret_access_key"])
            s3.expect(200, "PUT", "/bucket")
            for number in range(3):
                s3.expect(200, "PUT", f"/bucket/{number}", body_of(f"{name} {number}", IN_FILE))
        before = users_of(admin)
        server.stop()
    assert used(data) < QUOTA
    fill_with_a_foreign_file(data)
    with serving(data, *options, auth="verify", environment=quota) as server:
        fill_with_a_foreign_file(data)
        admin = Requests(server.admin)
        assert users_of(admin) == before
        s3 = SignedRequests(server.netloc, spaces["read"]["access_key_id"], spaces["read"]["secret_access_key"])
        assert s3.expect(200, "GET", "/bucket/0") == body_of("read 0", IN_FILE)
        fill_with_a_foreign_file(data)
        s3.expect(204, "DELETE", "/bucket/0")
        fill_with_a_foreign_file(data)
        admin.expect(200, "POST", "/_penstock/reset", json.dumps({"namespace": "reset"}).encode())
        fill_with_a_foreign_file(data)
        admin.expect(200, "DELETE", "/_penstock/namespaces/deleted")
        remaining = users_of(admin)
        server.stop()
    (data / "ballast").unlink()
    with serving(data, *options, auth="verify", environment=quota) as server:
        assert users_of(Requests(server.admin)) == remaining
        s3 = SignedRequests(server.netloc, spaces["kept"]["access_key_id"], spaces["kept"]["secret_access_key"])
        for number in range(3):
            assert s3.expect(200, "GET", f"/bucket/{number}") == body_of(f"kept {number}", IN_FILE)
        s3 = SignedRequests(server.netloc, spaces["reset"]["access_key_id"], spaces["reset"]["secret_access_key"])
        s3.expect(404, "GET", "/bucket/0")
        server.stop()
    status, report, error = fsck(data)
    assert status == 0, f"{report} {error}"


@pytest.mark.parametrize("durability", ["relaxed", "strict"])
def test_changes_of_users_on_a_full_disk_are_atomic(durability: str, tmp_path: Path, quota: dict[str, str]) -> None:
    """A request that the admin API rejects on a full disk changes nothing, also after a restart; keys can be removed."""
    data = tmp_path / "data"
    options = ("--durability", durability)

    def account(number: int) -> bytes:
        users = [
            {"name": f"user-{i}", "access_keys": [{"access_key_id": f"KEY-{number}-{i}", "secret_access_key": "s" * 40}]}
            for i in range(40)
        ]
        return json.dumps({"accounts": [{"account_id": f"{number:012}", "users": users}]}).encode()

    with serving(data, *options, environment=quota) as server:
        admin = Requests(server.admin)
        admin.expect(200, "POST", "/_penstock/users", account(1))
        fill_with_a_foreign_file(data)
        refusals = 0
        for number in range(2, 20):
            before = users_of(admin)
            status, response = admin.send("POST", "/_penstock/users", account(number))
            if status == 200:
                continue
            refusals += 1
            assert status == 507, response
            assert b"run out of disk space" in response, response
            assert users_of(admin) == before
        assert refusals > 0
        status, response = admin.send("PATCH", "/_penstock/access-keys/KEY-1-0", json.dumps({"active": False}).encode())
        changed = users_of(admin)
        server.kill()
    with serving(data, *options, environment=quota) as server:
        fill_with_a_foreign_file(data)
        admin = Requests(server.admin)
        assert users_of(admin) == changed
        for i in range(40):
            admin.expect(200, "DELETE", f"/_penstock/access-keys/KEY-1-{i}")
            fill_with_a_foreign_file(data)
        removed = users_of(admin)
        server.kill()
    (data / "ballast").unlink()
    with serving(data, *options, environment=quota) as server:
        assert users_of(Requests(server.admin)) == removed


@pytest.fixture
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    """The parameter is the size of a block. Blocks of 1 KiB are smaller than a page of memory."""
    disk = Disk(tmp_path, 64 << 20, "-b", str(request.param), "-m", "0")
    try:
        yield disk
    finally:
        disk.unmount()


def leave(disk: Disk, kilobytes: int) -> None:
    """Fills the disk with a file until about `kilobytes` are free."""
    ballast = disk.mounted / "ballast"
    ballast.unlink(missing_ok=True)
    disk.sync()
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 10):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(size))
        file.truncate(max(file.tell() - (kilobytes << 10), 0))
    disk.sync()


@pytest.mark.skipif(bool(NO_EXT4), reason=NO_EXT4)
@pytest.mark.parametrize("small_disk", [1024], indirect=True)
def test_a_full_disk_with_small_blocks_ends_no_process(small_disk: Disk) -> None:
    """A write to the mapped index of a log whose blocks could not be allocated used to end the process (SIGBUS)."""
    data = small_disk.mounted / "data"
    with serving(data) as server:
        Requests(server.netloc).expect(200, "PUT", "/bucket")
        server.stop()
    statuses = set()
    for kilobytes in range(8, 160, 16):
        leave(small_disk, kilobytes)
        checked, _, message = fsck(data)
        assert checked in (0, 2), f"{kilobytes} KiB free: {checked} {message}"
        leave(small_disk, kilobytes)
        try:
            with serving(data) as server:
                admin = Requests(server.admin)
                statuses.add(admin.send("POST", "/_penstock/namespaces", b'{"name": "a"}')[0])
                admin.send("DELETE", "/_penstock/namespaces/a")
                server.stop()
                assert server.process.returncode == 0, f"{kilobytes} KiB free"
        except StartRefusedError as error:
            assert "no space left" in str(error), f"{kilobytes} KiB free: {error}"
    assert 507 in statuses


@pytest.mark.skipif(bool(NO_EXT4), reason=NO_EXT4)
@pytest.mark.parametrize("small_disk", [4096], indirect=True)
def test_a_disk_without_room_for_a_directory_is_full(small_disk: Disk) -> None:
    """The failure to create a directory below blobs used to be a missing file (500)."""
    with serving(small_disk.mounted / "data") as server:
        s3 = Requests(server.netloc)
        s3.expect(200, "PUT", "/bucket")
        refusals = 0
        for kilobytes in range(60, 200, 12):
            leave(small_disk, kilobytes)
            for number in range(20):
                status, response = s3.send("PUT", f"/bucket/{number}", body_of(str(number), 60_000))
                assert status in (200, 507), response
                refusals += status == 507
                s3.expect(204, "DELETE", f"/bucket/{number}")
        assert refusals > 0
