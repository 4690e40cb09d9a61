"""Two saves at a path at a time, and saves that were killed: what loads is whole and the winner's, and nothing else is left."""

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
from penstock.dcp import S3StorageWriter, _commit, _saving
from penstock.testing import Emulator
from torch.distributed.checkpoint.api import CheckpointException

URI = "s3://bucket/ck"
CLAIM = ".metadata.saving"
RANKS = 2


@pytest.fixture
def own() -> Iterator[Emulator]:
    with Emulator() as instance:
        instance.client().create_bucket("bucket")
        yield instance


def save(own: Emulator, seed: int, **kwargs: object) -> None:
    config = own.config(penstock.S3ClientConfig(part_size=PART))
    writer = S3StorageWriter(own.region, URI, config, endpoint=own.endpoint, thread_count=2, **kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save(state_of_two_files(seed), storage_writer=writer, no_dist=True)


def checkpoint_of(own: Emulator) -> int:
    state = dcp_io.loaded(own.client(), "bucket", "ck", state_of_two_files(0))
    seed = int(state["seed"])
    assert dcp_io.same(state, state_of_two_files(seed)), f"a mixture: {seed} and others"
    return seed


def names(own: Emulator) -> list[str]:
    return dcp_io.names(own.client(), "bucket", "ck")


def open_uploads(own: Emulator) -> list[tuple[str, str]]:
    return own.client()._client.list_multipart_uploads("bucket")


def lost_by(error: CheckpointException) -> str:
    (failure,) = error.failures.values()
    assert isinstance(failure[0], penstock.S3PreconditionFailedError)
    return str(failure[0])


# Where the other save comes in between: before this function is called for the first time.
MOMENTS = {
    "before the claim": (_saving, "claim"),
    "between claim and look": (_commit, "present"),
    "before the uploads": (S3StorageWriter, "_write_shards"),
    "before the commit": (_commit, "replace"),
    "before the metadata": (_commit, "publish"),
    "before the claim goes": (_saving, "release"),
}
WON_BY_THE_FIRST = ("before the claim", "between claim and look")  # it sees the other's checkpoint, and replaces that


def meanwhile(monkeypatch: pytest.MonkeyPatch, moment: str, other: Callable[[], object]) -> None:
    module, name = MOMENTS[moment]
    original, left = getattr(module, name), [other]

    def first_the_other(*args: object) -> object:
        while left:
            left.pop()()
        return original(*args)

    monkeypatch.setattr(module, name, first_the_other)


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_whole_save_in_the_midst_of_another(own: Emulator, moment: str, there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if there:
        save(own, 1)
    seen: list[str] = []

    def other() -> None:
        save(own, 3)
        seen.extend(names(own))

    meanwhile(monkeypatch, moment, other)
    try:
        save(own, 2)
    except CheckpointException as error:
        assert "another save has written or removed s3://bucket/ck/.metadata" in lost_by(error)
        assert "its checkpoint stays (s3://bucket/ck/.metadata of 20" in lost_by(error)
        won = 3
    else:
        won = 3 if moment == "before the claim goes" else 2
    assert seen, "the other save was there"
    assert won == (2 if moment in WON_BY_THE_FIRST else 3)
    assert checkpoint_of(own) == won
    assert len(names(own)) == 3, "metadata and two files; no claim, nothing of the loser"
    assert open_uploads(own) == []


@pytest.mark.filterwarnings("ignore:Detected an existing checkpoint")
@pytest.mark.parametrize("nth", range(1, 21))
def test_two_saves_at_a_fresh_path_of_which_one_request_waits(own: Emulator, nth: int) -> None:
    stall = {"stall": {"ms": 150}, "at": "after_commit" if nth % 2 else "before_commit"}
    rule = {"id": "pause", "when": {"nth": nth}, "do": stall, "limit": {"times": 1}, "must_fire": False}
    own.faults().set([rule])
    both, errors = threading.Barrier(2), {}

    def saver(seed: int) -> None:
        both.wait()
        try:
            save(own, seed)
        except BaseException as error:
            errors[seed] = error

    threads = [threading.Thread(target=saver, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    own.faults().clear(forget=True)
    assert len(errors) < 2, "one of them wins"
    for error in errors.values():
        assert "another save" in lost_by(error)
    assert checkpoint_of(own) not in errors
    assert len(names(own)) == 3
    assert open_uploads(own) == []


def test_a_save_whose_uploads_the_winner_gave_up_says_who_won(own: Emulator) -> None:
    """The first is in the midst of an upload when the second commits."""
    own.faults().set(
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
            save(own, 1)
        except CheckpointException as error:
            errors.append(error)

    thread = threading.Thread(target=first)
    thread.start()
    await_fault(own, "pause")
    save(own, 2)
    own.faults().clear()
    thread.join()
    assert "another save" in lost_by(errors[0])
    assert checkpoint_of(own) == 2
    assert len(names(own)) == 3
    assert open_uploads(own) == []


def await_fault(own: Emulator, rule: str) -> None:
    until = time.monotonic() + dcp_ranks.TIMEOUT_S
    while own.faults().account().rule(rule).fired == 0:
        assert time.monotonic() < until, "nobody sent what is held back"
        time.sleep(0.02)


def test_a_save_that_fails_takes_its_own_claim_back_and_not_anothers(own: Emulator) -> None:
    denied = {"when": {"operation": "UploadPart"}, "do": {"error": {"code": "AccessDenied", "status": 403}}}
    for there in (False, True):
        if there:
            bucket_io.put(own.client(), "bucket", f"ck/{CLAIM}", b"somebody else's")
        own.faults().set([{"id": "denied", **denied}])
        with pytest.raises(CheckpointException, match="Forbidden"):
            save(own, 1)
        own.faults().clear()
        assert (CLAIM in names(own)) is there


def test_without_a_response_to_the_commit_the_names_stay_claimed(own: Emulator) -> None:
    """The request may be carried out yet: nobody may write under these names."""
    when = {"operation": "PutObject", "key": {"exactly": "ck/.metadata"}}
    own.faults().set([{"id": "lost", "when": when, "do": {"reset": {}, "at": "before_commit"}}])
    with pytest.raises(CheckpointException):
        save(own, 1)
    own.faults().clear()
    plain = {"__0_0.distcp", "__0_1.distcp"}
    assert set(names(own)) == {CLAIM, *plain}
    save(own, 2)
    assert checkpoint_of(own) == 2
    assert len(set(names(own)) - plain) == 3
    assert CLAIM not in names(own)


def test_a_claim_says_which_save_and_when(own: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, object]] = []
    look = lambda: seen.append(json.loads(bucket_io.get(own.client(), "bucket", f"ck/{CLAIM}")))  # noqa: E731
    meanwhile(monkeypatch, "before the uploads", look)
    before = time.time()
    save(own, 1)
    assert before <= seen[0]["time"] <= time.time()
    assert len(seen[0]["save"]) == 32


def test_a_refused_save_claims_nothing(own: Emulator) -> None:
    save(own, 1)
    mark = own.journal().last
    with pytest.raises(CheckpointException, match="already exists"):
        save(own, 2, overwrite=False)
    assert [entry.operation for entry in own.journal().entries(after=mark)] == ["HeadObject"]


def test_uploads_of_other_names_stay_open(own: Emulator) -> None:
    core = own.client()._client
    mine = ["ck/__0_0.distcp", "ck/__7_gabcdef01_3.distcp"]
    others = ["ck/nested/__0_0.distcp", "ck/model.pt", "ck2/__0_0.distcp", "ck/__0_0.distcp.old"]
    for key in mine + others:
        core.create_multipart_upload("bucket", key)
    save(own, 1)
    assert len(open_uploads(own)) == 6, "without a claim nothing is listed"
    bucket_io.put(own.client(), "bucket", f"ck/{CLAIM}", b"of one who was killed")
    save(own, 2)
    assert sorted(key for key, _ in open_uploads(own)) == sorted(others)
    assert checkpoint_of(own) == 2


def test_names_of_a_strategy_and_of_any_rank_or_one() -> None:
    any_rank = _saving.names_like({"p1/__0_", "p2/__1_", "custom/"}, ".distcp", of_any_rank=True)
    for name in ("p1/__5_0.distcp", "p2/__0_g01234567_11.distcp", "custom/3.distcp", "custom/gffffffff_0.distcp"):
        assert any_rank.fullmatch(name)
    for name in ("__0_0.distcp", "p3/__0_0.distcp", "p1/__0_x.distcp", "p1/__0_g0_0.distcp", "p1/.metadata", "custom/a0.distcp"):
        assert not any_rank.fullmatch(name)
    one = _saving.names_like({"__1_"}, ".distcp", of_any_rank=False)
    assert one.fullmatch("__1_0.distcp")
    assert not one.fullmatch("__0_0.distcp")


def killed(own: Emulator, seed: int, rule: dict[str, object]) -> None:
    """Every rank of a save is killed (SIGKILL) while a request of it waits."""
    own.faults().set([{"id": "held", "do": {"stall": {"ms": 600_000}, "at": "before_commit"}, **rule}])

    def kill(pids: list[int]) -> None:
        await_fault(own, "held")
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    access = dcp_ranks.Access(own)
    assert dcp_ranks.run(dcp_ranks.save_large, RANKS, access, URI, seed, 10, killed=RANKS, meanwhile=kill) == {}
    own.faults().clear(forget=True)


def loads(own: Emulator, seed: int) -> bool:
    wanted = {key: value for rank in range(RANKS) for key, value in dcp_ranks.large_state_of(rank, seed).items()}
    return dcp_io.same(dcp_io.loaded(own.client(), "bucket", "ck", wanted), wanted)


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize(
    "when",
    [
        pytest.param({"operation": "UploadPart"}, id="uploads"),
        pytest.param({"operation": "PutObject", "key": {"exactly": "ck/.metadata"}}, id="metadata"),
        pytest.param({"operation": "DeleteObject", "key": {"exactly": "ck/.metadata.saving"}}, id="claim"),
    ],
)
def test_a_save_after_one_that_was_killed(own: Emulator, when: dict[str, object], there: bool) -> None:
    access = dcp_ranks.Access(own)
    if there:
        assert set(dcp_ranks.run(dcp_ranks.save_large, RANKS, access, URI, 1, 10).values()) == {""}
    killed(own, 2, {"when": when})
    assert CLAIM in names(own)
    if when["operation"] == "UploadPart":
        assert open_uploads(own)
    if there:
        assert loads(own, 2 if when["operation"] == "DeleteObject" else 1)
    assert set(dcp_ranks.run(dcp_ranks.save_large, RANKS, access, URI, 3, 10).values()) == {""}
    assert loads(own, 3)
    assert open_uploads(own) == []
    assert CLAIM not in names(own)


def test_the_commands_for_checkpoints_know_a_claim(
    own: Emulator, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in own.environment().items():
        monkeypatch.setenv(name, value)
    save(own, 1)
    for key in (f"ck/{CLAIM}", f"begun/{CLAIM}"):
        bucket_io.put(own.client(), "bucket", key, b"{}")
    assert main(["checkpoint", "ls", "s3://bucket/", "--path-style"]) == 0
    assert "begun" not in capsys.readouterr().out
    assert main(["checkpoint", "verify", "s3://bucket/ck", "--path-style"]) == 0
    prune = ["checkpoint", "prune", "s3://bucket/", "--keep", "1", "--yes", "--path-style", "--older-than"]
    for age, left in (("1h", True), ("0s", False)):  # one that is old is of a save that was killed
        assert main([*prune, age]) == 0
        assert (CLAIM in names(own)) is left
        assert checkpoint_of(own) == 1
