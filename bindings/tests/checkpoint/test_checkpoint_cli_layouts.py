"""``penstock checkpoint`` with all layouts of S3StorageWriter. Prune keeps what is in use or being written."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import get, keys, put
from dcp_io import emptied, same, save, some_state
from penstock import __main__
from penstock._checkpoint_cli import _place, _prune
from penstock.dcp import (
    BinaryPrefixStrategy,
    HexPrefixStrategy,
    RoundRobinPrefixStrategy,
    S3PrefixStrategyBase,
    S3StorageReader,
    S3StorageWriter,
)
from penstock.testing import Emulator
from test_checkpoint_cli import put_without_checksum
from torch.distributed.checkpoint._extension import ZStandard
from torch.distributed.checkpoint.filesystem import SerializationFormat
from versioned_bucket import keep_versions

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def command(emulator: Emulator, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs the command line in this process. Returns its JSON output, or its error message if it failed."""
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)

    def run(*arguments: str, status: int = 0) -> Any:
        capsys.readouterr()
        assert __main__.main(["checkpoint", *arguments, "--json"]) == status, capsys.readouterr()
        out, error = capsys.readouterr()
        return json.loads(out) if out else error

    return run


class OfRank(S3StorageWriter):
    """A writer that behaves as in the given rank."""

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        super().set_up_storage_writer(is_coordinator, *args, **kwargs | {"rank": self.of_rank})


def save_rank(emulator: Emulator, uri: str, rank: int, value: float = 1, **kwargs: Any) -> None:
    """Saves one rank's part of a save without collectives."""
    writer = OfRank(emulator.region, uri, emulator.config(), endpoint=emulator.endpoint, **kwargs)
    writer.of_rank = rank
    state = {"w": torch.full((100,), value), f"own.{rank}": torch.full((7,), value)}
    dcp.save(state, storage_writer=writer, use_collectives=False)


def save_ranks(emulator: Emulator, uri: str, ranks: int = 2, value: float = 1, **kwargs: Any) -> None:
    for rank in range(ranks):
        save_rank(emulator, uri, rank, value, **kwargs)


def loads(emulator: Emulator, uri: str) -> float:
    state = {"w": torch.zeros(100)}
    dcp.load(state, storage_reader=S3StorageReader(emulator.region, uri, emulator.config(), endpoint=emulator.endpoint))
    return float(state["w"][0])


def earlier(emulator: Emulator, seconds: float, work: Callable[[], Any]) -> None:
    emulator.clock().advance(-seconds)
    try:
        work()
    finally:
        emulator.clock().restore()


PRUNE = ("--keep", "1", "--yes", "--older-than", "1m")


# ---- saves without collectives


def test_checkpoint_of_ranks_is_listed_inspected_and_verified(emulator, client, bucket, command):
    uri = f"s3://{bucket}/nc/step_1"
    save_ranks(emulator, uri)
    assert "nc/step_1/__1.metadata" in keys(client, bucket)
    (listed,) = command("ls", f"s3://{bucket}/nc")
    assert (listed["kind"], listed["ranks"], listed["complete"], listed["objects"]) == ("dcp", 2, True, 4)
    found = command("inspect", uri)
    assert {each["name"]: each["chunks"] for each in found["tensors"]} == {"w": 2, "own.0": 1, "own.1": 1}
    assert found["objects"] == 4
    assert command("inspect", f"{uri}/__0.metadata")["tensors"] == found["tensors"]
    verdicts = command("verify", uri)
    assert {each["key"]: each["state"] for each in verdicts["objects"]} == dict.fromkeys(keys(client, bucket), "ok")
    (shard,) = (key for key in keys(client, bucket, "nc/step_1/__1_") if key.endswith(".distcp"))
    client.delete_object(bucket, shard)
    assert not command("verify", uri, status=1)["intact"]


def test_prune_deletes_checkpoints_of_ranks_completely_and_keeps_the_newest(emulator, client, bucket, command):
    for step in (1, 2):
        earlier(emulator, 600 - step, lambda step=step: save_ranks(emulator, f"s3://{bucket}/nc/step_{step}", value=step))
    newest = keys(client, bucket, "nc/step_2/")
    emulator.journal().clear()
    found = command("prune", f"s3://{bucket}/nc", *PRUNE)
    assert [each["step"] for each in found["deleted"]] == [1]
    assert keys(client, bucket) == newest
    assert loads(emulator, f"s3://{bucket}/nc/step_2") == 2
    deletions = [entry.operation for entry in emulator.journal().entries() if entry.operation.startswith("Delete")]
    assert deletions == ["DeleteObject", "DeleteObject", "DeleteObjects"]  # metadata, then the rest
    assert [uri.endswith(".metadata") for uri in found["objects"]] == [True, True, False, False]


def test_checkpoint_with_unpublished_ranks_is_incomplete(emulator, client, bucket, command):
    for step in (1, 2, 3):
        earlier(emulator, 600 - step, lambda step=step: save_ranks(emulator, f"s3://{bucket}/nc/step_{step}", ranks=3))
    client.delete_object(bucket, "nc/step_2/__1.metadata")  # a gap
    client.delete_object(bucket, "nc/step_3/__2.metadata")  # shards of a rank without one
    before = keys(client, bucket)
    found = command("prune", f"s3://{bucket}/nc", *PRUNE)
    assert [each["step"] for each in found["kept"]] == [1]
    assert keys(client, bucket) == before
    missing = [
        each["key"] for each in command("verify", f"s3://{bucket}/nc/step_3", status=1)["objects"] if each["state"] != "ok"
    ]
    assert missing == ["nc/step_3/__2.metadata"]
    assert [each["complete"] for each in command("ls", f"s3://{bucket}/nc")] == [True, False, False]


@pytest.mark.parametrize("before", [save_ranks, lambda emulator, uri: save(emulator, uri, some_state(1))])
def test_checkpoint_with_another_number_of_ranks_may_be_incomplete(emulator, client, bucket, command, before):
    earlier(emulator, 9000, lambda: before(emulator, f"s3://{bucket}/nc/step_1"))
    save_rank(emulator, f"s3://{bucket}/nc/step_2", 0)
    before = keys(client, bucket)
    assert "the save may be running" in command("prune", f"s3://{bucket}/nc", *PRUNE)["incomplete"][0]["why"]
    assert keys(client, bucket) == before


def test_both_kinds_of_metadata_in_one_folder_keep_their_objects(emulator, client, bucket, command):
    uri = f"s3://{bucket}/run/step_1"
    earlier(emulator, 9000, lambda: save_ranks(emulator, uri, prefix_strategy=HexPrefixStrategy()))
    earlier(emulator, 8000, lambda: save(emulator, uri, some_state(1)))
    before = keys(client, bucket)
    command("prune", f"s3://{bucket}/run", *PRUNE)
    assert keys(client, bucket) == before


def test_restore_of_a_checkpoint_of_ranks_raises(emulator, client, bucket, command):
    keep_versions(emulator, bucket)
    for value in (1, 2):
        save_ranks(emulator, f"s3://{bucket}/nc", value=value)
    error = command("restore", f"s3://{bucket}/nc", "--as-of", "2001-01-01T00:00:00Z", status=1)
    assert "nothing was changed" in error
    assert "saved without collectives" in error
    assert loads(emulator, f"s3://{bucket}/nc") == 2


# ---- all layouts of S3StorageWriter


class Custom(S3PrefixStrategyBase):
    def generate_prefix(self, rank: int) -> str:
        return f"of/my/own-{rank}."


FORMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "threads": {"thread_count": 3},
    "more threads than items": {"thread_count": 20},
    "one object per item": {"single_file_per_rank": False, "thread_count": 2},
    "binary": {"prefix_strategy": BinaryPrefixStrategy(epoch_num=3)},
    "hex": {"prefix_strategy": HexPrefixStrategy(), "thread_count": 2},
    "round robin": {"prefix_strategy": RoundRobinPrefixStrategy(["a/b", "c"])},
    "custom": {"prefix_strategy": Custom()},
    "zstd": {"_extensions": [ZStandard()]},
    "safetensors": {"serialization_format": SerializationFormat.SAFETENSORS},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("saves", [1, 2])
def test_every_layout_is_verified_and_the_kept_checkpoint_stays_complete(emulator, client, bucket, command, form, saves):
    state = {"a": torch.ones(40), "b": torch.ones(3, 5)} if form == "safetensors" else some_state(1)
    for step in (1, 2):
        for again in range(saves):  # the second save uses names with a generation
            at = 900 - 100 * step - again
            uri = f"s3://{bucket}/run/step_{step}"
            earlier(emulator, at, lambda uri=uri: save(emulator, uri, state, **FORMS[form]))
    verified = command("verify", f"s3://{bucket}/run/step_2")
    assert verified["intact"]
    assert {each["state"] for each in verified["objects"]} == {"ok"}
    newest = keys(client, bucket, "run/step_2/")
    command("prune", f"s3://{bucket}/run", *PRUNE)
    assert keys(client, bucket) == newest
    target = emptied(state)
    if form != "safetensors":
        reader = S3StorageReader(emulator.region, f"s3://{bucket}/run/step_2", emulator.config(), endpoint=emulator.endpoint)
        dcp.load(target, storage_reader=reader)
        assert same(target, state)


@pytest.mark.parametrize("form", FORMS)
def test_object_without_any_checksum_is_unverified_and_not_damaged(emulator, client, bucket, command, form):
    state = {"a": torch.ones(40), "b": torch.ones(3, 5)} if form == "safetensors" else some_state(1)
    save(emulator, f"s3://{bucket}/x", state, **FORMS[form])
    for key in keys(client, bucket):
        put_without_checksum(emulator, bucket, key, get(client, bucket, key))
    verified = command("verify", f"s3://{bucket}/x")
    assert verified["intact"]
    states = {each["state"] for each in verified["objects"] if each["key"].endswith(".distcp")}
    assert states == ({"unverified"} if form in ("zstd", "safetensors") else {"ok"})


def test_damage_is_reported_after_an_unverifiable_item(emulator, client, bucket, command):
    save(emulator, f"s3://{bucket}/x", {"a": torch.ones(1000), "b": torch.ones(1000)})
    key = "x/__0_0.distcp"
    data = bytearray(get(client, bucket, key))
    data[0] ^= 1  # the first item is no longer a zip file
    data[data.rindex(torch.ones(500).numpy().tobytes()) + 9] ^= 1
    put_without_checksum(emulator, bucket, key, bytes(data))
    (verdict,) = [each for each in command("verify", f"s3://{bucket}/x", status=1)["objects"] if each["key"] == key]
    assert verdict["state"] == "damaged"


# ---- unreadable, locked and changing checkpoints


@pytest.mark.parametrize("data", [b"\x80\x04damaged", pickle.dumps({"of": "a newer torch"}), b""])
@pytest.mark.parametrize("name", [".metadata", "__0.metadata"])
def test_nothing_is_deleted_below_unreadable_metadata(emulator, client, bucket, command, data, name):
    uri = f"s3://{bucket}/run/step_1"
    earlier(emulator, 900, lambda: save(emulator, uri, some_state(1), prefix_strategy=HexPrefixStrategy()))
    earlier(emulator, 900, lambda: put(client, bucket, f"run/step_1/{name}", data))
    earlier(emulator, 900, lambda: put(client, bucket, "run/step_1/deep/er/__0_0.distcp", b"may belong to it"))
    earlier(emulator, 800, lambda: save(emulator, f"s3://{bucket}/run/step_2", some_state(2)))
    before = keys(client, bucket)
    found = command("prune", f"s3://{bucket}/run", *PRUNE)
    assert keys(client, bucket) == before
    assert f"{uri}/{name} " in found["incomplete"][0]["why"]


@pytest.mark.parametrize("lock", [".metadata.saving", "__0.metadata.saving", ".metadata.tmp"])
def test_folder_with_a_new_save_lock_is_in_use(emulator, client, bucket, command, lock):
    for step in (1, 2):
        earlier(emulator, 900 - step, lambda step=step: save(emulator, f"s3://{bucket}/run/step_{step}", some_state(step)))
    earlier(emulator, 900, lambda: put(client, bucket, "run/step_3/00/__0_0.distcp", b"running save"))
    for step in (1, 3):
        put(client, bucket, f"run/step_{step}/{lock}", b"")
    before = keys(client, bucket)
    found = command("prune", f"s3://{bucket}/run", *PRUNE)
    assert keys(client, bucket) == before
    assert "a save is running there" in found["incomplete"][0]["why"]


def test_old_save_lock_of_a_killed_save_is_ignored(emulator, client, bucket, command):
    earlier(emulator, 900, lambda: save(emulator, f"s3://{bucket}/run/step_1", some_state(1)))
    earlier(emulator, 800, lambda: save(emulator, f"s3://{bucket}/run/step_2", some_state(2)))
    kept = keys(client, bucket, "run/step_2/")
    for key in ("run/step_1/.metadata.saving", "run/step_3/.metadata.saving", "run/step_3/00/__0_0.distcp"):
        earlier(emulator, 700, lambda key=key: put(client, bucket, key, b""))
    before = keys(client, bucket)
    command("prune", f"s3://{bucket}/run", "--keep", "2", "--yes")  # without --older-than, every lock counts
    assert keys(client, bucket) == before
    command("prune", f"s3://{bucket}/run", *PRUNE)
    assert keys(client, bucket) == kept


def test_shards_of_a_checkpoint_in_a_parent_folder_are_not_orphans(emulator, client, bucket, command):
    uri = f"s3://{bucket}/run/step_1"
    earlier(emulator, 900, lambda: save(emulator, uri, some_state(1), prefix_strategy=BinaryPrefixStrategy(epoch_num=3)))
    before = keys(client, bucket)
    (folder,) = {key.rsplit("/", 2)[0] for key in before if key.endswith(".distcp")}
    assert command("prune", f"s3://{bucket}/{folder}", *PRUNE)["objects"] == []
    assert keys(client, bucket) == before


def test_model_and_optimizer_of_a_step_are_one_unit(emulator, client, bucket, command):
    """Accelerate uses this layout."""
    for step in (1, 2):
        for part in ("pytorch_model_fsdp_0", "optimizer_0"):
            uri = f"s3://{bucket}/run/checkpoint_{step}/{part}"
            earlier(emulator, 900 - 100 * step, lambda uri=uri: save(emulator, uri, some_state(1)))
    newest = keys(client, bucket, "run/checkpoint_2/")
    command("prune", f"s3://{bucket}/run", *PRUNE)
    assert keys(client, bucket) == newest


def test_files_beside_metadata_are_not_checkpoints(emulator, client, bucket, command):
    save(emulator, f"s3://{bucket}/run/step_1", some_state(1))
    for rank in range(3):
        put(client, bucket, f"run/step_1/rng_state_{rank}.pth", b"")
    before = keys(client, bucket)
    command("prune", f"s3://{bucket}/run/step_1", *PRUNE)
    assert keys(client, bucket) == before


def test_objects_saved_after_the_listing_are_kept(emulator, client, bucket, command, monkeypatch):
    """Between listing and deletion, a new save uses the name of an orphan, and an old checkpoint is saved again."""
    for step in (1, 2):
        earlier(emulator, 900 - step, lambda step=step: save(emulator, f"s3://{bucket}/run/step_{step}", some_state(step)))
    earlier(emulator, 800, lambda: put(client, bucket, "run/step_3/__0_0.distcp", b"left by a killed save"))
    execute = _prune.execute

    def save_then_execute(place: _place.Place, found: Any) -> list[str]:
        save(emulator, f"s3://{bucket}/run/step_3", some_state(3))
        return execute(place, found)

    monkeypatch.setattr(_prune, "execute", save_then_execute)
    assert "nothing was deleted; run the command again" in command("prune", f"s3://{bucket}/run", *PRUNE, status=1)
    assert {key.split("/")[1] for key in keys(client, bucket)} == {"step_1", "step_2", "step_3"}


def test_objects_locked_between_the_two_deletions_are_kept(emulator, client, bucket, command, monkeypatch):
    for step in (1, 2):
        earlier(emulator, 900 - step, lambda step=step: save(emulator, f"s3://{bucket}/run/step_{step}", some_state(step)))
    earlier(emulator, 800, lambda: put(client, bucket, "run/step_3/__0_0.distcp", b"left by a killed save"))
    unchanged = _prune._unchanged
    calls: list[int] = []

    def locked(place: _place.Place, found: Any, objects: list[Any]) -> list[Any]:
        calls.append(len(objects))
        if len(calls) == 2:
            put(client, bucket, "run/step_3/.metadata.saving", b"")
        return unchanged(place, found, objects)

    monkeypatch.setattr(_prune, "_unchanged", locked)
    found = command("prune", f"s3://{bucket}/run", *PRUNE, status=1)
    assert found["failures"] == [f"s3://{bucket}/run/step_3/__0_0.distcp: changed during this run, kept"]
    assert get(client, bucket, "run/step_3/__0_0.distcp") == b"left by a killed save"
    assert not keys(client, bucket, "run/step_1/")


def test_pruned_checkpoint_of_a_versioned_bucket_can_be_restored(emulator, client, bucket, command):
    keep_versions(emulator, bucket)
    for step in (1, 2):
        earlier(emulator, 900 - step, lambda step=step: save(emulator, f"s3://{bucket}/run/step_{step}", some_state(step)))
    before = keys(client, bucket)
    command("prune", f"s3://{bucket}/run", *PRUNE)
    (version,) = [
        version
        for page in client.list_object_versions(bucket, "run/step_1/.metadata")
        for version in page.versions
        if not version.is_delete_marker and version.key.endswith(".metadata")  # the save has created and released its lock
    ]
    command("restore", f"s3://{bucket}/run/step_1", "--version", version.version_id)
    assert keys(client, bucket) == before
    assert command("verify", f"s3://{bucket}/run/step_1")["intact"]


def test_error_of_a_load_of_a_removed_checkpoint_suggests_another_load(emulator, client, bucket):
    save(emulator, f"s3://{bucket}/x", {"w": torch.ones(100)})
    client.delete_object(bucket, "x/__0_0.distcp")
    with pytest.raises(dcp.CheckpointException) as caught:
        loads(emulator, f"s3://{bucket}/x")
    (error, _) = caught.value.failures[0]
    assert isinstance(error, penstock.S3NotFoundError)
    assert (error.key, error.code) == ("x/__0_0.distcp", "NoSuchKey")
    assert "may have been replaced or removed since its .metadata was read: load again" in str(error)
