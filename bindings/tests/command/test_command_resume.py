"""Transfers with `--resume`: interruptions at every step, changed files and objects, damaged states, and `penstock transfers`."""

from __future__ import annotations

import dataclasses
import errno
import os
import signal
import time
from pathlib import Path

import boto3
import penstock
import pytest
from bucket_io import get, keys
from command_runs import TIMEOUT_S, start, tree
from penstock._commands import _cp, _resumable, _resumable_download, _resumable_upload

MIB = 1024**2
PART = 5 * MIB
SIZE = 4 * PART + 77
RANGE = 2 * MIB
SMALL = (
    "from penstock._commands import _resumable, _resumable_download, _resumable_upload; "
    f"_resumable.LIMIT = {SIZE}; _resumable_upload.UPLOAD_PART = {PART}; _resumable_download.DOWNLOAD_PART = {RANGE}; "
)
DENIED = {"error": {"code": "AccessDenied"}}


@pytest.fixture(autouse=True)
def states(tmp_path_factory, monkeypatch) -> Path:
    """Makes parts small and the folder of the states a new one, which this returns."""
    monkeypatch.setattr(_resumable, "LIMIT", SIZE)
    monkeypatch.setattr(_resumable_upload, "UPLOAD_PART", PART)
    monkeypatch.setattr(_resumable_download, "DOWNLOAD_PART", RANGE)
    folder = tmp_path_factory.mktemp("states")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder / "penstock/transfers"


@pytest.fixture
def data() -> bytes:
    return os.urandom(SIZE)


@pytest.fixture
def file(tmp_path, data) -> Path:
    path = tmp_path / "big"
    path.write_bytes(data)
    return path


def parts_since(emulator, before: int) -> list[int]:
    """Returns the numbers of the parts that were sent, without stalled requests of a killed process, which end late."""
    entries = emulator.journal().entries(after=before, operations="UploadPart")
    return sorted(int(entry.target.partition("partNumber=")[2].partition("&")[0]) for entry in entries if not entry.faults)


def begins_since(emulator, before: int) -> list[int]:
    """Returns the first bytes of the ranges that were requested, in parts of a download; see `parts_since`."""
    entries = emulator.journal().entries(after=before, operations="GetObject")
    return sorted(entry.range[0] // RANGE for entry in entries if not entry.faults)


def break_upload(penstock_command, emulator, file, url, *words, part=">=3") -> None:
    """Fails while the first parts are in S3."""
    emulator.faults().set([{"when": {"operation": "UploadPart", "part": part}, "do": DENIED}])
    penstock_command("cp", "--resume", file, url, *words, status=1)
    emulator.faults().clear()


def break_download(penstock_command, emulator, url, path, ranges=5) -> None:
    """Fails while the bytes of the first `ranges` are on the disk."""
    emulator.faults().set([{"when": {"operation": "GetObject", "range": {"first": f">={ranges * RANGE}"}}, "do": DENIED}])
    penstock_command("cp", "--resume", url, path, status=1)
    emulator.faults().clear()


def ended(client, bucket, states) -> bool:
    """Whether nothing is left of a transfer but its result."""
    return not client.list_multipart_uploads(bucket).uploads and not list(states.glob("*"))


# ---- uploads


def test_an_upload_continues_after_a_failure(penstock_command, emulator, client, bucket, file, data, states):
    url = f"s3://{bucket}/k"
    break_upload(penstock_command, emulator, file, url)
    assert len(list(states.glob("*"))) == 1 and keys(client, bucket) == []
    before = emulator.journal().last
    [done] = penstock_command("cp", "--resume", "--json", file, url).documents
    assert parts_since(emulator, before) == [3, 4, 5] and done["resumed"] == 2 * PART
    assert get(client, bucket, "k") == data and ended(client, bucket, states)
    assert client.head(bucket, "k").checksums.keys() == {"crc64nvme"} and done["etag"] == client.head(bucket, "k").etag.strip('"')


@pytest.mark.parametrize("words", [["--sse", "aws:kms"], ["--sse-c", "--sse-c-key"], ["--tags", "a=b", "--no-overwrite"]])
def test_uploads_with_other_etags_than_md5s_continue(penstock_command, emulator, client, bucket, file, states, words, tmp_path):
    (tmp_path / "key").write_bytes(bytes(range(32)))
    words = [*words, f"fileb://{tmp_path}/key"] if words[-1] == "--sse-c-key" else words
    url = f"s3://{bucket}/k"
    break_upload(penstock_command, emulator, file, url, *words)
    before = emulator.journal().last
    penstock_command("cp", "--resume", file, url, *words)
    assert parts_since(emulator, before) == [3, 4, 5] and ended(client, bucket, states)


@pytest.mark.parametrize("change", ["content", "time", "inode", "options"])
def test_a_changed_upload_starts_again(penstock_command, emulator, client, bucket, file, data, states, change):
    url, words = f"s3://{bucket}/k", []
    break_upload(penstock_command, emulator, file, url)
    status = file.stat()
    if change == "content":
        data = data[::-1]
        file.write_bytes(data)
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    elif change == "time":
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    elif change == "inode":
        (file.parent / "other").write_bytes(data)
        os.utime(file.parent / "other", ns=(status.st_atime_ns, status.st_mtime_ns))
        (file.parent / "other").replace(file)
    else:
        words = ["--content-type", "x/y"]
    before = emulator.journal().last
    penstock_command("cp", "--resume", file, url, *words)
    assert parts_since(emulator, before) == [1, 2, 3, 4, 5]
    assert emulator.journal().count(after=before, operations="AbortMultipartUpload") == 1
    assert get(client, bucket, "k") == data and ended(client, bucket, states)


def test_content_that_changed_without_a_trace_is_found(penstock_command, emulator, client, bucket, file, data, states):
    url, status = f"s3://{bucket}/k", file.stat()
    break_upload(penstock_command, emulator, file, url)
    with file.open("r+b") as opened:
        opened.write(b"changed")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    before = emulator.journal().last
    penstock_command("cp", "--resume", file, url)
    assert parts_since(emulator, before) == [1, 3, 4, 5]
    assert get(client, bucket, "k") == b"changed" + data[7:] and ended(client, bucket, states)


def test_parts_of_others_are_sent_again(penstock_command, emulator, client, bucket, file, data, states):
    url = f"s3://{bucket}/k"
    break_upload(penstock_command, emulator, file, url)
    [upload] = client.list_multipart_uploads(bucket).uploads
    client.upload_part(bucket, "k", upload.upload_id, 1, bytes(PART))
    client.upload_part(bucket, "k", upload.upload_id, 4, data[3 * PART : 4 * PART])  # sent, but not recorded
    before = emulator.journal().last
    penstock_command("cp", "--resume", file, url)
    assert parts_since(emulator, before) == [1, 3, 5]
    assert get(client, bucket, "k") == data and ended(client, bucket, states)


def test_an_upload_that_is_gone_starts_again(penstock_command, emulator, client, bucket, file, data, states):
    url = f"s3://{bucket}/k"
    break_upload(penstock_command, emulator, file, url)
    [upload] = client.list_multipart_uploads(bucket).uploads
    client.abort_multipart_upload(bucket, "k", upload.upload_id)
    before = emulator.journal().last
    penstock_command("cp", "--resume", file, url)
    assert parts_since(emulator, before) == [1, 2, 3, 4, 5]
    assert get(client, bucket, "k") == data and ended(client, bucket, states)


def test_a_published_upload_whose_response_was_lost_is_found(
    penstock_command, emulator, client, bucket, file, data, states, monkeypatch
):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    url = f"s3://{bucket}/k"
    emulator.faults().set([{"when": {"operation": "CompleteMultipartUpload"}, "do": {"reset": {}, "at": "after_commit"}}])
    penstock_command("cp", "--resume", file, url, status=1)
    emulator.faults().clear()
    before = emulator.journal().last
    [done] = penstock_command("cp", "--resume", "--json", file, url).documents
    assert parts_since(emulator, before) == [] and done["resumed"] == SIZE
    assert get(client, bucket, "k") == data and ended(client, bucket, states)


def test_a_second_completion_finds_the_object_of_the_first(penstock_command, emulator, client, bucket, file, data, states):
    complete = {"operation": "CompleteMultipartUpload"}
    emulator.faults().set(
        [
            {"when": complete, "do": {"reset": {}, "at": "after_commit"}, "limit": {"times": 1}},
            {"when": complete, "do": {"error": {"code": "PreconditionFailed"}}},
        ]
    )
    run = penstock_command("cp", "--resume", "--no-overwrite", file, f"s3://{bucket}/k")
    emulator.faults().clear()
    assert run.err == "" and get(client, bucket, "k") == data and ended(client, bucket, states)


def test_a_part_that_arrives_damaged_is_not_used(penstock_command, emulator, client, bucket, file, data, states, monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    lie = {"header_lie": {"set": {"x-amz-checksum-crc64nvme": "AAAAAAAAAAA="}}}
    emulator.faults().set([{"when": {"operation": "UploadPart", "part": 2}, "do": lie}])
    penstock_command("cp", "--resume", file, f"s3://{bucket}/k", status=1)
    emulator.faults().clear()
    penstock_command("cp", "--resume", file, f"s3://{bucket}/k")
    assert get(client, bucket, "k") == data and ended(client, bucket, states)


def test_an_equal_object_of_before_is_not_taken_for_the_upload(penstock_command, emulator, client, bucket, file, data, states):
    url = f"s3://{bucket}/k"
    penstock_command("cp", "--resume", file, url, "--content-type", "old/type")
    emulator.faults().set([{"when": {"operation": "CompleteMultipartUpload"}, "do": DENIED}])
    penstock_command("cp", "--resume", file, url, "--content-type", "new/type", status=1)
    emulator.faults().clear()
    [upload] = client.list_multipart_uploads(bucket).uploads
    client.abort_multipart_upload(bucket, "k", upload.upload_id)
    penstock_command("cp", "--resume", file, url, "--content-type", "new/type")
    assert client.head(bucket, "k").content_type == "new/type" and ended(client, bucket, states)


def test_a_file_that_changes_during_its_upload_is_not_published(penstock_command, client, bucket, file, states, monkeypatch):
    crc_of = _resumable_upload.crc_of

    def change(block: bytes) -> int:
        with file.open("ab") as opened:
            opened.write(b"x")
        return crc_of(block)

    monkeypatch.setattr(_resumable_upload, "crc_of", change)
    run = penstock_command("cp", "--resume", file, f"s3://{bucket}/k", status=1)
    assert "changed while it was uploaded" in run.err and keys(client, bucket) == [] and ended(client, bucket, states)


@pytest.mark.parametrize("direction", ["upload", "download"])
def test_a_full_disk_is_named(penstock_command, client, bucket, file, url, states, tmp_path, monkeypatch, direction):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write = os.pwrite
    least = 0 if direction == "upload" else RANGE / 2  # the state, or the parts of the file
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: full() if len(data) > least else write(fd, data, at))
    words = (file, f"s3://{bucket}/new") if direction == "upload" else (url, tmp_path / "down")
    run = penstock_command("cp", "--resume", *words, status=1)
    named = str(states) if direction == "upload" else f"{tmp_path}/.down.penstock-"
    assert f"No space left on device: '{named}" in run.err, run.err


def test_an_upload_that_cannot_succeed_is_removed(penstock_command, emulator, client, bucket, file, states):
    rule = {"when": {"operation": "CompleteMultipartUpload"}, "do": {"error": {"code": "PreconditionFailed"}}}
    emulator.faults().set([rule])
    penstock_command("cp", "--resume", "--no-overwrite", file, f"s3://{bucket}/k", status=1)
    emulator.faults().clear()
    assert ended(client, bucket, states)
    emulator.faults().set([{"when": {"operation": "CreateMultipartUpload"}, "do": DENIED}])
    penstock_command("cp", "--resume", file, f"s3://{bucket}/k", status=1)
    emulator.faults().clear()
    assert ended(client, bucket, states)


def test_moved_files_are_deleted_at_the_end(penstock_command, emulator, client, bucket, file, data, states, tmp_path):
    url = f"s3://{bucket}/k"
    emulator.faults().set([{"when": {"operation": "UploadPart", "part": ">=3"}, "do": DENIED}])
    penstock_command("mv", "--resume", file, url, status=1)
    emulator.faults().clear()
    assert file.exists()
    penstock_command("mv", "--resume", file, url)
    assert not file.exists() and get(client, bucket, "k") == data
    penstock_command("mv", "--resume", url, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == data and keys(client, bucket) == [] and ended(client, bucket, states)


# ---- downloads


@pytest.fixture
def url(client, bucket, data) -> str:
    client.put(bucket, "k", data)
    return f"s3://{bucket}/k"


def partial(folder: Path) -> Path:
    [found] = folder.glob(".*.penstock-*.partial")
    return found


def test_a_download_continues_after_a_failure(penstock_command, emulator, client, bucket, url, data, states, tmp_path):
    target = tmp_path / "t"
    break_download(penstock_command, emulator, url, target)
    assert not target.exists() and partial(tmp_path).stat().st_size == SIZE
    before = emulator.journal().last
    [done] = penstock_command("cp", "--resume", "--json", url, target).documents
    assert begins_since(emulator, before) == [5, 6, 7, 8, 9, 10] and done["resumed"] == 5 * RANGE
    assert tree(tmp_path) == {"t": data} and ended(client, bucket, states)
    assert target.stat().st_mtime == client.head(bucket, "k").last_modified


def test_a_changed_object_is_downloaded_from_its_start(penstock_command, emulator, client, bucket, url, data, states, tmp_path):
    break_download(penstock_command, emulator, url, tmp_path / "t")
    client.put(bucket, "k", data[::-1])
    before = emulator.journal().last
    penstock_command("cp", "--resume", url, tmp_path / "t")
    assert begins_since(emulator, before) == list(range(11))
    assert tree(tmp_path) == {"t": data[::-1]} and ended(client, bucket, states)


@pytest.mark.parametrize("damage", ["flip", "truncate", "zeros", "missing", "replaced"])
def test_damaged_bytes_are_fetched_again(penstock_command, emulator, url, data, tmp_path, damage):
    break_download(penstock_command, emulator, url, tmp_path / "t")
    file = partial(tmp_path)
    with file.open("r+b") as opened:
        if damage == "flip":
            opened.seek(RANGE + 5)
            opened.write(bytes([data[RANGE + 5] ^ 1]))
        elif damage == "truncate":
            opened.truncate(4 * RANGE + 1)
        elif damage == "zeros":
            opened.write(bytes(RANGE))
    if damage in ("missing", "replaced"):
        file.unlink()
    if damage == "replaced":
        (tmp_path / "other").write_bytes(b"mine")
        file.symlink_to(tmp_path / "other")
    again = {"flip": [1], "truncate": [4], "zeros": [0]}.get(damage, [0, 1, 2, 3, 4])
    before = emulator.journal().last
    penstock_command("cp", "--resume", url, tmp_path / "t")
    assert begins_since(emulator, before) == [*again, 5, 6, 7, 8, 9, 10] and (tmp_path / "t").read_bytes() == data
    assert not (tmp_path / "other").exists() or (tmp_path / "other").read_bytes() == b"mine"


@pytest.mark.parametrize(("damage", "again"), [("torn", [4]), ("flipped", [0, 1, 2, 3, 4]), ("empty", [0, 1, 2, 3, 4])])
def test_damaged_states_are_not_believed(penstock_command, emulator, client, bucket, url, data, states, tmp_path, damage, again):
    break_download(penstock_command, emulator, url, tmp_path / "t")
    [state] = states.glob("*")
    text = state.read_bytes()
    if damage == "torn":
        state.write_bytes(text[:-3])
    else:
        state.write_bytes(b"" if damage == "empty" else text.replace(b'"size": ', b'"size": 1', 1))
    before = emulator.journal().last
    penstock_command("cp", "--resume", url, tmp_path / "t")
    fetched = begins_since(emulator, before)
    assert len(fetched) == len(again) + 6 and set(fetched) >= {5, 6, 7, 8, 9, 10}
    assert tree(tmp_path) == {"t": data} and ended(client, bucket, states)


def test_a_damaged_line_of_a_state_does_not_damage_the_next_ones(penstock_command, emulator, url, data, states, tmp_path):
    break_download(penstock_command, emulator, url, tmp_path / "t")
    [state] = states.glob("*")
    state.write_bytes(state.read_bytes()[:-3])
    break_download(penstock_command, emulator, url, tmp_path / "t", ranges=8)
    before = emulator.journal().last
    penstock_command("cp", "--resume", url, tmp_path / "t")
    assert begins_since(emulator, before) == [8, 9, 10] and (tmp_path / "t").read_bytes() == data


def test_a_download_that_does_not_match_its_checksum_leaves_nothing(
    penstock_command, emulator, client, bucket, url, states, tmp_path
):
    (tmp_path / "t").write_text("old")
    rule = {"when": {"operation": "GetObject", "range": {"covers": 3 * RANGE}}, "do": {"corrupt": {"mode": "flip-bit"}}}
    emulator.faults().set([rule])
    run = penstock_command("cp", "--resume", url, tmp_path / "t", status=1)
    emulator.faults().clear()
    assert "checksum of the object" in run.err and tree(tmp_path) == {"t": b"old"} and ended(client, bucket, states)


@pytest.mark.parametrize("algorithm", ["crc32", "crc32c", "sha256"])
def test_other_checksums_are_compared_too(penstock_command, emulator, client, bucket, data, tmp_path, algorithm):
    client.put(bucket, "k", data, checksum_algorithm=algorithm)
    penstock_command("cp", "--resume", f"s3://{bucket}/k", tmp_path / "t")
    assert (tmp_path / "t").read_bytes() == data
    if algorithm != "sha256":
        rule = {"when": {"operation": "GetObject", "range": {"covers": 3}}, "do": {"corrupt": {"mode": "flip-bit"}}}
        emulator.faults().set([rule])
        penstock_command("cp", "--resume", f"s3://{bucket}/k", tmp_path / "t2", status=1)
        emulator.faults().clear()
        assert not (tmp_path / "t2").exists()


def test_permissions_of_a_replaced_file_are_kept_from_the_first_byte(penstock_command, emulator, url, tmp_path):
    (tmp_path / "t").write_text("old")
    (tmp_path / "t").chmod(0o600)
    break_download(penstock_command, emulator, url, tmp_path / "t")
    assert partial(tmp_path).stat().st_mode & 0o777 == 0o600
    penstock_command("cp", "--resume", url, tmp_path / "t")
    assert (tmp_path / "t").stat().st_mode & 0o777 == 0o600
    os.mkfifo(tmp_path / "fifo")
    assert "not a regular file" in penstock_command("cp", "--resume", url, tmp_path / "fifo", status=1).err


def test_partial_files_are_no_files_of_their_folder(penstock_command, emulator, client, bucket, url, data, tmp_path):
    folder = tmp_path / "d"
    folder.mkdir()
    break_download(penstock_command, emulator, url, folder / "k")
    penstock_command("sync", folder, f"s3://{bucket}/copy")
    penstock_command("sync", f"s3://{bucket}/copy", folder, "--delete")
    assert partial(folder).exists() and keys(client, bucket) == ["k"]
    before = emulator.journal().last
    penstock_command("sync", "--resume", f"s3://{bucket}", folder, "--delete")
    assert len(begins_since(emulator, before)) == 6 and tree(folder) == {"k": data}


# ---- processes


def wait_until(condition) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        os.sched_yield()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_upload_continues(penstock_command, emulator, client, bucket, file, data, states, number):
    url = f"s3://{bucket}/k"
    emulator.faults().set([{"when": {"operation": "UploadPart", "part": ">=4"}, "do": {"stall": {"ms": 300_000}}}])

    def sent() -> int:
        uploads = client.list_multipart_uploads(bucket).uploads
        return len(client.list_parts(bucket, "k", uploads[0].upload_id).parts) if uploads else 0

    with start(emulator, "cp", "--resume", file, url, preamble=SMALL) as process:
        wait_until(lambda: sent() == 3)
        penstock_command("cp", "--resume", file, url, status=1)  # the other process has the state
        assert "another process" in penstock_command("transfers", "--discard").err
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_S)
    emulator.faults().clear(forget=True)
    assert (process.returncode, out, err) == (130 if number == signal.SIGINT else -9, b"", b"")
    before = emulator.journal().last
    penstock_command("cp", "--resume", file, url)
    assert parts_since(emulator, before) == [4, 5]
    assert get(client, bucket, "k") == data and ended(client, bucket, states)


def test_an_interrupted_process_waits_for_the_id_of_its_upload(penstock_command, emulator, client, bucket, file, data, states):
    create = {"when": {"operation": "CreateMultipartUpload"}, "do": {"stall": {"ms": 4_000}, "at": "status"}}
    emulator.faults().set([create])  # longer than the time after which a process ends without its threads
    with start(emulator, "cp", "--resume", file, f"s3://{bucket}/k", preamble=SMALL) as process:
        wait_until(lambda: client.list_multipart_uploads(bucket).uploads)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=TIMEOUT_S) == (b"", b"") and process.returncode == 130
    emulator.faults().clear()
    assert len(client.list_multipart_uploads(bucket).uploads) == len(list(states.glob("*"))) == 1
    before = emulator.journal().last
    penstock_command("cp", "--resume", file, f"s3://{bucket}/k")
    assert emulator.journal().count(after=before, operations="CreateMultipartUpload") == 0
    assert get(client, bucket, "k") == data and ended(client, bucket, states)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_download_continues(penstock_command, emulator, client, bucket, url, data, states, tmp_path, number):
    rule = {"when": {"operation": "GetObject", "range": {"first": f">={6 * RANGE}"}}, "do": {"stall": {"ms": 300_000}}}
    emulator.faults().set([rule])
    with start(emulator, "cp", "--resume", url, f"{tmp_path}/", preamble=SMALL) as process:
        wait_until(lambda: sum(path.read_bytes().count(b"\n") for path in states.glob("*")) == 7)  # the header and six ranges
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_S)
    emulator.faults().clear(forget=True)
    assert (process.returncode, out, err) == (143 if number == signal.SIGTERM else -9, b"", b"") and not (tmp_path / "k").exists()
    before = emulator.journal().last
    penstock_command("cp", "--resume", url, f"{tmp_path}/")
    assert begins_since(emulator, before) == [6, 7, 8, 9, 10]
    assert tree(tmp_path) == {"k": data} and ended(client, bucket, states)


# ---- penstock transfers


def test_transfers_lists_and_discards(penstock_command, emulator, client, bucket, file, url, states, tmp_path):
    assert penstock_command("transfers").out == ""
    break_upload(penstock_command, emulator, file, f"s3://{bucket}/up")
    break_download(penstock_command, emulator, url, tmp_path / "t")
    up, down = penstock_command("transfers", "--json").documents
    assert (up["operation"], up["source"], up["target"]) == ("upload", str(file), f"s3://{bucket}/up")
    assert (down["operation"], down["source"], down["target"]) == ("download", url, str(tmp_path / "t"))
    assert down["partial"] == str(partial(tmp_path)) and "upload_id" in up and up["endpoint"] == emulator.endpoint
    assert f"upload: {file} to s3://{bucket}/up" in penstock_command("transfers").out
    assert penstock_command("transfers", "--discard", "--older-than", "1h").out == ""
    emulator.faults().set([{"when": {"operation": "AbortMultipartUpload"}, "do": DENIED}])
    run = penstock_command("transfers", "--discard", status=1)
    assert f"discard: {url} to {tmp_path}/t\n" in run.out and "AccessDenied" in run.err
    emulator.faults().clear()
    assert list(tree(tmp_path)) == ["big"] and len(list(states.glob("*"))) == 1
    penstock_command("transfers", "--discard")
    assert ended(client, bucket, states)


def test_resume_needs_files_and_a_folder_for_its_states(penstock_command, bucket, file, monkeypatch, tmp_path):
    assert "cannot be read again" in penstock_command("cp", "--resume", "-", f"s3://{bucket}/k", status=2).err
    (tmp_path / "no").write_text("a file")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "no"))
    assert "Not a directory" in penstock_command("cp", "--resume", file, f"s3://{bucket}/k", status=1).err


def test_small_files_are_transferred_as_without_resume(penstock_command, emulator, client, bucket, tmp_path, states):
    (tmp_path / "small").write_bytes(bytes(100))
    penstock_command("cp", "--resume", tmp_path / "small", f"s3://{bucket}/small")
    penstock_command("cp", "--resume", f"s3://{bucket}/small", tmp_path / "back")
    assert tree(tmp_path)["back"] == bytes(100) and not states.exists()


def test_boto3_sees_the_content_type_and_one_object(penstock_command, emulator, bucket, file, data):
    break_upload(penstock_command, emulator, file, f"s3://{bucket}/k", "--content-type", "x/y")
    penstock_command("cp", "--resume", file, f"s3://{bucket}/k", "--content-type", "x/y")
    boto = boto3.client(
        "s3", endpoint_url=emulator.endpoint, region_name=emulator.region, aws_access_key_id=emulator.access_key_id,
        aws_secret_access_key=emulator.secret_access_key,
    )  # fmt: skip
    found = boto.get_object(Bucket=bucket, Key="k", ChecksumMode="ENABLED")
    assert found["ContentType"] == "x/y" and found["Body"].read() == data


@pytest.mark.parametrize("command", ["cp", "mv"])
def test_a_file_that_appears_during_a_download_is_kept(
    penstock_command, client, bucket, tmp_path, data, states, monkeypatch, command
):
    client.put(bucket, "k", data)
    target = tmp_path / "t"
    check = _resumable_download.Download._check_whole

    def appears(self):
        check(self)
        target.write_text("of another program")

    monkeypatch.setattr(_resumable_download.Download, "_check_whole", appears)
    run = penstock_command(command, "--resume", "--no-overwrite", f"s3://{bucket}/k", target)
    assert "the file exists" in run.err and keys(client, bucket) == ["k"]
    assert tree(tmp_path) == {"t": b"of another program"} and not list(states.iterdir())


def test_a_head_that_contradicts_the_listing_is_an_error(penstock_command, client, bucket, tmp_path, data, monkeypatch):
    client.put(bucket, "d/k", data)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    listed = _cp.objects
    monkeypatch.setattr(_cp, "objects", lambda *given: (entry._replace(size=entry.size + 1) for entry in listed(*given)))
    run = penstock_command("cp", "--resume", "-r", f"s3://{bucket}/d", tmp_path, status=1)
    assert f"{SIZE + 1} bytes in the listing, and the response with the same ETag" in run.err
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("command", ["cp", "mv"])
@pytest.mark.parametrize("missing", [1, 4 * MIB])
def test_a_head_that_announces_too_few_bytes_loses_none(
    penstock_command, client, bucket, tmp_path, monkeypatch, command, missing
):
    data = os.urandom(SIZE + 5 * MIB)
    client.put(bucket, "k", data)
    head = penstock.S3Client.head

    def lying(self, *given, **options):
        found = head(self, *given, **options)
        return dataclasses.replace(found, size=found.size - missing, checksums={})

    monkeypatch.setattr(penstock.S3Client, "head", lying)
    run = penstock_command(command, "--resume", f"s3://{bucket}/k", tmp_path / "t", status=1)
    assert f"says that the object has {len(data)} bytes" in run.err
    assert tree(tmp_path) == {} and keys(client, bucket) == ["k"]
