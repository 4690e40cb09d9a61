"""Concurrent and killed saves at one path: the winner's checkpoint is complete, and nothing else is left."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator

import bucket_io
import dcp_io
import dcp_ranks
import penstock
import pytest
import torch.distributed.checkpoint as dcp
from dcp_io import PART, state_of_two_files
from penstock.__main__ import main
from penstock.dcp import S3StorageWriter, _commit, _save_lock
from penstock.testing import Emulator
from torch.distributed.checkpoint.api import CheckpointException

URI = "s3://bucket/ck"
LOCK = ".metadata.saving"
RANKS = 2


@pytest.fixture
def own_emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        instance.client().create_bucket("bucket")
        yield instance


def save(own_emulator: Emulator, seed: int, **kwargs: object) -> None:
    config = own_emulator.config(penstock.S3ClientConfig(part_size=PART))
    writer = S3StorageWriter(own_emulator.region, URI, config, endpoint=own_emulator.endpoint, thread_count=2, **kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save(state_of_two_files(seed), storage_writer=writer, no_dist=True)


def seed_of_checkpoint(own_emulator: Emulator) -> int:
    state = dcp_io.loaded(own_emulator.client(), "bucket", "ck", state_of_two_files(0))
    seed = int(state["seed"])
    assert dcp_io.same(state, state_of_two_files(seed)), f"a mixture of seed {seed} and others"
    return seed


def names(own_emulator: Emulator) -> list[str]:
    return dcp_io.names(own_emulator.client(), "bucket", "ck")


def open_uploads(own_emulator: Emulator) -> list[tuple[str, str]]:
    return own_emulator.client()._client.list_multipart_uploads("bucket")


def conflict_of(error: CheckpointException) -> str:
    (failure,) = error.failures.values()
    assert isinstance(failure[0], penstock.S3PreconditionFailedError)
    return str(failure[0])


# When the other save runs: before the first call of this function.
MOMENTS = {
    "before the lock": (_save_lock, "acquire"),
    "between lock and look": (_commit, "current_version"),
    "before the uploads": (S3StorageWriter, "_write_shards"),
    "before the commit": (_commit, "replace"),
    "before the metadata": (_commit, "publish"),
    "before the lock is released": (_save_lock, "release"),
}
FIRST_WINS = ("before the lock", "between lock and look")  # this save sees the other checkpoint and replaces it


def meanwhile(monkeypatch: pytest.MonkeyPatch, moment: str, other: Callable[[], object]) -> None:
    module, name = MOMENTS[moment]
    original, left = getattr(module, name), [other]

    def run_other_first(*args: object) -> object:
        while left:
            left.pop()()
        return original(*args)

    monkeypatch.setattr(module, name, run_other_first)


@pytest.mark.parametrize("with_previous", [False, True])
@pytest.mark.parametrize("moment", MOMENTS)
def test_save_during_another_save(
    own_emulator: Emulator, moment: str, with_previous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if with_previous:
        save(own_emulator, 1)
    seen: list[str] = []

    def other() -> None:
        save(own_emulator, 3)
        seen.extend(names(own_emulator))

    meanwhile(monkeypatch, moment, other)
    try:
        save(own_emulator, 2)
    except CheckpointException as error:
        assert "another save has written or removed s3://bucket/ck/.metadata" in conflict_of(error)
        assert "its checkpoint is kept (s3://bucket/ck/.metadata of 20" in conflict_of(error)
        winner = 3
    else:
        winner = 3 if moment == "before the lock is released" else 2
    assert seen, "the other save has run"
    assert winner == (2 if moment in FIRST_WINS else 3)
    assert seed_of_checkpoint(own_emulator) == winner
    assert len(names(own_emulator)) == 3, "metadata and two files; no lock, no objects of the losing save"
    assert open_uploads(own_emulator) == []


@pytest.mark.filterwarnings("ignore:Detected an existing checkpoint")
@pytest.mark.parametrize("nth", range(1, 21))
def test_two_saves_at_a_new_path_with_one_delayed_request(own_emulator: Emulator, nth: int) -> None:
    stall = {"stall": {"ms": 150}, "at": "after_commit" if nth % 2 else "before_commit"}
    rule = {"id": "pause", "when": {"nth": nth}, "do": stall, "limit": {"times": 1}, "must_fire": False}
    own_emulator.faults().set([rule])
    both, errors = threading.Barrier(2), {}

    def saver(seed: int) -> None:
        both.wait()
        try:
            save(own_emulator, seed)
        except BaseException as error:
            errors[seed] = error

    threads = [threading.Thread(target=saver, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    own_emulator.faults().clear(forget=True)
    assert len(errors) < 2, "one of them wins"
    for error in errors.values():
        assert "another save" in conflict_of(error)
    assert seed_of_checkpoint(own_emulator) not in errors
    assert len(names(own_emulator)) == 3
    assert open_uploads(own_emulator) == []


def test_error_of_a_save_whose_uploads_were_aborted_names_the_winner(own_emulator: Emulator) -> None:
    """The first save is uploading when the second one commits."""
    own_emulator.faults().set(
        [
            {
                "id": "pause",
                "when": {"operation": "UploadPart", "key": {"exactly": "ck/__0_0.distcp"}},
                "do": {"stall": {"ms": 600_000}, "at": "before_commit"},
            }
        ]
    )
    errors: list[CheckpointException] = []

    def first() -> None:
        try:
            save(own_emulator, 1)
        except CheckpointException as error:
            errors.append(error)

    thread = threading.Thread(target=first)
    thread.start()
    await_fault(own_emulator, "pause")
    save(own_emulator, 2)
    own_emulator.faults().clear()
    thread.join()
    assert "another save" in conflict_of(errors[0])
    assert seed_of_checkpoint(own_emulator) == 2
    assert len(names(own_emulator)) == 3
    assert open_uploads(own_emulator) == []


def await_fault(own_emulator: Emulator, rule: str) -> None:
    until = time.monotonic() + dcp_ranks.TIMEOUT_S
    while own_emulator.faults().account().rule(rule).fired == 0:
        assert time.monotonic() < until, "no request met the fault"
        time.sleep(0.02)


def test_failed_save_releases_only_its_own_lock(own_emulator: Emulator) -> None:
    denied = {"when": {"operation": "UploadPart"}, "do": {"error": {"code": "AccessDenied", "status": 403}}}
    for with_other in (False, True):
        if with_other:
            bucket_io.put(own_emulator.client(), "bucket", f"ck/{LOCK}", b"another save")
        own_emulator.faults().set([{"id": "denied", **denied}])
        with pytest.raises(CheckpointException, match="Forbidden"):
            save(own_emulator, 1)
        own_emulator.faults().clear()
        assert (LOCK in names(own_emulator)) is with_other


def test_lock_is_kept_without_a_response_to_the_commit(own_emulator: Emulator) -> None:
    """S3 may still execute the request, so no save may use these names."""
    when = {"operation": "PutObject", "key": {"exactly": "ck/.metadata"}}
    own_emulator.faults().set([{"id": "lost", "when": when, "do": {"reset": {}, "at": "before_commit"}}])
    with pytest.raises(CheckpointException):
        save(own_emulator, 1)
    own_emulator.faults().clear()
    plain = {"__0_0.distcp", "__0_1.distcp"}
    assert set(names(own_emulator)) == {LOCK, *plain}
    save(own_emulator, 2)
    assert seed_of_checkpoint(own_emulator) == 2
    assert len(set(names(own_emulator)) - plain) == 3
    assert LOCK not in names(own_emulator)


def test_lock_contains_the_id_and_time_of_the_save(own_emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, object]] = []
    look = lambda: seen.append(json.loads(bucket_io.get(own_emulator.client(), "bucket", f"ck/{LOCK}")))  # noqa: E731
    meanwhile(monkeypatch, "before the uploads", look)
    before = time.time()
    save(own_emulator, 1)
    assert before <= seen[0]["time"] <= time.time()
    assert len(seen[0]["save"]) == 32


def test_refused_save_takes_no_lock(own_emulator: Emulator) -> None:
    save(own_emulator, 1)
    mark = own_emulator.journal().last
    with pytest.raises(CheckpointException, match="already exists"):
        save(own_emulator, 2, overwrite=False)
    assert [entry.operation for entry in own_emulator.journal().entries(after=mark)] == ["HeadObject"]


def test_uploads_with_other_names_stay_open(own_emulator: Emulator) -> None:
    client = own_emulator.client()
    mine = ["ck/__0_0.distcp", "ck/__7_gabcdef01_3.distcp"]
    others = ["ck/nested/__0_0.distcp", "ck/model.pt", "ck2/__0_0.distcp", "ck/__0_0.distcp.old"]
    for key in mine + others:
        client.create_multipart_upload("bucket", key)
    save(own_emulator, 1)
    assert len(open_uploads(own_emulator)) == 6, "without a lock of another save, nothing is listed"
    bucket_io.put(own_emulator.client(), "bucket", f"ck/{LOCK}", b"killed save")
    save(own_emulator, 2)
    assert sorted(key for key, _ in open_uploads(own_emulator)) == sorted(others)
    assert seed_of_checkpoint(own_emulator) == 2


def test_names_like_matches_names_of_any_rank_or_one() -> None:
    any_rank = _save_lock.names_like({"p1/__0_", "p2/__1_", "custom/"}, ".distcp", of_any_rank=True)
    for name in ("p1/__5_0.distcp", "p2/__0_g01234567_11.distcp", "custom/3.distcp", "custom/gffffffff_0.distcp"):
        assert any_rank.fullmatch(name)
    for name in ("__0_0.distcp", "p3/__0_0.distcp", "p1/__0_x.distcp", "p1/__0_g0_0.distcp", "p1/.metadata", "custom/a0.distcp"):
        assert not any_rank.fullmatch(name)
    one = _save_lock.names_like({"__1_"}, ".distcp", of_any_rank=False)
    assert one.fullmatch("__1_0.distcp")
    assert not one.fullmatch("__0_0.distcp")


def killed(own_emulator: Emulator, seed: int, rule: dict[str, object]) -> None:
    """Kills every rank of a save (SIGKILL) while one of its requests waits. S3 never executes that request."""
    own_emulator.faults().set([{"id": "held", "do": {"black_hole": {"ms": 600_000}, "at": "before_commit"}, **rule}])

    def kill(pids: list[int]) -> None:
        await_fault(own_emulator, "held")
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    access = dcp_ranks.Access(own_emulator)
    assert dcp_ranks.run(dcp_ranks.save_large, RANKS, access, URI, seed, 10, killed=RANKS, meanwhile=kill) == {}
    own_emulator.faults().clear(forget=True)


def loads(own_emulator: Emulator, seed: int) -> bool:
    wanted = {key: value for rank in range(RANKS) for key, value in dcp_ranks.large_state_of(rank, seed).items()}
    return dcp_io.same(dcp_io.loaded(own_emulator.client(), "bucket", "ck", wanted), wanted)


@pytest.mark.parametrize("with_previous", [False, True])
@pytest.mark.parametrize(
    "when",
    [
        pytest.param({"operation": "UploadPart"}, id="uploads"),
        pytest.param({"operation": "PutObject", "key": {"exactly": "ck/.metadata"}}, id="metadata"),
        pytest.param({"operation": "DeleteObject", "key": {"exactly": "ck/.metadata.saving"}}, id="lock"),
    ],
)
def test_save_after_a_killed_save(own_emulator: Emulator, when: dict[str, object], with_previous: bool) -> None:
    access = dcp_ranks.Access(own_emulator)
    if with_previous:
        assert set(dcp_ranks.run(dcp_ranks.save_large, RANKS, access, URI, 1, 10).values()) == {""}
    killed(own_emulator, 2, {"when": when})
    assert LOCK in names(own_emulator)
    if when["operation"] == "UploadPart":
        assert open_uploads(own_emulator)
    if with_previous:
        assert loads(own_emulator, 2 if when["operation"] == "DeleteObject" else 1)
    assert set(dcp_ranks.run(dcp_ranks.save_large, RANKS, access, URI, 3, 10).values()) == {""}
    assert loads(own_emulator, 3)
    assert open_uploads(own_emulator) == []
    assert LOCK not in names(own_emulator)


def test_checkpoint_commands_support_the_save_lock(
    own_emulator: Emulator, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in own_emulator.environment().items():
        monkeypatch.setenv(name, value)
    save(own_emulator, 1)
    for key in (f"ck/{LOCK}", f"begun/{LOCK}"):
        bucket_io.put(own_emulator.client(), "bucket", key, b"{}")
    assert main(["checkpoint", "ls", "s3://bucket/", "--path-style"]) == 0
    assert "begun" not in capsys.readouterr().out
    assert main(["checkpoint", "verify", "s3://bucket/ck", "--path-style"]) == 0
    prune = ["checkpoint", "prune", "s3://bucket/", "--keep", "1", "--yes", "--path-style", "--older-than"]
    for age, left in (("1h", True), ("0s", False)):  # an old lock belongs to a killed save
        assert main([*prune, age]) == 0
        assert (LOCK in names(own_emulator)) is left
        assert seed_of_checkpoint(own_emulator) == 1
