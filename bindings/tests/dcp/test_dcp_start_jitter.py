"""Start jitter: throttling of many ranks that start at once, by simulation, and the requests of few ranks, by the journal."""

from __future__ import annotations

from collections.abc import Iterator

import dcp_io
import dcp_ranks
import pytest
import torch
import torch.distributed.checkpoint as dcp
from penstock.dcp import _reader, _start_jitter
from penstock.dcp._start_jitter import LOAD_JITTER, SAVE_JITTER, StartJitter
from penstock.testing import Emulator
from penstock_emulator import simulate

URI = "s3://bucket/ck"
MANY = 512
SPREAD_S = SAVE_JITTER.delay(MANY, 1.0)  # the longest delay; the simulation, like the writer, draws each rank's delay uniformly
MIB = 1 << 20
JOB = {"ranks": MANY, "limits": "aws-standard", "client": "penstock"}


@pytest.mark.parametrize(
    ("job", "refused_at_least"),
    [
        pytest.param({"file_bytes": 8 * MIB}, 100, id="one request per rank"),
        pytest.param({"file_bytes": 64 * MIB}, 500, id="uploads in parts"),
    ],
)
@pytest.mark.parametrize("strategy", ["default", "hex"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_jitter_avoids_throttling_of_saves(job: dict[str, int], refused_at_least: int, strategy: str, seed: int) -> None:
    at_once = simulate.simulate(strategy=strategy, seed=seed, **JOB, **job)
    ours = simulate.simulate(strategy=strategy, seed=seed, start_spread_s=SPREAD_S, **JOB, **job)
    assert at_once.refused > refused_at_least
    assert (ours.refused, ours.retries, ours.completed) == (0, 0, True)
    assert ours.time_s < at_once.time_s + SPREAD_S


def test_large_saves_above_the_request_limit_complete_by_retries() -> None:
    """1 GiB per rank exceeds 3,500 requests per second with any start delay, so the ranks depend on retries."""
    ours = simulate.simulate(start_spread_s=SPREAD_S, file_bytes=1024 * MIB, **JOB)
    assert ours.refused > 0
    assert (ours.completed, ours.ranks_failed) == (True, 0)


def test_simulated_listings_send_a_request_per_rank() -> None:
    assert simulate.simulate(operation="list", **JOB).requests >= MANY
    assert simulate.simulate(operation="list", **{**JOB, "ranks": 1}).requests == 1


@pytest.mark.parametrize("ranks", [MANY, 2 * MANY])
@pytest.mark.parametrize("file_bytes", [8 * MIB, 64 * MIB])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_jitter_avoids_throttling_of_loads(ranks: int, file_bytes: int, seed: int) -> None:
    job = {**JOB, "ranks": ranks, "operation": "load", "file_bytes": file_bytes, "seed": seed}
    at_once, ours = simulate.simulate(**job), simulate.simulate(start_spread_s=LOAD_JITTER.delay(ranks, 1.0), **job)
    assert at_once.refused > 100
    assert (ours.refused, ours.retries, ours.completed) == (0, 0, True)


def test_loads_below_min_ranks_are_not_throttled() -> None:
    job = {**JOB, "ranks": LOAD_JITTER.min_ranks - 1, "operation": "load"}
    assert all(simulate.simulate(file_bytes=size * MIB, seed=seed, **job).refused == 0 for size in (8, 64) for seed in (1, 2, 3))


@pytest.mark.parametrize("spread", [SAVE_JITTER, LOAD_JITTER])
def test_delay_grows_with_the_ranks_and_is_zero_for_few(spread: StartJitter) -> None:
    assert spread.delay(spread.min_ranks - 1, 1.0) == 0
    assert 0 < spread.delay(spread.min_ranks, 1.0) < spread.delay(2 * spread.min_ranks, 1.0) < spread.max_seconds
    assert spread.delay(100_000, 1.0) == spread.max_seconds
    assert spread.delay(MANY, 0.25) == spread.delay(MANY, 1.0) / 4


@pytest.mark.parametrize("ranks", [1, LOAD_JITTER.min_ranks])
def test_reader_waits_only_with_many_ranks(own_emulator: Emulator, monkeypatch: pytest.MonkeyPatch, ranks: int) -> None:
    dcp_io.save(own_emulator, URI, {"w": torch.ones(3)}, {"no_dist": True})
    waits: list[float] = []
    monkeypatch.setattr(_start_jitter.time, "sleep", waits.append)
    monkeypatch.setattr(_reader, "world_size", lambda: ranks)
    state = {"w": torch.zeros(3)}
    dcp.load(state, storage_reader=dcp_ranks.Access(own_emulator).reader(URI), no_dist=True)
    assert torch.equal(state["w"], torch.ones(3))
    assert len(waits) == (ranks > 1)
    assert all(0 < wait <= LOAD_JITTER.delay(ranks, 1.0) for wait in waits)


@pytest.fixture
def own_emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        instance.client().create_bucket("bucket")
        yield instance


def test_four_ranks_send_no_listing_and_look_once_for_a_checkpoint(own_emulator: Emulator) -> None:
    ranks, access, journal = 4, dcp_ranks.Access(own_emulator), own_emulator.journal()
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
