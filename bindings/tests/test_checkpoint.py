"""torch.save and torch.load through S3Checkpoint."""

from __future__ import annotations

import penstock
import pytest
import torch
from bucket_io import keys


@pytest.fixture
def checkpoint(emulator):
    return penstock.S3Checkpoint("us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config())


@pytest.mark.parametrize("elements", [10, 6_000_000])
@pytest.mark.parametrize("zipped", [True, False])
def test_state_survives(checkpoint, bucket, elements, zipped):
    state = {"weight": torch.arange(elements, dtype=torch.float32), "step": 7}
    with checkpoint.writer(f"s3://{bucket}/c.pt") as writer:
        torch.save(state, writer, _use_new_zipfile_serialization=zipped)
    with checkpoint.reader(f"s3://{bucket}/c.pt") as reader:
        loaded = torch.load(reader, weights_only=True)
    assert loaded["step"] == 7
    assert torch.equal(loaded["weight"], state["weight"])


def test_failed_save_leaves_the_old_checkpoint(checkpoint, bucket):
    uri = f"s3://{bucket}/c.pt"
    with checkpoint.writer(uri) as writer:
        torch.save({"step": 1}, writer)
    with pytest.raises(KeyError), checkpoint.writer(uri) as writer:
        torch.save({"step": 2, "weight": torch.zeros(5_000_000)}, writer)
        raise KeyError("died while saving")
    assert torch.load(checkpoint.reader(uri), weights_only=True) == {"step": 1}


def test_bad_uris(checkpoint):
    for uri in ("", "file:///x", "S3://b/k", "b/k"):
        with pytest.raises(ValueError, match="Only s3:// URIs are supported"):
            checkpoint.reader(uri)
    with pytest.raises(ValueError, match="Bucket name must be non-empty"):
        checkpoint.writer("s3:///key")


def test_reader_costs_no_request_and_missing_key_is_clear(checkpoint, client, bucket):
    reader = checkpoint.reader(f"s3://{bucket}/missing")
    with pytest.raises(penstock.S3NotFoundError, match="Service error: The key does not exist"):
        reader.read()
    assert keys(client, bucket) == []
