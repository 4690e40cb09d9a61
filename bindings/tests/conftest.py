"""One emulator in this process for all tests; each test has its own bucket."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import penstock
import pytest
from command_runs import Penstock
from penstock.testing import Emulator

_numbers = itertools.count()

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
