"""A full disk: puts are refused with 507, and deletions, aborts and resets make room again, without a restart.

The disk is a quota that a preloaded library keeps (storage_quota.cc), so that the test needs no file system of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from store_process import Requests, Server, body_of, fsck, serving

QUOTA = 12 << 20
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
    """Puts objects until there is no room. Returns their keys."""
    keys = []
    for number in range(10_000):
        status, answer = s3.send("PUT", f"/bucket/{number}", body_of(str(number), size))
        if status != 200:
            assert status == 507, answer
            assert b"InsufficientStorage" in answer
            return keys
        keys.append(str(number))
    raise AssertionError("the disk is never full")


def delete_all(s3: Requests, keys: list[str]) -> None:
    """The first ones one by one, the rest together."""
    for key in keys[:5]:
        s3.expect(204, "DELETE", f"/bucket/{key}")
    listed = "".join(f"<Object><Key>{key}</Key></Object>" for key in keys[5:])
    answer = s3.expect(200, "POST", "/bucket?delete=", f"<Delete>{listed}</Delete>".encode())
    assert b"<Error>" not in answer, answer


@pytest.mark.parametrize("size", [INLINE, IN_FILE])
def test_deletions_make_room(size: int, server: Server, tmp_path: Path) -> None:
    s3 = Requests(server.netloc)
    s3.expect(200, "PUT", "/bucket")
    for _ in range(2):
        keys = fill(s3, size)
        assert len(keys) > 10
        assert s3.expect(200, "GET", f"/bucket/{keys[0]}") == body_of(keys[0], size)
        fill(s3, 100)  # nothing else fits either, and the reserve stays for deletions
        delete_all(s3, re.findall(r"<Key>([^<]+)", s3.expect(200, "GET", "/bucket?list-type=2").decode()))
    s3.expect(200, "PUT", "/bucket/again", body_of("again", size))
    server.kill()
    status, report, error = fsck(tmp_path / "data")
    assert status == 0, f"{report} {error}"


@pytest.mark.parametrize("end", ["stopped", "killed"])
@pytest.mark.parametrize("durability", ["relaxed", "strict"])
def test_a_store_on_a_full_disk_opens_again(durability: str, end: str, tmp_path: Path, quota: dict[str, str]) -> None:
    """A refused write was taken for a lost commit, and a killed process left no room to open the store."""
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


def test_an_abort_makes_room(server: Server) -> None:
    s3 = Requests(server.netloc)
    s3.expect(200, "PUT", "/bucket")
    upload = s3.multipart("/bucket/upload", [body_of("part", 2 << 20)], complete=False)
    fill(s3, IN_FILE)
    fill(s3, 100)
    s3.expect(204, "DELETE", f"/bucket/upload?uploadId={upload}")
    s3.expect(200, "PUT", "/bucket/again", body_of("again", IN_FILE))


def test_a_reset_makes_room(server: Server) -> None:
    s3 = Requests(server.netloc)
    s3.expect(200, "PUT", "/bucket")
    fill(s3, IN_FILE)
    fill(s3, 100)
    Requests(server.admin).expect(200, "POST", "/_penstock/reset")
    s3.expect(200, "PUT", "/bucket")
    fill(s3, IN_FILE)
