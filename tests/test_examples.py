"""The programs of examples/python: each runs with its own emulator, by the command of its README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from penstock.testing import Emulator

EXAMPLES = Path(__file__).parents[1] / "examples/python"


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    with Emulator() as emulator:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        # Four ranks may share two processors: more threads per rank would slow them down.
        yield kept | emulator.environment() | {"S3_URI": "s3://examples/some/prefix/", "OMP_NUM_THREADS": "1"}


def run(environment: dict[str, str], program: str, *arguments: str, ranks: int = 0) -> str:
    """Runs a program. Returns its output."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)] if ranks else []
    done = subprocess.run(
        [sys.executable, *torchrun, program, *arguments],
        cwd=EXAMPLES, env=environment, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def last_line(text: str) -> str:
    return text.rstrip().splitlines()[-1]


def test_the_datasets_example_reads_every_object_once(environment: dict[str, str]) -> None:
    assert last_line(run(environment, "datasets.py")) == "ok: 64 objects, each once"


def test_the_asyncio_example_deletes_what_it_stored(environment: dict[str, str]) -> None:
    assert last_line(run(environment, "asyncio_objects.py")) == "ok: 201 objects deleted"


def test_the_objects_example_deletes_what_it_stored(environment: dict[str, str]) -> None:
    assert last_line(run(environment, "objects.py")) == "ok: 4 objects deleted, 0 failures"


def test_the_image_classification_example_succeeds(environment: dict[str, str]) -> None:
    assert last_line(run(environment, "image_classification.py")).startswith("ok: ")


def test_the_checkpoint_example_saves_and_loads(environment: dict[str, str]) -> None:
    where = "s3://examples/some/prefix/model.pt"
    assert last_line(run(environment, "checkpoint.py")) == f"ok: step 1 saved to {where} and loaded again"


def test_dcp_strategies_with_four_ranks(environment: dict[str, str]) -> None:
    lines = run(environment, "dcp_strategies.py", ranks=4).splitlines()
    assert "default: .metadata __0_0.distcp __1_0.distcp __2_0.distcp __3_0.distcp" in lines
    assert "round_robin: .metadata one/__0_0.distcp one/__2_0.distcp two/__1_0.distcp two/__3_0.distcp" in lines
    folders = ("0000000000", "0100000000", "1000000000", "1100000000")
    ranks = dict(zip(folders, (0, 2, 1, 3), strict=True))
    assert f"binary: .metadata {' '.join(f'{folder}/epoch_4/__{ranks[folder]}_0.distcp' for folder in folders)}" in lines
    assert "hex: .metadata " + " ".join(f"{rank}000000000/__{rank}_0.distcp" for rank in range(4)) in lines
    assert lines[-1] == "ok: 4 ranks saved and loaded with 4 strategies"


def test_fsdp_saved_by_four_ranks_is_loaded_by_two(environment: dict[str, str]) -> None:
    saved = re.fullmatch(r"ok: save by 4 ranks, (.*)", last_line(run(environment, "fsdp_reshard.py", "save", ranks=4)))
    loaded = re.fullmatch(r"ok: load by 2 ranks, (.*)", last_line(run(environment, "fsdp_reshard.py", "load", ranks=2)))
    assert saved is not None
    assert loaded is not None
    assert saved[1] == loaded[1]


def test_ddp_ranks_read_every_object_once_per_epoch(environment: dict[str, str]) -> None:
    text = last_line(run(environment, "ddp_loading.py", ranks=2))
    assert text.startswith("ok: 96 objects, each once in each of 2 epochs over 2 ranks")


def test_the_lightning_example_resumes(environment: dict[str, str]) -> None:
    text = run(environment, "lightning_fit.py")
    assert "some/prefix/lightning/checkpoints/last.ckpt" in text
    assert last_line(text) == "ok: resumed after epoch 3, ended after epoch 5"


def test_an_example_without_s3_uri_names_the_variable(environment: dict[str, str]) -> None:
    del environment["S3_URI"]
    done = subprocess.run(
        [sys.executable, "datasets.py"], cwd=EXAMPLES, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 1
    assert "S3_URI is ''; set it to a prefix where this example may write" in done.stderr
