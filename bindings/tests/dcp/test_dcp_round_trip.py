"""Random state dicts that N ranks save with S3StorageWriter and M ranks load with S3StorageReader are bitwise equal.

All types, views and layouts, quantized tensors, DTensors, ShardedTensors, nested values of any class, every prefix strategy,
threads, extensions and kinds of save. Every fourth seed is also loaded by torch's own reader, from a local copy.
Runs a few seeds by default; PENSTOCK_LONG=1 runs many, and a state of more than 2 GiB. PENSTOCK_SEED repeats one seed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import random
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bucket_io
import dcp_io
import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from checkpoints import Sharded, same_bits
from dcp_ranks import Access, attempt
from penstock import S3ReaderConstructor
from penstock.dcp import (
    BinaryPrefixStrategy,
    HexPrefixStrategy,
    RoundRobinPrefixStrategy,
    S3PrefixStrategyBase,
    S3StorageReader,
    S3StorageWriter,
    _commit,
    _load,
    _shard,
)
from penstock.testing import Emulator
from random_states import (
    MISSING,
    PART_BYTES,
    Leaf,
    Placed,
    RandomState,
    Ranks,
    Target,
    quantised_target,
    random_mesh,
    same_object,
    same_quantised,
    saved_leaf,
)
from rank_pool import RankPool
from torch.distributed.checkpoint import DefaultSavePlanner
from torch.distributed.checkpoint._extension import ZStandard
from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType

LONG = bool(os.environ.get("PENSTOCK_LONG"))
SEEDS = [int(os.environ["PENSTOCK_SEED"])] if os.environ.get("PENSTOCK_SEED") else range(300 if LONG else 10)
MOST_RANKS = 4
BUCKET = "round-trips"
IN_PIECES = {"UNIT_BYTES": 700, "PART_BYTES": 900, "BATCH_BYTES": 3000, "WINDOW_BYTES": 9000}
USUAL = {name: getattr(_load, name) for name in IN_PIECES}


class CustomStrategy(S3PrefixStrategyBase):
    """A custom strategy."""

    def generate_prefix(self, rank: int) -> str:
        return f"of {rank}/ü/"


class Case:
    """A random test case, determined by its seed. Every rank creates it."""

    def __init__(self, seed: int) -> None:
        choose = random.Random(f"case {seed}")
        self.seed = seed
        self.ranks, self.new_ranks = choose.choices(range(1, MOST_RANKS + 1), (1, 3, 3, 3), k=2)
        self.mesh, self.new_mesh = random_mesh(choose, self.ranks), random_mesh(choose, self.new_ranks)
        self.background = choose.choice(("", "", "PROCESS" if LONG and seed % 20 == 0 else "THREAD"))
        self.state = RandomState(seed, self.ranks, large=choose.random() < 0.2, stageable=bool(self.background))
        self.placements = self.state.placements(f"{seed} saved", self.ranks, self.mesh)
        self.new_placements = self.state.placements(f"{seed} loaded", self.new_ranks, self.new_mesh)
        if self.background:
            self.placements = [Placed("plain") if each.how in ("boxes", "shards") else each for each in self.placements]
        self.in_pieces = choose.random() < 0.4
        self.replaces = choose.random() < 0.3
        self.then_refused = choose.random() < 0.2
        self.by_torch = seed % 4 == 0
        self.dedup_to_lowest = choose.random() < 0.5
        self.writer_options: dict[str, Any] = {
            "prefix_strategy": self._prefix_strategy(choose),
            "thread_count": choose.randrange(1, 5),
            "single_file_per_rank": choose.random() < 0.8,
            "overwrite": self.replaces or choose.random() < 0.5,
            "_extensions": [ZStandard()] if choose.random() < 0.2 else None,
        }
        self.reader_options: dict[str, Any] = {
            "reader_constructor": choose.choice(
                (None, None, None, None, None, S3ReaderConstructor.dcp_optimized(choose.choice((0, 1000, float("inf")))),
                 S3ReaderConstructor.sequential(), S3ReaderConstructor.range_based(choose.choice((0, 500, None))))
            ),
            "max_gap_size": choose.choice((None, 0, 5000)),
            "max_request_size": choose.choice((None, None, 3000)),
        }  # fmt: skip
        self.reads_by_torchs_loop = self.reader_options["reader_constructor"] is not None

    def _prefix_strategy(self, choose: random.Random) -> S3PrefixStrategyBase | None:
        epoch = choose.choice((None, 3))
        return choose.choice(
            (
                None,
                RoundRobinPrefixStrategy(["one", "two/three"], epoch),
                BinaryPrefixStrategy(epoch, 4, self.ranks),
                HexPrefixStrategy(epoch, 2, 2),
                CustomStrategy(),
            )
        )

    def saved(self, ranks: Ranks) -> dict[str, Any]:
        generator = random.Random(f"layouts {self.seed} {ranks.rank}")
        stageable = bool(self.background)

        def part(number: int, leaf: Leaf) -> Any:
            return saved_leaf(generator, ranks, leaf, self.placements[number], stageable=stageable)

        return self.state.build(part)


# ---- in the ranks


def save(rank: int, access: Access, uri: str, seed: int) -> str:
    """Saves. Returns the problem, or "". After an asynchronous save has started, changes the rank's state."""
    case = Case(seed)
    ranks = Ranks(rank, case.ranks, case.mesh)
    if case.in_pieces:
        _shard.MAX_UNDRAINED_BYTES = 10_000
    state = case.saved(ranks)
    if case.replaces:
        dcp.save(
            {f"earlier {rank}": torch.ones(5000), "all": [torch.zeros(3)]}, storage_writer=access.writer(uri, thread_count=2)
        )
    writer = S3StorageWriter(
        access.region,
        uri,
        dataclasses.replace(access.config(), part_size=PART_BYTES),
        endpoint=access.endpoint,
        **case.writer_options,
    )
    planner = DefaultSavePlanner(dedup_save_to_lowest_rank=case.dedup_to_lowest)
    if case.background:
        kind = AsyncCheckpointerType[case.background]
        future = dcp.async_save(state, storage_writer=writer, planner=planner, async_checkpointer_type=kind)
        overwrite_tensors(state)
        future.result()
    else:
        dcp.save(state, storage_writer=writer, planner=planner)
    if case.then_refused:
        refusing = access.writer(uri, overwrite=False)
        refusal = attempt(lambda: dcp.save({"other": torch.zeros(3)}, storage_writer=refusing))
        return "" if "Checkpoint already exists" in refusal else f"a save with overwrite=False did not raise: {refusal!r}"
    return ""


def overwrite_tensors(value: Any) -> None:
    """Overwrites every tensor, as further training would."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            overwrite_tensors(each)
    elif hasattr(value, "local_shards"):
        for shard in value.local_shards():
            overwrite_tensors(shard.tensor)
    elif isinstance(value, torch.Tensor):
        local = value.to_local() if hasattr(value, "to_local") else value
        local.untyped_storage().fill_(0x11)


def load(rank: int, access: Access, uri: str, seed: int, by_torch: bool) -> list[str]:
    """Returns the names of values in this rank's part that differ from the saved ones."""
    case = Case(seed)
    ranks = Ranks(rank, case.new_ranks, case.new_mesh)
    choose_for_all, choose = random.Random(f"load {seed}"), random.Random(f"load {seed} {rank}")
    plain_reader = by_torch or case.reads_by_torchs_loop
    targets: dict[int, list[Target]] = {}

    def empty(number: int, leaf: Leaf) -> Any:
        left_out = choose_for_all.random() < 0.15 or (leaf.owner is not None and choose.random() < 0.3)
        if left_out and not leaf.in_list:
            return MISSING
        if leaf.kind == "object":
            return None
        if leaf.kind == "quantised":  # torch's reader keeps the quantizer of the target
            return quantised_target(leaf.value, same=plain_reader)
        placed = case.new_placements[number]
        contiguous = placed.how == "shards"
        targets[number] = [Target(choose, part, contiguous=contiguous) for _, part in ranks.parts(leaf.value, placed)]
        return ranks.together(leaf.value, placed, [target.tensor for target in targets[number]])

    state = case.state.build(empty)
    for name, value in IN_PIECES.items():
        setattr(_load, name, value if case.in_pieces else USUAL[name])
    reader: Any = dcp.FileSystemReader(uri)
    if not by_torch:
        reader = S3StorageReader(access.region, uri, access.config(), endpoint=access.endpoint, **case.reader_options)
    dcp.load(state, storage_reader=reader)
    wrong = []
    for number, leaf, value in case.state.beside(state):
        if value is MISSING:
            continue
        about = f"leaf {number} ({leaf.kind}) in rank {rank}: "
        if leaf.kind == "object":
            if not same_object(value, leaf.value):
                wrong.append(f"{about}{value!r} instead of {leaf.value!r}")
        elif leaf.kind == "quantised":
            if not same_quantised(value, leaf.value):
                wrong.append(f"{about}{value} instead of {leaf.value}")
        else:
            placed = case.new_placements[number]
            for (offsets, part), target in zip(ranks.parts(leaf.value, placed), targets[number], strict=True):
                where = f"{about}{leaf.value.dtype} {list(part.size())} at {offsets} of {list(leaf.value.size())}, {placed.how}"
                if not same_bits(target.tensor, part):
                    wrong.append(f"{where}: other elements")
                elif not target.surroundings_are_foreign():
                    wrong.append(f"{where}: something was written beside it")
    return wrong


# ---- the tests


@pytest.fixture(scope="module")
def pool() -> Iterator[RankPool]:
    with RankPool(MOST_RANKS, ["test_dcp_round_trip"]) as ranks:
        yield ranks


@pytest.fixture(scope="module")
def own_emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        instance.client().create_bucket(BUCKET)
        yield instance


def fresh_ranks(case: Case) -> RankPool:
    """Starts new ranks: torch keeps a rank's process for asynchronous saves, which belongs to one process group."""
    return RankPool(case.ranks, ["test_dcp_round_trip"])


def objects_named(client: penstock.S3Client, prefix: str) -> set[str]:
    """Returns the names of the objects in the checkpoint's metadata."""
    metadata = pickle.loads(bucket_io.get(client, BUCKET, f"{prefix}/.metadata"))
    return {".metadata"} | _commit.object_names(metadata)


@pytest.mark.timeout(600)  # the pool has its own timeout
@pytest.mark.parametrize("seed", SEEDS)
def test_m_ranks_load_what_n_ranks_save(own_emulator: Emulator, pool: RankPool, tmp_path: Path, seed: int) -> None:
    print(f"PENSTOCK_SEED={seed}")
    case, access, client, prefix = Case(seed), Access(own_emulator), own_emulator.client(), f"of-{seed}"
    uri = f"s3://{BUCKET}/{prefix}"
    with fresh_ranks(case) if case.background == "PROCESS" else contextlib.nullcontext(pool) as saving:
        assert saving.run(case.ranks, save, access, uri, seed) == [""] * case.ranks
    assert set(dcp_io.names(client, BUCKET, prefix)) == objects_named(client, prefix)
    assert pool.run(case.new_ranks, load, access, uri, seed, False) == [[]] * case.new_ranks
    if case.by_torch:
        folder = dcp_io.copied(client, BUCKET, prefix, tmp_path)
        assert pool.run(case.new_ranks, load, access, str(folder), seed, True) == [[]] * case.new_ranks
    client._client.delete_objects(BUCKET, bucket_io.keys(client, BUCKET, prefix + "/"))
    assert client._client.list_multipart_uploads(BUCKET) == []


# ---- more than 2 GiB

ROW = 65_536  # elements of 4 bytes
ROWS = 8200 if LONG else 100  # 8192 are 2 GiB
MOST_BYTES_OF_A_PROCESS = 3 * 1024**3


def fill_rows(tensor: torch.Tensor, first: int) -> None:
    """Fills rows, starting at row `first`, with distinct elements."""
    for begin in range(0, tensor.size(0), 256):
        rows = tensor[begin : begin + 256]
        torch.arange((first + begin) * ROW, (first + begin + rows.size(0)) * ROW, out=rows.view(-1))
        rows.mul_(-1640531527)


def wrong_rows(tensor: torch.Tensor, first: int) -> int:
    wrong = 0
    for begin in range(0, tensor.size(0), 256):
        rows = tensor[begin : begin + 256]
        expected = torch.empty_like(rows)
        fill_rows(expected, first + begin)
        wrong += int((rows != expected).any(dim=1).sum())
    return wrong


def rows_of_rank(rank: int, ranks: int) -> tuple[int, int]:
    step = -(-ROWS // ranks)
    return min(step * rank, ROWS), min(step * (rank + 1), ROWS)


def save_rows(rank: int, access: Access, uri: str) -> int:
    """Saves a large tensor of rank 0 and a small one of each rank. Returns the peak memory of this process in bytes."""
    state: dict[str, Any] = {f"small {rank}": torch.full((1000,), float(rank))}
    if rank == 0:
        state["large"] = torch.empty(ROWS, ROW, dtype=torch.int32)
        fill_rows(state["large"], 0)
    dcp.save(state, storage_writer=access.writer(uri, thread_count=2))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def load_rows(rank: int, access: Access, uri: str, ranks: int) -> tuple[int, int]:
    """Loads. Returns the wrong rows of this rank, and the peak memory of this process in bytes."""
    first, end = rows_of_rank(rank, ranks)
    part = torch.full((end - first, ROW), -1, dtype=torch.int32)
    whole = torch.Size((ROWS, ROW))
    state = {"large": Sharded.of(whole, torch.int32, [((first, 0), part)]), "small 1": torch.zeros(1000)}
    dcp.load(state, storage_reader=access.reader(uri))
    wrong = wrong_rows(part, first) + int((state["small 1"] != 1).sum())
    return wrong, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.timeout(900)
def test_tensor_of_more_than_2_gib(tmp_path: Path) -> None:
    """Has that size only with PENSTOCK_LONG=1. Two ranks save; one rank loads everything, then three load a third each."""
    with Emulator(data=str(tmp_path)) as own_emulator:
        own_emulator.client().create_bucket(BUCKET)
        access, uri = Access(own_emulator), f"s3://{BUCKET}/large"
        for ranks, work, args in ((2, save_rows, ()), (1, load_rows, (1,)), (3, load_rows, (3,))):
            with RankPool(ranks, ["test_dcp_round_trip"]) as pool:  # new processes: a process keeps its peak memory
                results = pool.run(ranks, work, access, uri, *args)
            print(f"{work.__name__} by {ranks}: {results}")
            sizes = [result if work is save_rows else result[1] for result in results]
            assert work is save_rows or [result[0] for result in results] == [0] * ranks
            assert max(sizes) < MOST_BYTES_OF_A_PROCESS
