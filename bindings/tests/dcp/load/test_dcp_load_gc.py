"""The garbage collector during a load: it does not examine the metadata, and finds the settings of the program afterwards."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from checkpoints import Checkpoints
from penstock.dcp import S3StorageReader
from penstock.testing import Emulator
from torch.distributed.checkpoint.metadata import TensorStorageMetadata


@pytest.fixture
def checkpoints(emulator: Emulator, client: penstock.S3Client, bucket: str) -> Checkpoints:
    return Checkpoints(emulator, client, bucket, by_penstock=True)


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    """Ends what loads of other tests and this one left: a load that raises defers the next collection."""
    gc.collect()
    yield
    gc.unfreeze()
    gc.enable()
    gc.collect()


@pytest.fixture
def reader(checkpoints: Checkpoints) -> S3StorageReader:
    uri = checkpoints.save({f"tensor {i}": torch.ones(3) for i in range(100)})
    return checkpoints.reader(uri)


class Garbage:
    """An object that only the garbage collector frees."""

    def __init__(self) -> None:
        self.itself = self


def young_entries() -> int:
    return sum(isinstance(each, TensorStorageMetadata) for each in gc.get_objects(generation=0))


def test_garbage_collector_settings_are_restored(checkpoints: Checkpoints) -> None:
    before = gc.get_threshold(), list(gc.callbacks)
    uri = checkpoints.save({"a": torch.ones(3)})
    checkpoints.load({"a": torch.zeros(3)}, uri)
    assert (gc.get_threshold(), list(gc.callbacks)) == before
    assert gc.isenabled()
    with pytest.raises(dcp.CheckpointException):
        checkpoints.load({"b": torch.zeros(3)}, uri)
    gc.collect()  # after an exception, the next collection restores the settings
    assert (gc.get_threshold(), list(gc.callbacks)) == before
    assert gc.isenabled()


def test_metadata_is_not_in_the_youngest_generation(reader: S3StorageReader) -> None:
    metadata = reader.read_metadata()
    assert len(metadata.state_dict_metadata) == 100
    assert young_entries() == 0


def test_garbage_does_not_become_old(reader: S3StorageReader) -> None:
    """It would stay until the next full collection, with the tensors that it refers to."""
    freed = weakref.ref(Garbage())
    reader.read_metadata()
    assert freed() is None


def test_objects_that_the_program_froze_remain_frozen(reader: S3StorageReader) -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    metadata = reader.read_metadata()
    assert gc.get_freeze_count() > 0.9 * frozen  # some have been freed
    assert young_entries() == len(metadata.state_dict_metadata)


def test_a_program_without_automatic_collection_has_none(reader: S3StorageReader) -> None:
    gc.disable()
    kept = weakref.ref(Garbage())
    reader.read_metadata()
    assert not gc.isenabled()
    assert kept() is not None
