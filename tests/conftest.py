"""Fixtures that run the emulator as a process."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

STOP_TIMEOUT_S = 30


@dataclass(frozen=True)
class Standalone:
    """A running emulator: its endpoints and its access keys. The second key belongs to another account."""

    endpoint: str
    admin: str
    region: str
    access_key: str
    secret_key: str
    second_access_key: str
    second_secret_key: str


@pytest.fixture
def seed() -> int:
    """A random seed, or PENSTOCK_SEED. It is printed, so that a failure shows it."""
    value = int(os.environ.get("PENSTOCK_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"PENSTOCK_SEED={value}")
    return value


@pytest.fixture
def ray_settings() -> Iterator[dict[str, str]]:
    """Environment variables of Ray: a folder for its sessions, and workers with the priority of the test.

    The folder's path is short, because paths of sockets have at most 107 bytes. By default Ray's workers have the lowest
    priority, and would hardly run beside other tests.
    """
    folder = tempfile.mkdtemp(prefix="ray")
    yield {"RAY_TMPDIR": folder, "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    shutil.rmtree(folder, ignore_errors=True)  # processes of the cluster may still write there


@pytest.fixture(scope="session")
def start_emulator(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., AbstractContextManager[Standalone]]:
    """A function that starts the emulator's executable in memory with two accounts, verified signatures and more options."""
    keys = [("TESTACCESSKEY", "test-secret"), ("SECONDACCESSKEY", "second-secret")]  # each key has its own account
    executable = Path(os.environ["PENSTOCK_BUILD_DIR"]) / "emulator/server/penstock-emulator"

    @contextmanager
    def start(*options: str, region: str = "us-east-1") -> Iterator[Standalone]:
        command = [str(executable), "--memory", *options]
        for access_key, secret_key in keys:
            command += ["--access-key", access_key, "--secret-key", secret_key]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            yield Standalone(ready["endpoint"], ready["admin"], region, *keys[0], *keys[1])
        finally:
            process.terminate()
            assert process.wait(STOP_TIMEOUT_S) == 0

    return start


@pytest.fixture(scope="session")
def standalone(start_emulator: Callable[..., AbstractContextManager[Standalone]]) -> Iterator[Standalone]:
    """One emulator for all tests that do not change global settings."""
    with start_emulator() as emulator:
        yield emulator
