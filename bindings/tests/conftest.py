"""One emulator in this process for all tests; each test has its own bucket."""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Iterator

import penstock
import pytest
from command_runs import Penstock
from penstock.testing import Emulator

_numbers = itertools.count()

# This process has one fork server, which imports the modules that are set before its first use. Without torch in it, each rank of
# a later test would import torch.
multiprocessing.set_forkserver_preload(["torch.distributed.checkpoint", "penstock.dcp", "dcp_ranks"])


_shared: list[Emulator] = []


@pytest.fixture(scope="session")
def emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        _shared.append(instance)
        yield instance
        _shared.clear()


@pytest.fixture(autouse=True)
def planned_faults_happened() -> Iterator[None]:
    """Fails a test that leaves planned faults of the shared emulator undone, so that no later test fails instead."""
    yield
    for faults in [instance.faults() for instance in _shared]:
        try:
            faults.check_all()
        finally:
            faults.clear(forget=True)


@pytest.fixture
def client(emulator: Emulator) -> penstock.S3Client:
    return emulator.client()


@pytest.fixture
def bucket(client: penstock.S3Client) -> str:
    name = f"test-{next(_numbers)}"
    client.create_bucket(name)
    return name


@pytest.fixture
def penstock_command(emulator: Emulator, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Penstock:
    """Runs the `penstock` command in this process."""
    return Penstock(emulator, monkeypatch, capsys)
