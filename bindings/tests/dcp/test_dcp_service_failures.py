"""Saves during failures of the service. Either the old or the new checkpoint loads, and no upload stays open."""

from __future__ import annotations

import dcp_io
import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import get, put
from penstock.dcp import S3StorageReader
from penstock.testing import Emulator
from torch.distributed.checkpoint.api import CheckpointException

URI = "s3://bucket/ck"
LARGE = 70_000_000  # bytes of a tensor that is uploaded in parts


@pytest.fixture
def own_emulator() -> Emulator:
    with Emulator() as instance:
        instance.client().create_bucket("bucket")
        yield instance


def state_of(seed: int) -> dict[str, torch.Tensor]:
    return {"large": torch.full((LARGE // 4,), float(seed)), "small": torch.full((50,), float(seed)), "seed": torch.tensor(seed)}


def seed_of_checkpoint(own_emulator: Emulator) -> int:
    state = dcp_io.loaded(own_emulator.client(), "bucket", "ck", state_of(0))
    assert dcp_io.same(state, state_of(int(state["seed"])))
    return int(state["seed"])


def saved(own_emulator: Emulator, seed: int, **kwargs: object) -> bool:
    try:
        dcp_io.save(own_emulator, URI, state_of(seed), **kwargs)
    except CheckpointException:
        return False
    return True


def open_uploads(own_emulator: Emulator) -> list[tuple[str, str]]:
    return own_emulator.client()._client.list_multipart_uploads("bucket")


# Permanent failures of one kind of request: no save succeeds.
DENIED = {"error": {"code": "AccessDenied", "status": 403}}
PERMANENT = {
    "parts are rejected": {"when": {"operation": "UploadPart"}, "do": DENIED},
    "uploads cannot start": {
        "when": {"operation": "CreateMultipartUpload"},
        "do": DENIED,
    },
    "uploads cannot complete": {
        "when": {"operation": "CompleteMultipartUpload"},
        "do": {"error": {"code": "InvalidPart", "status": 400}},
    },
    "metadata is rejected": {
        "when": {"operation": "PutObject", "key": {"exactly": "ck/.metadata"}},
        "do": DENIED,
    },
}

# Occasional failures: a save succeeds by retries.
TRANSIENT = {
    "the first attempt of every write is dropped": {
        "when": {"operation": "@write"}, "do": {"reset": {}}, "limit": {"times": 1, "per": "invocation"},
    },
    "the response to Complete is lost": {
        "when": {"operation": "CompleteMultipartUpload"}, "do": {"reset": {}, "at": "after_commit"}, "limit": {"times": 1},
    },
    "the response to the metadata is lost": {
        "when": {"operation": "PutObject", "key": {"exactly": "ck/.metadata"}},
        "do": {"reset": {}, "at": "after_commit"},
        "limit": {"times": 1},
    },
    "the metadata is dropped before it is stored": {
        "when": {"operation": "PutObject", "key": {"exactly": "ck/.metadata"}},
        "do": {"reset": {}, "at": "before_commit"},
        "limit": {"times": 1},
    },
    "throttled at the start": {
        "when": {"operation": "CreateMultipartUpload"}, "do": {"slow_down": {}}, "limit": {"times": 3},
    },
    "the response to a deletion is lost": {
        "when": {"operation": "DeleteObjects"}, "do": {"reset": {}, "at": "after_commit"}, "limit": {"times": 1},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PERMANENT)
@pytest.mark.parametrize("with_previous", [False, True])
def test_failed_save_keeps_the_previous_checkpoint(own_emulator, name, with_previous):
    assert not with_previous or saved(own_emulator, 1)
    own_emulator.faults().set([PERMANENT[name]])
    assert not saved(own_emulator, 2)
    own_emulator.faults().check()
    own_emulator.faults().clear()
    assert open_uploads(own_emulator) == []
    if with_previous:
        assert seed_of_checkpoint(own_emulator) == 1
    else:
        assert ".metadata" not in dcp_io.names(own_emulator.client(), "bucket", "ck")
    assert saved(own_emulator, 3)
    assert seed_of_checkpoint(own_emulator) == 3


@pytest.mark.parametrize("name", TRANSIENT)
def test_save_succeeds_by_retries(own_emulator, name):
    assert saved(own_emulator, 1)
    own_emulator.faults().set([TRANSIENT[name]])
    assert saved(own_emulator, 2)
    own_emulator.faults().check()
    own_emulator.faults().clear()
    assert seed_of_checkpoint(own_emulator) == 2
    assert open_uploads(own_emulator) == []
    assert len(dcp_io.names(own_emulator.client(), "bucket", "ck")) == 2


@pytest.mark.parametrize("name", TRANSIENT)
def test_first_save_succeeds_by_retries(own_emulator, name):
    if "deletion" in name:
        assert saved(own_emulator, 1)
    own_emulator.faults().set([TRANSIENT[name]])
    assert saved(own_emulator, 2)
    own_emulator.faults().check()
    assert seed_of_checkpoint(own_emulator) == 2


def test_failure_of_one_object_aborts_the_others(own_emulator):
    own_emulator.faults().set(
        [
            {
                "when": {"operation": "CompleteMultipartUpload", "key": "*_1.distcp"},
                "do": DENIED,
            }
        ]
    )
    state = {f"t{i}": torch.zeros(LARGE // 4) for i in range(3)}
    with pytest.raises(CheckpointException, match="Forbidden"):
        dcp_io.save(own_emulator, URI, state, thread_count=3)
    assert open_uploads(own_emulator) == []
    assert ".metadata" not in dcp_io.names(own_emulator.client(), "bucket", "ck")


def test_unreadable_metadata_does_not_fall_back_to_metadata_of_a_rank(own_emulator: Emulator) -> None:
    """Regression: a load with a permanent 503 loaded the metadata of a rank that an earlier save without collectives had left."""
    dcp_io.save(own_emulator, URI, {"value": torch.ones(3)})
    put(own_emulator.client(), "bucket", "ck/__0.metadata", get(own_emulator.client(), "bucket", "ck/.metadata"))
    reader = S3StorageReader(
        own_emulator.region, URI, own_emulator.config(penstock.S3ClientConfig(max_attempts=2)), endpoint=own_emulator.endpoint
    )
    own_emulator.faults().set([{"when": {"key": {"exactly": "ck/.metadata"}}, "do": {"slow_down": {}}}])
    state = {"value": torch.zeros(3)}
    with pytest.raises(CheckpointException, match="Request throttled"):
        dcp.load(state, storage_reader=reader, no_dist=True)
    own_emulator.faults().check()
    own_emulator.faults().clear()
    own_emulator.journal().assert_count(1, key="ck/__0.metadata")  # Only the `put` above: the load has not read it.
    dcp.load(state, storage_reader=reader, no_dist=True)
    assert torch.equal(state["value"], torch.ones(3))
