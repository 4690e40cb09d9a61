"""Partial loads of distributed checkpoints are compared with checksums of pieces, which `.metadata` contains."""

from __future__ import annotations

import pickle
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import dcp_io
import penstock
import pytest
import torch
from bucket_io import get, keys, put
from checkpoints import Checkpoints, Sharded, cut, same_bits, usages_of_loads
from inverting import Inverting
from penstock._checkpoint_format._pieces import CRC32S, piece_bytes
from penstock.testing import Emulator
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
from torch.distributed.checkpoint.planner import WriteItem

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

MIB = 1024**2
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"))]


@pytest.fixture
def checkpoints(emulator: Emulator, client: penstock.S3Client, bucket: str) -> Checkpoints:
    return Checkpoints(emulator, client, bucket, by_penstock=True)


def random_tensor(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(5))


def metadata_key(uri: str) -> str:
    return uri.split("/", 3)[3] + "/.metadata"


def stored(checkpoints: Checkpoints, uri: str) -> dict[tuple[str, Any], Any]:
    """Returns the storage data of all items, by name and offset."""
    metadata = pickle.loads(get(checkpoints.client, checkpoints.bucket, metadata_key(uri)))
    return {(index.fqn, index.offset): info for index, info in metadata.storage_data.items()}


def crcs_of(checkpoints: Checkpoints, uri: str) -> dict[tuple[str, Any], Any]:
    found = stored(checkpoints, uri).items()
    return {key: getattr(info, CRC32S) for key, info in found if hasattr(info, CRC32S)}


def edit_metadata(checkpoints: Checkpoints, uri: str, change: Callable[[Any], None]) -> None:
    metadata = pickle.loads(get(checkpoints.client, checkpoints.bucket, metadata_key(uri)))
    change(metadata)
    put(checkpoints.client, checkpoints.bucket, metadata_key(uri), pickle.dumps(metadata))


def change_crcs(checkpoints: Checkpoints, uri: str, crcs: Any) -> None:
    def change(metadata: Any) -> None:
        for info in metadata.storage_data.values():
            setattr(info, CRC32S, crcs)

    edit_metadata(checkpoints, uri, change)


def flip_stored_bit(checkpoints: Checkpoints, tensor: torch.Tensor, offset: int) -> None:
    """Flips a bit of byte `offset` of a tensor's bytes in the object that contains them."""
    payload = tensor.contiguous().view(torch.uint8).numpy().tobytes()
    for key in keys(checkpoints.client, checkpoints.bucket):
        data = bytearray(get(checkpoints.client, checkpoints.bucket, key))
        for damaged in (payload, with_flipped_bit(payload, offset)):
            at = data.find(damaged)
            if at >= 0:
                data[at + offset] ^= 4
                put(checkpoints.client, checkpoints.bucket, key, bytes(data))
                return
    raise AssertionError("no object contains the tensor")


def with_flipped_bit(data: bytes, offset: int) -> bytes:
    return data[:offset] + bytes([data[offset] ^ 4]) + data[offset + 1 :]


def rank_states(
    tensor: torch.Tensor, ranks: int, dim: int = 0, dtype: torch.dtype | None = None, device: str = "cpu"
) -> list[dict[str, Sharded]]:
    """Returns a target for each rank: its box of the tensor."""
    dtype = dtype or tensor.dtype
    return [
        {
            "w": Sharded.of(
                tensor.size(), dtype, [(at, torch.zeros(part.size(), dtype=dtype, device=device)) for at, part in boxes]
            )
        }
        for boxes in cut(tensor, ranks, dim)
    ]


def saved_states(tensor: torch.Tensor, ranks: int, dim: int = 0) -> Iterator[dict[str, Sharded]]:
    return ({"w": Sharded.of(tensor.size(), tensor.dtype, boxes)} for boxes in cut(tensor, ranks, dim))


def damage_found(
    checkpoints: Checkpoints, uri: str, states: list[dict[str, Sharded]], text: str = "in two reads", **options: Any
) -> list[bool]:
    """Loads each state. Returns whether each load failed with a checksum error that contains `text`."""
    found = []
    for state in states:
        try:
            checkpoints.load(state, uri, **options)
            found.append(False)
        except CheckpointException as error:
            assert "S3DataLossError" in str(error), str(error)
            assert "item 'w'" in str(error)
            assert text in str(error)
            found.append(True)
    return found


# ---- what is saved


def test_metadata_contains_the_checksums_of_tensors_with_several_pieces(checkpoints: Checkpoints) -> None:
    state = {
        "large": random_tensor(1200, 700),
        "half": random_tensor(4096, 512).bfloat16(),
        "row": random_tensor(1, 900_000),
        "small": random_tensor(100, 100),
        "scalar": torch.tensor(2.5),
        "none": torch.zeros(0, 4),
        "turned": random_tensor(700, 1200).t(),
        "step": 7,
    }
    uri = checkpoints.save(state)
    found = crcs_of(checkpoints, uri)
    assert {name for name, _ in found} == {"large", "half", "row"}
    for (name, _), crcs in found.items():
        tensor: Any = state[name]
        payload = tensor.view(torch.uint8).numpy().tobytes()
        size = piece_bytes(tensor.size(), tensor.itemsize)
        expected = [zlib.crc32(payload[at : at + size]) for at in range(0, len(payload), size)]
        assert list(struct.unpack(f"<{len(crcs) // 4}I", crcs)) == expected
    assert len(pickle.dumps(found["large", torch.Size([0, 0])])) < 300
    loaded = {key: torch.zeros_like(value) if isinstance(value, torch.Tensor) else None for key, value in state.items()}
    checkpoints.load(loaded, uri)
    assert all(same_bits(loaded[key], value) for key, value in state.items() if isinstance(value, torch.Tensor))


def test_torch_loads_metadata_with_checksums(checkpoints: Checkpoints) -> None:
    state = {"w": random_tensor(1200, 700)}
    uri = checkpoints.save(state)
    assert crcs_of(checkpoints, uri)
    assert dcp_io.same(dcp_io.loaded(checkpoints.client, checkpoints.bucket, uri.split("/", 3)[3], state), state)


def test_items_of_an_extension_have_no_checksums(checkpoints: Checkpoints) -> None:
    assert not crcs_of(checkpoints, checkpoints.save({"w": random_tensor(1200, 700)}, _extensions=[Inverting()]))


class CastingPlanner(DefaultSavePlanner):
    """Saves other elements than `.metadata` describes."""

    def resolve_data(self, write_item: WriteItem) -> Any:
        data = super().resolve_data(write_item)
        return data.double() if isinstance(data, torch.Tensor) else data


def test_tensor_that_the_metadata_does_not_describe_has_no_checksums(checkpoints: Checkpoints) -> None:
    state = {"w": random_tensor(1200, 700)}
    uri = f"s3://{checkpoints.bucket}/cast"
    dcp_io.save(checkpoints.emulator, uri, state, {"planner": CastingPlanner(), "no_dist": True})
    assert not crcs_of(checkpoints, uri)
    loaded = {"w": torch.zeros(1200, 700)}
    checkpoints.load(loaded, uri)
    assert torch.equal(loaded["w"], state["w"])


# ---- stored damage


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["in place", "converted"])
@pytest.mark.parametrize("sizes", [(1200, 700), (1000, 3), (4096, 512), (7919, 211), (30,)])
@pytest.mark.parametrize("ranks", [2, 3])
def test_flipped_bit_is_found_by_the_rank_that_loads_its_row(
    checkpoints: Checkpoints, sizes: tuple[int, ...], ranks: int, dtype: torch.dtype, device: str
) -> None:
    """Regression: the damaged tensor was loaded without an error."""
    tensor = random_tensor(*sizes)
    uri = checkpoints.save({"w": tensor})
    for rank, boxes in enumerate(cut(tensor, ranks)):
        ((offsets, part),) = boxes
        state = rank_states(tensor, ranks, dtype=dtype, device=device)[rank]
        checkpoints.load(state, uri)
        assert torch.equal(state["w"].shards[0][1].cpu(), part.to(dtype))
        begin = offsets[0] * (tensor.nbytes // tensor.size(0))
        for offset in (begin, begin + part.nbytes // 2, begin + part.nbytes - 1):
            flip_stored_bit(checkpoints, tensor, offset)
            assert damage_found(checkpoints, uri, rank_states(tensor, ranks, dtype=dtype, device=device))[rank]
            flip_stored_bit(checkpoints, tensor, offset)


def test_flipped_bit_of_each_piece_is_found_and_its_piece_is_named(checkpoints: Checkpoints) -> None:
    tensor = random_tensor(2048, 512)  # 4 MiB
    uri = checkpoints.save({"w": tensor})
    begin = stored(checkpoints, uri)["w", torch.Size([0, 0])].offset
    size = piece_bytes(tensor.size(), 4)
    assert size == 128 * 1024
    for piece in range(0, 32, 5):
        flip_stored_bit(checkpoints, tensor, piece * size + 1000)
        (key,) = (key for key in keys(checkpoints.client, checkpoints.bucket) if key.endswith(".distcp"))
        payload = get(checkpoints.client, checkpoints.bucket, key).find(tensor[:1].numpy().tobytes()[:500])
        assert payload > begin or piece == 0
        for rank, state in enumerate(rank_states(tensor, 4)):
            named = f"bytes {payload + piece * size} to {payload + piece * size + size} have the CRC-32" if piece else "CRC-32"
            assert damage_found(checkpoints, uri, [state], named) == [rank == piece // 8]
        flip_stored_bit(checkpoints, tensor, piece * size + 1000)


@pytest.mark.parametrize("ranks", [(2, 4), (4, 2), (4, 3)])
def test_flipped_bit_is_found_after_a_change_of_the_number_of_ranks(checkpoints: Checkpoints, ranks: tuple[int, int]) -> None:
    before, after = ranks
    tensor = random_tensor(2048, 512)
    uri = checkpoints.save(*saved_states(tensor, before))
    states = rank_states(tensor, after)
    assert not any(damage_found(checkpoints, uri, states))
    assert torch.equal(torch.cat([state["w"].shards[0][1] for state in states]), tensor)
    for at, part in (boxes[0] for boxes in cut(tensor, before)):
        for row in (0, 300, part.size(0) - 1):
            flip_stored_bit(checkpoints, part, row * 2048 + 77)
            assert damage_found(checkpoints, uri, rank_states(tensor, after))[(at[0] + row) // -(-2048 // after)]
            flip_stored_bit(checkpoints, part, row * 2048 + 77)


@pytest.mark.parametrize("columns", [64, 8192])
def test_flipped_bit_is_found_in_columns(checkpoints: Checkpoints, columns: int) -> None:
    """In columns of short rows, and in columns of long rows that fill pieces together."""
    tensor = random_tensor(MIB // columns, columns)
    uri = checkpoints.save({"w": tensor})
    flip_stored_bit(checkpoints, tensor, tensor.nbytes // 2 + 7)
    boxes = [box for boxes in cut(tensor, 2, 1) for box in boxes]
    both = Sharded.of(tensor.size(), tensor.dtype, [(at, torch.zeros(part.size())) for at, part in boxes])
    assert damage_found(checkpoints, uri, [{"w": both}]) == [True]
    assert all(damage_found(checkpoints, uri, rank_states(tensor, 2, dim=1))) == (columns == 64)


def test_columns_of_long_rows_are_not_compared(checkpoints: Checkpoints) -> None:
    tensor = random_tensor(64, 16384)
    uri = checkpoints.save({"w": tensor})
    flip_stored_bit(checkpoints, tensor, 0)
    states = rank_states(tensor, 2, dim=1)
    assert damage_found(checkpoints, uri, states) == [False, False]
    assert torch.equal(states[1]["w"].shards[0][1], tensor[:, 8192:])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["in place", "converted"])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("by_penstock", [True, False], ids=["penstock", "torch"])
def test_verify_all_compares_every_part(checkpoints: Checkpoints, by_penstock: bool, dim: int, dtype: torch.dtype) -> None:
    checkpoints.by_penstock = by_penstock
    tensor = random_tensor(64, 16384)
    uri = checkpoints.save({"w": tensor})
    for rank, boxes in enumerate(cut(tensor, 3, dim)):
        state = rank_states(tensor, 3, dim, dtype)[rank]
        checkpoints.load(state, uri, verify_all=True)
        assert torch.equal(state["w"].shards[0][1], boxes[0][1].to(dtype))
    flip_stored_bit(checkpoints, tensor, 16384 * 4 * 10)  # row 10, column 0: of the first rank
    assert damage_found(checkpoints, uri, rank_states(tensor, 3, dim, dtype)[:1], verify_all=True) == [True]


def test_small_tensors_of_torch_are_compared(checkpoints: Checkpoints) -> None:
    """Their archives have the CRC-32 of the whole, which is one piece. Larger ones load as before."""
    checkpoints.by_penstock = False
    small, large = random_tensor(100, 100), random_tensor(2048, 512)
    for tensor in (small, large):
        uri = checkpoints.save({"w": tensor})
        assert not crcs_of(checkpoints, uri)
        flip_stored_bit(checkpoints, tensor, 100)
        assert damage_found(checkpoints, uri, rank_states(tensor, 2)) == [tensor is small, tensor is small]


# ---- what is read


def test_rows_of_a_power_of_two_need_no_more_bytes(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = random_tensor(4096, 512)  # 8 MiB
    uri = checkpoints.save({"w": tensor})
    usages = usages_of_loads(monkeypatch)
    for state in rank_states(tensor, 8):
        checkpoints.load(state, uri)
    assert all(usage["bytes_wanted"] < tensor.nbytes // 8 + 4096 for usage in usages)


def test_bytes_read_only_for_checksums_are_limited(checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces whose checksums would need too many further bytes are not compared; their rows are loaded."""
    tensors = {f"w{i}": random_tensor(4, 260_000) + i for i in range(6)}  # rows of about 1 MiB; a piece is half a row
    uri = checkpoints.save(tensors)
    usages = usages_of_loads(monkeypatch)
    state = {name: Sharded.of(tensor.size(), tensor.dtype, [([1, 10], torch.zeros(1, 100))]) for name, tensor in tensors.items()}
    checkpoints.load(state, uri)
    assert 7 * 520_000 < usages[0]["bytes_wanted"] + 520_000 <= 9 * 520_000 + 6 * 4096
    for name, tensor in tensors.items():
        assert torch.equal(state[name].shards[0][1], tensor[1:2, 10:110])


# ---- damage in transit


def test_range_damaged_in_transit_is_read_again(checkpoints: Checkpoints) -> None:
    tensor = random_tensor(2048, 512)
    uri = checkpoints.save({"w": tensor})
    (key,) = (key for key in keys(checkpoints.client, checkpoints.bucket) if key.endswith(".distcp"))
    damage = {"corrupt": {"mode": "flip-bit", "length": 64}, "at": "body_out@100000"}
    rows = {"operation": "GetObject", "key": {"exactly": key}, "range": {"covers": 100_000}}  # not the item's last 555 bytes
    rule = {"id": "flip", "when": rows, "do": damage, "limit": {"times": 1}}
    for dtype in (torch.float32, torch.float64):
        checkpoints.emulator.faults().set({"rules": [rule]})
        try:
            (state, _) = rank_states(tensor, 2, dtype=dtype)
            checkpoints.load(state, uri)
            checkpoints.emulator.faults().check()
        finally:
            checkpoints.emulator.faults().clear()
        assert torch.equal(state["w"].shards[0][1], tensor[:1024].to(dtype))


def test_no_second_read_without_retries(checkpoints: Checkpoints) -> None:
    tensor = random_tensor(2048, 512)
    uri = checkpoints.save({"w": tensor})
    flip_stored_bit(checkpoints, tensor, 100)
    config = penstock.S3ClientConfig(**{**vars(checkpoints.client.s3client_config), "max_attempts": 1})
    (state, _) = rank_states(tensor, 2)
    with pytest.raises(CheckpointException, match=r"have the CRC-32 [0-9a-f]{8}, and were saved with"):
        checkpoints.load(state, uri, s3client_config=config)


def test_an_item_of_another_type_than_the_metadata_names_is_loaded(checkpoints: Checkpoints) -> None:
    """torch takes the type of a sharded tensor from the first rank. The checksums are those of the stored elements."""
    tensor = random_tensor(2048, 512)
    uri = checkpoints.save({"w": tensor})

    def change(metadata: Any) -> None:
        metadata.state_dict_metadata["w"].properties.dtype = torch.float64

    edit_metadata(checkpoints, uri, change)
    for state in (rank_states(tensor, 2)[0], {"w": torch.zeros_like(tensor)}):
        checkpoints.load(state, uri)
    assert torch.equal(state["w"], tensor)


# ---- invalid checksums in the metadata


@pytest.mark.parametrize(
    ("crcs", "message"),
    [
        (b"1234" * 31, "item 'w' has the checksums of 31 pieces, and its tensor has 32"),
        (b"1234" * 33, "item 'w' has the checksums of 33 pieces, and its tensor has 32"),
        (b"1" * 127, "item 'w' has checksums that are not bytes, 4 of each"),
        ([1] * 32, "item 'w' has checksums that are not bytes, 4 of each"),
        (b"1234" * 32, "and were saved with"),
    ],
)
def test_wrong_number_or_type_of_checksums_raises(checkpoints: Checkpoints, crcs: Any, message: str) -> None:
    tensor = random_tensor(2048, 512)
    uri = checkpoints.save({"w": tensor})
    change_crcs(checkpoints, uri, crcs)
    for state in (rank_states(tensor, 2)[0], {"w": torch.zeros_like(tensor)}):
        with pytest.raises(CheckpointException, match=message) as caught:
            checkpoints.load(state, uri)
        assert "S3DataLossError" in str(caught.value)


def test_metadata_without_checksums_loads(checkpoints: Checkpoints) -> None:
    tensor = random_tensor(2048, 512)
    uri = checkpoints.save({"w": tensor})
    change_crcs(checkpoints, uri, b"")
    for rank, state in enumerate(rank_states(tensor, 2)):
        checkpoints.load(state, uri)
        assert torch.equal(state["w"].shards[0][1], tensor[rank * 1024 : rank * 1024 + 1024])
