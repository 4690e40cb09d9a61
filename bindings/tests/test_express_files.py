"""Directory buckets as a file system and for ``penstock checkpoint``: nothing there depends on the order of a listing."""

from __future__ import annotations

import itertools

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import keys, put
from file_systems import file_system
from penstock import __main__
from penstock.dcp import S3StorageWriter

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


def test_what_is_no_file_is_not_renamed(emulator, client, listed):
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


def test_the_command_line_sees_checkpoints_whatever_their_order(emulator, client, bucket, monkeypatch, capsys):
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
