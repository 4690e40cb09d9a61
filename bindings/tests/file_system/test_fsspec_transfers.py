"""Transfers of local files and of many objects: their requests, threads and memory, and what they leave on the disk."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections import Counter

import pytest
from bucket_io import get, keys, put
from file_systems import file_system, storage_options

MIB = 1024**2


@pytest.fixture
def fs(emulator):
    return file_system(emulator)


@pytest.fixture
def tree(client, bucket):
    for key, size in (("d/1", 10), ("d/s/2", 0), ("d/s/3", 3 * MIB), ("d/s/t/4", 1)):
        put(client, bucket, key, key[-1].encode() * size)
    return bucket


def operations(emulator, bucket, after):
    # A request that another test has cancelled may be recorded meanwhile.
    return Counter(entry.operation for entry in emulator.journal().entries(bucket=bucket, after=after))


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- requests


@pytest.mark.parametrize("source", ["d", "d/"])
def test_download_of_a_directory_sends_one_request_per_file(emulator, fs, tree, tmp_path, source):
    after = emulator.journal().last
    fs.get(f"{tree}/{source}", str(tmp_path / "local"), recursive=True)
    assert operations(emulator, tree, after) == {"ListObjectsV2": 1, "GetObject": 4}
    expected = {"1": b"1" * 10, "s/2": b"", "s/3": b"3" * 3 * MIB, "s/t/4": b"4"}
    assert contents(tmp_path / "local") == expected


def test_download_of_one_file_sends_one_request(emulator, fs, tree, tmp_path):
    for key in ("d/1", "d/s/2", "d/s/3"):
        after = emulator.journal().last
        fs.get_file(f"{tree}/{key}", str(tmp_path / "local"))
        assert operations(emulator, tree, after) == {"GetObject": 1}
        assert (tmp_path / "local").read_bytes() == get(fs.client, tree, key)


@pytest.mark.parametrize("size", [5, 20 * MIB])
def test_object_replaced_since_the_listing_is_downloaded_anew(fs, client, tree, tmp_path, monkeypatch, size):
    """The new object, whole, as if the listing had been later."""
    pairs = type(fs)._pairs

    async def replaced(self, *args):
        found = await pairs(self, *args)
        put(client, tree, "d/1", b"n" * size)
        put(client, tree, "d/s/3", b"n" * size)
        return found

    monkeypatch.setattr(type(fs), "_pairs", replaced)
    fs.get(f"{tree}/d", str(tmp_path / "local"), recursive=True)
    got = contents(tmp_path / "local")
    assert got["1"] == got["s/3"] == b"n" * size


@pytest.mark.parametrize("way", ["recursive", "glob", "cached", "entry"])
def test_a_length_that_contradicts_the_listing_is_refused(emulator, client, bucket, tmp_path, way):
    fs = file_system(emulator, use_listings_cache=way == "cached", max_attempts=1)
    put(client, bucket, "d/a", bytes(100))
    (tmp_path / "a").write_text("earlier")
    entry = fs.ls(f"{bucket}/d")[0]
    without_checksum = {"header_lie": {"drop": ["x-amz-checksum-crc64nvme", "x-amz-checksum-type"]}}
    too_short = {"truncate": {"mode": "length-lie"}, "at": "body_out@40"}
    emulator.faults().set([{"when": {"operation": "GetObject", "key": "d/a"}, "do": [without_checksum, too_short]}])
    with pytest.raises(OSError, match=r"100 bytes in the listing.*has 40"):
        if way == "recursive":
            fs.get(f"{bucket}/d/", f"{tmp_path}/", recursive=True)
        elif way == "glob":
            fs.get(f"{bucket}/d/*", f"{tmp_path}/")
        else:
            fs.get_file(f"{bucket}/d/a", str(tmp_path / "a"), **({"listed": entry} if way == "entry" else {}))
    emulator.faults().clear()
    assert contents(tmp_path) == {"a": b"earlier"}


def test_object_deleted_since_the_listing_raises(fs, client, tree, tmp_path, monkeypatch):
    pairs = type(fs)._pairs

    async def deleted(self, *args):
        found = await pairs(self, *args)
        client.delete_object(tree, "d/1")
        return found

    monkeypatch.setattr(type(fs), "_pairs", deleted)
    with pytest.raises(FileNotFoundError, match="d/1"):
        fs.get(f"{tree}/d", str(tmp_path / "local"), recursive=True)
    assert "1" not in contents(tmp_path / "local")


@pytest.mark.parametrize("key", ["d/1", "d/s/3"])
def test_damaged_download_leaves_no_file(emulator, tree, tmp_path, key):
    fs = file_system(emulator, max_attempts=1)
    faults = emulator.faults()
    faults.set([{"when": {"operation": "GetObject", "bucket": tree, "key": key}, "do": {"corrupt": {}}}])
    try:
        with pytest.raises(OSError, match=key):
            fs.get(f"{tree}/d", str(tmp_path / "local"), recursive=True)
    finally:
        faults.clear()
    names = [path.name for path in (tmp_path / "local").rglob("*")]  # other downloads may still run
    assert [name for name in names if name == key[-1] or name.startswith(f".{key[-1]}.")] == []


# ---- threads and memory

MANY = """
import sys, threading
from pathlib import Path
from penstock.fsspec import S3FileSystem

fs = S3FileSystem(**{options})
folder = Path({folder!r})
for number in range(100):
    (folder / f"{{number}}").write_bytes(b"%d" % number)
fs.put({folder!r}, "{bucket}/d", recursive=True)
fs.pipe({{f"{bucket}/e/{{number}}": b"x" for number in range(100)}})
assert len(fs.cat(fs.find("{bucket}/e"))) == len(fs.find("{bucket}/d")) == 100
print(sum(thread.name.startswith("penstock-fsspec") for thread in threading.enumerate()))
"""

LARGE = """
import resource
from penstock.fsspec import S3FileSystem

fs = S3FileSystem(**{options})
fs.get_file("{bucket}/small", {folder!r} + "/small")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
fs.get_file("{bucket}/large", {folder!r} + "/large")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def run(script, emulator, bucket, folder):
    text = script.format(options=storage_options(emulator), bucket=bucket, folder=str(folder))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_small_writes_need_no_thread_each(emulator, bucket, tmp_path):
    (tmp_path / "d").mkdir()
    assert run(MANY, emulator, bucket, tmp_path / "d") <= 2  # for the lookups before the transfers


def test_memory_of_a_large_download_is_bounded(emulator, client, bucket, tmp_path):
    put(client, bucket, "small", b"x")
    put(client, bucket, "large", bytes(300 * MIB))
    assert run(LARGE, emulator, bucket, tmp_path) < 150
    assert (tmp_path / "large").stat().st_size == 300 * MIB


# ---- local files


@pytest.mark.parametrize("key", ["d/1", "d/s/3"])
def test_replaced_local_file_keeps_its_permissions(fs, tree, tmp_path, key):
    target = tmp_path / "local"
    target.write_bytes(b"before")
    target.chmod(0o640)
    fs.get(f"{tree}/{key}", str(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["local"]


@pytest.mark.parametrize("key", ["d/1", "d/s/3"])
def test_download_to_a_pipe_is_refused(fs, tree, tmp_path, key):
    os.mkfifo(tmp_path / "pipe")
    for download in (fs.get, fs.get_file):
        with pytest.raises(OSError, match="not a regular file"):
            download(f"{tree}/{key}", str(tmp_path / "pipe"))
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("key", ["d/1", "d/s/3"])
def test_errors_of_local_files_have_their_number(fs, tree, tmp_path, key):
    with pytest.raises(FileNotFoundError, match="create it first") as caught:
        fs.get_file(f"{tree}/{key}", str(tmp_path / "none/local"))
    assert caught.value.filename == str(tmp_path / "none")
    for download in (fs.get, fs.get_file):
        with pytest.raises(OSError, match="too long") as caught:
            download(f"{tree}/{key}", str(tmp_path / ("x" * 300)))
        assert caught.value.errno == errno.ENAMETOOLONG
    assert list(tmp_path.iterdir()) == []


def test_upload_from_a_pipe(fs, client, bucket, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen(["sh", "-c", f"printf 123 > {tmp_path}/pipe"])
    fs.put_file(str(tmp_path / "pipe"), f"{bucket}/k")
    assert writer.wait(30) == 0
    assert get(client, bucket, "k") == b"123"


def test_missing_source_is_the_local_file(fs, bucket, tmp_path):
    for upload in (fs.put, fs.put_file):
        with pytest.raises(FileNotFoundError, match=str(tmp_path / "none")):
            upload(str(tmp_path / "none"), f"{bucket}/k")
    assert keys(fs.client, bucket) == []


# ---- directory markers


def test_directory_markers_survive_copies_and_deletions(emulator, client, bucket):
    fs = file_system(emulator, directory_markers=True, remember_directories=False)
    for name in ("d", "d/empty", "d/full"):
        fs.mkdir(f"{bucket}/{name}")
    fs.pipe({f"{bucket}/d/full/1": b"", f"{bucket}/d/unmarked/2": b""})
    fs.cp(f"{bucket}/d", f"{bucket}/e", recursive=True)
    assert keys(client, bucket, "e/") == ["e/", "e/empty/", "e/full/", "e/full/1", "e/unmarked/", "e/unmarked/2"]
    fs.rm(f"{bucket}/e/full/1")
    fs.rm(f"{bucket}/e/unmarked/*")
    assert keys(client, bucket, "e/") == ["e/", "e/empty/", "e/full/", "e/unmarked/"]
    fs.rm(f"{bucket}/e/*")
    fs.rm([f"{bucket}/d/full", f"{bucket}/d/empty"])
    assert fs.isdir(f"{bucket}/e/full")
    assert fs.isdir(f"{bucket}/d/empty")
    fs.rm(f"{bucket}/e/full", recursive=True)
    assert keys(client, bucket, "e/") == ["e/", "e/empty/", "e/unmarked/"]


def test_copy_of_a_directory_to_a_bucket(fs, client, tree):
    fs.mkdir(f"{tree}-b")
    fs.mkdir(f"{tree}/d/made")
    fs.cp(f"{tree}/d/", f"{tree}-b/", recursive=True)
    assert keys(client, f"{tree}-b") == ["1", "s/2", "s/3", "s/t/4"]
    assert fs.isdir(f"{tree}-b/made")
    fs.mv(f"{tree}-b/", f"{tree}/e", recursive=True)
    assert keys(client, tree, "e/") == ["e/1", "e/s/2", "e/s/3", "e/s/t/4"]
