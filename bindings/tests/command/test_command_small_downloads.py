"""Downloads of many small objects by `penstock cp`, `mv` and `sync`."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import termios
import time

import penstock
import pytest
from bucket_io import keys, put
from command_runs import TIMEOUT_S, start, tree
from penstock import _core
from penstock._commands import _cp, _small_downloads

MIB = 1024**2


def put_objects(client, bucket, count: int) -> dict[str, bytes]:
    """Puts objects of different sizes below `d/`. Returns their contents by name."""
    contents = {f"{number % 7}/{number:03}": os.urandom(number * number) for number in range(count)}
    for name, data in contents.items():
        put(client, bucket, f"d/{name}", data)
    return contents


def bytes_in(pipe) -> int:
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


@pytest.mark.parametrize("words", [("cp", "-r"), ("cp", "-r", "--jobs", "1"), ("sync",)])
def test_each_object_is_one_request(penstock_command, client, emulator, bucket, tmp_path, words):
    contents = put_objects(client, bucket, 150)
    before = emulator.journal().last
    run = penstock_command(*words, f"s3://{bucket}/d", tmp_path)
    assert emulator.journal().count(after=before, operations="GetObject") == 150
    assert emulator.journal().count(after=before, operations="HeadObject") == 0
    assert run.lines == sorted(f"download: s3://{bucket}/d/{name} to {tmp_path}/{name}" for name in contents)
    assert tree(tmp_path) == contents
    assert (tmp_path / "1/001").stat().st_mtime == client.head(bucket, "d/1/001").last_modified
    assert penstock_command("sync", f"s3://{bucket}/d", tmp_path).out == ""


def test_the_queue_is_bounded(penstock_command, client, bucket, tmp_path, monkeypatch):
    contents = put_objects(client, bucket, 60)
    monkeypatch.setattr("penstock._commands._execution.QUEUE", 5)
    most = 0
    add = _small_downloads.SmallDownloads.add

    def counted(self, transfer):
        nonlocal most
        add(self, transfer)
        most = max(most, self.pending)

    monkeypatch.setattr(_small_downloads.SmallDownloads, "add", counted)
    penstock_command("cp", "-r", f"s3://{bucket}/d", tmp_path)
    assert tree(tmp_path) == contents and most == 5


@pytest.mark.parametrize("command", ["cp", "mv"])
def test_an_object_that_changed_after_the_listing_is_downloaded_as_it_is_now(
    penstock_command, client, emulator, bucket, tmp_path, monkeypatch, command
):
    put_objects(client, bucket, 4)
    listed = _cp.objects

    def objects(*arguments):
        entries = list(listed(*arguments))
        client.put(bucket, "d/1/001", b"new")
        client.put(bucket, "d/2/002", bytes(20 * MIB))
        yield from entries

    monkeypatch.setattr(_cp, "objects", objects)
    before = emulator.journal().last
    run = penstock_command(command, "-r", f"s3://{bucket}/d", tmp_path, "--json")
    assert emulator.journal().count(after=before, operations="GetObject", status=412) == 2
    assert len(run.documents) == 4 and run.err == ""
    found = tree(tmp_path)
    assert found["1/001"] == b"new" and found["2/002"] == bytes(20 * MIB)
    assert len(keys(client, bucket)) == (4 if command == "cp" else 0)


def test_failures_leave_the_other_files(penstock_command, client, emulator, bucket, tmp_path):
    contents = put_objects(client, bucket, 30)
    (tmp_path / "1/008").mkdir(parents=True)
    os.mkfifo(tmp_path / "1/015")
    denied = {"when": {"operation": "GetObject", "key": "d/2/002"}, "do": {"error": {"code": "AccessDenied"}}}
    emulator.faults().set([denied])
    run = penstock_command("cp", "-r", f"s3://{bucket}/d", tmp_path, "--json", status=1)
    emulator.faults().clear()
    failed = {"1/008", "1/015", "2/002"}
    assert tree(tmp_path) == {name: data for name, data in contents.items() if name not in failed}
    for text in ("is a folder, but the key needs a file there", "is not a regular file", '"code": "AccessDenied"'):
        assert run.err.count(text) == 1
    assert "3 failures, 27 succeeded" in run.err


def test_a_broken_body_is_never_a_file(penstock_command, client, emulator, bucket, tmp_path):
    put_objects(client, bucket, 20)
    (tmp_path / "5").mkdir()
    (tmp_path / "5/019").write_text("earlier")
    wrong = {"when": {"operation": "GetObject", "key": "d/5/019"}, "do": {"corrupt": {"mode": "flip-bit"}, "at": "body_out@100"}}
    emulator.faults().set([wrong])
    run = penstock_command("cp", "-r", f"s3://{bucket}/d", tmp_path, status=1)
    emulator.faults().clear()
    assert "checksum" in run.err.lower() and len(run.lines) == 19
    assert (tmp_path / "5/019").read_text() == "earlier" and len(tree(tmp_path)) == 20


def test_a_body_that_stays_damaged_is_read_again(penstock_command, client, emulator, bucket, tmp_path, monkeypatch):
    contents = put_objects(client, bucket, 20)
    wrong = {
        "when": {"operation": "GetObject", "key": "d/5/019"},
        "do": {"corrupt": {"mode": "flip-bit"}, "at": "body_out@100"},
        "limit": {"times": 2},
    }
    emulator.faults().set([wrong])
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    assert len(penstock_command("cp", "-r", f"s3://{bucket}/d", tmp_path).lines) == 20
    assert tree(tmp_path) == contents


def test_an_exception_while_results_are_taken_loses_none(client, bucket, tmp_path, monkeypatch):
    downloads = _core.BulkDownload(client.core, 4)
    for number in range(20):
        downloads.add(bucket, f"missing-{number}", 1, "etag", str(tmp_path / str(number)))
    made = penstock._exceptions.from_error

    def interrupted(**fields):
        monkeypatch.setattr("penstock._exceptions.from_error", made)
        raise KeyboardInterrupt

    monkeypatch.setattr("penstock._exceptions.from_error", interrupted)
    results = []
    with pytest.raises(KeyboardInterrupt):
        downloads.take(results)
    while downloads.pending:
        downloads.take(results)
    assert sorted(number for number, *_ in results) == list(range(20))


def test_a_full_disk_leaves_the_earlier_file(emulator, client, bucket, tmp_path):
    for name, size in (("large", 5000), ("small", 500)):
        put(client, bucket, f"d/{name}", bytes(size))
    (tmp_path / "large").write_text("earlier")
    limit = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
    )
    with start(emulator, "cp", "-r", f"s3://{bucket}/d", tmp_path, preamble=limit) as process:
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1 and b"File too large" in err and out.count(b"\n") == 1
    assert tree(tmp_path) == {"large": b"earlier", "small": bytes(500)}


@pytest.mark.parametrize("command", ["cp", "mv", "sync"])
def test_a_length_that_contradicts_the_listing_is_an_error(emulator, client, bucket, tmp_path, monkeypatch, command):
    put(client, bucket, "d/a", bytes(100))
    (tmp_path / "a").write_text("earlier")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    without_checksum = {"header_lie": {"drop": ["x-amz-checksum-crc64nvme", "x-amz-checksum-type"]}}
    too_short = {"truncate": {"mode": "length-lie"}, "at": "body_out@40"}
    emulator.faults().set([{"when": {"operation": "GetObject", "key": "d/a"}, "do": [without_checksum, too_short]}])
    with start(emulator, command, *(["-r"] if command != "sync" else []), f"s3://{bucket}/d", tmp_path) as process:
        _, err = process.communicate(timeout=TIMEOUT_S)
    emulator.faults().clear(forget=True)
    assert process.returncode == 1 and b"100 bytes in the listing, and the response with the same ETag" in err
    assert b"has 40: one of the two is wrong" in err
    assert tree(tmp_path) == {"a": b"earlier"} and keys(client, bucket) == ["d/a"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", ["cp", "mv"])
def test_an_interruption_leaves_whole_files_only(emulator, client, bucket, tmp_path, command, number, status):
    contents = put_objects(client, bucket, 120)
    stalled = {"when": {"operation": "GetObject", "key": "d/3/*"}, "do": {"stall": {"ms": 300_000}, "at": "body_out@10"}}
    emulator.faults().set([stalled])
    with start(emulator, command, "-r", f"s3://{bucket}/d", f"{tmp_path}/t/", "--jobs", "40") as process:
        deadline = time.monotonic() + TIMEOUT_S
        while not any((tmp_path / "t" / name).exists() for name in contents) and time.monotonic() < deadline:
            os.sched_yield()
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_S)
    emulator.faults().clear(forget=True)
    found = tree(tmp_path / "t")
    assert (process.returncode, err) == (status, b"")
    assert found and found == {name: contents[name] for name in found}
    left = {key.removeprefix("d/") for key in keys(client, bucket)}
    assert left | found.keys() == contents.keys() and (command == "mv" or len(left) == 120)
    # The signal may end the command just before the report of a file.
    assert (len(found) if command == "cp" else 120 - len(left)) - out.count(b"\n") in (0, 1)


@pytest.mark.parametrize("words", [("cp", "-r"), ("sync", "--json")])
def test_an_interruption_does_not_wait_for_the_reader_of_the_output(emulator, client, bucket, tmp_path, words):
    for number in range(120):
        put(client, bucket, f"d/{'x' * 200}{number:03}", b"a")
    with start(emulator, *words, f"s3://{bucket}/d", tmp_path, pipesize=4096) as process:
        deadline = time.monotonic() + TIMEOUT_S
        while (len(list(tmp_path.iterdir())) < 120 or not bytes_in(process.stdout)) and time.monotonic() < deadline:
            os.sched_yield()
        process.send_signal(signal.SIGTERM)
        try:
            assert process.wait(TIMEOUT_S) == 143
        finally:
            process.kill()
    assert set(tree(tmp_path).values()) == {b"a"}


def test_each_job_may_download_an_object_of_8_mib(emulator, client, bucket, tmp_path):
    for number in range(12):
        put(client, bucket, f"d/{number}", bytes(8 * MIB))
    emulator.faults().set([{"when": {"operation": "GetObject", "key": "d/*"}, "do": {"stall": {"ms": 300_000}}}])
    with start(emulator, "cp", "-r", f"s3://{bucket}/d", tmp_path, "--jobs", "12") as process:
        deadline = time.monotonic() + TIMEOUT_S
        while emulator.faults().account().fired < 12 and process.poll() is None and time.monotonic() < deadline:
            os.sched_yield()
        fired = emulator.faults().account().fired
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT_S)
    emulator.faults().clear(forget=True)
    assert fired == 12 and tree(tmp_path) == {}


def test_small_files_are_reported_while_large_ones_wait(emulator, client, bucket, tmp_path, monkeypatch):
    put(client, bucket, "d/a", b"a")
    for name in "bc":
        put(client, bucket, f"d/{name}", bytes(9 * MIB))
    emulator.faults().set([{"when": {"operation": "GetObject", "key": "d/b"}, "do": {"stall": {"ms": 300_000}}}])
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    with start(emulator, "cp", "-r", f"s3://{bucket}/d", tmp_path, "--jobs", "1") as process:
        assert process.stdout.readline() == f"download: s3://{bucket}/d/a to {tmp_path}/a\n".encode()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=TIMEOUT_S)
    emulator.faults().clear(forget=True)
    assert process.returncode == 130 and tree(tmp_path) == {"a": b"a"}
