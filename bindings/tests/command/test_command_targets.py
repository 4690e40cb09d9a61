"""Local targets of `penstock cp`, `mv` and `sync`: files of other programs, and what a power failure leaves."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from bucket_io import keys, put
from command_runs import TIMEOUT_S, start, tree
from penstock._commands import _cp, _transfers

MIB = 1024**2
THEIRS = b"of another program"


@pytest.fixture
def other_program(monkeypatch):
    """A program that creates each target right after the command has looked for it."""
    prepare = _transfers.Transfers.prepare_download

    def prepared(self, transfer):
        prepare(self, transfer)
        Path(transfer.target).write_bytes(THEIRS)

    monkeypatch.setattr(_transfers.Transfers, "prepare_download", prepared)


@pytest.mark.usefixtures("other_program")
@pytest.mark.parametrize("size", [100, 9 * MIB])
@pytest.mark.parametrize("words", [("cp", "-r"), ("mv", "-r"), ("sync",)])
def test_a_file_that_appears_after_the_listing_is_kept(penstock_command, client, bucket, tmp_path, words, size):
    put(client, bucket, "d/a", bytes(size))
    run = penstock_command(*words, "--no-overwrite", f"s3://{bucket}/d", tmp_path)
    assert tree(tmp_path) == {"a": THEIRS}
    assert "the file exists" in run.err and run.out == ""
    assert keys(client, bucket) == ["d/a"]


@pytest.mark.usefixtures("other_program")
@pytest.mark.parametrize("command", ["cp", "mv"])
def test_a_file_that_appears_after_a_head_is_kept(penstock_command, client, bucket, tmp_path, command):
    put(client, bucket, "a", b"new")
    run = penstock_command(command, "--no-overwrite", f"s3://{bucket}/a", tmp_path / "a")
    assert tree(tmp_path) == {"a": THEIRS} and "the file exists" in run.err
    assert keys(client, bucket) == ["a"]


@pytest.mark.usefixtures("other_program")
def test_without_the_option_a_file_that_appears_is_replaced(penstock_command, client, bucket, tmp_path):
    put(client, bucket, "d/a", b"new")
    penstock_command("mv", "-r", f"s3://{bucket}/d", tmp_path)
    assert tree(tmp_path) == {"a": b"new"} and keys(client, bucket) == []


@pytest.mark.parametrize("size", [100, 9 * MIB])
def test_a_length_that_contradicts_the_listing_replaces_nothing(penstock_command, client, bucket, tmp_path, monkeypatch, size):
    put(client, bucket, "d/a", bytes(size))
    (tmp_path / "a").write_text("earlier")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    listed = _cp.objects
    monkeypatch.setattr(_cp, "objects", lambda *given: (entry._replace(size=entry.size + 1) for entry in listed(*given)))
    run = penstock_command("mv", "-r", f"s3://{bucket}/d", tmp_path, status=1)
    assert f"{size + 1} bytes in the listing, and the response with the same ETag" in run.err
    assert tree(tmp_path) == {"a": b"earlier"} and keys(client, bucket) == ["d/a"]


# Fails to flush the folder FAILING_FOLDER; without it, every file and folder.
FAILING_FSYNC = """
#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
extern "C" int fsync(int fd) {
  const char* folder = getenv("FAILING_FOLDER");
  struct stat failing, given;
  if (folder != nullptr && (stat(folder, &failing) != 0 || fstat(fd, &given) != 0 || given.st_ino != failing.st_ino))
    return syscall(SYS_fsync, fd);
  errno = EIO;
  return -1;
}
"""


@pytest.fixture(scope="module")
def failing_fsync(tmp_path_factory):
    folder = tmp_path_factory.mktemp("preload")
    (folder / "fsync.cc").write_text(FAILING_FSYNC)
    library = folder / "fsync.so"
    command = [os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-o", str(library), str(folder / "fsync.cc")]
    subprocess.run(command, check=True)
    return str(library)


@pytest.fixture
def failing_disk(failing_fsync, monkeypatch):
    """A disk that accepts writes and fails to flush them."""
    monkeypatch.setenv("LD_PRELOAD", failing_fsync)


@pytest.mark.usefixtures("failing_disk")
@pytest.mark.parametrize("words", [("-r", "d"), ("-r", "d", "--jobs", "1"), ("d/large",), ("d/small",)])
def test_a_move_keeps_objects_whose_files_are_not_on_the_disk(emulator, client, bucket, tmp_path, words):
    *options, source = words[:1] if len(words) == 1 else (words[0], *words[2:], words[1])
    put(client, bucket, "d/large", bytes(9 * MIB))
    put(client, bucket, "d/small", b"small")
    with start(emulator, "mv", *options, f"s3://{bucket}/{source}", f"{tmp_path}/") as process:
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1 and out == b"" and b"Input/output error" in err
    assert keys(client, bucket) == ["d/large", "d/small"]


@pytest.mark.usefixtures("failing_disk")
@pytest.mark.parametrize(
    ("words", "key", "failing"),
    [
        (["-r"], "d/new/file", ""),  # the names of new folders are in the folder above
        (["-r"], "d/new/large", ""),
        (["-r"], "d/marker/", ""),
        (["-r", "--resume"], "d/large", "target"),
    ],
)
def test_a_move_keeps_objects_whose_folders_are_not_on_the_disk(
    emulator, client, bucket, tmp_path, monkeypatch, words, key, failing
):
    monkeypatch.setenv("FAILING_FOLDER", str(tmp_path / failing))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    size = 64 * MIB if "--resume" in words else 9 * MIB if key.endswith("large") else 0 if key.endswith("/") else 5
    put(client, bucket, key, bytes(size))
    with start(emulator, "mv", *words, f"s3://{bucket}/d", tmp_path / "target") as process:
        process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    assert keys(client, bucket) == [key]


@pytest.mark.usefixtures("failing_disk")
@pytest.mark.parametrize("command", ["cp", "sync"])
def test_only_moves_wait_for_the_disk(emulator, client, bucket, tmp_path, command):
    put(client, bucket, "d/large", bytes(9 * MIB))
    put(client, bucket, "d/small", b"small")
    with start(emulator, command, *(["-r"] if command == "cp" else []), f"s3://{bucket}/d", tmp_path) as process:
        process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0 and tree(tmp_path) == {"large": bytes(9 * MIB), "small": b"small"}
