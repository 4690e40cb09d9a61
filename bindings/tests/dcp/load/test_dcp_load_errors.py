"""S3StorageReader with wrongly predicted or missing items: loads correct values or raises, and never loads wrong ones."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from typing import Any

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import get, keys, put
from checkpoints import Checkpoints, Sharded, emptied, same_bits, usages_of_loads
from interrupted import exit_status
from penstock.dcp import _layout, _load
from penstock.testing import Emulator
from torch.distributed.checkpoint import DefaultLoadPlanner
from torch.distributed.checkpoint.api import CheckpointException

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"))]


@pytest.fixture
def checkpoints(emulator: Emulator, client: penstock.S3Client, bucket: str) -> Checkpoints:
    return Checkpoints(emulator, client, bucket)


def saved_alone(value: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    torch.save(value, file, **options)
    return file.getvalue()


@pytest.mark.parametrize("off", [-64, 64, 128, 8])
def test_layout_of_another_torch_version_is_detected_and_learned(
    checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch, off: int
) -> None:
    right = _layout._tail_of_this_torch
    monkeypatch.setattr(_layout, "_tail_of_this_torch", lambda payload: right(payload) + off)
    monkeypatch.setattr(_layout, "_tail_of_our_writer", lambda payload: 1)
    monkeypatch.setattr(_load, "BATCH_ITEMS", 1)
    torch.manual_seed(4)
    saved = {f"tensor {i}": torch.randn(1000) for i in range(20)} | {"odd": torch.arange(7), "none": torch.zeros(0)}
    uri = checkpoints.save(saved)
    state = emptied(saved)
    reader = checkpoints.load(state, uri)
    for name, value in saved.items():
        assert same_bits(state[name], value), name
    assert reader._trailer_sizes.find(4000, right(4000) + 10 * 64) == right(4000)
    for target in (torch.zeros(500), torch.zeros(500, dtype=torch.float64)):
        fresh = checkpoints.reader(uri)
        whole = Sharded.of((1000,), torch.float32, [((250,), target)])
        dcp.load({"tensor 3": whole}, storage_reader=fresh, no_dist=True)
        assert torch.equal(target, saved["tensor 3"][250:750].to(target.dtype))


def test_large_items_are_probed_first(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trailer of a payload from 4 GiB on has another size. Here the limit is 10,000 bytes."""
    monkeypatch.setattr(_layout, "LARGE", 10_000)
    monkeypatch.setattr(_load, "UNIT_BYTES", 10_000)
    monkeypatch.setattr(_layout, "_tail_of_this_torch", lambda payload: 1 << 20)
    saved = {"large": torch.randn(5000), "larger": torch.randn(50, 200)}
    uri = checkpoints.save(saved)
    state = emptied(saved)
    usages = usages_of_loads(monkeypatch)
    checkpoints.load(state, uri)
    assert all(same_bits(state[name], saved[name]) for name in saved)
    assert usages[0]["probes"] > 0
    assert usages[0]["mispredicted"] == 0


def test_unusual_items_are_loaded_like_torch_does(checkpoints: Checkpoints) -> None:
    torch.manual_seed(5)
    values = torch.randn(6, 4)
    base = torch.arange(200.0)
    items: dict[str, tuple[torch.Tensor, bytes]] = {
        "legacy": (values, saved_alone(values, _use_new_zipfile_serialization=False)),
        "a window of a larger storage": (base[50:70], saved_alone(base[50:70])),
        "a repeated row": (values[:1].expand(6, 4), saved_alone(values[:1].expand(6, 4))),
        "conjugated": (torch.ones(3, dtype=torch.complex64), saved_alone(torch.full((3,), 1 + 2j).conj())),
        "another dtype than declared": (values, saved_alone(values.double())),
        "other strides than declared": (values, saved_alone(values.t().contiguous().t())),
        "a parameter": (values, saved_alone(torch.nn.Parameter(values))),
        "sparse": (torch.eye(3), saved_alone(torch.eye(3).to_sparse().coalesce().to_dense())),
    }
    uri = checkpoints.handmade(items)
    for dtype in (None, torch.complex128):
        state = {
            name: torch.zeros(each.size(), dtype=dtype or each.dtype) for name, (each, _) in items.items() if each is not None
        }
        checkpoints.load(state, uri)
        for name, (_, data) in items.items():
            expected = torch.load(io.BytesIO(data), weights_only=True)
            assert torch.equal(state[name], expected.to(state[name].dtype)), name


def test_big_endian_items_are_converted(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    values = torch.arange(5, dtype=torch.int32)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "byteorder", "big")
        data = saved_alone(values)
    expected = torch.load(io.BytesIO(data), weights_only=True)
    uri = checkpoints.handmade({"w": (values, data)})
    state = {"w": torch.zeros(5, dtype=torch.int32)}
    checkpoints.load(state, uri)
    assert not torch.equal(expected, values)  # the byte order record of the item decides
    assert torch.equal(state["w"], expected)


def test_other_stored_strides_are_corrected_for_every_shard(checkpoints: Checkpoints) -> None:
    whole = torch.randn(300, 200)
    turned = whole.t().contiguous().t()
    uri = checkpoints.handmade({"w": (whole, saved_alone(turned))})
    one, two = torch.zeros(100, 200), torch.zeros(300, 50)
    boxes = [((100, 0), one), ((0, 150), two)]
    checkpoints.load({"w": Sharded.of(whole.size(), whole.dtype, boxes)}, uri)
    assert same_bits(one, whole[100:200])
    assert same_bits(two, whole[:, 150:])


def test_damaged_items_raise(checkpoints: Checkpoints) -> None:
    values = torch.arange(1000.0)
    good = saved_alone(values)
    for at in (10, 700, len(good) - 10):  # the pickle's header, the payload's, the directory
        data = bytearray(good)
        data[at - 8 : at] = bytes(8)
        uri = checkpoints.handmade({"w": (values, bytes(data))})
        state = {"w": torch.zeros(1000)}
        try:
            checkpoints.load(state, uri)
        except (dcp.CheckpointException, RuntimeError):
            continue
        # If torch itself can still read the item, the values must be equal.
        assert torch.equal(state["w"], torch.load(io.BytesIO(bytes(data)), weights_only=True))


# ---- objects that fail


def key_of(uri: str) -> str:
    return uri.split("/", 3)[3] + "/__0_0.distcp"


def failure(checkpoints: Checkpoints, state: dict[str, Any], uri: str) -> penstock.S3Exception:
    with pytest.raises(dcp.CheckpointException) as caught:
        checkpoints.load(state, uri)
    cause = caught.value.failures[0][0]
    assert isinstance(cause, penstock.S3Exception)
    return cause


def test_error_names_a_missing_object(checkpoints: Checkpoints) -> None:
    uri = checkpoints.save({"a": torch.ones(3)})
    checkpoints.client.delete_object(checkpoints.bucket, key_of(uri))
    error = failure(checkpoints, {"a": torch.zeros(3)}, uri)
    assert isinstance(error, penstock.S3NotFoundError)
    assert str(error).startswith("Service error: The key does not exist")
    assert key_of(uri) in str(error)


def test_error_names_missing_metadata(checkpoints: Checkpoints) -> None:
    error = failure(checkpoints, {"a": torch.zeros(3)}, f"s3://{checkpoints.bucket}/nothing")
    assert isinstance(error, penstock.S3NotFoundError)
    assert str(error).startswith("Service error: The key does not exist")
    assert error.key == "nothing/.metadata"


class InspectingPlanner(DefaultLoadPlanner):
    """A planner that accesses the metadata first, like torch's planner for whole checkpoints."""

    def set_up_planner(self, state_dict: Any, metadata: Any = None, is_coordinator: bool = False) -> None:
        assert len(metadata.state_dict_metadata) > 0
        super().set_up_planner(state_dict, metadata, is_coordinator)


DENIED = {"error": {"status": 403, "code": "AccessDenied"}}


@pytest.mark.parametrize("planner", [DefaultLoadPlanner, InspectingPlanner])
@pytest.mark.parametrize(
    ("of_checkpoint", "of_rank", "expected"),
    [
        (DENIED, None, ("ck/.metadata", "AccessDenied")),
        (None, DENIED, ("ck/__0.metadata", "AccessDenied")),
        (DENIED, DENIED, ("ck/__0.metadata", "AccessDenied")),
        ({"slow_down": {}}, DENIED, ("ck/.metadata", "SlowDown")),
    ],
)
def test_load_fails_with_the_error_of_reading_the_metadata(
    checkpoints: Checkpoints, caplog: pytest.LogCaptureFixture, planner: type, of_checkpoint: Any, of_rank: Any, expected: Any
) -> None:
    """Regression: torch 2.11 discards the error, and the load failed with "metadata is None"."""
    keys_and_faults = (("ck/.metadata", of_checkpoint), ("ck/__0.metadata", of_rank))
    rules = [
        {"when": {"key": {"exactly": key}}, "do": fault, "must_fire": key == expected[0]}
        for key, fault in keys_and_faults
        if fault
    ]
    checkpoints.emulator.faults().set(rules)
    config = checkpoints.emulator.config(penstock.S3ClientConfig(max_attempts=1))
    try:
        with pytest.raises(dcp.CheckpointException) as caught:
            checkpoints.load({"a": torch.zeros(3)}, f"s3://{checkpoints.bucket}/ck", planner(), s3client_config=config)
    finally:
        checkpoints.emulator.faults().clear()
    error = caught.value.failures[0][0]
    assert isinstance(error, penstock.S3Exception)
    assert (error.key, error.code) == expected
    logged = [record.getMessage() for record in caplog.records if record.name.startswith("penstock")]
    assert f"cannot read the metadata of the checkpoint: {error}" in logged


def saved_with_metadata_of_a_rank(checkpoints: Checkpoints) -> tuple[str, str]:
    """Saves a checkpoint that also has `__0.metadata`. Returns its URI and its key prefix."""
    uri = checkpoints.save({"a": torch.ones(3)})
    key = uri.split("/", 3)[3]
    put(
        checkpoints.client,
        checkpoints.bucket,
        f"{key}/__0.metadata",
        get(checkpoints.client, checkpoints.bucket, f"{key}/.metadata"),
    )
    return uri, key


def test_metadata_that_is_not_a_pickle_raises_unpickling_error(checkpoints: Checkpoints) -> None:
    uri, key = saved_with_metadata_of_a_rank(checkpoints)
    put(checkpoints.client, checkpoints.bucket, f"{key}/.metadata", b"<html>")
    with pytest.raises(dcp.CheckpointException) as caught:
        checkpoints.load({"a": torch.zeros(3)}, uri)
    assert isinstance(caught.value.failures[0][0], pickle.UnpicklingError)


def test_metadata_of_a_rank_is_read_if_there_is_no_other(checkpoints: Checkpoints) -> None:
    uri, key = saved_with_metadata_of_a_rank(checkpoints)
    checkpoints.client.delete_object(checkpoints.bucket, f"{key}/.metadata")
    reader = checkpoints.reader(uri)
    with pytest.raises(penstock.S3NotFoundError):
        reader.read_metadata()
    assert list(reader.read_metadata(rank=0).state_dict_metadata) == ["a"]
    with pytest.raises(penstock.S3NotFoundError, match=r"__1\.metadata"):
        reader.read_metadata(rank=1)


@pytest.mark.parametrize("left", [0, 100, 5000])
def test_truncated_object_raises_an_error_with_object_and_range(checkpoints: Checkpoints, left: int) -> None:
    uri = checkpoints.save({"a": torch.ones(3), "b": torch.ones(5000)})
    data = get(checkpoints.client, checkpoints.bucket, key_of(uri))
    put(checkpoints.client, checkpoints.bucket, key_of(uri), data[:left])
    error = failure(checkpoints, {"a": torch.zeros(3), "b": torch.zeros(5000)}, uri)
    assert isinstance(error, penstock.S3DataLossError)
    assert key_of(uri) in str(error)
    assert f"the object has {left} bytes, but bytes 0 to {len(data)} were requested" in str(error)


def test_object_replaced_during_the_load_raises(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_load, "BATCH_ITEMS", 1)
    monkeypatch.setattr(_load, "WINDOW_BYTES", 1)
    saved = {f"tensor {i}": torch.full((5000,), float(i)) for i in range(6)}
    uri = checkpoints.save(saved)
    data = get(checkpoints.client, checkpoints.bucket, key_of(uri))

    class ReplacingPlanner(DefaultLoadPlanner):
        def commit_tensor(self, read_item: Any, tensor: torch.Tensor) -> None:
            put(checkpoints.client, checkpoints.bucket, key_of(uri), data[::-1])

    with pytest.raises(dcp.CheckpointException) as caught:
        checkpoints.load(emptied(saved), uri, ReplacingPlanner())
    assert isinstance(caught.value.failures[0][0], penstock.S3PreconditionFailedError)


def test_ctrl_c_interrupts_a_load(emulator: Emulator, checkpoints: Checkpoints) -> None:
    uri = checkpoints.save({"a": torch.ones(1000)})
    rule = {"id": "stall", "when": {"operation": "GetObject", "key": "*.distcp"}, "do": {"stall": {"ms": 20000}}}
    emulator.faults().set({"rules": [rule]})
    try:
        program = f"""
            import torch, threading, time
            import torch.distributed.checkpoint as dcp
            import penstock
            from penstock.dcp import S3StorageReader
            config = penstock.S3ClientConfig(
                access_key_id={emulator.access_key_id!r}, secret_access_key={emulator.secret_access_key!r})
            reader = S3StorageReader("us-east-1", {uri!r}, config, endpoint={emulator.endpoint!r})
            class Planner(dcp.DefaultLoadPlanner):
                def finish_plan(self, plan):
                    threading.Timer(0.5, lambda: print("waiting", flush=True)).start()
                    return plan
            dcp.load({{"a": torch.zeros(1000)}}, storage_reader=reader, planner=Planner(), no_dist=True)
        """
        assert exit_status(program, 60) != 0
    finally:
        emulator.faults().clear()


def flip_bit(client: penstock.S3Client, bucket: str, key: str, wanted: bytes) -> None:
    """Flips a bit in the middle of the bytes `wanted` of an object."""
    data = bytearray(get(client, bucket, key))
    data[data.index(wanted) + len(wanted) // 2] ^= 4
    put(client, bucket, key, bytes(data))


@pytest.mark.parametrize(
    ("elements", "dtype"),
    # 64-bit targets are loaded through scratch memory, like those on a GPU, and in several pieces from 4 MiB on.
    [(100, torch.float32), (3_000_000, torch.float32), (100, torch.float64), (3_000_000, torch.float64)],
)
@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize("how", ["torch", "penstock", "wrong prediction"])
def test_flipped_bit_raises(
    checkpoints: Checkpoints,
    client: penstock.S3Client,
    bucket: str,
    monkeypatch: pytest.MonkeyPatch,
    elements: int,
    dtype: torch.dtype,
    target: str,
    how: str,
) -> None:
    checkpoints.by_penstock = how == "penstock"
    if how == "wrong prediction":
        monkeypatch.setattr(_layout, "_tail_of_this_torch", lambda payload: 1)
    saved = {"weight": torch.randn(elements), "other": torch.randn(10)}
    uri = checkpoints.save(saved)
    key = next(key for key in keys(client, bucket) if key.endswith(".distcp"))
    flip_bit(client, bucket, key, saved["weight"].numpy().tobytes())
    with pytest.raises(CheckpointException, match=r"have the CRC-32 .*, and were saved with") as caught:
        checkpoints.load({"weight": torch.zeros(elements, dtype=dtype, device=target)}, uri)
    assert "S3DataLossError" in str(caught.value)
    checkpoints.load({"other": torch.zeros(10)}, uri)


def on_device(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """Zeros on the device with the sizes, strides and offset of a tensor."""
    storage = torch.zeros(tensor.untyped_storage().nbytes() // tensor.itemsize, dtype=tensor.dtype, device=device)
    return storage.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())


def zeros(rows: int, columns: int) -> torch.Tensor:
    return torch.zeros(rows, columns)


# Shards of a tensor of 1000 by 3000: the offsets of each, and the function that creates its target.
TARGETS: dict[str, list[tuple[tuple[int, int], Callable[[], torch.Tensor]]]] = {
    "rows with a gap": [((0, 0), lambda: zeros(1000, 5000)[:, :3000])],
    "two shards": [((0, 0), lambda: zeros(400, 3000)), ((400, 0), lambda: zeros(600, 3000))],
    "two types": [((400, 0), lambda: zeros(600, 3000)), ((0, 0), lambda: zeros(400, 3000).double())],
    "a gap in one of two": [((400, 0), lambda: zeros(600, 3000)), ((0, 0), lambda: zeros(400, 3001)[:, 1:])],
    "transposed": [((0, 0), lambda: zeros(3000, 1000).t())],
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", TARGETS)
def test_flipped_bit_raises_for_every_target(
    checkpoints: Checkpoints, client: penstock.S3Client, bucket: str, name: str, device: str
) -> None:
    saved = torch.randn(1000, 3000)
    uri = checkpoints.save({"weight": saved})

    def targets() -> dict[str, Any]:
        return {f"part {i}": (offsets, on_device(make(), device)) for i, (offsets, make) in enumerate(TARGETS[name])}

    def load(parts: dict[str, Any]) -> None:
        checkpoints.load({"weight": Sharded.of(saved.size(), saved.dtype, list(parts.values()))}, uri)

    good = targets()
    load(good)
    for (row, column), tensor in good.values():
        wanted = saved[row : row + tensor.size(0), column : column + tensor.size(1)]
        assert torch.equal(tensor.cpu(), wanted.to(tensor.dtype))
    key = next(key for key in keys(client, bucket) if key.endswith(".distcp"))
    flip_bit(client, bucket, key, saved.numpy().tobytes())
    with pytest.raises(CheckpointException, match=r"have the CRC-32 .*, and were saved with"):
        load(targets())


def test_expanded_target_does_not_cause_a_checksum_error(checkpoints: Checkpoints) -> None:
    saved = torch.randn(1, 3000).expand(1000, 3000).contiguous()
    uri = checkpoints.save({"weight": saved})
    target = torch.zeros(1, 3000).expand(1000, 3000)
    checkpoints.load({"weight": target}, uri)
    assert torch.equal(target, saved)


def test_a_checkpoint_saved_without_crcs_loads(checkpoints: Checkpoints) -> None:
    saved = {"weight": torch.randn(1000)}
    uri = checkpoints.save_without_crcs(saved)
    state = emptied(saved)
    checkpoints.load(state, uri)
    assert same_bits(state["weight"], saved["weight"])
