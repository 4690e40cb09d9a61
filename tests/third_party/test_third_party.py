"""Programs written for the reference connector run on Penstock unchanged.

They imitate programs of the field: the documented calls of s3torchconnector, a pre-training framework, a fine-tuning recipe. They
also run on s3torchconnector itself, which proves that they use its interface correctly.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from penstock.testing import Emulator

PROGRAMS = Path(__file__).parent


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator() as instance:
        instance.client().create_bucket("data")
        yield instance


def run(emulator: Emulator, *command: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=PROGRAMS, env=kept | emulator.environment() | {"OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


COMPAT = ("-m", "penstock.compat")
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def test_the_documented_calls_of_the_reference_run_on_penstock(emulator: Emulator) -> None:
    assert run(emulator, *COMPAT, "documented_calls.py", "data") == "done\n"


def test_pretraining_resumes_its_asynchronous_checkpoints(emulator: Emulator) -> None:
    whole = run(emulator, *COMPAT, *TORCHRUN, "pretraining.py", "data", "8").strip()
    assert whole.startswith("resumed False, steps [6, 8], losses")
    emulator.client().create_bucket("halves")
    run(emulator, *COMPAT, *TORCHRUN, "pretraining.py", "halves", "4")
    halves = run(emulator, *COMPAT, *TORCHRUN, "pretraining.py", "halves", "8").strip()
    assert halves == whole.replace("resumed False", "resumed True")


def test_fine_tuning_resumes(emulator: Emulator) -> None:
    whole = run(emulator, *COMPAT, "fine_tuning.py", "data", "4")
    emulator.client().create_bucket("halves")
    run(emulator, *COMPAT, "fine_tuning.py", "halves", "2")
    assert run(emulator, *COMPAT, "fine_tuning.py", "halves", "4", "resume") == whole


@pytest.mark.parametrize(
    "command",
    [("documented_calls.py", "data"), (*TORCHRUN, "pretraining.py", "data", "4"), ("fine_tuning.py", "data", "2")],
    ids=["documented calls", "pre-training", "fine-tuning"],
)
def test_the_programs_run_on_the_reference_itself(emulator: Emulator, command: tuple[str, ...]) -> None:
    assert run(emulator, *command)
