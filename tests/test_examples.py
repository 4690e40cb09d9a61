"""The programs of examples/python and examples/engines: each runs with its own emulator, by the command of its README."""

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
ENGINES = Path(__file__).parents[1] / "examples/engines"


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    with Emulator() as emulator:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        # Four ranks may share two processors: more threads per rank would slow them down.
        yield kept | emulator.environment() | {"S3_URI": "s3://examples/some/prefix/", "OMP_NUM_THREADS": "1"}


def run(environment: dict[str, str], program: str, *arguments: str, ranks: int = 0) -> str:
    """Runs a program. Returns its output."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)] if ranks else []
    return output_of([sys.executable, *torchrun, program, *arguments], EXAMPLES, environment)


def output_of(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=400, check=False)
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


def test_the_checkpoint_retention_example_moves_the_clock(environment: dict[str, str]) -> None:
    assert last_line(run(environment, "checkpoint_retention.py")) == "ok: 7 daily and 9 weekly checkpoints kept"


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


def with_engine(environment: dict[str, str], program: str, **more: str) -> str:
    """Runs a program with the Python of requirements-engines.txt. Returns its output."""
    return output_of([os.environ["PENSTOCK_ENGINES_PYTHON"], program], ENGINES, environment | more)


def compared(text: str, other: str = "s3fs") -> list[str]:
    """Returns what a program did with Penstock and another client."""
    return re.findall(rf"^(.*): (?=.*\bpenstock [0-9.]+ s)(?=.*\b{other} [0-9.]+ s)", text, re.MULTILINE)


@pytest.mark.timeout(420)
def test_ray_reads_and_trains_on_two_nodes(environment: dict[str, str], ray_settings: dict[str, str]) -> None:
    text = with_engine(environment, "ray_cluster.py", **ray_settings)
    assert compared(text) == ["200 objects of 100000 bytes", "read_parquet"]
    assert "rows: 200, equal to those of read_binary_files; read by 2 nodes" in text
    assert last_line(text).startswith("ok: trained 2 epochs on 2 nodes; the last checkpoint is examples/some/prefix/ray/runs/")


def test_hugging_face_streams_and_resumes(environment: dict[str, str], tmp_path: Path) -> None:
    text = with_engine(environment, "hugging_face.py", HF_HOME=str(tmp_path), HF_HUB_OFFLINE="1")
    assert compared(text) == ["2000 rows of datasets", "upload of a checkpoint", "download of a checkpoint"]
    assert last_line(text).startswith("ok: 2000 rows streamed, a Trainer resumed at step 4 of 8")


def test_tables_are_equal_to_those_of_s3fs(environment: dict[str, str]) -> None:
    text = with_engine(environment, "tables.py")
    assert compared(text) == ["dask", "duckdb", "pyarrow", "pandas"]
    assert last_line(text) == "ok: 200000 rows with Dask, DuckDB, pyarrow and pandas, equal to s3fs's"


def on_two_nodes(environment: dict[str, str], verb: str, ranks: int) -> str:
    """Runs two_nodes.py with two agents, of `ranks` ranks each, and returns the output of both."""
    from torch.distributed import TCPStore

    store = TCPStore("127.0.0.1", 0, is_master=True)  # the rendezvous, on a port that is surely free
    command = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", str(ranks)]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{store.port}", "--rdzv-conf", "is_host=0"]
    command += ["--local-addr", "127.0.0.1", "two_nodes.py", verb]
    agents = [
        subprocess.Popen(command, cwd=ENGINES, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    try:
        outputs = [agent.communicate(timeout=200) for agent in agents]
    finally:
        for agent in agents:
            agent.terminate()  # it ends its ranks
            agent.wait(30)
    assert [agent.returncode for agent in agents] == [0, 0], outputs
    return "".join(output for output, _ in outputs)


@pytest.mark.timeout(420)
def test_two_nodes_resume_with_another_number_of_ranks(environment: dict[str, str]) -> None:
    environment["GLOO_SOCKET_IFNAME"] = "lo"
    saved = on_two_nodes(environment, "train", ranks=2)
    assert "DDP: 192 samples, each once over 4 ranks" in saved
    assert compared(saved, "s3torchconnector") == ["FSDP2 save"]
    assert "ok: saved by 4 ranks after 96 samples" in saved
    resumed = on_two_nodes(environment, "resume", ranks=1)
    assert compared(resumed, "s3torchconnector") == ["FSDP2 load"]
    assert "FSDP2: 192 samples, each once over 2 ranks" in resumed
    assert "ok: resumed by 2 ranks after 96 samples" in resumed
