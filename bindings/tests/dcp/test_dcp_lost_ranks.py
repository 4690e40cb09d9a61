"""A rank is killed or stopped during a save or load: all other ranks get the same error in time, and state is consistent."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import dcp_io
import dcp_ranks
import pytest
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from penstock.dcp import S3HuggingFaceStorageReader, S3HuggingFaceStorageWriter
from penstock.testing import Emulator
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner

URI = "s3://bucket/ck"
RANKS = 3
GROUP_TIMEOUT_S = 8
PUBLISHING_S = 2
MAX_S = 2 * GROUP_TIMEOUT_S + PUBLISHING_S + 20  # of a rank in a save or load, with a margin for slow machines
TEXT = (
    "LostRankError: {call} of s3://bucket/ck failed in step '{step}': a rank was lost, or did not respond within the process"
    " group's timeout (8 s). {outcome} Restart all ranks."
)
SAVED = "The path holds either the previous or the new checkpoint, complete."
LOADED = "The checkpoint is unchanged; the content of the tensors is undefined."


@pytest.fixture
def own_emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        instance.client().create_bucket("bucket")
        assert set(saved(instance, 1).values()) == {""}
        yield instance


class SignallingSavePlanner(DefaultSavePlanner):
    """A planner that sends the signal `number` to its process when it creates the plan."""

    def __init__(self, number: int | None) -> None:
        super().__init__()
        self._number = number

    def create_local_plan(self) -> Any:
        if self._number is not None:
            os.kill(os.getpid(), self._number)
        return super().create_local_plan()


class SignallingLoadPlanner(DefaultLoadPlanner):
    """A planner that sends the signal `number` to its process when it creates the plan or resolves the first tensor."""

    def __init__(self, number: int | None, at: str) -> None:
        super().__init__()
        self._number = number
        self._at = at

    def create_local_plan(self) -> Any:
        self._send_signal("plan")
        return super().create_local_plan()

    def resolve_tensor(self, read_item: Any) -> Any:
        self._send_signal("read")
        return super().resolve_tensor(read_item)

    def _send_signal(self, at: str) -> None:
        if self._number is not None and at == self._at:
            os.kill(os.getpid(), self._number)


def timed(work: Callable[[dist.ProcessGroup], None]) -> tuple[str, float]:
    """Returns the text of the error and the duration in seconds, in a process group with a timeout of its own."""
    dcp_ranks.meet()
    group = dist.new_group(timeout=timedelta(seconds=GROUP_TIMEOUT_S))
    dcp_ranks.meet()
    began = time.monotonic()
    return dcp_ranks.attempt(lambda: work(group)), time.monotonic() - began


def save(rank: int, access: dcp_ranks.Access, seed: int, number: int | None, failing_rank: int) -> tuple[str, float]:
    writer = access.writer(URI)
    writer.fs = access.file_system_of(rank, part_size=dcp_ranks.PART)
    planner = SignallingSavePlanner(number if rank == failing_rank else None)
    state = dcp_ranks.large_state_of(rank, seed)
    return timed(lambda group: dcp.save(state, storage_writer=writer, planner=planner, process_group=group))


def load(rank: int, access: dcp_ranks.Access, number: int, at: str, failing_rank: int) -> tuple[str, float]:
    planner = SignallingLoadPlanner(number if rank == failing_rank else None, at)
    state = dcp_ranks.large_state_of(rank, 0)
    return timed(lambda group: dcp.load(state, storage_reader=access.reader(URI), planner=planner, process_group=group))


def saved(own_emulator: Emulator, seed: int) -> dict[int, str]:
    return dcp_ranks.run(dcp_ranks.save_large, RANKS, dcp_ranks.Access(own_emulator), URI, seed, 10)


def loads(own_emulator: Emulator, seed: int) -> bool:
    wanted = {key: value for rank in range(RANKS) for key, value in dcp_ranks.large_state_of(rank, seed).items()}
    return dcp_io.same(dcp_io.loaded(own_emulator.client(), "bucket", "ck", wanted), wanted)


def open_uploads(own_emulator: Emulator) -> list[Any]:
    return own_emulator.client()._client.list_multipart_uploads("bucket")


def hold(own_emulator: Emulator, when: dict[str, Any], seconds: float) -> None:
    own_emulator.faults().set(
        [{"id": "held", "when": when, "do": {"stall": {"ms": round(1000 * seconds)}, "at": "before_commit"}}]
    )


def kill_at_fault(own_emulator: Emulator, failing_rank: int) -> Any:
    def kill(pids: list[int]) -> None:
        until = time.monotonic() + dcp_ranks.TIMEOUT_S
        while own_emulator.faults().account().rule("held").fired == 0:
            assert time.monotonic() < until, "no request met the fault"
            time.sleep(0.02)
        os.kill(pids[failing_rank], signal.SIGKILL)

    return kill


def check(results: dict[int, tuple[str, float]], failing_rank: int, text: str) -> None:
    assert sorted(results) == [rank for rank in range(RANKS) if rank != failing_rank]
    assert {error for error, _ in results.values()} == {text}, "all surviving ranks have the same error"
    assert max(seconds for _, seconds in results.values()) < MAX_S


def check_recovery(own_emulator: Emulator) -> None:
    assert set(saved(own_emulator, 3).values()) == {""}
    assert loads(own_emulator, 3)
    assert open_uploads(own_emulator) == []


@pytest.mark.parametrize("failing_rank", range(RANKS))
def test_rank_killed_while_a_save_is_planned(own_emulator: Emulator, failing_rank: int) -> None:
    args = (dcp_ranks.Access(own_emulator), 2, signal.SIGKILL, failing_rank)
    results = dcp_ranks.run(save, RANKS, *args, killed=1, stay=True)
    check(results, failing_rank, TEXT.format(call="dcp.save", step="plan", outcome=SAVED))
    assert loads(own_emulator, 1)
    check_recovery(own_emulator)


@pytest.mark.parametrize("failing_rank", range(RANKS))
def test_rank_killed_during_its_upload(own_emulator: Emulator, failing_rank: int) -> None:
    hold(own_emulator, {"operation": "UploadPart", "client": {"rank": failing_rank}}, 600)
    args = (dcp_ranks.Access(own_emulator), 2, None, failing_rank)
    kill = kill_at_fault(own_emulator, failing_rank)
    results = dcp_ranks.run(save, RANKS, *args, killed=1, meanwhile=kill, stay=True)
    check(results, failing_rank, TEXT.format(call="dcp.save", step="write", outcome=SAVED))
    own_emulator.faults().clear()
    assert loads(own_emulator, 1)
    assert [upload for upload in open_uploads(own_emulator) if f"__{failing_rank}_" in str(upload)], (
        "the upload of the killed rank"
    )
    check_recovery(own_emulator)


@pytest.mark.parametrize("failing_rank", range(RANKS))
def test_rank_killed_while_the_checkpoint_is_published(own_emulator: Emulator, failing_rank: int) -> None:
    own_emulator.journal().clear()
    hold(own_emulator, {"operation": "PutObject", "key": "ck/.metadata"}, PUBLISHING_S)
    args = (dcp_ranks.Access(own_emulator), 2, None, failing_rank)
    kill = kill_at_fault(own_emulator, failing_rank)
    results = dcp_ranks.run(save, RANKS, *args, killed=1, meanwhile=kill, stay=True)
    check(results, failing_rank, TEXT.format(call="dcp.save", step="write", outcome=SAVED))
    until = time.monotonic() + PUBLISHING_S + 10
    while not [entry for entry in own_emulator.journal().entries(operations="PutObject") if entry.key == "ck/.metadata"]:
        assert time.monotonic() < until, "the request of the killed rank has not ended"
        time.sleep(0.02)
    own_emulator.faults().clear()
    assert [loads(own_emulator, seed) for seed in (1, 2)].count(True) == 1
    assert failing_rank == 0 or loads(own_emulator, 2), "the coordinator has published it"
    check_recovery(own_emulator)


@pytest.mark.parametrize("failing_rank", range(RANKS))
@pytest.mark.parametrize("at", ["plan", "read"])
def test_rank_killed_during_a_load(own_emulator: Emulator, failing_rank: int, at: str) -> None:
    args = (dcp_ranks.Access(own_emulator), signal.SIGKILL, at, failing_rank)
    results = dcp_ranks.run(load, RANKS, *args, killed=1, stay=True)
    check(results, failing_rank, TEXT.format(call="dcp.load", step=at, outcome=LOADED))
    assert loads(own_emulator, 1)


def test_stopped_coordinator_causes_an_error_after_the_timeout(own_emulator: Emulator) -> None:
    results = dcp_ranks.run(save, RANKS, dcp_ranks.Access(own_emulator), 2, signal.SIGSTOP, 0, killed=1, stay=True)
    check(results, 0, TEXT.format(call="dcp.save", step="plan", outcome=SAVED))
    assert loads(own_emulator, 1)


def test_stopped_rank_causes_an_error_after_the_timeout(own_emulator: Emulator) -> None:
    results = dcp_ranks.run(load, RANKS, dcp_ranks.Access(own_emulator), signal.SIGSTOP, "read", 1, killed=1, stay=True)
    check(results, 1, TEXT.format(call="dcp.load", step="read", outcome=LOADED))
    assert loads(own_emulator, 1)


def save_and_load_hugging_face(rank: int, access: dcp_ranks.Access, failing_rank: int, verb: str) -> tuple[str, float]:
    place: dict[str, Any] = {"s3client_config": access.config(), "endpoint": access.endpoint}
    state = dcp_ranks.large_state_of(rank, 2)
    number = signal.SIGKILL if rank == failing_rank else None
    writer = S3HuggingFaceStorageWriter(access.region, URI, save_distributed=True, **place)
    if verb == "save":
        planner = SignallingSavePlanner(number)
        return timed(lambda group: dcp.save(state, storage_writer=writer, planner=planner, process_group=group))
    dcp.save(state, storage_writer=writer)
    reader = S3HuggingFaceStorageReader(access.region, URI, **place)
    loading = SignallingLoadPlanner(number, "plan")
    return timed(lambda group: dcp.load(state, storage_reader=reader, planner=loading, process_group=group))


@pytest.mark.parametrize(
    ("verb", "outcome"), [("save", "Each file there is either the old or the new one, complete."), ("load", LOADED)]
)
def test_rank_killed_in_the_hugging_face_layout(own_emulator: Emulator, verb: str, outcome: str) -> None:
    args = (dcp_ranks.Access(own_emulator), 1, verb)
    results = dcp_ranks.run(save_and_load_hugging_face, RANKS, *args, killed=1, stay=True)
    check(results, 1, TEXT.format(call=f"dcp.{verb}", step="plan", outcome=outcome))


class Unpicklable:
    def __reduce__(self) -> Any:
        raise RuntimeError("a plan that cannot be pickled")


class PlannerOfUnpicklable(DefaultSavePlanner):
    def create_local_plan(self) -> Any:
        return dataclasses.replace(super().create_local_plan(), planner_data=Unpicklable())


def save_unpicklable(rank: int, access: dcp_ranks.Access) -> str:
    state = dcp_ranks.large_state_of(rank, 2)
    return dcp_ranks.attempt(lambda: dcp.save(state, storage_writer=access.writer(URI), planner=PlannerOfUnpicklable()))


def test_error_of_pickling_a_plan_is_not_changed(own_emulator: Emulator) -> None:
    assert dcp_ranks.run(save_unpicklable, 1, dcp_ranks.Access(own_emulator)) == {
        0: "RuntimeError: a plan that cannot be pickled"
    }
