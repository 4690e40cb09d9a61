"""The programs of tests/third_party on the reference connector itself, against our emulator: they are what they claim to be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from penstock.testing import Emulator

PROGRAMS = Path(__file__).parents[1] / "third_party"
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


@pytest.mark.parametrize(
    "command",
    [("documented_calls.py", "data"), (*TORCHRUN, "pretraining.py", "data", "4"), ("fine_tuning.py", "data", "2")],
    ids=["documented calls", "pre-training", "fine-tuning"],
)
def test_runs_on_the_reference(command: tuple[str, ...]) -> None:
    with Emulator() as emulator:
        emulator.client().create_bucket("data")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        done = subprocess.run(
            [sys.executable, *command],
            cwd=PROGRAMS, env=kept | emulator.environment() | {"OMP_NUM_THREADS": "1"},
            capture_output=True, text=True, timeout=280, check=False,
        )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
