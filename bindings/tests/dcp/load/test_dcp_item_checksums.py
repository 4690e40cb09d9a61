"""Every loaded item of a distributed checkpoint is compared with its CRC-32, with every reader."""

from __future__ import annotations

import io
import pickle
import random
import zipfile
import zlib
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import get, keys, put
from checkpoints import Checkpoints, same_bits
from inverting import Inverting
from penstock.dcp._items import Blocks, Joined, verify_item
from penstock.dcp._stored_items import ReadTarget, StoredItem
from penstock.s3reader import RangedS3Reader, S3ReaderConstructor
from penstock.s3reader._zip_records import check_archive
from torch.distributed.checkpoint._extension import ExtensionRegistry
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.metadata import MetadataIndex
from torch.distributed.checkpoint.planner import LoadItemType, ReadItem

MIB = 1024**2


def short_reads(**arguments: Any) -> RangedS3Reader:
    """A reader that returns fewer bytes than requested."""

    class Short(RangedS3Reader):
        def read(self, size: int | None = None) -> bytes:
            return super().read(size if size is None or size < 2 else size // 2)

    return Short(**arguments, buffer_size=0)


KINDS: dict[str, Callable[[], Any]] = {
    "no reader": lambda: None,
    "dcp_optimized": S3ReaderConstructor.dcp_optimized,
    "range_based": S3ReaderConstructor.range_based,
    "sequential": S3ReaderConstructor.sequential,
    "default": S3ReaderConstructor.default,
    "custom": lambda: short_reads,
}


def quantised(values: torch.Tensor) -> torch.Tensor:
    return torch.quantize_per_tensor(values, 0.1, 3, torch.quint8)


def fixed() -> torch.Tensor:
    return torch.randn(20_000, generator=torch.Generator().manual_seed(3))


DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"))]
MARK = "found in the bytes of its pickle"
# For each item: saved value, target, and some of the stored bytes.
ITEMS: dict[str, tuple[Any, Any, bytes]] = {
    "tensor": (fixed(), torch.zeros(20_000), fixed().numpy().tobytes()),
    "large tensor": (torch.full((3 * MIB,), 5.0), torch.zeros(3 * MIB), b"\0\0\xa0@" * 100_000),
    "object": (MARK, None, MARK.encode()),
    "sparse": (fixed().to_sparse(), torch.zeros(20_000).to_sparse(), fixed().numpy().tobytes()[:4000]),
    "quantised": (
        quantised(fixed()),
        quantised(torch.zeros(20_000)),
        bytes(quantised(fixed()).int_repr().untyped_storage().tolist()),
    ),
}


@pytest.fixture
def checkpoints(emulator: penstock.testing.Emulator, client: penstock.S3Client, bucket: str) -> Checkpoints:
    return Checkpoints(emulator, client, bucket, by_penstock=True)


def with_flipped_bit(data: bytes, wanted: bytes) -> bytes:
    """Returns `data` with a flipped bit in the middle of the bytes `wanted`."""
    copy = bytearray(data)
    copy[data.index(wanted) + len(wanted) // 2] ^= 4
    return bytes(copy)


@pytest.mark.filterwarnings("ignore:.*quantize:UserWarning")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ITEMS)
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_flipped_bit_raises_an_error_that_names_the_item(
    checkpoints: Checkpoints, client: penstock.S3Client, bucket: str, make: Callable[[], Any], name: str, device: str
) -> None:
    value, target, stored = ITEMS[name]
    target = target.to(device) if isinstance(target, torch.Tensor) else target
    uri = checkpoints.save({"first": torch.ones(3), "second": value, "third": torch.ones(4)})
    (key,) = (key for key in keys(client, bucket) if key.endswith(".distcp"))
    state = {"first": torch.zeros(3), "second": target, "third": torch.zeros(4)}
    checkpoints.load(state, uri, reader_constructor=make())
    put(client, bucket, key, with_flipped_bit(get(client, bucket, key), stored))
    with pytest.raises(CheckpointException, match=r"bytes \d+ to \d+ have the CRC-32 .*, and were saved with") as caught:
        checkpoints.load(state, uri, reader_constructor=make())
    assert "S3DataLossError" in str(caught.value)
    assert "second" in str(caught.value) or make() is None
    others = {"first": torch.zeros(3), "third": torch.zeros(4)}
    checkpoints.load(others, uri, reader_constructor=make())
    assert torch.equal(others["third"], torch.ones(4))


@pytest.mark.parametrize("make", [KINDS["no reader"], KINDS["sequential"]], ids=["no reader", "sequential"])
def test_flipped_bit_in_the_zip_structure_is_data_loss(
    checkpoints: Checkpoints, client: penstock.S3Client, bucket: str, make: Callable[[], Any]
) -> None:
    """torch raised RuntimeError or UnpicklingError for some of them."""
    uri = checkpoints.save({"w": torch.arange(50.0), "object": MARK})
    (key,) = (key for key in keys(client, bucket) if key.endswith(".distcp"))
    data = get(client, bucket, key)
    structure = [at for at in range(len(data)) if is_structure(data, at)]
    chosen = [*random.Random(19).sample(structure, 60), data.index(b"PK"), data.rindex(b"PK\5\6") + 10]
    failed = 0
    for at in chosen:
        put(client, bucket, key, data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        state = {"w": torch.zeros(50), "object": None}
        try:
            checkpoints.load(state, uri, reader_constructor=make())
        except CheckpointException as error:
            assert "S3DataLossError" in str(error), (at, str(error))
            failed += 1
        else:
            assert torch.equal(state["w"], torch.arange(50.0)), at
            assert state["object"] == MARK, at
    assert failed > 10


# Bytes of the data descriptor behind the payload, or of the payload's entry in the directory: [begin, end).
DESCRIPTOR = {"signature": (0, 4), "crc": (4, 8), "sizes": (8, 16), "all": (0, 16)}


@pytest.mark.parametrize("fill", ["zeros", "garbage"])
@pytest.mark.parametrize("part", DESCRIPTOR)
@pytest.mark.parametrize("by_penstock", [True, False], ids=["penstock", "torch"])
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_damaged_data_descriptor_does_not_hide_damaged_elements(
    checkpoints: Checkpoints, make: Callable[[], Any], by_penstock: bool, part: str, fill: str
) -> None:
    """Regression: such a tensor was taken to be saved without a CRC-32. The directory has it."""
    checkpoints.by_penstock = by_penstock
    uri = checkpoints.save({"w": fixed()})
    damage_descriptor(checkpoints, part, fill)
    state = {"w": torch.zeros(20_000)}
    checkpoints.load(state, uri, reader_constructor=make())
    assert torch.equal(state["w"], fixed())  # torch reads no descriptors
    key = next(key for key in keys(checkpoints.client, checkpoints.bucket) if key.endswith(".distcp"))
    data = get(checkpoints.client, checkpoints.bucket, key)
    put(checkpoints.client, checkpoints.bucket, key, with_flipped_bit(data, fixed().numpy().tobytes()))
    with pytest.raises(CheckpointException, match=r"have the CRC-32 .*, and were saved with"):
        checkpoints.load(state, uri, reader_constructor=make())


def damage_descriptor(checkpoints: Checkpoints, part: str, fill: str) -> None:
    (key,) = (key for key in keys(checkpoints.client, checkpoints.bucket) if key.endswith(".distcp"))
    data = bytearray(get(checkpoints.client, checkpoints.bucket, key))
    end = data.index(fixed().numpy().tobytes()) + 80_000
    assert data[end : end + 4] == b"PK\7\10"
    begin, stop = DESCRIPTOR[part]
    data[end + begin : end + stop] = bytes(stop - begin) if fill == "zeros" else random.Random(5).randbytes(stop - begin)
    put(checkpoints.client, checkpoints.bucket, key, bytes(data))


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_crc_that_only_the_directory_lacks_is_damage(checkpoints: Checkpoints, make: Callable[[], Any]) -> None:
    uri = checkpoints.save({"w": fixed()})
    (key,) = (key for key in keys(checkpoints.client, checkpoints.bucket) if key.endswith(".distcp"))
    data = bytearray(get(checkpoints.client, checkpoints.bucket, key))
    crc = zlib.crc32(fixed().numpy().tobytes()).to_bytes(4, "little")
    at = data.rindex(crc)
    assert data.count(crc) == 2
    data[at : at + 4] = bytes(4)
    for damaged in (bytes(data), with_flipped_bit(bytes(data), fixed().numpy().tobytes())):
        put(checkpoints.client, checkpoints.bucket, key, damaged)
        with pytest.raises(CheckpointException, match="has no CRC-32 in the directory, but was saved with one"):
            checkpoints.load({"w": torch.zeros(20_000)}, uri, reader_constructor=make())


@pytest.mark.parametrize("mode", ["zero", "flip-bit", "repeat-block", "swap-halves"])
@pytest.mark.parametrize("make", [KINDS["no reader"], KINDS["range_based"]], ids=["no reader", "range_based"])
def test_damage_in_transit_across_the_end_of_a_tensor_is_found(
    checkpoints: Checkpoints, make: Callable[[], Any], mode: str
) -> None:
    """Regression: the default reader loaded it. The response is a range without a checksum of S3.

    The default reader reads the item once more, others raise.
    """
    uri = checkpoints.save({"a": torch.ones(20_000), "b": fixed(), "c": torch.ones(MIB)})
    (key,) = (key for key in keys(checkpoints.client, checkpoints.bucket) if key.endswith(".distcp"))
    data = get(checkpoints.client, checkpoints.bucket, key)
    (begin,) = (
        place.offset
        for index, place in pickle.loads(
            get(checkpoints.client, checkpoints.bucket, uri.split("/", 3)[3] + "/.metadata")
        ).storage_data.items()
        if index.fqn == "b"
    )
    at = data.index(fixed().numpy().tobytes()) + 80_000 - 32 - begin
    damage = {"corrupt": {"mode": mode, "length": 64}, "at": f"body_out@{at}"}
    rule = {"when": {"operation": "GetObject", "key": {"exactly": key}}, "do": damage, "limit": {"times": 1}}
    reads_again = make() is None
    state = {"b": torch.zeros(20_000)}
    before = checkpoints.emulator.stats()["requests"]["GetObject"]
    checkpoints.emulator.faults().set({"rules": [rule]})
    try:
        with nullcontext() if reads_again else pytest.raises(CheckpointException, match="S3DataLossError"):
            checkpoints.load(state, uri, reader_constructor=make())
    finally:
        checkpoints.emulator.faults().clear()
    assert torch.equal(state["b"], fixed()) == reads_again
    state = {"b": torch.zeros(20_000)}
    between = checkpoints.emulator.stats()["requests"]["GetObject"]
    checkpoints.load(state, uri, reader_constructor=make())
    assert torch.equal(state["b"], fixed())
    assert between - before == (3 if reads_again else 2)
    assert checkpoints.emulator.stats()["requests"]["GetObject"] - between == 2  # .metadata and one range


def is_structure(data: bytes, at: int) -> bool:
    """Whether the byte is in the zip structure near it: a local header, a descriptor, or the directory."""
    return any(
        data.rfind(mark, max(0, at - size), at + 4) >= 0 for mark, size in ((b"PK\3\4", 30), (b"PK\1\2", 46), (b"PK\5\6", 22))
    )


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_flipped_bit_below_an_extension_raises(
    checkpoints: Checkpoints, client: penstock.S3Client, bucket: str, make: Callable[[], Any]
) -> None:
    """The decoded archive is compared."""
    saved = torch.arange(5000.0)
    uri = checkpoints.save({"w": saved}, _extensions=[Inverting()])
    registry = ExtensionRegistry()
    registry.register(Inverting)
    state = {"w": torch.zeros(5000)}
    checkpoints.load(state, uri, reader_constructor=make(), _extension_registry=registry)
    assert torch.equal(state["w"], saved)
    (key,) = (key for key in keys(client, bucket) if key.endswith(".distcp"))
    inverted = bytes(255 - byte for byte in saved.numpy().tobytes())
    put(client, bucket, key, with_flipped_bit(get(client, bucket, key), inverted))
    with pytest.raises(CheckpointException, match=r"item 'w': .* have the CRC-32 .*, and were saved with"):
        checkpoints.load(state, uri, reader_constructor=make(), _extension_registry=registry)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_truncated_object_raises(
    checkpoints: Checkpoints, client: penstock.S3Client, bucket: str, make: Callable[[], Any]
) -> None:
    uri = checkpoints.save({"w": torch.arange(5000.0)})
    (key,) = (key for key in keys(client, bucket) if key.endswith(".distcp"))
    put(client, bucket, key, get(client, bucket, key)[:-1000])
    with pytest.raises(CheckpointException):
        checkpoints.load({"w": torch.zeros(5000)}, uri, reader_constructor=make())


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_checkpoint_without_crcs_loads_with_every_reader(checkpoints: Checkpoints, make: Callable[[], Any]) -> None:
    checkpoints.by_penstock = False
    saved = {"weight": torch.randn(1000), "step": 7}
    uri = checkpoints.save_without_crcs(saved)
    state = {"weight": torch.zeros(1000), "step": None}
    checkpoints.load(state, uri, reader_constructor=make())
    assert same_bits(state["weight"], saved["weight"])
    assert state["step"] == 7


class CustomFormatPlanner(dcp.DefaultLoadPlanner):
    """A planner with its own item format, which torch.load does not support."""

    seen = b""

    def load_bytes(self, read_item: Any, value: io.BytesIO) -> None:
        self.seen = value.getvalue()


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("content", [b"", b"bytes of a planner's own"])
def test_bytes_that_are_not_an_archive_are_passed_to_the_planner_unchanged(
    checkpoints: Checkpoints, make: Callable[[], Any], content: bytes
) -> None:
    planner = CustomFormatPlanner()
    uri = checkpoints.handmade({"other": (torch.ones(1), saved_alone(torch.ones(1))), "own": (None, content)})
    checkpoints.load({"other": torch.zeros(1), "own": None}, uri, planner=planner, reader_constructor=make())
    assert planner.seen == content


def test_range_reader_fetches_an_item_by_one_request(checkpoints: Checkpoints) -> None:
    uri = checkpoints.save({"w": torch.arange(3.0 * MIB)})
    before = checkpoints.emulator.stats()["requests"]["GetObject"]
    checkpoints.load({"w": torch.zeros(3 * MIB)}, uri, reader_constructor=S3ReaderConstructor.range_based())
    assert checkpoints.emulator.stats()["requests"]["GetObject"] - before == 2  # and .metadata


# ---- the comparison itself


def saved_alone(value: Any) -> bytes:
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def cut_up(data: bytes) -> Blocks:
    order = random.Random(len(data))
    cuts = sorted({0, len(data), *(order.randrange(len(data)) for _ in range(20))})
    return Blocks([memoryview(data)[begin:end] for begin, end in pairwise(cuts)])


@pytest.mark.parametrize("hold", [Joined, cut_up])
def test_no_flipped_bit_changes_loaded_values(hold: Callable[[bytes], Any]) -> None:
    values = [torch.arange(20.0).to_sparse(), torch.ones(0), torch.arange(7)]
    data = saved_alone(values)
    assert check_archive(hold(data), len(data)) == ("", "")
    order, passed = random.Random(4), 0
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << order.randrange(8)
        if check_archive(hold(bytes(damaged)), len(data)).damage:
            continue
        passed += 1
        try:
            loaded = torch.load(io.BytesIO(bytes(damaged)), weights_only=True)
        except Exception:
            continue
        assert torch.equal(loaded[0].to_dense(), values[0].to_dense()), at
        assert loaded[1].numel() == 0, at
        assert torch.equal(loaded[2], values[2]), at
    assert passed < len(data)


def test_joined_and_blocks_return_the_same_content() -> None:
    data = random.Random(1).randbytes(100_000)
    joined, blocks = Joined(data), cut_up(data)
    for begin, end in ((0, 4), (17, 60_000), (99_990, 100_000), (5, 5)):
        assert blocks.read(begin, end) == joined.read(begin, end) == data[begin:end]
        assert blocks.crc(begin, end) == joined.crc(begin, end)
    assert blocks.open().read() == joined.open().read() == data


def test_compressed_record_is_unknown_and_not_damaged() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.pkl", b"1" * 1000)
    data = file.getvalue()
    assert check_archive(Joined(data), len(data)) == ("", "record 'data.pkl' is compressed")


def test_archive_without_its_directory_is_damaged() -> None:
    data = saved_alone(torch.ones(100))
    stored = StoredItem("__0_0.distcp", 7, len(data) - 200, ())
    index = MetadataIndex("w", torch.Size([0]))
    nothing = torch.Size([0])
    stored.reads.append(ReadTarget(ReadItem(LoadItemType.TENSOR, index, nothing, index, nothing, torch.Size([100]))))
    with pytest.raises(
        penstock.S3DataLossError, match=r"__0_0.distcp: item 'w': bytes 7 to \d+ are not a complete torch.save archive"
    ):
        verify_item(stored, Joined(data[:-200]), len(data) - 200)
