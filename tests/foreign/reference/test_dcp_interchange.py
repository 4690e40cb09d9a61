"""Checkpoints saved by Penstock load with the readers of s3torchconnector, torch and Penstock, bit for bit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import torch
import torch.distributed.checkpoint as dcp
from penstock.dcp import (
    BinaryPrefixStrategy,
    HexPrefixStrategy,
    RoundRobinPrefixStrategy,
    S3PrefixStrategyBase,
    S3StorageReader,
    S3StorageWriter,
)
from penstock.testing import Emulator
from s3torchconnector import S3ReaderConstructor as TheirReaders
from s3torchconnector.dcp import S3StorageReader as TheirReader
from s3torchconnector.dcp import S3StorageWriter as TheirWriter
from torch.distributed.checkpoint._extension import ZStandard

# torch.distributed may be initialised here. These checkpoints have one rank.
ALONE = {"no_dist": True}


class Folders(S3PrefixStrategyBase):
    def generate_prefix(self, rank: int) -> str:
        return f"custom_x/{rank}/"


STRATEGIES = {
    "default": None,
    "round robin": RoundRobinPrefixStrategy(["a", "b"], epoch_num=0),
    "binary": BinaryPrefixStrategy(4, 4, 4),
    "hex": HexPrefixStrategy(),
    "custom": Folders(),
}


@pytest.fixture(scope="module")
def place() -> Iterator[SimpleNamespace]:
    with Emulator() as emulator:
        emulator.client().create_bucket("checkpoints")
        with mock.patch.dict(os.environ, emulator.environment()):
            yield SimpleNamespace(client=emulator.client(), numbers=iter(range(1000)))


def state(value: int) -> dict[str, Any]:
    made = torch.Generator().manual_seed(value)
    tensors = {
        "weight": torch.randn(300, 200, generator=made),
        "large": torch.randn(600, 1000, generator=made),  # with checksums of its pieces in `.metadata`
        "turned": torch.randn(20, 30, generator=made).t(),
        "view": torch.randn(100, generator=made)[7:50],
        "half": torch.randn(99, generator=made).bfloat16(),
        "flags": torch.rand(65, generator=made) > 0.5,
        "bytes": torch.randint(0, 255, (5, 5), generator=made).byte(),
        "empty": torch.zeros(0, 4),
        "scalar": torch.tensor(float(value)),
    }
    return {"model": tensors, "step": value}


def loaded(reader: Any, like: dict[str, Any]) -> dict[str, Any]:
    blank = {"model": {key: torch.zeros_like(value) for key, value in like["model"].items()}, "step": None}
    dcp.load(blank, storage_reader=reader, **ALONE)
    return blank


def check(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found["step"] == wanted["step"]
    for name, value in wanted["model"].items():
        assert torch.equal(found["model"][name], value), name


@pytest.mark.parametrize("extensions", [None, [ZStandard()]], ids=["plain", "zstd"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", STRATEGIES)
def test_all_readers_load_what_we_saved(place, tmp_path: Path, name, threads, extensions):
    number = next(place.numbers)
    uri, saved = f"s3://checkpoints/{number}", state(number)
    for again in (False, True):  # a new path, then one with a checkpoint, where the objects get other names
        if again:
            saved = state(number + 500)
        writer = S3StorageWriter("us-east-1", uri, prefix_strategy=STRATEGIES[name], thread_count=threads, _extensions=extensions)
        dcp.save(saved, storage_writer=writer, **ALONE)
        check(loaded(S3StorageReader("us-east-1", uri), saved), saved)
        check(loaded(TheirReader("us-east-1", uri), saved), saved)
        check(loaded(TheirReader("us-east-1", uri, reader_constructor=TheirReaders.sequential()), saved), saved)
        folder = tmp_path / str(again)
        for page in place.client.list_objects("checkpoints", f"{number}/"):
            for info in page.object_info:
                path = folder / info.key.partition("/")[2]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(place.client.get_object("checkpoints", info.key).read())
        check(loaded(dcp.FileSystemReader(folder), saved), saved)


@pytest.mark.parametrize("extensions", [None, [ZStandard()]], ids=["plain", "zstd"])
def test_each_saves_over_the_others_checkpoint(place, extensions):
    number = next(place.numbers)
    uri = f"s3://checkpoints/{number}"
    for turn, kind in enumerate([TheirWriter, S3StorageWriter, TheirWriter, S3StorageWriter]):
        saved = state(turn)
        dcp.save(saved, storage_writer=kind("us-east-1", uri, _extensions=extensions), **ALONE)
        for reader in (S3StorageReader, TheirReader):
            check(loaded(reader("us-east-1", uri), saved), saved)
    # Penstock's writer removed the objects of s3torchconnector's save. s3torchconnector did not remove those of Penstock's first.
    keys = [info.key for page in place.client.list_objects("checkpoints", f"{number}/") for info in page.object_info]
    assert len(keys) == 3
    assert f"{number}/__0_0.distcp" not in keys
