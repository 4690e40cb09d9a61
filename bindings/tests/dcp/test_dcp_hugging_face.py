"""torch's Hugging Face layout on S3: safetensors files that torch, the safetensors package and Penstock can read."""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import Any

import bucket_io
import dcp_io
import penstock
import pytest
import safetensors.torch
import torch
import torch.distributed.checkpoint as dcp
from checkpoints import Sharded
from penstock.testing import Emulator
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import SerializationFormat

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def writer_of(emulator: Emulator, uri: str, **kwargs: object) -> dcp.HuggingFaceStorageWriter:
    from penstock.dcp import S3HuggingFaceStorageWriter

    return S3HuggingFaceStorageWriter(emulator.region, uri, emulator.config(), endpoint=emulator.endpoint, **kwargs)


def reader_of(emulator: Emulator, uri: str, **kwargs: Any) -> dcp.HuggingFaceStorageReader:
    from penstock.dcp import S3HuggingFaceStorageReader

    return S3HuggingFaceStorageReader(emulator.region, uri, emulator.config(), endpoint=emulator.endpoint, **kwargs)


def state_of() -> dict[str, torch.Tensor]:
    made = torch.Generator().manual_seed(3)
    return {
        "embed": torch.randn(300, 64, generator=made),
        "half": torch.randn(70, 70, generator=made).bfloat16(),
        "transposed": torch.randn(200, 30, generator=made).t(),
        "steps": torch.arange(9),
        "none": torch.zeros(0, 4),
        "scalar": torch.tensor(2.5),
    }


MAPPING = {"embed": 1, "half": 2, "transposed": 2, "steps": 1, "none": 2, "scalar": 1}
NAMES = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]


def test_saves_and_loads_files_with_an_index(emulator: Emulator, client: penstock.S3Client, bucket: str) -> None:
    uri, state = f"s3://{bucket}/ck", state_of()
    dcp.save(state, storage_writer=writer_of(emulator, uri, fqn_to_index_mapping=MAPPING, thread_count=2))
    assert sorted(dcp_io.names(client, bucket, "ck")) == [*NAMES, "model.safetensors.index.json"]
    index = json.loads(bucket_io.get(client, bucket, "ck/model.safetensors.index.json"))
    assert index["weight_map"] == {name: NAMES[number - 1] for name, number in MAPPING.items()}
    assert index["metadata"]["total_size"] == sum(tensor.nbytes for tensor in state.values())
    stored = {}
    for name in NAMES:
        stored |= safetensors.torch.load(bucket_io.get(client, bucket, f"ck/{name}"))
    assert dcp_io.same(stored, {name: tensor.contiguous() for name, tensor in {key: state[key] for key in stored}.items()})
    assert len(stored) == len(state)
    loaded = dcp_io.emptied(state)
    dcp.load(loaded, storage_reader=reader_of(emulator, uri))
    assert dcp_io.same(loaded, state)


@pytest.mark.parametrize(("target_gbps", "connections"), [(0.4, 1), (4.0, 2)])
def test_throughput_target_determines_the_connections(
    emulator: Emulator, client: penstock.S3Client, bucket: str, target_gbps: float, connections: int
) -> None:
    from penstock.dcp import S3HuggingFaceStorageReader

    uri, saved = f"s3://{bucket}/targets", state_of()
    dcp.save(saved, storage_writer=writer_of(emulator, uri, fqn_to_index_mapping=MAPPING), no_dist=True)
    state = {name: torch.zeros_like(tensor) for name, tensor in saved.items()}
    config = dataclasses.replace(emulator.config(), throughput_target_gbps=target_gbps)
    mark = emulator.journal().last
    reader = S3HuggingFaceStorageReader(emulator.region, uri, config, endpoint=emulator.endpoint, thread_count=1)
    with dcp_io.slow_responses(emulator, 200):
        dcp.load(state, storage_reader=reader, no_dist=True)
    assert all(torch.equal(state[name], saved[name]) for name in saved)
    assert emulator.journal().max_concurrency(after=mark, bucket=bucket) == connections


def test_files_are_interchangeable_with_torchs_classes(emulator, client, bucket, tmp_path) -> None:
    state = {name: tensor.contiguous() for name, tensor in state_of().items()}
    dcp.save(state, storage_writer=writer_of(emulator, f"s3://{bucket}/ours", fqn_to_index_mapping=MAPPING))
    loaded = dcp_io.emptied(state)
    dcp.load(loaded, storage_reader=dcp.HuggingFaceStorageReader(str(dcp_io.copied(client, bucket, "ours", tmp_path / "ours"))))
    assert dcp_io.same(loaded, state)
    dcp.save(state, storage_writer=dcp.HuggingFaceStorageWriter(str(tmp_path / "torchs"), fqn_to_index_mapping=MAPPING))
    for path in (tmp_path / "torchs").iterdir():
        bucket_io.put(client, bucket, f"torchs/{path.name}", path.read_bytes())
    loaded = dcp_io.emptied(state)
    dcp.load(loaded, storage_reader=reader_of(emulator, f"s3://{bucket}/torchs"))
    assert dcp_io.same(loaded, state)


def test_shards_of_ranks_without_an_index_load_in_another_sharding(emulator, client, bucket) -> None:
    """Two files as two ranks write them; only the requested rows of each are fetched."""
    whole = torch.randn(2000, 64)
    for rank, rows in enumerate((whole[:1000], whole[1000:])):
        sharding = {"DCP_SHARDING_INFO": json.dumps({"rows": {"saved_offsets": [1000 * rank, 0]}})}
        name = f"ck/shard-0000{rank + 1}-model-00001-of-00001.safetensors"
        bucket_io.put(client, bucket, name, safetensors.torch.save({"rows": rows.contiguous()}, sharding))
    middle, columns = torch.zeros(600, 64), torch.zeros(2000, 5, dtype=torch.float64)
    mark = emulator.journal().last
    for target, offsets in ((middle, (700, 0)), (columns, (0, 20))):
        state = {"rows": Sharded.of(whole.size(), whole.dtype, [(offsets, target)])}
        dcp.load(state, storage_reader=reader_of(emulator, f"s3://{bucket}/ck"))
    assert torch.equal(middle, whole[700:1300])
    assert torch.equal(columns, whole[:, 20:25].double())
    first = emulator.journal().entries(after=mark, operations="GetObject", bucket=bucket, key_prefix="ck/shard-00001")[1]
    assert first.bytes_out <= 300 * 64 * 4 * 1.02


def test_save_distributed_writes_shards_without_an_index(emulator, client, bucket) -> None:
    state = {"a": torch.arange(1000.0)}
    dcp.save(state, storage_writer=writer_of(emulator, f"s3://{bucket}/ck", save_distributed=True))
    assert dcp_io.names(client, bucket, "ck") == ["shard-00001-model-00001-of-00001.safetensors"]
    loaded = dcp_io.emptied(state)
    dcp.load(loaded, storage_reader=reader_of(emulator, f"s3://{bucket}/ck"))
    assert dcp_io.same(loaded, state)


def test_header_larger_than_the_first_read(emulator, client, bucket) -> None:
    state = {f"a tensor with quite a long name, number {i}": torch.full((3,), float(i)) for i in range(2000)}
    dcp.save(state, storage_writer=writer_of(emulator, f"s3://{bucket}/ck"))
    loaded = dcp_io.emptied(state)
    dcp.load(loaded, storage_reader=reader_of(emulator, f"s3://{bucket}/ck"))
    assert dcp_io.same(loaded, state)


def test_file_replaced_after_its_header_was_read_raises(emulator, client, bucket) -> None:
    uri, state = f"s3://{bucket}/ck", {"a": torch.ones(5000)}
    dcp.save(state, storage_writer=writer_of(emulator, uri))

    class ReplacingPlanner(dcp.DefaultLoadPlanner):
        def create_local_plan(self) -> dcp.LoadPlan:
            dcp.save({"a": torch.zeros(5000)}, storage_writer=writer_of(emulator, uri))
            return super().create_local_plan()

    with pytest.raises(CheckpointException, match=r"[Pp]recondition|changed|replaced"):
        dcp.load(dcp_io.emptied(state), storage_reader=reader_of(emulator, uri), planner=ReplacingPlanner())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"short", "it has only 5 bytes"),
        (b"\xff" * 100, "its header size is .* bytes, the limit is"),
        (b"\x08" + bytes(7) + b"not JSON", "its header is not valid JSON"),
        (b"\x02" + bytes(7) + b"[]", "its header is a list, expected an object"),
    ],
)
def test_invalid_file_raises_an_error_with_its_name(emulator, client, bucket, data, message) -> None:
    bucket_io.put(client, bucket, "ck/model-00001-of-00001.safetensors", data)
    with pytest.raises(CheckpointException, match=f"(?s)model-00001-of-00001.safetensors is not a safetensors file: {message}"):
        dcp.load({"a": torch.ones(2)}, storage_reader=reader_of(emulator, f"s3://{bucket}/ck"))


EIGHT = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def at(begin: Any, end: Any) -> dict[str, Any]:
    return EIGHT | {"data_offsets": [begin, end]}


@pytest.mark.parametrize(
    ("header", "data_bytes", "message"),
    [
        ({"a": at(-8, 0)}, 8, r"'a' has the data_offsets \[-8, 0\], but the tensors before it end at 0"),
        ({"a": at(8, 16)}, 16, r"'a' has the data_offsets \[8, 16\], but the tensors before it end at 0"),
        ({"a": at(0, 8), "b": at(4, 12)}, 12, "'b' has the data_offsets .*, but the tensors before it end at 8"),
        ({"a": at(0, 8)}, 10, "its tensors have 8 bytes, but 10 bytes follow the header"),
        ({"a": at(0, 8)}, 6, "its tensors have 8 bytes, but 6 bytes follow the header"),
        ({"a": at("0", 8)}, 8, "the data_offsets of 'a' are .*, expected two integers"),
        ({"a": None}, 8, "the data_offsets of 'a' are None, expected two integers"),
        ('{"a": 1, "a": 2}', 8, r"its header is not valid JSON \(duplicate name 'a'\)"),
    ],
)
def test_tensors_must_cover_the_data_without_gaps_and_overlaps(emulator, client, bucket, header, data_bytes, message) -> None:
    """Regression: such files loaded, with bytes of the header as values; the safetensors package rejects them."""
    text = (header if isinstance(header, str) else json.dumps(header)).encode()
    data = len(text).to_bytes(8, "little") + text + bytes(data_bytes)
    bucket_io.put(client, bucket, "ck/model-00001-of-00001.safetensors", data)
    with pytest.raises(CheckpointException, match=f"(?s)model-00001-of-00001.safetensors is not a safetensors file: {message}"):
        dcp.load({"a": torch.ones(2)}, storage_reader=reader_of(emulator, f"s3://{bucket}/ck"))


def test_path_that_is_not_a_uri_raises_in_the_constructor(emulator) -> None:
    for make in (writer_of, reader_of):
        with pytest.raises(ValueError, match="s3://"):
            make(emulator, "/tmp/ck")


FLIPPED = {"corrupt": {"mode": "flip-bit"}, "at": "body_out@100000"}


def test_completely_loaded_file_without_checksums_is_compared_with_that_of_s3() -> None:
    state = {"a": torch.arange(100_000, dtype=torch.float32), "b": torch.ones(300, 40).bfloat16(), "c": torch.zeros(0)}
    with Emulator() as own_emulator:
        client = own_emulator.client()
        client.create_bucket("bucket")
        bucket_io.put(client, "bucket", "ck/model.safetensors", safetensors.torch.save(state))
        own_emulator.faults().set([{"when": {"operation": "GetObject"}, "do": FLIPPED}])
        loaded = dcp_io.emptied(state)
        with pytest.raises(CheckpointException, match="the received bytes have the CRC64NVME"):
            dcp.load(loaded, storage_reader=reader_of(own_emulator, "s3://bucket/ck"))
        own_emulator.faults().clear(forget=True)
        for wanted in (state, {"a": state["a"].half(), "b": state["b"], "c": state["c"]}, {"b": state["b"]}):
            loaded = dcp_io.emptied(wanted)
            dcp.load(loaded, storage_reader=reader_of(own_emulator, "s3://bucket/ck"))
        assert dcp_io.same(loaded, {"b": state["b"]})


def test_verify_all_refuses_files_that_cannot_be_compared(emulator: Emulator, client: penstock.S3Client, bucket: str) -> None:
    state = {"a": torch.arange(1000.0), "b": torch.ones(300, 40)}
    bucket_io.put(client, bucket, "ck/model.safetensors", safetensors.torch.save(state))

    loaded = dcp_io.emptied(state)
    dcp.load(loaded, storage_reader=reader_of(emulator, f"s3://{bucket}/ck", verify_all=True))
    assert dcp_io.same(loaded, state)
    with pytest.raises(CheckpointException, match="cannot be compared with checksums: its header has no checksums, and"):
        dcp.load({"a": torch.zeros(1000)}, storage_reader=reader_of(emulator, f"s3://{bucket}/ck", verify_all=True))


def test_reader_loads_shards_of_the_storage_writer_by_the_name_of_a_safetensors_file(
    emulator: Emulator, client: penstock.S3Client, bucket: str
) -> None:
    """Regression: the documents said that it loads them by the names that the writer gives them."""
    state = state_of()
    dcp_io.save(emulator, f"s3://{bucket}/saved", state, serialization_format=SerializationFormat.SAFETENSORS)
    loaded = dcp_io.emptied(state)
    with pytest.raises(CheckpointException, match=r"saved/ has no \.safetensors file"):
        dcp.load(loaded, storage_reader=reader_of(emulator, f"s3://{bucket}/saved"))
    client.copy(bucket, "saved/__0_0.distcp", bucket, "copied/rank-0.safetensors")
    dcp.load(loaded, storage_reader=reader_of(emulator, f"s3://{bucket}/copied"))
    assert dcp_io.same(loaded, state)


@pytest.mark.parametrize("earlier", [[0, 3, 6, 9, 12], [0, 4, 8, 12]])
def test_files_of_two_saves_are_not_mixed(emulator: Emulator, client: penstock.S3Client, bucket: str, earlier: list[int]) -> None:
    """Regression: after a save by fewer ranks than the one before, a load filled rows with those of the earlier save."""
    for ends, value in ((earlier, 1.0), ([0, 6, 12], 2.0)):
        for number, (begin, end) in enumerate(itertools.pairwise(ends), start=1):
            sharding = json.dumps({"weight": {"saved_offsets": [begin, 0]}})
            data = safetensors.torch.save({"weight": torch.full((end - begin, 4), value)}, {"DCP_SHARDING_INFO": sharding})
            bucket_io.put(client, bucket, f"ck/shard-{number:05}-model-00001-of-00001.safetensors", data)
    with pytest.raises(CheckpointException, match=r"several files of .* have the same elements of 'weight'"):
        dcp.load({"weight": torch.zeros(12, 4)}, storage_reader=reader_of(emulator, f"s3://{bucket}/ck"))
