"""An emulator keeps its own data directory when it is renamed, and never uses files of another one at the same path."""

from __future__ import annotations

import shutil
from pathlib import Path

from store_process import Requests, fsck, serving


def test_a_renamed_data_directory_stays_that_of_its_emulator(tmp_path: Path) -> None:
    data, moved = tmp_path / "data", tmp_path / "moved"
    with serving(data, "--durability", "strict") as first:
        one = Requests(first.netloc)
        one.expect(200, "PUT", "/first")
        data.rename(moved)
        with serving(data, "--durability", "strict") as second:
            two = Requests(second.netloc)
            two.expect(200, "PUT", "/second")
            for number in range(3):
                two.expect(200, "PUT", f"/second/{number}", b"B%d" % number * 60_000)
                one.expect(200, "PUT", f"/first/{number}", b"A%d" % number * 60_000)
            for number in range(3):
                assert two.expect(200, "GET", f"/second/{number}") == b"B%d" % number * 60_000
                assert one.expect(200, "GET", f"/first/{number}") == b"A%d" % number * 60_000
            Requests(first.admin).expect(200, "POST", "/_penstock/reset")
            Requests(first.admin).expect(201, "POST", "/_penstock/namespaces", b'{"name": "w1"}')
            assert two.expect(200, "GET", "/second/0") == b"B0" * 60_000
            two.expect(200, "PUT", "/second/after", b"x")
            second.stop()
        one.expect(200, "PUT", "/again")
        assert not (data / "namespaces").exists()
        first.stop()
    assert (fsck(data)[0], fsck(moved)[0]) == (0, 0)
    with serving(data) as server:
        assert Requests(server.netloc).expect(200, "GET", "/second/2") == b"B2" * 60_000
    with serving(moved) as server:
        Requests(server.netloc).expect(200, "HEAD", "/again")


def test_a_replaced_data_directory_is_not_used(tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    for directory, body in ((other, b"o" * 100_000), (data, b"a" * 100_000)):
        with serving(directory) as server:
            s3 = Requests(server.netloc)
            s3.expect(200, "PUT", "/bucket")
            s3.expect(200, "PUT", "/bucket/key", body)
            server.stop()
    with serving(data) as server:
        s3 = Requests(server.netloc)
        while data.exists():  # the emulator may add a file meanwhile
            shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(other, data)
        status, response = s3.send("GET", "/bucket/key")
        assert (status, response) == (200, b"a" * 100_000) or status == 500
        assert s3.send("PUT", "/bucket/new", b"n" * 100_000)[0] == 500
        assert "/proc/self" not in server.kill()
    with serving(data) as server:
        assert Requests(server.netloc).expect(200, "GET", "/bucket/key") == b"o" * 100_000
