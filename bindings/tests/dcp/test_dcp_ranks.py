"""Saves by several ranks: requests of the coordinator, errors in all ranks, failing ranks, saves without collectives."""

from __future__ import annotations

import io
import pickle
import re
import warnings

import bucket_io
import dcp_io
import dcp_ranks
import pytest
import torch
import torch.distributed.checkpoint as dcp
from penstock._checkpoint_format._pieces import CRC32S
from penstock.dcp import HexPrefixStrategy, RoundRobinPrefixStrategy
from penstock.testing import Emulator

RANKS = 3
URI = "s3://bucket/ck"


@pytest.fixture
def own_emulator() -> Emulator:
    with Emulator() as instance:
        instance.client().create_bucket("bucket")
        yield instance


def save(own_emulator: Emulator, seed: int, **writer_kwargs: object) -> dict[int, str]:
    return dcp_ranks.run(dcp_ranks.save, RANKS, dcp_ranks.Access(own_emulator), URI, seed, writer_kwargs, {})


def seed_of_checkpoint(own_emulator: Emulator) -> int:
    """Checks that the checkpoint has all values of one save. Returns the seed of that save."""
    client = own_emulator.client()
    seed = dcp_io.loaded(client, "bucket", "ck", {"step": 0})["step"]
    wanted = dcp_ranks.whole_state(RANKS, seed)
    assert dcp_io.same(dcp_io.loaded(client, "bucket", "ck", wanted), wanted)
    return seed


def test_each_thread_of_each_rank_writes_one_object(own_emulator):
    assert set(save(own_emulator, 1, thread_count=4).values()) == {""}
    wanted = [".metadata", *(f"__{rank}_{number}.distcp" for rank in range(RANKS) for number in range(4))]
    assert sorted(dcp_io.names(own_emulator.client(), "bucket", "ck")) == sorted(wanted)
    assert seed_of_checkpoint(own_emulator) == 1


@pytest.mark.parametrize(
    ("strategy", "prefixes"),
    [
        (RoundRobinPrefixStrategy(["prefix1", "prefix2", "prefix3"]), ["prefix1/__0_", "prefix2/__1_", "prefix3/__2_"]),
        (HexPrefixStrategy(2, 4, RANKS), ["0000/epoch_2/__0_", "1000/epoch_2/__1_", "2000/epoch_2/__2_"]),
    ],
)
def test_each_rank_writes_below_its_prefix(own_emulator, strategy, prefixes):
    save(own_emulator, 1, prefix_strategy=strategy)
    assert sorted(dcp_io.names(own_emulator.client(), "bucket", "ck")) == sorted(
        [".metadata", *(f"{p}0.distcp" for p in prefixes)]
    )
    assert seed_of_checkpoint(own_emulator) == 1


def head_requests(own_emulator: Emulator) -> list[str]:
    return [entry.key for entry in own_emulator.journal().entries(operations="HeadObject")]


def test_only_the_coordinator_requests_the_existing_checkpoint(own_emulator):
    for seed in (1, 2):
        own_emulator.journal().clear()
        assert set(save(own_emulator, seed).values()) == {""}
        assert head_requests(own_emulator) == ["ck/.metadata", "ck/.metadata.saving"]
        own_emulator.journal().assert_count(0, operations=["ListObjectsV2", "ListObjects", "CopyObject", "ListMultipartUploads"])
        own_emulator.journal().assert_count(RANKS + 2, operations="PutObject")
        assert seed_of_checkpoint(own_emulator) == seed
    names = [name for name in dcp_io.names(own_emulator.client(), "bucket", "ck") if name != ".metadata"]
    generations = {re.fullmatch(r"__\d_(g[0-9a-f]{8})_0\.distcp", name)[1] for name in names}
    assert (len(names), len(generations)) == (RANKS, 1)


def test_every_rank_raises_if_a_checkpoint_exists(own_emulator):
    assert set(save(own_emulator, 1).values()) == {""}
    own_emulator.journal().clear()
    errors = save(own_emulator, 2, overwrite=False)
    assert all("Checkpoint already exists and self.overwrite=False." in text for text in errors.values())
    assert all(text.startswith("CheckpointException") for text in errors.values())
    own_emulator.journal().assert_count(1, operations="HeadObject")
    own_emulator.journal().assert_count(0, operations="PutObject")
    assert seed_of_checkpoint(own_emulator) == 1


def test_every_rank_raises_the_same_error_if_one_fails(own_emulator):
    save(own_emulator, 1)
    errors = dcp_ranks.run(dcp_ranks.save_while_one_fails, RANKS, dcp_ranks.Access(own_emulator), URI, 2, 1)
    assert len(errors) == RANKS
    assert all("the planner of one rank" in text for text in errors.values())
    assert own_emulator.client()._client.list_multipart_uploads("bucket") == []
    assert seed_of_checkpoint(own_emulator) == 1
    assert set(save(own_emulator, 3).values()) == {""}
    assert seed_of_checkpoint(own_emulator) == 3


@pytest.mark.parametrize("failing_rank", [0, 2])
def test_killed_rank_keeps_the_previous_checkpoint(own_emulator, failing_rank):
    save(own_emulator, 1)
    errors = dcp_ranks.run(
        dcp_ranks.save_while_one_is_killed, RANKS, dcp_ranks.Access(own_emulator), URI, 2, failing_rank, killed=1
    )
    assert failing_rank not in errors
    assert all(errors.values()), "surviving ranks do not hang and do not succeed"
    assert seed_of_checkpoint(own_emulator) == 1
    assert set(save(own_emulator, 3).values()) == {""}
    assert seed_of_checkpoint(own_emulator) == 3
    assert own_emulator.client()._client.list_multipart_uploads("bucket") == []


def test_killed_rank_in_the_first_save_leaves_no_checkpoint(own_emulator):
    dcp_ranks.run(dcp_ranks.save_while_one_is_killed, RANKS, dcp_ranks.Access(own_emulator), URI, 1, 1, killed=1)
    assert ".metadata" not in dcp_io.names(own_emulator.client(), "bucket", "ck")
    assert set(save(own_emulator, 2).values()) == {""}
    assert seed_of_checkpoint(own_emulator) == 2


def test_without_collectives_every_rank_has_its_own_checkpoint(own_emulator):
    access, client = dcp_ranks.Access(own_emulator), own_emulator.client()
    for seed, times in ((0, 1), (10, 2)):
        assert set(dcp_ranks.run(dcp_ranks.save_alone, RANKS, access, URI, seed, times).values()) == {""}
        names = dcp_io.names(client, "bucket", "ck")
        assert sorted(name for name in names if name.endswith(".metadata")) == [f"__{rank}.metadata" for rank in range(RANKS)]
        assert len(names) == 2 * RANKS
        for rank in range(RANKS):
            metadata = pickle.loads(bucket_io.get(client, "bucket", f"ck/__{rank}.metadata"))
            info = next(info for index, info in metadata.storage_data.items() if index.fqn == "mine")
            assert info.relative_path.startswith(f"__{rank}_")
            item = bucket_io.get(client, "bucket", f"ck/{info.relative_path}")[info.offset : info.offset + info.length]
            assert torch.equal(torch.load(io.BytesIO(item)), torch.full((200,), float(rank + seed + times - 1)))


@pytest.mark.parametrize("kind", ["THREAD", "PROCESS"])
def test_asynchronous_save_contains_the_state_at_the_call(own_emulator, kind):
    ranks = 2
    errors = dcp_ranks.run(dcp_ranks.save_async, ranks, dcp_ranks.Access(own_emulator), URI, 4, kind)
    assert set(errors.values()) == {""}
    whole = dcp_ranks.whole_state(ranks, 4)
    wanted = {key: whole[key] for key in ("of.0", "of.1", "all")}
    assert dcp_io.same(dcp_io.loaded(own_emulator.client(), "bucket", "ck", wanted), wanted)


@pytest.mark.parametrize("kind", ["", "THREAD", "PROCESS"])
def test_checksums_of_pieces_of_every_rank_are_in_the_metadata(own_emulator, kind):
    errors = dcp_ranks.run(dcp_ranks.save_in_pieces, 2, dcp_ranks.Access(own_emulator), URI, kind)
    assert set(errors.values()) == {""}
    metadata = pickle.loads(bucket_io.get(own_emulator.client(), "bucket", "ck/.metadata"))
    found = {index.fqn: getattr(info, CRC32S) for index, info in metadata.storage_data.items()}
    assert {name: len(crcs) for name, crcs in found.items()} == {"of.0": 32, "of.1": 32}


@pytest.mark.parametrize("kind", ["THREAD", "PROCESS"])
def test_failed_asynchronous_save_raises_in_every_rank_and_changes_nothing(own_emulator, kind):
    ranks, access = 2, dcp_ranks.Access(own_emulator)
    assert set(dcp_ranks.run(dcp_ranks.save_async, ranks, access, URI, 4, "THREAD").values()) == {""}
    denied = {"error": {"code": "AccessDenied", "status": 403}}
    own_emulator.faults().set([{"id": "denied", "when": {"operation": "PutObject", "key": "*__1_*.distcp"}, "do": denied}])
    errors = dcp_ranks.run(dcp_ranks.save_async, ranks, access, URI, 5, kind)
    own_emulator.faults().check()
    assert len(errors) == ranks
    assert all("AccessDenied" in text or "Forbidden" in text for text in errors.values()), errors
    whole = dcp_ranks.whole_state(ranks, 4)
    wanted = {key: whole[key] for key in ("of.0", "of.1", "all")}
    assert dcp_io.same(dcp_io.loaded(own_emulator.client(), "bucket", "ck", wanted), wanted)


def test_asynchronous_save_without_process_group_contains_the_state_at_the_call(emulator, client, bucket):
    state = {"a": torch.ones(1000)}
    for cached in (False, True):
        writer = dcp_io.writer_of(
            emulator, f"s3://{bucket}/{cached}", cache_staged_state_dict=cached and torch.cuda.is_available()
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            future = dcp.async_save(state, storage_writer=writer)
        state["a"].zero_()
        future.result()
        assert dcp_io.same(dcp_io.loaded(client, bucket, str(cached), state), {"a": torch.ones(1000)})
        state["a"].fill_(1)
