"""The Nth request of a save or load fails, for every N: the old or the new checkpoint loads, never a mixture."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import dcp_io
import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from dcp_io import PART, state_of_two_files
from penstock.__main__ import main
from penstock.dcp import S3StorageReader, S3StorageWriter
from penstock.testing import Emulator
from torch.distributed.checkpoint.api import CheckpointException

URI = "s3://bucket/ck"
MAX_REQUESTS = 60  # the loop over N must end: an operation with a fault for every N is an error

# What happens to one request. Even a client with one attempt reconnects if a reused connection is lost,
# and a response without a body cannot be truncated: such a request succeeds.
FAILURES = {
    "reset after commit": {"reset": {}, "at": "after_commit"},
    "503": {"slow_down": {}},
    "truncated response": {"truncate": {"mode": "fin"}, "at": "body_out@7"},
}
ATTEMPTS = {"persistent": 1, "transient": 10}


@pytest.fixture
def own_emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        instance.client().create_bucket("bucket")
        yield instance


def config(own_emulator: Emulator, max_attempts: int) -> penstock.S3ClientConfig:
    return own_emulator.config(penstock.S3ClientConfig(part_size=PART, max_attempts=max_attempts))


def save(own_emulator: Emulator, seed: int, max_attempts: int) -> None:
    writer = S3StorageWriter(
        own_emulator.region, URI, config(own_emulator, max_attempts), endpoint=own_emulator.endpoint, thread_count=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save(state_of_two_files(seed), storage_writer=writer, no_dist=True)


def load(own_emulator: Emulator, max_attempts: int) -> dict[str, torch.Tensor]:
    state = dcp_io.emptied(state_of_two_files(0))
    reader = S3StorageReader(own_emulator.region, URI, config(own_emulator, max_attempts), endpoint=own_emulator.endpoint)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.load(state, storage_reader=reader, no_dist=True)
    return state


def seed_of(state: dict[str, torch.Tensor]) -> int:
    """Returns the seed of the loaded state, and checks that all values are of this seed."""
    seed = int(state["seed"])
    assert dcp_io.same(state, state_of_two_files(seed)), f"a mixture of seed {seed} and others"
    return seed


def run_with_fault(own_emulator: Emulator, rule: dict[str, object], operation: Callable[[], object]) -> tuple[int, bool]:
    """Runs the operation with the rule. Returns the number of requests, and whether it succeeded."""
    mark = own_emulator.journal().last
    own_emulator.faults().set([{"id": "planted", **rule, "must_fire": False}])
    try:
        operation()
        succeeded = True
    except CheckpointException as error:
        assert len(error.failures) == 1
        succeeded = False
    finally:
        own_emulator.faults().clear(forget=True)
    return own_emulator.journal().count(after=mark), succeeded


def open_uploads(own_emulator: Emulator, mark: int) -> int:
    """Returns the number of open uploads. It must be 0, except for an upload whose ID was in a lost response."""
    left = own_emulator.client()._client.list_multipart_uploads("bucket")
    lost = [
        e.key for e in own_emulator.journal().entries(after=mark, operations="CreateMultipartUpload") if "planted" in e.faults
    ]
    assert [key for key, _ in left] == [key for key in lost if len(left)]
    return len(left)


def recover(own_emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Aborts open uploads, as an operator would."""
    for name, value in own_emulator.environment().items():
        monkeypatch.setenv(name, value)
    assert main(["checkpoint", "prune", "s3://bucket/", "--keep", "1", "--older-than", "0s", "--yes", "--path-style"]) == 0
    assert own_emulator.client()._client.list_multipart_uploads("bucket") == []


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("kind", ATTEMPTS)
def test_nth_request_of_a_save_fails(own_emulator: Emulator, failure: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    save(own_emulator, 1, ATTEMPTS["transient"])
    present, failed = 1, 0
    for n in range(1, MAX_REQUESTS):
        new, mark = present + 1, own_emulator.journal().last
        rule = {"when": {"nth": n}, "do": FAILURES[failure], "limit": {"times": 1}}
        requests, succeeded = run_with_fault(own_emulator, rule, lambda new=new: save(own_emulator, new, ATTEMPTS[kind]))
        found = seed_of(dcp_io.loaded(own_emulator.client(), "bucket", "ck", state_of_two_files(0)))
        assert found in ({new} if succeeded else {present, new})
        assert kind == "persistent" or succeeded, f"request {n} was not retried"
        assert seed_of(load(own_emulator, ATTEMPTS["transient"])) == found
        if open_uploads(own_emulator, mark):
            assert failure != "503", "no response was lost"
            recover(own_emulator, monkeypatch)
            assert seed_of(load(own_emulator, ATTEMPTS["transient"])) == found
        present, failed = found, failed + (not succeeded)
        if requests < n:
            break
    else:
        pytest.fail(f"the operation needs more than {MAX_REQUESTS} requests")
    assert n > 8, "upload parts, upload start and end, metadata, deletions"
    assert failed or failure != "503" or kind == "transient"


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("kind", ATTEMPTS)
def test_nth_request_of_a_load_fails(own_emulator: Emulator, failure: str, kind: str) -> None:
    save(own_emulator, 1, ATTEMPTS["transient"])
    failed = 0
    for n in range(1, MAX_REQUESTS):
        rule = {"when": {"nth": n}, "do": FAILURES[failure], "limit": {"times": 1}}
        requests, succeeded = run_with_fault(own_emulator, rule, lambda: seed_of(load(own_emulator, ATTEMPTS[kind])))
        assert kind == "persistent" or succeeded, f"request {n} was not retried"
        assert seed_of(load(own_emulator, ATTEMPTS["transient"])) == 1
        failed += not succeeded
        if requests < n:
            break
    else:
        pytest.fail(f"the operation needs more than {MAX_REQUESTS} requests")
    assert n > 3, "metadata and both files"
    assert failed or failure != "503" or kind == "transient"


def test_every_third_request_is_dropped(own_emulator: Emulator) -> None:
    dropped = [{"id": "dropped", "when": {"nth": "every 3"}, "do": {"reset": {}}}]
    for seed in (1, 2):
        own_emulator.faults().set(dropped)
        save(own_emulator, seed, ATTEMPTS["transient"])
        own_emulator.faults().check()
        own_emulator.faults().set(dropped)
        assert seed_of(load(own_emulator, ATTEMPTS["transient"])) == seed
        own_emulator.faults().check()
        own_emulator.faults().clear()
        assert seed_of(dcp_io.loaded(own_emulator.client(), "bucket", "ck", state_of_two_files(0))) == seed
        assert own_emulator.client()._client.list_multipart_uploads("bucket") == []
        assert len(dcp_io.names(own_emulator.client(), "bucket", "ck")) == 3
