"""torch.distributed.checkpoint's own fsspec storage with PenstockFileSystem."""

from __future__ import annotations

import sys

import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import keys
from file_systems import storage_options
from penstock.fsspec import S3FileSystem
from torch.distributed.checkpoint._fsspec_filesystem import FsspecReader, FsspecWriter


@pytest.fixture
def options(emulator, monkeypatch):
    monkeypatch.setitem(sys.modules["fsspec.registry"]._registry, "s3", S3FileSystem)
    return storage_options(emulator)


def test_saves_and_loads(client, bucket, options):
    state = {"weight": torch.arange(500_000.0).reshape(1000, 500), "bias": torch.ones(7), "step": 3}
    url = f"s3://{bucket}/step-3"
    dcp.save(state, storage_writer=FsspecWriter(url, sync_files=False, thread_count=2, **options), no_dist=True)
    names = keys(client, bucket)
    assert "step-3/.metadata" in names
    assert not any(name.endswith(".tmp") for name in names)
    loaded = {"weight": torch.zeros(1000, 500), "bias": torch.zeros(7), "step": 0}
    dcp.load(loaded, storage_reader=FsspecReader(url, **options), no_dist=True)
    assert torch.equal(loaded["weight"], state["weight"])
    assert torch.equal(loaded["bias"], state["bias"])
    assert loaded["step"] == 3


def test_failed_save_leaves_no_partial_file(client, bucket, options):
    class Unpicklable:
        def __reduce__(self):
            raise KeyError("halfway")

    state = {"weight": torch.ones(1000), "bad": Unpicklable()}
    with pytest.raises(dcp.api.CheckpointException):
        dcp.save(state, storage_writer=FsspecWriter(f"s3://{bucket}/run", sync_files=False, **options), no_dist=True)
    assert keys(client, bucket) == []
    assert client._client.list_multipart_uploads(bucket) == []
