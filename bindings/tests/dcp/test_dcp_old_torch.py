"""Compatibility with torch 2.3, whose writer has no argument `overwrite`. Every save failed with it."""

from __future__ import annotations

import dcp_io
import pytest
import torch
from penstock.dcp import S3StorageWriter, _writer
from torch.distributed.checkpoint.filesystem import FileSystemWriter


@pytest.fixture
def torch_2_3(monkeypatch):
    made = FileSystemWriter.__init__

    def make(self, path, single_file_per_rank=True, sync_files=True, thread_count=1, per_thread_copy_ahead=10_000_000):
        made(self, path, single_file_per_rank, sync_files, thread_count, per_thread_copy_ahead)
        del self.overwrite

    monkeypatch.setattr(FileSystemWriter, "__init__", make)
    monkeypatch.setattr(_writer, "_TORCH_KNOWS_OVERWRITE", False)


@pytest.mark.usefixtures("torch_2_3")
def test_saves_and_overwrites(emulator, client, bucket):
    for number in (1, 2):
        state = dcp_io.some_state(number)
        dcp_io.save(emulator, f"s3://{bucket}/ck", state)
        assert dcp_io.same(dcp_io.loaded(client, bucket, "ck", state), state)


@pytest.mark.usefixtures("torch_2_3")
def test_overwrite_is_supported():
    assert S3StorageWriter("us-east-1", "s3://b/k").overwrite is True
    assert S3StorageWriter("us-east-1", "s3://b/k", overwrite=False).overwrite is False


@pytest.mark.usefixtures("torch_2_3")
def test_unknown_arguments_raise():
    with pytest.raises(TypeError, match="cache_staged_state_dict"):
        S3StorageWriter("us-east-1", "s3://b/k", cache_staged_state_dict=True)


def test_installed_torch_has_overwrite():
    assert torch.__version__ >= "2.4"
    assert _writer._TORCH_KNOWS_OVERWRITE
