"""A rank dies during a load, or is throttled during a save: no rank hangs, and loaded checkpoints are complete."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import dcp_io
import dcp_ranks
import pytest
from penstock.testing import Emulator

URI = "s3://bucket/ck"
RANKS = 2
THROTTLED = {"when": {"operation": "CreateMultipartUpload", "client": {"rank": 0}}, "do": {"slow_down": {}}}


@pytest.fixture
def own_emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        instance.client().create_bucket("bucket")
        yield instance


def await_fault(own_emulator: Emulator) -> None:
    until = time.monotonic() + dcp_ranks.TIMEOUT_S
    while own_emulator.faults().account().rule("held").fired == 0:
        assert time.monotonic() < until, "no request met the fault"
        time.sleep(0.02)


@pytest.mark.parametrize("failing_rank", range(RANKS))
@pytest.mark.parametrize("moment", ["before_commit", "body_out@100"])
def test_rank_killed_during_a_load_ends_the_load_of_all_ranks(own_emulator: Emulator, failing_rank: int, moment: str) -> None:
    access = dcp_ranks.Access(own_emulator)
    assert set(dcp_ranks.run(dcp_ranks.save, RANKS, access, URI, 1, {}, {}).values()) == {""}
    when = {"operation": "GetObject", "key": "*.distcp", "client": {"rank": failing_rank}}
    own_emulator.faults().set([{"id": "held", "when": when, "do": {"stall": {"ms": 600_000}, "at": moment}}])
    killed_at: list[float] = []

    def kill(pids: list[int]) -> None:
        await_fault(own_emulator)
        os.kill(pids[failing_rank], signal.SIGKILL)
        killed_at.append(time.monotonic())

    errors = dcp_ranks.run(dcp_ranks.load, RANKS, access, URI, 1, killed=1, meanwhile=kill)
    assert time.monotonic() - killed_at[0] < dcp_ranks.COLLECTIVE_TIMEOUT_S + 60
    assert list(errors) == [1 - failing_rank]
    assert errors[1 - failing_rank], "surviving ranks do not succeed"
    own_emulator.faults().clear(forget=True)
    assert set(dcp_ranks.run(dcp_ranks.load, RANKS, access, URI, 1).values()) == {""}


def loads(own_emulator: Emulator, seed: int) -> bool:
    wanted = {key: value for rank in range(RANKS) for key, value in dcp_ranks.large_state_of(rank, seed).items()}
    return dcp_io.same(dcp_io.loaded(own_emulator.client(), "bucket", "ck", wanted), wanted)


def save_large(own_emulator: Emulator, seed: int, max_attempts: int = 10) -> set[str]:
    errors = dcp_ranks.run(dcp_ranks.save_large, RANKS, dcp_ranks.Access(own_emulator), URI, seed, max_attempts)
    assert sorted(errors) == list(range(RANKS))
    return set(errors.values())


def test_save_succeeds_if_a_rank_is_throttled_at_the_start_of_its_upload(own_emulator: Emulator) -> None:
    assert save_large(own_emulator, 1) == {""}
    own_emulator.faults().set({"scenario": "one-rank-throttled"})
    assert save_large(own_emulator, 2) == {""}
    own_emulator.faults().check()
    assert loads(own_emulator, 2)
    assert own_emulator.client()._client.list_multipart_uploads("bucket") == []


def test_save_fails_in_every_rank_if_a_rank_is_throttled_permanently(own_emulator: Emulator) -> None:
    assert save_large(own_emulator, 1) == {""}
    own_emulator.faults().set([{"id": "held", **THROTTLED}])
    errors = save_large(own_emulator, 2, max_attempts=3)
    assert len(errors) == 1, "all ranks have the same error"
    assert "CheckpointException ranks:dict_keys([0])" in errors.pop()
    own_emulator.faults().check()
    own_emulator.faults().clear()
    assert loads(own_emulator, 1)
    assert own_emulator.client()._client.list_multipart_uploads("bucket") == []
    assert save_large(own_emulator, 3) == {""}
    assert loads(own_emulator, 3)
