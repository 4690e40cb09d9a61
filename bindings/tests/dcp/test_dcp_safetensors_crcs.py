"""Checksums in the headers of safetensors files: damage is found in whole and partial loads, other readers ignore them."""

from __future__ import annotations

import dataclasses
import json
import math
import struct
from array import array
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import bucket_io
import dcp_io
import penstock
import pytest
import safetensors.torch
import torch
import torch.distributed.checkpoint as dcp
from checkpoints import Sharded, cut
from penstock import _core
from penstock._checkpoint_format._pieces import MAX_PIECE_BYTES, MIN_PIECE_BYTES, crcs_of, piece_bytes, piece_count
from penstock.dcp import S3HuggingFaceStorageReader, S3HuggingFaceStorageWriter
from penstock.dcp._safetensors import Files
from penstock.dcp._safetensors_crcs import (
    START,
    Crcs,
    crcs_in,
    damage_of,
    header_damage,
    header_with,
)
from penstock.testing import Emulator
from torch.distributed.checkpoint._consolidate_hf_safetensors import consolidate_safetensors_files
from torch.distributed.checkpoint.api import CheckpointException

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

DAMAGED = r"(?s) have the CRC64NVME [0-9a-f]{16}.*, and were saved with"
NAME = "model-00001-of-00001.safetensors"
FIELD = "PENSTOCK_CRC64NVME"
MIB = 1024**2


class Checkpoint:
    """A checkpoint of one file at ``ck/`` of a bucket."""

    def __init__(self, emulator: Emulator, client: penstock.S3Client, bucket: str) -> None:
        self.emulator = emulator
        self.client = client
        self.bucket = bucket
        self.uri = f"s3://{bucket}/ck"

    def save(self, state: dict[str, Any], save_distributed: bool = False, **config: Any) -> None:
        changed = dataclasses.replace(self.emulator.config(), **config)
        dcp.save(
            state,
            storage_writer=S3HuggingFaceStorageWriter(
                self.emulator.region, self.uri, changed, save_distributed=save_distributed, endpoint=self.emulator.endpoint
            ),
        )

    def load(self, state: dict[str, Any], **config: Any) -> dict[str, Any]:
        verify_all = config.pop("verify_all", False)
        changed = dataclasses.replace(self.emulator.config(), **config)
        reader = S3HuggingFaceStorageReader(
            self.emulator.region, self.uri, changed, endpoint=self.emulator.endpoint, verify_all=verify_all
        )
        dcp.load(state, storage_reader=reader)
        return state

    def bytes(self) -> bytearray:
        return bytearray(bucket_io.get(self.client, self.bucket, f"ck/{NAME}"))

    def put(self, data: bytes | bytearray) -> None:
        bucket_io.put(self.client, self.bucket, f"ck/{NAME}", bytes(data))

    def flip(self, name: str, offset: int) -> None:
        """Flips a bit of the stored file: of byte `offset` of a tensor, or of one before its end if negative."""
        data = self.bytes()
        size, header = header_of(data)
        begin, end = header[name]["data_offsets"]
        data[8 + size + (begin + offset if offset >= 0 else end + offset)] ^= 4
        self.put(data)


def header_of(data: bytes | bytearray) -> tuple[int, dict[str, Any]]:
    (size,) = struct.unpack_from("<Q", data)
    return size, json.loads(bytes(data[8 : 8 + size]))


@pytest.fixture
def ck(emulator: Emulator, client: penstock.S3Client, bucket: str) -> Checkpoint:
    return Checkpoint(emulator, client, bucket)


def values(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(5))


STATE = {
    "small": values(40, 8),
    "large": values(1200, 700),  # 3.2 MiB
    "half": values(300, 100).bfloat16(),
    "scalar": torch.tensor(2.5),
    "none": torch.zeros(0, 4),
}
LARGE_BYTES = STATE["large"].nbytes
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"))]


# ---- stored damage


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("name", "offset"),
    [("small", 0), ("large", 0), ("large", 2 * MIB), ("large", -1), ("half", 31_000), ("half", -1), ("scalar", 2)],
)
def test_flipped_bit_of_a_stored_file_is_found_by_a_whole_load(ck: Checkpoint, device: str, name: str, offset: int) -> None:
    """Regression: it loaded without an error, because S3's checksum is that of the damaged file."""
    ck.save(STATE)
    target = {key: tensor.to(device) for key, tensor in dcp_io.emptied(STATE).items()}
    assert dcp_io.same({key: tensor.cpu() for key, tensor in ck.load(target).items()}, STATE)
    ck.flip(name, offset)
    with pytest.raises(CheckpointException, match=DAMAGED) as caught:
        ck.load(target)
    assert f"tensor {name!r}" in str(caught.value)
    assert "in two reads" in str(caught.value)
    ck.load({key: tensor for key, tensor in target.items() if key != name})


def rank_states(tensor: torch.Tensor, ranks: int, dim: int = 0, dtype: torch.dtype | None = None) -> list[dict[str, Sharded]]:
    dtype = dtype or tensor.dtype
    return [
        {"w": Sharded.of(tensor.size(), dtype, [(offsets, torch.zeros(part.size(), dtype=dtype)) for offsets, part in boxes])}
        for boxes in cut(tensor, ranks, dim)
    ]


def found_by(ck: Checkpoint, states: list[dict[str, Sharded]], **config: Any) -> list[bool]:
    found = []
    for state in states:
        try:
            ck.load(state, **config)
            found.append(False)
        except CheckpointException as error:
            assert "S3DataLossError" in str(error)
            found.append(True)
    return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["in place", "converted"])
@pytest.mark.parametrize("sizes", [(1200, 700), (1000, 3), (4096, 512), (7919, 211), (30,)])
@pytest.mark.parametrize("ranks", [2, 3])
def test_flipped_bit_is_found_by_the_rank_that_loads_its_row(
    ck: Checkpoint, sizes: tuple[int, ...], ranks: int, dtype: torch.dtype
) -> None:
    tensor = values(*sizes)
    ck.save({"w": tensor})
    for rank, boxes in enumerate(cut(tensor, ranks)):
        ((offsets, part),) = boxes
        state = rank_states(tensor, ranks, dtype=dtype)[rank]
        ck.load(state)
        assert torch.equal(state["w"].shards[0][1], part.to(dtype))
        begin = offsets[0] * (tensor.nbytes // tensor.size(0))
        for offset in (begin, begin + part.nbytes // 2, begin + part.nbytes - 1):
            ck.flip("w", offset)
            assert found_by(ck, rank_states(tensor, ranks, dtype=dtype))[rank]
            ck.flip("w", offset)


def test_flipped_bit_is_found_in_columns_whose_rows_are_short(ck: Checkpoint) -> None:
    tensor = values(2000, 64)
    ck.save({"w": tensor})
    ck.flip("w", tensor.nbytes // 2)
    assert any(found_by(ck, rank_states(tensor, 2, dim=1)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["in place", "converted"])
@pytest.mark.parametrize("dim", [0, 1])
def test_verify_all_compares_every_part_of_a_file(
    ck: Checkpoint, dim: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.dcp._safetensors.EXTRA_BYTES", 0)
    tensor = values(64, 16384)
    ck.save({"w": tensor})
    for rank, boxes in enumerate(cut(tensor, 3, dim)):
        state = rank_states(tensor, 3, dim, dtype)[rank]
        ck.load(state, verify_all=True)
        assert torch.equal(state["w"].shards[0][1], boxes[0][1].to(dtype))
    ck.flip("w", 16384 * 4 * 21)  # row 21, column 0: the last row of the first rank
    assert found_by(ck, rank_states(tensor, 3, dim, dtype)[:1], verify_all=True) == [True]


def test_rows_of_a_power_of_two_need_no_more_bytes(ck: Checkpoint) -> None:
    tensor = values(4096, 512)  # 8 MiB
    ck.save({"w": tensor})
    for state in rank_states(tensor, 8):
        mark = ck.emulator.journal().last
        ck.load(state)
        fetched = ck.emulator.journal().entries(after=mark, operations="GetObject", bucket=ck.bucket, key_prefix=f"ck/{NAME}")
        assert sum(entry.bytes_out for entry in fetched[1:]) == tensor.nbytes // 8


def test_bytes_read_only_for_checksums_are_limited(ck: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece that costs too many bytes is not compared, and its rows load."""
    tensor = values(1000, 30)
    ck.save({"w": tensor})
    assert piece_count(tensor.size(), 4) == 1
    for limit in (0, tensor.nbytes):
        monkeypatch.setattr("penstock.dcp._safetensors.EXTRA_BYTES", limit)
        mark = ck.emulator.journal().last
        ck.load(rank_states(tensor, 4)[1])
        fetched = ck.emulator.journal().entries(after=mark, operations="GetObject", bucket=ck.bucket, key_prefix=f"ck/{NAME}")
        assert sum(entry.bytes_out for entry in fetched[1:]) == (tensor.nbytes if limit else tensor.nbytes // 4)


# ---- damage in transit


def flipped(offset: int, times: int) -> dict[str, Any]:
    return {
        "when": {"operation": "GetObject", "key": {"glob": "*.safetensors"}},
        "do": {"corrupt": {"mode": "flip-bit"}, "at": f"body_out@{offset}"},
        "limit": {"times": times},
    }


@pytest.fixture
def own() -> Iterator[Checkpoint]:
    """A checkpoint of an emulator of its own, for faults."""
    with Emulator() as emulator:
        client = emulator.client()
        client.create_bucket("bucket")
        yield Checkpoint(emulator, client, "bucket")


@pytest.mark.parametrize("offset", [200, 200_000], ids=["header", "tensor"])
def test_damage_on_the_way_costs_a_second_read(own: Checkpoint, offset: int) -> None:
    state = {"w": values(900, 100)}
    own.save(state)
    mark = own.emulator.journal().last
    own.load(dcp_io.emptied(state))
    reads = len(own.emulator.journal().entries(after=mark, operations="GetObject"))
    own.emulator.faults().set([flipped(offset, 1)])
    mark = own.emulator.journal().last
    assert dcp_io.same(own.load(dcp_io.emptied(state)), state)
    assert len(own.emulator.journal().entries(after=mark, operations="GetObject")) == reads + 1
    own.emulator.faults().clear(forget=True)


@pytest.mark.parametrize("attempts", [1, None])
@pytest.mark.parametrize("offset", [200, 200_000], ids=["header", "tensor"])
def test_damage_of_all_permitted_reads_raises(own: Checkpoint, offset: int, attempts: int | None) -> None:
    state = {"w": values(900, 100)}
    own.save(state)
    permitted = 1 if attempts == 1 else 2
    tries = 2 if offset == 200 else 1  # torch calls read_metadata again if it raises
    own.emulator.faults().set([flipped(offset, permitted * tries)])
    with pytest.raises(CheckpointException, match=DAMAGED) as caught:
        own.load(dcp_io.emptied(state), max_attempts=attempts)
    assert ("in two reads" in str(caught.value)) == (attempts is None)
    own.emulator.faults().clear(forget=True)


def test_no_request_compares_the_object_if_the_header_has_checksums(ck: Checkpoint) -> None:
    ck.save(STATE)
    mark = ck.emulator.journal().last
    ck.load(dcp_io.emptied(STATE))
    assert not ck.emulator.journal().entries(after=mark, operations="HeadObject", bucket=ck.bucket)


@pytest.mark.parametrize("attempts", [3, 1])
def test_tensors_that_share_memory_load(ck: Checkpoint, attempts: int) -> None:
    """Regression: with one attempt, the bytes that the other read had overwritten were reported as damage."""
    ck.save({"a": values(500, 100), "b": values(500, 100) + 1})
    target = torch.zeros(500, 100)
    ck.load({"a": target, "b": target}, max_attempts=attempts)
    assert any(torch.equal(target, values(500, 100) + add) for add in (0, 1))


# ---- other programs


def test_parts_of_a_multipart_upload_are_described_by_the_header(own: Checkpoint) -> None:
    state = {f"w{i}": values(1500, 700 + i) for i in range(4)}  # 17 MB
    mark = own.emulator.journal().last
    own.save(state, part_size=5 * MIB)
    operations = [entry.operation for entry in own.emulator.journal().entries(after=mark, key_prefix=f"ck/{NAME}")]
    assert operations.count("UploadPart") == 4
    assert dcp_io.same(own.load(dcp_io.emptied(state)), state)
    for name, tensor in state.items():
        own.flip(name, 1000)
        with pytest.raises(CheckpointException, match=DAMAGED):
            own.load(dcp_io.emptied({name: tensor}))


def test_other_readers_ignore_the_checksums(ck: Checkpoint, tmp_path: Any) -> None:
    ck.save(STATE)
    assert dcp_io.same(safetensors.torch.load(bytes(ck.bytes())), STATE)
    folder = dcp_io.copied(ck.client, ck.bucket, "ck", tmp_path)
    with safetensors.safe_open(folder / NAME, "pt") as file:
        assert file.metadata()["format"] == "pt"
        assert file.metadata()[FIELD].startswith("1 ")
        assert torch.equal(file.get_slice("large")[600:], STATE["large"][600:])
    loaded = dcp_io.emptied(STATE)
    dcp.load(loaded, storage_reader=dcp.HuggingFaceStorageReader(str(folder)))
    assert dcp_io.same(loaded, STATE)


def rewritten_by_the_package(data: bytes) -> bytes:
    tensors = {name: tensor + 1 for name, tensor in safetensors.torch.load(data).items()}
    return safetensors.torch.save(tensors, header_of(data)[1]["__metadata__"])


def rewritten_by_json(data: bytes, **options: Any) -> bytes:
    text = json.dumps(header_of(data)[1], **options).encode()
    body = safetensors.torch.save({name: tensor + 1 for name, tensor in safetensors.torch.load(data).items()})
    return struct.pack("<Q", len(text)) + text + body[8 + header_of(body)[0] :]


@pytest.mark.parametrize(
    "rewritten",
    [
        rewritten_by_the_package,
        rewritten_by_json,
        lambda data: rewritten_by_json(data, separators=(",", ":")),
        lambda data: rewritten_by_json(data, indent=2),
    ],
    ids=["safetensors", "json", "compact json", "indented json"],
)
def test_checksums_that_a_program_copied_to_a_file_with_other_values_are_not_used(ck: Checkpoint, rewritten: Any) -> None:
    state = {"a": torch.zeros(30, 4)}
    ck.save(state)
    data = rewritten(bytes(ck.bytes()))
    assert FIELD in header_of(data)[1]["__metadata__"]
    ck.put(data)
    assert torch.equal(ck.load(dcp_io.emptied(state))["a"], torch.ones(30, 4))


def test_consolidated_file_has_no_checksums_of_its_shards(ck: Checkpoint, tmp_path: Any) -> None:
    whole = values(2000, 64)
    ck.save({"rows": whole}, save_distributed=True)
    (tmp_path / "out").mkdir()
    folder = dcp_io.copied(ck.client, ck.bucket, "ck", tmp_path / "in")
    assert FIELD.encode() in next(folder.iterdir()).read_bytes()[:200]
    consolidate_safetensors_files(str(folder), str(tmp_path / "out"), {"rows": 1})
    data = (tmp_path / "out" / NAME).read_bytes()
    assert FIELD.encode() not in data[: header_of(data)[0]]
    for path in folder.iterdir():
        ck.client.delete_object(ck.bucket, f"ck/{path.name}")
    ck.put(data)
    assert dcp_io.same(ck.load({"rows": torch.zeros(2000, 64)}), {"rows": whole})


# ---- the header


class StoredHeader:
    """Returns a fixed file to `Files`."""

    may_repeat = True

    def __init__(self, data: bytes) -> None:
        self.core = self
        self.data = data

    def read(self, bucket: str, key: str, start: int, end: int, etag: str | None = None) -> tuple[bytes, Any, None]:
        return self.data[start:end], SimpleNamespace(etag='"1"', size=len(self.data)), None


def test_every_flipped_bit_of_a_header_is_an_error(ck: Checkpoint) -> None:
    ck.save({"a": values(3, 4), "b": torch.arange(5)})
    data = bytes(ck.bytes())
    size = 8 + header_of(data)[0]
    entries, _, _ = Files(StoredHeader(data), "bucket", "ck")._header("key")  # type: ignore[arg-type]
    del entries["__metadata__"]
    name_of_entry = range(8 + START.index(b"PENSTOCK"), 8 + len(START))
    for bit in range(8 * size):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        files = Files(StoredHeader(bytes(damaged)), "bucket", "ck")  # type: ignore[arg-type]
        if bit // 8 not in name_of_entry:
            with pytest.raises((ValueError, penstock.S3Exception)):
                files._header("key")
            continue
        try:
            found = files._header("key")[0]
        except ValueError:
            continue
        del found["__metadata__"]
        assert found == entries


def test_header_survives_a_round_trip() -> None:
    tensors = {"ä": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    crcs = [0, 1, 2**64 - 1]
    header = header_with({"format": "pt"}, tensors, crcs)
    assert len(header) == len(header_with({"format": "pt"}, tensors, [0] * 3))
    assert len(header) % 8 == 0
    assert header[8:].startswith(START)
    assert header_damage(header) is None
    assert list(crcs_in(header) or ()) == crcs
    assert header_of(header)[1].keys() == {"__metadata__", "ä"}


def test_header_of_another_version_has_no_checksums() -> None:
    header = header_with({"format": "pt"}, {}, [7]).replace(b'NVME":"1 ', b'NVME":"2 ')
    assert header_damage(header) is None
    assert crcs_in(header) is None


def test_number_of_checksums_must_be_that_of_the_pieces(ck: Checkpoint) -> None:
    tensors = {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    ck.put(header_with({"format": "pt"}, tensors, [1, 2]) + bytes(8))
    with pytest.raises(CheckpointException, match="has the checksums of 2 pieces, and its tensors have 1"):
        ck.load({"a": torch.ones(2)})


# ---- pieces


@pytest.mark.parametrize(
    "sizes", [(), (1,), (5,), (0, 3), (3, 0), (10_000_019,), (4096, 4096), (50257, 768), (3, 5_000_000), (1, 1, 9_000_001)]
)
@pytest.mark.parametrize("itemsize", [1, 2, 8])
def test_pieces_are_within_their_limits(sizes: tuple[int, ...], itemsize: int) -> None:
    size, payload = piece_bytes(sizes, itemsize), math.prod(sizes) * itemsize
    if payload == 0:
        assert (size, piece_count(sizes, itemsize)) == (0, 0)
        return
    count = piece_count(sizes, itemsize)
    assert 0 < size <= MAX_PIECE_BYTES
    assert (count - 1) * size < payload <= count * size
    assert count == 1 or size >= MIN_PIECE_BYTES


@pytest.mark.parametrize("ranks", [2, 4, 8, 16, 32, 64])
def test_rows_of_each_rank_start_at_a_piece(ranks: int) -> None:
    for sizes, itemsize in (((4096, 4096), 2), ((32000, 4096), 2), ((8192,), 2), ((128, 64, 64), 4)):
        part = math.prod(sizes) * itemsize // ranks
        assert part % piece_bytes(sizes, itemsize) == 0 or part < MIN_PIECE_BYTES


@pytest.mark.parametrize("cuts", [[], [1], [999, 1000, 1001], [100, 2500], list(range(1, 3500, 7))])
def test_pieces_do_not_depend_on_how_the_memory_is_split(cuts: list[int]) -> None:
    data = values(3500).view(torch.uint8)[:3500]
    memory = [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, 3500], strict=True)]
    found = crcs_of(memory, 1000, lambda address, size, _: _core.crc64nvme(address, size), _core.crc64nvme_combine)
    assert found == [_core.crc64nvme(data.data_ptr() + at, min(1000, 3500 - at)) for at in range(0, 3500, 1000)]


@pytest.mark.parametrize(
    ("segments", "compared"),
    [
        ([(0, 3500)], {0, 1, 2, 3}),
        ([(0, 500), (500, 3000)], {0, 1, 2, 3}),
        ([(500, 3000)], {1, 2, 3}),
        ([(500, 2000)], {1}),
        ([(0, 999)], set()),
        ([(1000, 1000), (3000, 500)], {1, 3}),
        ([(0, 700), (800, 300), (1100, 900)], {1}),
        ([], set()),
    ],
)
def test_only_complete_pieces_are_compared(segments: list[tuple[int, int]], compared: set[int]) -> None:
    segments = [(begin, size) for begin, size in segments if begin + size <= 3500]
    data = values(3500).view(torch.uint8)[:3500]
    address = data.data_ptr()
    right = array("Q", [_core.crc64nvme(address + at, min(1000, 3500 - at)) for at in range(0, 3500, 1000)])
    places = [(begin, address + begin, size) for begin, size in segments]
    assert damage_of(Crcs(1000, right), 3500, places) is None
    for number in range(4):
        wrong = array("Q", right)
        wrong[number] ^= 1
        damage = damage_of(Crcs(1000, wrong), 3500, places)
        assert (damage is not None) == (number in compared)
        assert damage is None or (damage.begin, damage.end) == (1000 * number, min(1000 * number + 1000, 3500))
