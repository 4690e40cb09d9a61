"""torch.save and torch.load through S3Checkpoint."""

from __future__ import annotations

import io

import penstock
import pytest
import torch
from bucket_io import keys


@pytest.fixture
def checkpoint(emulator):
    return penstock.S3Checkpoint("us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config())


@pytest.mark.parametrize("elements", [10, 6_000_000])
@pytest.mark.parametrize("zipped", [True, False])
def test_saved_state_is_loaded(checkpoint, bucket, elements, zipped):
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
        raise KeyError("failed while saving")
    assert torch.load(checkpoint.reader(uri), weights_only=True) == {"step": 1}


def test_invalid_uris_raise(checkpoint):
    for uri in ("", "file:///x", "S3://b/k", "b/k"):
        with pytest.raises(ValueError, match="Only s3:// URIs are supported"):
            checkpoint.reader(uri)
    with pytest.raises(ValueError, match="Bucket name must be non-empty"):
        checkpoint.writer("s3:///key")


def test_reader_sends_no_request_before_the_first_read(checkpoint, client, bucket):
    reader = checkpoint.reader(f"s3://{bucket}/missing")
    with pytest.raises(penstock.S3NotFoundError, match="Service error: The key does not exist"):
        reader.read()
    assert keys(client, bucket) == []


def received(checkpoint, load):
    """Returns the bytes and the number of requests of a load."""
    before = checkpoint._client.metrics()
    load()
    after = checkpoint._client.metrics()
    return after["bytes_received"] - before["bytes_received"], sum(after["requests"].values()) - sum(before["requests"].values())


@pytest.mark.parametrize("options", [{}, {"map_location": "cpu"}, {"mmap": False}])
def test_load_fetches_each_byte_about_once(checkpoint, bucket, options):
    uri = f"s3://{bucket}/c.pt"
    state = {f"large.{i}": torch.rand(1_000_000) for i in range(8)} | {f"small.{i}": torch.rand(100) for i in range(100)}
    with checkpoint.writer(uri) as writer:
        torch.save(state, writer)
    size = checkpoint.reader(uri).seek(0, io.SEEK_END)
    loaded = {}
    bytes_received, requests = received(
        checkpoint, lambda: loaded.update(torch.load(checkpoint.reader(uri), weights_only=True, **options))
    )
    assert all(torch.equal(loaded[name], tensor) for name, tensor in state.items())
    assert size <= bytes_received < size + 4 * 1024**2
    assert requests < 40


def test_checkpoint_replaced_during_a_load_is_never_mixed(checkpoint, bucket):
    uri = f"s3://{bucket}/c.pt"
    for value in (1.0, 2.0):
        if value == 2.0:
            reader = checkpoint.reader(uri)
            reader.seek(-100, io.SEEK_END)
        with checkpoint.writer(uri) as writer:
            torch.save({"weight": torch.full((3_000_000,), value)}, writer)
    with pytest.raises(penstock.S3PreconditionFailedError):
        torch.load(reader, weights_only=True)


def test_small_checkpoint_is_loaded_by_one_request(checkpoint, bucket):
    uri = f"s3://{bucket}/c.pt"
    with checkpoint.writer(uri) as writer:
        torch.save({"step": 1}, writer)
    assert received(checkpoint, lambda: torch.load(checkpoint.reader(uri), weights_only=True))[1] == 1
