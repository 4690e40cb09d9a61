"""S3StorageReader without a reader constructor: loads saved values by few requests, directly into the tensors' memory."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

import dcp_io
import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from checkpoints import Checkpoints, Sharded, cut, emptied, same_bits, usages_of_loads
from penstock.dcp import S3StorageReader, _delivery, _load
from penstock.testing import Emulator
from torch.distributed.checkpoint import DefaultLoadPlanner
from torch.distributed.checkpoint.filesystem import FileSystemReader


@pytest.fixture(params=["torch", "penstock"])
def checkpoints(emulator: Emulator, client: penstock.S3Client, bucket: str, request: pytest.FixtureRequest) -> Checkpoints:
    """Checkpoints of each writer. Their archives differ in size, and the reader must predict both layouts."""
    return Checkpoints(emulator, client, bucket, by_penstock=request.param == "penstock")


def gets(checkpoints: Checkpoints, mark: int, suffix: str = "") -> list[Any]:
    entries = checkpoints.emulator.journal().entries(after=mark, bucket=checkpoints.bucket)
    return [entry for entry in entries if entry.key.endswith(suffix)]


def mark_of(checkpoints: Checkpoints) -> int:
    return max((entry.number for entry in checkpoints.emulator.journal().entries()), default=0)


def fetched(checkpoints: Checkpoints, mark: int) -> int:
    """Returns the number of bytes of shards that the emulator has sent."""
    return sum(entry.bytes_out for entry in gets(checkpoints, mark, ".distcp"))


def all_sorts() -> dict[str, Any]:
    torch.manual_seed(1)
    return {
        "matrix": torch.randn(100, 37),
        "transposed": torch.randn(30, 20).t(),
        "channels last": torch.randn(2, 3, 5, 7).to(memory_format=torch.channels_last),
        "integers": torch.arange(11),
        "bits": torch.tensor([True, False, True]),
        "half": torch.randn(9).to(torch.bfloat16),
        "eighth": torch.randn(6, 5).to(torch.float8_e4m3fn),
        "complex": torch.randn(4, 3, dtype=torch.complex128),
        "unsigned": torch.arange(5).to(torch.uint16),
        "scalar": torch.tensor(2.5),
        "none": torch.zeros(0, 3),
        "view": torch.arange(100.0)[10:20],
        "step": 7,
        "nested": {"deep": [torch.ones(3), {"text": "hello"}]},
        "large": torch.randn(5_000_000),
    }


def test_loads_all_types_that_torch_saves(checkpoints: Checkpoints) -> None:
    saved = all_sorts()
    uri = checkpoints.save(saved)
    state = emptied(saved)
    checkpoints.load(state, uri)
    assert state["step"] == 7
    assert state["nested"]["deep"][1]["text"] == "hello"
    assert torch.equal(state["nested"]["deep"][0], torch.ones(3))
    for name, value in saved.items():
        if isinstance(value, torch.Tensor):
            assert same_bits(state[name], value), name


def test_bytes_are_fetched_directly_into_the_tensors(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = {name: value for name, value in all_sorts().items() if isinstance(value, torch.Tensor)}
    uri = checkpoints.save(saved)

    def refuse(*_: Any) -> None:
        raise AssertionError("used other memory")

    monkeypatch.setattr(_delivery.Delivery, "take_item", refuse)
    monkeypatch.setattr(_load, "_copy_part", refuse)
    usages = usages_of_loads(monkeypatch)
    state = emptied(saved)
    addresses = {name: tensor.data_ptr() for name, tensor in state.items()}
    checkpoints.load(state, uri)
    for name, value in saved.items():
        assert same_bits(state[name], value), name
        assert state[name].data_ptr() == addresses[name]
    assert [usage["mispredicted"] for usage in usages] == [0]


def test_metadata_takes_one_request_and_no_listing(checkpoints: Checkpoints) -> None:
    saved = {f"tensor {i}": torch.full((1000,), float(i)) for i in range(500)}
    uri = checkpoints.save(saved)
    mark = mark_of(checkpoints)
    state = emptied(saved)
    checkpoints.load(state, uri)
    assert all(same_bits(state[name], saved[name]) for name in saved)
    entries = gets(checkpoints, mark)
    assert {entry.operation for entry in entries} == {"GetObject"}
    assert len(gets(checkpoints, mark, ".metadata")) == 1
    assert len(entries) <= 4  # 500 adjacent tensors are one range


def test_files_are_requested_in_parallel(checkpoints: Checkpoints) -> None:
    states = [{f"rank {rank}": torch.full((400_000,), float(rank))} for rank in range(6)]
    uri = checkpoints.save(*states)
    mark = mark_of(checkpoints)
    state = {name: torch.zeros(400_000) for each in states for name in each}
    with dcp_io.slow_responses(checkpoints.emulator, 60):
        checkpoints.load(state, uri)
    assert all(same_bits(state[f"rank {rank}"], states[rank][f"rank {rank}"]) for rank in range(6))
    spans = [(entry.began_s, entry.began_s + entry.lasted_s) for entry in gets(checkpoints, mark, ".distcp")]
    # Several requests must be in flight at some time.
    assert max(sum(begin <= at < end for begin, end in spans) for at, _ in spans) >= 4


@pytest.mark.parametrize(("target_gbps", "connections"), [(0.4, 1), (1.2, 3), (8.0, 20)])
def test_throughput_target_determines_the_connections_of_a_load(
    checkpoints: Checkpoints, target_gbps: float, connections: int
) -> None:
    """Without a target, the responses' latency makes the client use 16."""
    saved = [{f"rank {rank}": torch.full((400_000,), float(rank))} for rank in range(24)]
    uri = checkpoints.save(*saved)
    mark = mark_of(checkpoints)
    state = {name: torch.zeros(400_000) for each in saved for name in each}
    config = dataclasses.replace(checkpoints.client.s3client_config, throughput_target_gbps=target_gbps)
    with dcp_io.slow_responses(checkpoints.emulator, 200):
        checkpoints.load(state, uri, s3client_config=config)
    assert all(same_bits(state[name], each[name]) for each in saved for name in each)
    assert checkpoints.emulator.journal().max_concurrency(after=mark, bucket=checkpoints.bucket) == connections


@pytest.mark.parametrize("dim", [0, 1])
def test_four_shards_for_two_ranks_are_fetched_once(checkpoints: Checkpoints, dim: int) -> None:
    torch.manual_seed(2)
    whole = torch.randn(1024, 1536)
    uri = checkpoints.save(*({"w": Sharded.of(whole.size(), whole.dtype, boxes)} for boxes in cut(whole, 4, dim)))
    for rank in range(2):
        mark = mark_of(checkpoints)
        (offsets, part) = cut(whole, 2, dim)[rank][0]
        target = torch.zeros(part.size())
        checkpoints.load({"w": Sharded.of(whole.size(), whole.dtype, [(offsets, target)])}, uri)
        assert same_bits(target, part)
        assert fetched(checkpoints, mark) <= 1.02 * target.nbytes


def test_only_the_requested_rows_of_a_shard_are_fetched(checkpoints: Checkpoints) -> None:
    whole = torch.randn(2000, 1000)
    uri = checkpoints.save({"w": whole})
    mark = mark_of(checkpoints)
    target = torch.zeros(100, 1000)
    checkpoints.load({"w": Sharded.of(whole.size(), whole.dtype, [([700, 0], target)])}, uri)
    assert same_bits(target, whole[700:800])
    rows = 2 * 63 if checkpoints.by_penstock else 100  # of two pieces that have checksums
    assert fetched(checkpoints, mark) <= rows * 4000 + 4096


def test_only_the_requested_columns_of_wide_rows_are_fetched(checkpoints: Checkpoints) -> None:
    whole = torch.randn(8, 200_000)
    uri = checkpoints.save({"w": whole})
    mark = mark_of(checkpoints)
    target = torch.zeros(8, 50_000)
    checkpoints.load({"w": Sharded.of(whole.size(), whole.dtype, [([0, 100_000], target)])}, uri, max_gap_size=0)
    assert same_bits(target, whole[:, 100_000:150_000])
    assert fetched(checkpoints, mark) <= target.nbytes + 4096


@pytest.mark.parametrize("where", [(3, 0, 0), (0, 5, 0), (0, 0, 7), (2, 3, 4)])
def test_narrow_boxes_of_every_dimension(checkpoints: Checkpoints, where: tuple[int, int, int]) -> None:
    whole = torch.arange(10 * 11 * 12).reshape(10, 11, 12)
    uri = checkpoints.save({"w": whole})
    target = torch.zeros(4, 5, 3, dtype=torch.int64)
    columns = torch.zeros(3, 5, 4, dtype=torch.int64).permute(2, 1, 0)
    for each in (target, columns):
        checkpoints.load({"w": Sharded.of(whole.size(), whole.dtype, [(where, each)])}, uri)
        i, j, k = where
        assert torch.equal(each, whole[i : i + 4, j : j + 5, k : k + 3])


def test_bytes_that_several_shards_share_are_fetched_once(checkpoints: Checkpoints) -> None:
    whole = torch.randn(1000, 500)
    uri = checkpoints.save({"w": whole})
    mark = mark_of(checkpoints)
    one, two, three = torch.zeros(600, 500), torch.zeros(600, 500), torch.zeros(600, 500)
    boxes = [([0, 0], one), ([400, 0], two), ([200, 0], three)]
    checkpoints.load({"w": Sharded.of(whole.size(), whole.dtype, boxes)}, uri)
    for offsets, target in boxes:
        assert same_bits(target, whole[offsets[0] : offsets[0] + 600])
    assert fetched(checkpoints, mark) <= whole.nbytes + 4096


def test_other_types_and_layouts_are_converted(checkpoints: Checkpoints) -> None:
    saved = {
        "to double": torch.randn(50, 40),
        "to half": torch.randn(3_000_000),
        "turned": torch.randn(40, 30),
        "to integer": torch.arange(20).to(torch.float32),
    }
    uri = checkpoints.save(saved)
    state = {
        "to double": torch.zeros(50, 40, dtype=torch.float64),
        "to half": torch.zeros(3_000_000, dtype=torch.bfloat16),
        "turned": torch.zeros(30, 40).t(),
        "to integer": torch.zeros(20, dtype=torch.int32),
    }
    checkpoints.load(state, uri)
    for name, target in state.items():
        assert torch.equal(target, saved[name].to(target.dtype)), name


def test_rows_with_large_strides_in_memory_are_loaded(checkpoints: Checkpoints) -> None:
    saved = {"w": torch.randn(64, 2048)}
    uri = checkpoints.save(saved)
    room = torch.zeros(64, 4096)
    checkpoints.load({"w": room[:, 1000:3048]}, uri)
    assert same_bits(room[:, 1000:3048], saved["w"])
    assert not room[:, :1000].any()
    assert not room[:, 3048:].any()


def test_parameters_are_loaded(checkpoints: Checkpoints) -> None:
    saved = torch.nn.Linear(7, 5)
    uri = checkpoints.save(saved.state_dict())
    module = torch.nn.Linear(7, 5)
    checkpoints.load(module.state_dict(), uri)
    assert torch.equal(module.weight, saved.weight)
    parameter = torch.nn.Parameter(torch.zeros(5, 7))
    checkpoints.load({"weight": parameter}, uri)
    assert torch.equal(parameter, saved.weight)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_quantised_tensors_are_loaded(checkpoints: Checkpoints) -> None:
    saved = {"q": torch.quantize_per_tensor(torch.randn(100), 0.1, 3, torch.qint8), "plain": torch.ones(3)}
    uri = checkpoints.save(saved)
    state = emptied(saved)
    checkpoints.load(state, uri)
    assert same_bits(state["q"], saved["q"])
    assert torch.equal(state["plain"], saved["plain"])


def test_tensors_fetched_in_pieces_are_complete(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large tensors are fetched in pieces of several batches. Here the limits are so small that every tensor is."""
    monkeypatch.setattr(_load, "UNIT_BYTES", 1000)
    monkeypatch.setattr(_load, "PART_BYTES", 3000)
    monkeypatch.setattr(_load, "BATCH_BYTES", 5000)
    monkeypatch.setattr(_load, "WINDOW_BYTES", 20_000)
    torch.manual_seed(3)
    saved = {"a": torch.randn(70, 110), "b": torch.randn(70, 110), "c": torch.randn(110, 70).t(), "step": 3}
    uri = checkpoints.save(saved)
    state = {"a": torch.zeros(70, 110), "b": torch.zeros(70, 110, dtype=torch.float64), "c": torch.zeros(70, 110), "step": 0}
    checkpoints.load(state, uri)
    for name in "abc":
        assert torch.equal(state[name], saved[name].to(state[name].dtype)), name
    room = torch.zeros(70, 2000)
    checkpoints.load({"a": room[:, 100:210]}, uri)
    assert torch.equal(room[:, 100:210], saved["a"])
    part = torch.zeros(30, 50, dtype=torch.float16)
    checkpoints.load({"b": Sharded.of((70, 110), torch.float32, [((20, 30), part)])}, uri)
    assert torch.equal(part, saved["b"][20:50, 30:80].half())


def test_items_of_an_extension_are_decoded(checkpoints: Checkpoints) -> None:
    from inverting import Inverting
    from torch.distributed.checkpoint._extension import ExtensionRegistry

    saved = {"w": torch.randn(100, 10), "step": 12}
    uri = checkpoints.save(saved, _extensions=[Inverting()])
    registry = ExtensionRegistry()
    registry.register(Inverting)
    state = {"w": torch.zeros(100, 10), "step": 0}
    checkpoints.load(state, uri, _extension_registry=registry)
    assert same_bits(state["w"], saved["w"])
    assert state["step"] == 12


def test_only_requested_tensors_are_fetched(checkpoints: Checkpoints) -> None:
    saved = {f"tensor {i}": torch.randn(100_000) for i in range(10)}
    uri = checkpoints.save(saved)
    mark = mark_of(checkpoints)
    state = {"tensor 3": torch.zeros(100_000), "tensor 7": torch.zeros(100_000)}
    checkpoints.load(state, uri)
    assert all(same_bits(state[name], saved[name]) for name in state)
    assert fetched(checkpoints, mark) <= 2 * 400_000 + 8192


def test_requests_have_at_most_the_given_size(checkpoints: Checkpoints) -> None:
    saved = {"a": torch.randn(500_000), "b": torch.randn(1000)}
    uri = checkpoints.save(saved)
    mark = mark_of(checkpoints)
    state = emptied(saved)
    checkpoints.load(state, uri, max_request_size=150_000)
    assert all(same_bits(state[name], saved[name]) for name in saved)
    assert max(entry.bytes_out for entry in gets(checkpoints, mark, ".distcp")) == 150_000
    with pytest.raises(dcp.CheckpointException, match="max_request_bytes must be 1 or more, not 0"):
        checkpoints.load(state, uri, max_request_size=0)


# ---- torch's rules of a load


def test_missing_key_raises_the_error_of_torch(checkpoints: Checkpoints) -> None:
    uri = checkpoints.save({"a": torch.ones(3)})
    with pytest.raises(dcp.CheckpointException, match=r"Missing key in checkpoint state_dict: b\."):
        checkpoints.load({"a": torch.zeros(3), "b": torch.zeros(3)}, uri)
    state = {"a": torch.zeros(3), "b": torch.zeros(3)}
    checkpoints.load(state, uri, DefaultLoadPlanner(allow_partial_load=True))
    assert torch.equal(state["a"], torch.ones(3))
    assert torch.equal(state["b"], torch.zeros(3))
    with pytest.raises(dcp.CheckpointException, match="Size mismatch between saved"):
        checkpoints.load({"a": torch.zeros(4)}, uri)


def test_one_reader_loads_several_times(checkpoints: Checkpoints) -> None:
    first, second = (checkpoints.save({"a": torch.full((5,), value)}) for value in (1.0, 2.0))
    reader = checkpoints.reader(first)
    state = {"a": torch.zeros(5)}
    for uri, value in ((first, 1.0), (second, 2.0), (f"{first}/", 1.0)):
        dcp.load(state, checkpoint_id=uri, storage_reader=reader, no_dist=True)
        assert torch.equal(state["a"], torch.full((5,), value))
        assert reader.checkpoint_id == uri


def test_threads_load_concurrently_through_one_reader(checkpoints: Checkpoints) -> None:
    uris = [checkpoints.save({"a": torch.full((200_000,), float(i))}) for i in range(4)]
    reader = checkpoints.reader(uris[0])
    wrong: list[object] = []

    def load(number: int) -> None:
        for _ in range(5):
            state = {"a": torch.full((200_000,), -1.0)}
            try:
                dcp.load(state, checkpoint_id=uris[number], storage_reader=reader, no_dist=True)
            except Exception as error:
                wrong.append(error)
            if not torch.equal(state["a"], torch.full((200_000,), float(number))):
                wrong.append(number)

    threads = [threading.Thread(target=load, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_checkpoint_at_the_root_of_a_bucket(checkpoints: Checkpoints) -> None:
    import tempfile

    from checkpoints import save_by

    with tempfile.TemporaryDirectory() as folder:
        save_by([{"a": torch.ones(3)}], folder)
        checkpoints.emulator.seed(checkpoints.bucket, folder)
    for uri in (f"s3://{checkpoints.bucket}", f"s3://{checkpoints.bucket}/"):
        state = {"a": torch.zeros(3)}
        checkpoints.load(state, uri)
        assert torch.equal(state["a"], torch.ones(3))


def test_checkpoint_saved_without_collectives_is_loaded(checkpoints: Checkpoints, tmp_path: Any) -> None:
    dcp.save({"a": torch.ones(3)}, checkpoint_id=tmp_path, use_collectives=False, no_dist=True)
    checkpoints.emulator.seed(checkpoints.bucket, tmp_path, "alone/")
    state = {"a": torch.zeros(3)}
    checkpoints.load(state, f"s3://{checkpoints.bucket}/alone")
    assert torch.equal(state["a"], torch.ones(3))


def test_pathlib_path_raises_a_clear_error(checkpoints: Checkpoints) -> None:
    from pathlib import Path

    with pytest.raises(ValueError, match="a Path merges the slashes of a URI"):
        checkpoints.reader(Path("s3://bucket/checkpoint"))


def test_reader_is_a_torch_reader_and_pickles(checkpoints: Checkpoints) -> None:
    import pickle

    uri = checkpoints.save({"a": torch.ones(3)})
    reader = pickle.loads(pickle.dumps(checkpoints.reader(uri)))
    assert isinstance(reader, FileSystemReader)
    assert isinstance(reader, S3StorageReader)
    assert reader.path == uri
    assert reader.sync_files is False
    state = {"a": torch.zeros(3)}
    dcp.load(state, storage_reader=reader, no_dist=True)
    assert torch.equal(state["a"], torch.ones(3))
