"""Many ranks that begin at once: how much of it S3 throttles, by the simulation, and what few ranks ask for, by the journal."""

from __future__ import annotations

from collections.abc import Iterator

import dcp_io
import dcp_ranks
import pytest
import torch
import torch.distributed.checkpoint as dcp
from penstock import simulate
from penstock.dcp import _reader, _spread
from penstock.dcp._spread import LOADS, SAVES, Spread
from penstock.testing import Emulator

URI = "s3://bucket/ck"
MANY = 512
SPREAD_S = SAVES.delay(MANY, 1.0)  # the longest wait; the simulation draws each rank's, as the writer does, evenly below
MIB = 1 << 20
JOB = {"ranks": MANY, "limits": "aws-standard", "client": "penstock"}


@pytest.mark.parametrize(
    ("job", "refused_at_least"),
    [
        pytest.param({"file_bytes": 8 * MIB}, 100, id="one request a rank"),
        pytest.param({"file_bytes": 64 * MIB}, 500, id="uploads in parts"),
    ],
)
@pytest.mark.parametrize("strategy", ["default", "hex"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_many_ranks_do_not_meet_a_throttled_prefix_at_once(
    job: dict[str, int], refused_at_least: int, strategy: str, seed: int
) -> None:
    at_once = simulate.simulate(strategy=strategy, seed=seed, **JOB, **job)
    ours = simulate.simulate(strategy=strategy, seed=seed, start_spread_s=SPREAD_S, **JOB, **job)
    assert at_once.refused > refused_at_least
    assert (ours.refused, ours.retries, ours.completed) == (0, 0, True)
    assert ours.time_s < at_once.time_s + SPREAD_S


def test_large_saves_that_outrun_a_prefix_for_longer_than_their_start_complete() -> None:
    """A GiB of each rank is more than 3,500 requests a second whenever they begin: there it is the retries that count."""
    ours = simulate.simulate(start_spread_s=SPREAD_S, file_bytes=1024 * MIB, **JOB)
    assert ours.refused > 0
    assert (ours.completed, ours.ranks_failed) == (True, 0)


def test_listings_by_every_rank_would_be_as_many_requests_as_ranks() -> None:
    assert simulate.simulate(operation="list", **JOB).requests >= MANY
    assert simulate.simulate(operation="list", **{**JOB, "ranks": 1}).requests == 1


@pytest.mark.parametrize("ranks", [MANY, 2 * MANY])
@pytest.mark.parametrize("file_bytes", [8 * MIB, 64 * MIB])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_many_ranks_that_load_do_not_either(ranks: int, file_bytes: int, seed: int) -> None:
    job = {**JOB, "ranks": ranks, "operation": "load", "file_bytes": file_bytes, "seed": seed}
    at_once, ours = simulate.simulate(**job), simulate.simulate(start_spread_s=LOADS.delay(ranks, 1.0), **job)
    assert at_once.refused > 100
    assert (ours.refused, ours.retries, ours.completed) == (0, 0, True)


def test_ranks_that_load_without_a_wait_are_not_throttled() -> None:
    job = {**JOB, "ranks": LOADS.from_ranks - 1, "operation": "load"}
    assert all(simulate.simulate(file_bytes=size * MIB, seed=seed, **job).refused == 0 for size in (8, 64) for seed in (1, 2, 3))


@pytest.mark.parametrize("spread", [SAVES, LOADS])
def test_the_wait_grows_with_the_ranks_and_few_do_not_wait(spread: Spread) -> None:
    assert spread.delay(spread.from_ranks - 1, 1.0) == 0
    assert 0 < spread.delay(spread.from_ranks, 1.0) < spread.delay(2 * spread.from_ranks, 1.0) < spread.most_s
    assert spread.delay(100_000, 1.0) == spread.most_s
    assert spread.delay(MANY, 0.25) == spread.delay(MANY, 1.0) / 4


@pytest.mark.parametrize("ranks", [1, LOADS.from_ranks])
def test_a_reader_waits_where_its_ranks_are_many(own: Emulator, monkeypatch: pytest.MonkeyPatch, ranks: int) -> None:
    dcp_io.save(own, URI, {"w": torch.ones(3)}, {"no_dist": True})
    waits: list[float] = []
    monkeypatch.setattr(_spread.time, "sleep", waits.append)
    monkeypatch.setattr(_reader, "world_size", lambda: ranks)
    state = {"w": torch.zeros(3)}
    dcp.load(state, storage_reader=dcp_ranks.Access(own).reader(URI), no_dist=True)
    assert torch.equal(state["w"], torch.ones(3))
    assert len(waits) == (ranks > 1)
    assert all(0 < wait <= LOADS.delay(ranks, 1.0) for wait in waits)


@pytest.fixture
def own() -> Iterator[Emulator]:
    with Emulator() as instance:
        instance.client().create_bucket("bucket")
        yield instance


def test_four_ranks_list_nothing_and_ask_once_what_is_there(own: Emulator) -> None:
    ranks, access, journal = 4, dcp_ranks.Access(own), own.journal()
    listings = ["ListObjects", "ListObjectsV2", "ListObjectVersions"]
    for seed in (1, 2):
        journal.clear()
        assert set(dcp_ranks.run(dcp_ranks.save, ranks, access, URI, seed, {}, {}).values()) == {""}
        journal.assert_count(0, operations=listings)
        journal.assert_count(1, operations="HeadObject", key="ck/.metadata")
        journal.assert_count(1, operations="HeadObject", key="ck/.metadata.saving")
        journal.clear()
        assert set(dcp_ranks.run(dcp_ranks.load, ranks, access, URI, seed).values()) == {""}
        journal.assert_count(0, operations=[*listings, "HeadObject"])
        journal.assert_count(ranks, operations="GetObject", key_prefix="ck/.metadata")
