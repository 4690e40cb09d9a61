"""Metadata that cannot be true is refused, by loads and by `penstock checkpoint verify`; every real one is accepted."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import get, put
from checkpoints import Checkpoints, Sharded, cut, emptied, same_bits
from penstock import __main__
from penstock._checkpoint_format._metadata_check import metadata_damage
from penstock.s3reader import S3ReaderConstructor
from penstock.testing import Emulator
from torch.distributed._shard._utils import narrow_tensor_by_index
from torch.distributed.checkpoint.default_planner import create_default_local_load_plan
from torch.distributed.checkpoint.metadata import (
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from torch.distributed.checkpoint.planner import LoadPlan

SAVED = {"a": torch.randn(16, 4), "b": torch.randn(16, 4), "c": torch.arange(100)}


@pytest.fixture(params=["torch", "penstock"])
def checkpoints(emulator: Emulator, client: penstock.S3Client, bucket: str, request: pytest.FixtureRequest) -> Checkpoints:
    return Checkpoints(emulator, client, bucket, by_penstock=request.param == "penstock")


def metadata_key(uri: str) -> str:
    return uri.split("/", 3)[3] + "/.metadata"


def change(checkpoints: Checkpoints, uri: str, function: Callable[[Metadata], None]) -> None:
    key = metadata_key(uri)
    metadata = pickle.loads(get(checkpoints.client, checkpoints.bucket, key))
    function(metadata)
    put(checkpoints.client, checkpoints.bucket, key, pickle.dumps(metadata))


Verify = Callable[[str], tuple[int, str]]


@pytest.fixture
def verify(emulator: Emulator, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Verify:
    """Runs `penstock checkpoint verify`. Returns its exit status and its output."""
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)

    def run(uri: str) -> tuple[int, str]:
        capsys.readouterr()
        status = __main__.main(["checkpoint", "verify", uri])
        return status, "".join(capsys.readouterr())

    return run


def chunk(metadata: Metadata) -> Any:
    return metadata.state_dict_metadata["a"].chunks[0]  # type: ignore[union-attr]


def place_of(metadata: Metadata, name: str) -> Any:
    assert metadata.storage_data is not None
    return next(place for index, place in metadata.storage_data.items() if index.fqn == name)


def without_rows(metadata: Metadata) -> None:
    chunk(metadata).sizes = torch.Size([0, 4])


def half_of_the_rows(metadata: Metadata) -> None:
    chunk(metadata).sizes = torch.Size([8, 4])


def without_chunks(metadata: Metadata) -> None:
    metadata.state_dict_metadata["a"].chunks.clear()  # type: ignore[union-attr]


def beyond_the_end(metadata: Metadata) -> None:
    chunk(metadata).offsets = torch.Size([8, 0])


def before_the_begin(metadata: Metadata) -> None:
    chunk(metadata).offsets = torch.Size([-8, 0])


def another_number_of_dimensions(metadata: Metadata) -> None:
    chunk(metadata).sizes = torch.Size([16])


def twice(metadata: Metadata) -> None:
    chunks = metadata.state_dict_metadata["a"].chunks  # type: ignore[union-attr]
    chunks.append(chunks[0])


def no_numbers(metadata: Metadata) -> None:
    chunk(metadata).sizes = None


def same_place(metadata: Metadata) -> None:
    place_of(metadata, "a").offset = place_of(metadata, "b").offset


def shared_bytes(metadata: Metadata) -> None:
    place_of(metadata, "b").offset = place_of(metadata, "a").offset + 64


def negative_length(metadata: Metadata) -> None:
    place_of(metadata, "a").length = -5


def negative_offset(metadata: Metadata) -> None:
    place_of(metadata, "a").offset = -1


def huge_length(metadata: Metadata) -> None:
    place_of(metadata, "a").length = 2**63


def without_a_place(metadata: Metadata) -> None:
    assert metadata.storage_data is not None
    del metadata.storage_data[next(index for index in metadata.storage_data if index.fqn == "a")]


DAMAGE: dict[Callable[[Metadata], None], str] = {
    without_rows: "'a' has the size [16, 4], which are 64 elements, but its chunks have 0",
    half_of_the_rows: "'a' has the size [16, 4], which are 64 elements, but its chunks have 32",
    without_chunks: "'a' has the size [16, 4], which are 64 elements, but its chunks have 0",
    beyond_the_end: "'a' has the chunk [16, 4] at [8, 0], but the size [16, 4]",
    before_the_begin: "'a' has the chunk [16, 4] at [-8, 0], but the size [16, 4]",
    another_number_of_dimensions: "'a' has the chunk [16] at [0, 0], but the size [16, 4]",
    twice: "'a' has chunks that overlap",
    no_numbers: "cannot be read ('NoneType' object is not iterable)",
    same_place: "is at bytes ",
    shared_bytes: "is at bytes ",
    negative_length: "'a' has -5 bytes from byte ",
    negative_offset: " bytes from byte -1 of ",
    huge_length: "but items are within bytes 0 to 4611686018427387904 (2^62)",
    without_a_place: "'a' has no place for its chunk at [0, 0]",
}


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_damaged_metadata_raises_and_verify_names_it(
    checkpoints: Checkpoints, verify: Verify, damage: Callable[[Metadata], None]
) -> None:
    """Regression: tensors kept their values, or had those of another tensor."""
    uri = checkpoints.save(SAVED)
    code, text = verify(uri)
    assert (code, "all there" in text) == (0, True), text
    change(checkpoints, uri, damage)
    for make in (None, S3ReaderConstructor.dcp_optimized()):
        with pytest.raises(dcp.CheckpointException) as caught:
            checkpoints.load(emptied(SAVED), uri, reader_constructor=make)
        error = caught.value.failures[0][0]
        assert isinstance(error, penstock.S3DataLossError)
        assert DAMAGE[damage] in str(error)
        assert f"{uri}/.metadata: invalid metadata" in str(error)
        assert f"`penstock checkpoint verify {uri}` names all damage; load another checkpoint" in str(error)
    code, text = verify(uri)
    assert code != 0
    assert DAMAGE[damage] in text


def test_a_damaged_memo_index_needs_no_memory(checkpoints: Checkpoints, verify: Verify) -> None:
    """Regression: one flipped bit turns REDUCE into LONG_BINPUT, for whose index the unpickler allocated up to 68 GB."""
    uri = checkpoints.save(SAVED)
    key = metadata_key(uri)
    pickled = get(checkpoints.client, checkpoints.bucket, key)
    places = (i for i in range(len(pickled) - 5) if pickled[i] == ord("R"))
    indices = {int.from_bytes(pickled[i + 1 : i + 5], "little"): i for i in places}
    at = indices[min(index for index in indices if index > len(pickled))]
    put(checkpoints.client, checkpoints.bucket, key, pickled[:at] + b"r" + pickled[at + 1 :])
    with pytest.raises(dcp.CheckpointException) as caught:
        checkpoints.load(emptied(SAVED), uri)
    error = caught.value.failures[0][0]
    assert isinstance(error, penstock.S3DataLossError)
    assert f"{uri}/.metadata is a pickle that stores an object at byte {at} under the memo index" in str(error)
    status, output = verify(uri)
    assert status != 0 and "memo index" in output


@pytest.mark.parametrize("rows", [300, 3000])  # an archive of 1.2 MB, and one that `verify` does not hold in memory
def test_verify_compares_objects_with_the_checksums_of_pieces(
    emulator: Emulator, client: penstock.S3Client, bucket: str, verify: Verify, rows: int
) -> None:
    checkpoints = Checkpoints(emulator, client, bucket, by_penstock=True)
    uris = [checkpoints.save({"w": torch.full((rows, 1000), float(number)), "small": torch.ones(3)}) for number in (1, 2)]
    assert verify(uris[0])[0] == 0
    (one, other) = (uri.split("/", 3)[3] + "/__0_0.distcp" for uri in uris)
    put(client, bucket, one, get(client, bucket, other))
    status, output = verify(uris[0])
    assert status == 1
    assert "item 'w'" in output and "the object is of another save" in output
    assert verify(uris[1])[0] == 0


@pytest.mark.parametrize("length", [10**6, 2**40])
def test_a_length_beyond_the_object_names_the_size_of_the_object(checkpoints: Checkpoints, length: int) -> None:
    """Regression: torch could not allocate memory for the item, and its error named neither the item nor the object."""
    uri = checkpoints.save({"a": SAVED["a"]})

    def lengthen(metadata: Metadata) -> None:
        place_of(metadata, "a").length = length

    change(checkpoints, uri, lengthen)
    with pytest.raises(dcp.CheckpointException) as caught:
        checkpoints.load({"a": torch.zeros(16, 4)}, uri)
    error = caught.value.failures[0][0]
    assert isinstance(error, penstock.S3DataLossError)
    assert str(length) in str(error)
    assert "the object" in str(error)


def test_a_rank_may_load_the_part_that_it_saved_alone(checkpoints: Checkpoints) -> None:
    whole = torch.randn(10, 4)
    uri = checkpoints.save({"a": Sharded.of((10, 4), torch.float32, [((2, 0), whole[2:5])]), "b": SAVED["b"]})
    part = torch.zeros(2, 4)
    checkpoints.load({"a": Sharded.of((10, 4), torch.float32, [((3, 0), part)])}, uri)
    assert torch.equal(part, whole[3:5])
    others = {"b": torch.zeros(16, 4)}
    checkpoints.load(others, uri)
    assert torch.equal(others["b"], SAVED["b"])
    for target in (torch.zeros(10, 4), Sharded.of((10, 4), torch.float32, [((4, 0), torch.zeros(2, 4))])):
        with pytest.raises(
            dcp.CheckpointException, match=r"'a' has the size \[10, 4\], which are 40 elements, but its chunks have 12"
        ):
            checkpoints.load({"a": target}, uri)


class FewTensors(dcp.LoadPlanner):
    """Loads some tensors, which it does not keep as `state_dict`, under other names."""

    def __init__(self, targets: dict[str, torch.Tensor], prefix: str = "") -> None:
        self.targets = targets
        self.prefix = prefix
        self.state_dict: Any = {}

    def set_up_planner(self, state_dict: Any, metadata: Any = None, is_coordinator: bool = False) -> None:
        self.metadata = metadata
        if self.prefix:
            self.state_dict = {self.prefix + name: target for name, target in self.targets.items()}

    def create_local_plan(self) -> LoadPlan:
        items = create_default_local_load_plan(self.targets, self.metadata).items
        return LoadPlan(
            [replace(item, dest_index=replace(item.dest_index, fqn=self.prefix + item.dest_index.fqn)) for item in items]
        )

    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        return global_plan

    def finish_plan(self, central_plan: LoadPlan) -> LoadPlan:
        return central_plan

    def load_bytes(self, read_item: Any, value: Any) -> None:
        raise AssertionError

    def resolve_tensor(self, read_item: Any) -> torch.Tensor:
        target = self.targets[read_item.dest_index.fqn.removeprefix(self.prefix)]
        return narrow_tensor_by_index(target, read_item.dest_offsets, read_item.lengths)

    def commit_tensor(self, read_item: Any, tensor: torch.Tensor) -> None: ...


def test_a_planner_may_leave_out_an_incomplete_tensor(checkpoints: Checkpoints) -> None:
    uri = checkpoints.save(SAVED)
    change(checkpoints, uri, half_of_the_rows)
    targets = {"b": torch.zeros(16, 4)}
    checkpoints.load({}, uri, planner=FewTensors(targets))
    assert torch.equal(targets["b"], SAVED["b"])


@pytest.mark.parametrize("prefix", ["", "new/"])
def test_a_planner_with_other_names_cannot_load_an_incomplete_tensor(checkpoints: Checkpoints, prefix: str) -> None:
    uri = checkpoints.save(SAVED)
    change(checkpoints, uri, half_of_the_rows)
    with pytest.raises(dcp.CheckpointException, match=r"'a' has the size \[16, 4\], which are 64 elements"):
        checkpoints.load({}, uri, planner=FewTensors({"a": torch.zeros(16, 4)}, prefix))


def test_every_kind_of_shards_is_accepted(checkpoints: Checkpoints, verify: Verify) -> None:
    whole = torch.randn(10, 7)
    saved = [
        {
            "rows": Sharded.of((10, 7), torch.float32, rows),
            "columns": Sharded.of((10, 7), torch.float32, columns),
            "few": Sharded.of((2, 7), torch.float32, few),
            "none": torch.zeros(0, 3),
            "scalar": torch.tensor(4.0),
            "object": "text",
        }
        for rows, columns, few in zip(cut(whole, 4), [*cut(whole, 3, 1), []], cut(whole[:2], 4), strict=True)
    ]
    uri = checkpoints.save(*saved)
    state = {
        "rows": torch.zeros(10, 7),
        "columns": torch.zeros(10, 7),
        "few": torch.zeros(2, 7),
        "none": torch.zeros(0, 3),
        "scalar": torch.zeros(()),
        "object": None,
    }
    checkpoints.load(state, uri)
    assert same_bits(state["rows"], whole)
    assert same_bits(state["columns"], whole)
    assert same_bits(state["few"], whole[:2])
    assert state["scalar"] == 4
    code, text = verify(uri)
    assert code == 0, text


def described(size: tuple[int, ...], chunks: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> TensorStorageMetadata:
    return TensorStorageMetadata(
        properties=TensorProperties(),
        size=torch.Size(size),
        chunks=[ChunkStorageMetadata(offsets=torch.Size(at), sizes=torch.Size(sizes)) for at, sizes in chunks],
    )


def test_check_of_many_chunks() -> None:
    class Place:
        relative_path = "file"
        length = 10

        def __init__(self, number: int) -> None:
            self.offset = 10 * number

    entries: dict[str, Any] = {"w": described((400, 300), [((i, j), (10, 1)) for i in range(0, 400, 10) for j in range(300)])}
    places = {MetadataIndex("w", each.offsets): Place(i) for i, each in enumerate(entries["w"].chunks)}
    assert list(metadata_damage(entries, places)) == []
    entries["w"].chunks[5000] = entries["w"].chunks[5001]
    assert [each.what for each in metadata_damage(entries, places)] == ["has chunks that overlap"]
