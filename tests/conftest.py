"""For the tests that need the emulator as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

STOP_TIMEOUT_S = 30


@dataclass(frozen=True)
class Standalone:
    """A running emulator: where it listens and who may ask it anything."""

    endpoint: str
    admin: str
    access_key: str
    secret_key: str
    region: str


@pytest.fixture(scope="session")
def standalone() -> Iterator[Standalone]:
    """The emulator's executable, in memory, verifying signatures."""
    executable = Path(os.environ["PENSTOCK_BUILD_DIR"]) / "emulator/server/penstock-emulator"
    access_key, secret_key = "TESTACCESSKEY", "test-secret"
    command = [str(executable), "--memory", "--access-key", access_key, "--secret-key", secret_key]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        yield Standalone(ready["endpoint"], ready["admin"], access_key, secret_key, "us-east-1")
    finally:
        process.terminate()
        assert process.wait(STOP_TIMEOUT_S) == 0
