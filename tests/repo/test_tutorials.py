"""The programs of the tutorials run and print what the pages show. test_testing_doc.py has those about tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from page_programs import DOCS, programs_of, shown
from penstock_emulator import Emulator

TIMEOUT_S = 150
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(folder: Path, emulator: Emulator, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env=dict(os.environ) | emulator.environment() | {"OMP_NUM_THREADS": "1"}, cwd=folder, capture_output=True, text=True,
        timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_training_job_resumes(tmp_path: Path) -> None:
    store, train = programs_of("tutorials/first-training-job.md")
    (tmp_path / "store.py").write_text(store)
    (tmp_path / "train.py").write_text(train)
    with Emulator() as emulator:
        assert run(tmp_path, emulator, "store.py") == "stored 400 samples\n"
        first = run(tmp_path, emulator, "train.py").splitlines()
        second = run(tmp_path, emulator, "train.py").splitlines()
    assert first[0] == "no checkpoint yet"
    assert second[0] == "resumed after epoch 3"
    rows = [re.fullmatch(r"epoch (\d): (\d+) of 400 right", line) for line in first[1:] + second[1:]]
    numbers = [(int(row[1]), int(row[2])) for row in rows if row]
    assert [epoch for epoch, _ in numbers] == [1, 2, 3, 4, 5, 6]
    assert numbers[-1][1] > 380


def test_the_first_distributed_checkpoint_is_loaded_by_two_ranks(tmp_path: Path) -> None:
    page = "tutorials/first-distributed-checkpoint.md"
    (program,) = programs_of(page)
    (tmp_path / "shards.py").write_text(program)
    commands = re.findall(r"^\$ torchrun --nproc-per-node (\d) shards.py (\w+)\n(.*)$", (DOCS / page).read_text(), re.M)
    assert [verb for _, verb, _ in commands] == ["save", "load"]
    with Emulator() as emulator:
        for ranks, verb, expected in commands:
            launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks]
            assert run(tmp_path, emulator, *launcher, "shards.py", verb) == f"{expected}\n"
        for arguments in re.findall(r"^\$ penstock (checkpoint .*)$", (DOCS / page).read_text(), re.M):
            printed = run(tmp_path, emulator, "-m", "penstock", *arguments.split()).splitlines()
            expected = shown(page, f"penstock {arguments}").splitlines()
            assert (len(printed), printed[0].split()) == (len(expected), expected[0].split())


def test_the_cpp_tutorial_has_the_example_that_is_built() -> None:
    """examples/cpp/examples_test.py runs it."""
    (program,) = re.findall(r"^```cpp\n(.*?)^```", (DOCS / "tutorials/cpp.md").read_text(), re.M | re.S)
    comment, _, example = (EXAMPLES / "cpp/hello.cc").read_text().partition("\n")
    assert comment.startswith("//")
    assert program == example
