"""The core's item loader: nothing is written after a load, and arguments of every kind are accepted or refused clearly."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import get, keys, put
from checkpoints import Checkpoints, Sharded, cut, usages_of_loads
from forked import in_child
from penstock import _core
from penstock.dcp import _load
from penstock.testing import Emulator
from torch.utils.dlpack import to_dlpack


@pytest.fixture
def checkpoints(emulator: Emulator, client: penstock.S3Client, bucket: str) -> Checkpoints:
    return Checkpoints(emulator, client, bucket)


def new_loader(client: penstock.S3Client) -> _core.ItemLoader:
    return _core.ItemLoader(
        client.core,
        object(),
        lambda size: _load.Arena(size, False),
        batch_bytes=1 << 20,
        batch_items=10,
        unit_bytes=1 << 20,
        part_bytes=1 << 20,
        window_bytes=1 << 20,
    )


def test_no_request_writes_to_a_tensor_after_a_failed_load(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although something still refers to the loader, for example a traceback."""
    loaders: list[_core.ItemLoader] = []
    make = _core.ItemLoader

    def noted(*args: Any, **kwargs: Any) -> _core.ItemLoader:
        loaders.append(make(*args, **kwargs))
        return loaders[-1]

    monkeypatch.setattr(_core, "ItemLoader", noted)
    saved = torch.arange(1.0, 20_001.0)
    shards = cut(saved, 2)
    uri = checkpoints.save(*({"w": Sharded.of(saved.size(), saved.dtype, shard)} for shard in shards))
    first, second = (key for key in keys(checkpoints.client, checkpoints.bucket) if key.endswith(".distcp"))
    data = bytearray(get(checkpoints.client, checkpoints.bucket, first))
    data[data.index(saved[100:200].numpy().tobytes())] ^= 1
    put(checkpoints.client, checkpoints.bucket, first, bytes(data))
    stall = {"when": {"operation": "GetObject", "key": {"exactly": second}}, "do": {"stall": {"ms": 1000}}}
    checkpoints.emulator.faults().set({"rules": [stall]})
    target = torch.zeros(20_000)
    try:
        with pytest.raises(dcp.CheckpointException, match="have the CRC-32"):
            checkpoints.load({"w": target}, uri)
        assert loaders
        time.sleep(1.5)  # the response would have arrived by now
    finally:
        checkpoints.emulator.faults().clear()
    assert torch.equal(target[10_000:], torch.zeros(10_000))


CALLS: dict[str, Callable[[_core.ItemLoader], object]] = {
    "add": lambda loader: loader.add(0, "name", "bucket", "key", 0, 10, (), []),
    "next": lambda loader: loader.next(True),
    "full": lambda loader: loader.full,
    "idle": lambda loader: loader.idle,
    "clear_scratch": lambda loader: loader.clear_scratch(),
    "usage": lambda loader: loader.usage(),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls_of_a_closed_loader_raise(client: penstock.S3Client, call: Callable[[_core.ItemLoader], object]) -> None:
    loader = new_loader(client)
    loader.close()
    loader.close()
    with pytest.raises(ValueError, match="this item loader is closed"):
        call(loader)


def test_close_does_nothing_in_a_forked_process(client: penstock.S3Client) -> None:
    loader = new_loader(client)
    assert in_child(lambda: str(loader.close())) == "None"
    assert loader.idle


@pytest.mark.parametrize("name", ["begin", "length"])
@pytest.mark.parametrize(("value", "error"), [("7", TypeError), (-1, ValueError), (1 << 64, ValueError)])
def test_invalid_place_raises_an_error_that_names_the_argument(
    client: penstock.S3Client, name: str, value: Any, error: type[Exception]
) -> None:
    place: dict[str, Any] = {"begin": 0, "length": 10, name: value}
    with pytest.raises(error, match=f"{name} (must be int, not str|is too large or negative)"):
        new_loader(client).add(0, "name", "bucket", "key", spec=(), reads=[], **place)


class Subclass(torch.Tensor):
    """A subclass that stays one after detach()."""


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_one_item_loads_into_a_plain_tensor_and_a_subclass(checkpoints: Checkpoints, order: tuple[int, int]) -> None:
    saved = torch.arange(60.0).view(10, 6)
    uri = checkpoints.save({"w": saved})
    targets = [torch.zeros(4, 6), torch.zeros(6, 6).as_subclass(Subclass)]
    boxes = [((0, 0), targets[0]), ((4, 0), targets[1])]
    checkpoints.load({"w": Sharded.of(saved.size(), saved.dtype, [boxes[i] for i in order])}, uri)
    assert torch.equal(targets[0], saved[:4])
    assert torch.equal(targets[1].as_subclass(torch.Tensor), saved[4:])


def test_strides_are_those_of_the_tensor(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old versions of torch state a stride of 1 for dimensions of size 1 in DLPack capsules."""

    def capsule_of(tensor: torch.Tensor) -> object:
        strides = [1 if size == 1 else stride for size, stride in zip(tensor.size(), tensor.stride(), strict=True)]
        return to_dlpack(tensor.as_strided(tensor.size(), strides))

    monkeypatch.setattr(_load, "capsule_of", capsule_of)
    saved = torch.randn(3, 4, 6)
    boxes = [((0, 0, 0), saved[:1, :, :3]), ((0, 0, 3), saved[:, :, 3:]), ((1, 0, 0), saved[1:, :, :3])]
    uri = checkpoints.save({"w": Sharded.of(saved.size(), saved.dtype, boxes)})
    target = torch.zeros(3, 4, 6)
    usages = usages_of_loads(monkeypatch)
    checkpoints.load({"w": target}, uri)
    assert torch.equal(target, saved)
    assert usages[0]["requests"] == 1  # otherwise the boxes seem to overlap, and wait for each other


def test_error_of_a_name_with_a_lone_surrogate(checkpoints: Checkpoints) -> None:
    uri = checkpoints.save({"w\udc80": torch.arange(1000.0)})
    (key,) = (key for key in keys(checkpoints.client, checkpoints.bucket) if key.endswith(".distcp"))
    data = bytearray(get(checkpoints.client, checkpoints.bucket, key))
    state = {"w\udc80": torch.zeros(1000)}
    checkpoints.load(state, uri)
    assert torch.equal(state["w\udc80"], torch.arange(1000.0))
    data[data.index(torch.arange(500.0, 600.0).numpy().tobytes())] ^= 1
    put(checkpoints.client, checkpoints.bucket, key, bytes(data))
    with pytest.raises(dcp.CheckpointException, match=r"item 'w\\udc80': bytes .* have the CRC-32"):
        checkpoints.load(state, uri)


# Targets whose elements are in one place, and what is saved.
EXPANDED: dict[str, Callable[[], torch.Tensor]] = {
    "long rows": lambda: torch.zeros(1, 3000).expand(1000, 3000),
    "short rows": lambda: torch.zeros(1, 3).expand(1000, 3),
    "columns": lambda: torch.zeros(1000, 1).expand(1000, 3000),
    "one element": lambda: torch.zeros(1).expand(1000),
    "another dtype": lambda: torch.zeros(1, 30, dtype=torch.float64).expand(10, 30),
}


@pytest.mark.parametrize("name", EXPANDED)
def test_expanded_target_takes_equal_elements_only(checkpoints: Checkpoints, name: str) -> None:
    target = EXPANDED[name]()
    torch.manual_seed(2)
    equal = EXPANDED[name]()
    assert equal._base is not None
    equal._base.normal_()
    equal = equal.float().contiguous()
    uri = checkpoints.save({"w": equal})
    checkpoints.load({"w": target}, uri)
    assert torch.equal(target.float(), equal)
    uri = checkpoints.save({"w": torch.randn(target.size())})
    with pytest.raises(dcp.CheckpointException, match="more than one element of the written-to tensor"):
        checkpoints.load({"w": target}, uri)
    assert torch.equal(target.float(), equal)
