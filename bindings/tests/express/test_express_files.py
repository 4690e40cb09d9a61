"""Directory buckets as a file system and with ``penstock checkpoint``, which do not depend on the order of listings."""

from __future__ import annotations

import itertools

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import get, keys, put
from file_systems import file_system
from penstock import __main__
from penstock.dcp import S3StorageWriter
from penstock.fsspec import FileChangedError

MIB = 1024**2

_numbers = itertools.count()
NAMES = ["step10/a", "step1/b", "step1/a", "step2", "other/step1", "step"]


@pytest.fixture
def bucket(client: penstock.S3Client) -> str:
    name = f"files-{next(_numbers)}--use1-az4--x-s3"
    client.create_bucket(name)
    return name


@pytest.fixture
def listed(client: penstock.S3Client, bucket: str) -> str:
    for name in NAMES:
        put(client, bucket, name, name.encode())
    return bucket


def test_a_file_system_lists_finds_and_globs(emulator, listed):
    fs = file_system(emulator)
    assert fs.ls(listed, detail=False) == [f"{listed}/{name}" for name in ("other", "step", "step1", "step10", "step2")]
    assert fs.find(listed) == sorted(f"{listed}/{name}" for name in NAMES)
    assert sorted(fs.glob(f"{listed}/step1*/*")) == [f"{listed}/{name}" for name in ("step1/a", "step1/b", "step10/a")]
    assert fs.find(f"{listed}/", prefix="step1") == [f"{listed}/{name}" for name in ("step1/a", "step1/b", "step10/a")]
    assert fs.isdir(f"{listed}/step1") and fs.isfile(f"{listed}/step") and not fs.exists(f"{listed}/ste")


def test_a_file_is_moved_by_one_request(emulator, client, listed):
    fs = file_system(emulator)
    before = emulator.journal().last
    fs.mv(f"{listed}/step1/a", f"s3://{listed}/moved")
    fs.move(f"{listed}/step1/b", f"{listed}/into/")
    fs.mv(f"{listed}/step2", f"{listed}/into")
    fs.mv(f"{listed}/step", f"{listed}/step")
    entries = emulator.journal().entries(after=before)
    assert [entry.operation for entry in entries if entry.operation not in ("HeadObject", "ListObjectsV2", "CreateSession")] == [
        "RenameObject"
    ] * 3
    assert set(keys(client, listed)) == {"moved", "into/b", "into/step2", "step", "step10/a", "other/step1"}
    assert fs.cat(f"{listed}/into/b") == b"step1/b"


def test_a_missing_file_and_a_folder_are_not_renamed(emulator, client, listed):
    fs = file_system(emulator)
    with pytest.raises(FileNotFoundError):
        fs.mv(f"{listed}/nothing", f"{listed}/moved")
    fs.mv(f"{listed}/step1", f"{listed}/moved", recursive=True)
    assert {name for name in keys(client, listed) if name.startswith("moved")} == {"moved/a", "moved/b"}


def test_a_file_system_moves_and_removes(emulator, client, listed):
    fs = file_system(emulator)
    fs.mv(f"{listed}/step1/a", f"{listed}/moved/a")
    assert fs.cat(f"{listed}/moved/a") == b"step1/a"
    fs.rm(f"{listed}/step1", recursive=True)
    fs.rm(f"{listed}/step10", recursive=True)
    assert set(keys(client, listed)) == {"moved/a", "step2", "other/step1", "step"}
    with fs.open(f"{listed}/new", "wb") as file:
        file.write(b"new")
    with fs.open(f"{listed}/new", "rb") as file:
        assert file.read() == b"new"


def test_a_listing_of_buckets_has_both_kinds(emulator, client, bucket):
    client.create_bucket("files-general")
    names = file_system(emulator).ls("", detail=False)
    assert {bucket, "files-general"} <= set(names)
    assert names == sorted(set(names))


@pytest.mark.parametrize("refusal", [{"status": 403, "code": "AccessDenied"}, {"status": 501, "code": "NotImplemented"}])
def test_general_buckets_are_listed_if_directory_buckets_cannot_be(emulator, client, bucket, caplog, refusal):
    client.create_bucket("files-general")
    faults = emulator.faults()
    faults.set([{"when": {"operation": "ListDirectoryBuckets"}, "do": {"error": refusal}}])
    try:
        fs = file_system(emulator, skip_instance_cache=True)
        for _ in range(2):
            names = fs.ls("", detail=False)
            assert "files-general" in names and bucket not in names
        faults.check()
    finally:
        faults.clear()
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1 and "lacks directory buckets (--x-s3)" in warnings[0] and refusal["code"] in warnings[0]


def test_a_service_without_directory_buckets_lists_each_bucket_once(emulator, client, bucket, monkeypatch):
    """Services without directory buckets return all their buckets."""
    client.create_bucket("files-general")
    fs = file_system(emulator, skip_instance_cache=True)
    foreign = [("files-general", 0), ("of-another-kind", 0)]
    monkeypatch.setattr(type(fs.client._client), "list_directory_buckets", lambda core, timeout=None: foreign)
    names = fs.ls("", detail=False)
    assert names.count("files-general") == 1 and "of-another-kind" not in names


def sent(emulator, after: int) -> list[tuple[str, int]]:
    """The operations of writing requests, and the sizes of their bodies."""
    quiet = ("HeadObject", "CreateSession", "ListObjectsV2")
    return [
        (entry.operation, entry.bytes_in) for entry in emulator.journal().entries(after=after) if entry.operation not in quiet
    ]


def test_an_append_sends_only_the_appended_bytes(emulator, client, bucket):
    """An append used to copy the object, or to read it and write it again."""
    fs = file_system(emulator)
    for name, size in (("small", 3), ("large", 6 * MIB), ("empty", 0)):
        put(client, bucket, name, b"x" * size)
        before = emulator.journal().last
        with fs.open(f"{bucket}/{name}", "ab") as file:
            assert file.tell() == size
            file.write(b"more")
            file.write(b"!")
            assert file.tell() == size + 5
            assert fs.info(f"{bucket}/{name}")["size"] == size
        assert sent(emulator, before) == [("PutObject", 5)]
        assert get(client, bucket, name) == b"x" * size + b"more!"


def test_a_failed_long_append_keeps_the_pieces_sent_before(emulator, client, bucket):
    fs = file_system(emulator)
    put(client, bucket, "log", b"begin")
    with pytest.raises(KeyError), fs.open(f"{bucket}/log", "ab") as file:
        file.write(b"a" * 16 * MIB)
        file.write(b"b")
        raise KeyError
    assert get(client, bucket, "log") == b"begin" + b"a" * 16 * MIB
    file = fs.open(f"{bucket}/log", "ab")
    file.write(b"c")
    file.discard()
    assert fs.info(f"{bucket}/log")["size"] == 5 + 16 * MIB


def test_an_append_of_nothing_sends_nothing(emulator, client, bucket):
    put(client, bucket, "log", b"begin")
    before = emulator.journal().last
    with file_system(emulator).open(f"{bucket}/log", "ab"):
        pass
    assert sent(emulator, before) == []


def test_an_append_of_another_writer_is_kept(emulator, client, bucket):
    fs = file_system(emulator)
    put(client, bucket, "log", b"begin")
    with pytest.raises(FileChangedError, match="changed under this writer"), fs.open(f"{bucket}/log", "ab") as file:
        file.write(b"mine")
        with client.append_object(bucket, "log") as other:
            other.write(b" theirs")
    assert get(client, bucket, "log") == b"begin theirs"


def test_an_append_to_a_missing_object_does_not_replace_a_new_one(emulator, client, bucket):
    fs = file_system(emulator)
    with pytest.raises(FileExistsError), fs.open(f"{bucket}/new", "ab") as file:
        file.write(b"mine")
        put(client, bucket, "new", b"theirs")
    assert get(client, bucket, "new") == b"theirs"
    with pytest.raises(FileNotFoundError), fs.open("no-such--use1-az4--x-s3/new", "ab") as file:
        file.write(b"x")


def test_a_file_append_whose_response_was_lost_happens_once(emulator, client, bucket):
    put(client, bucket, "log", b"begin")
    faults = emulator.faults()
    when = {"operation": "PutObject", "bucket": bucket}
    lost = {"when": when, "do": {"reset": {}, "at": "after_commit"}, "limit": {"times": 1}}
    faults.set([lost, {"when": when, "do": {"error": {"status": 503, "code": "SlowDown"}, "at": "headers"}}])
    try:
        with file_system(emulator, max_attempts=3).open(f"{bucket}/log", "ab") as file:
            file.write(b" end")
        faults.check()
    finally:
        faults.clear()
    assert get(client, bucket, "log") == b"begin end"


def test_an_append_in_a_failed_transaction_is_discarded(emulator, client, bucket):
    fs = file_system(emulator)
    put(client, bucket, "log", b"begin")
    with pytest.raises(KeyError), fs.transaction:
        with fs.open(f"{bucket}/log", "ab") as file:
            file.write(b"y" * 20 * MIB)
        raise KeyError
    assert get(client, bucket, "log") == b"begin"
    with fs.transaction, fs.open(f"{bucket}/log", "ab") as file:
        file.write(b" end")
    assert get(client, bucket, "log") == b"begin end"


def test_an_append_with_other_attributes_rewrites_the_object(emulator, client, bucket):
    fs = file_system(emulator)
    put(client, bucket, "log", b"begin")
    with fs.open(f"{bucket}/log", "ab", ContentType="text/csv") as file:
        file.write(b" end")
    assert fs.info(f"{bucket}/log")["ContentType"] == "text/csv"
    assert get(client, bucket, "log") == b"begin end"


def test_the_command_line_lists_checkpoints_in_any_order(emulator, client, bucket, monkeypatch, capsys):
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)
    for step in (10, 2, 1):
        writer = S3StorageWriter(
            "us-east-1", f"s3://{bucket}/run/step_{step}", s3client_config=emulator.config(), endpoint=emulator.endpoint
        )
        dcp.save({"w": torch.full((4,), float(step))}, storage_writer=writer)
    with client.put_object(bucket, "run/stepped") as other:
        other.write(b"no checkpoint")
    assert __main__.main(["checkpoint", "ls", f"s3://{bucket}/run/"]) == 0
    shown = capsys.readouterr().out
    assert all(f"step_{step}" in shown for step in (1, 2, 10))
