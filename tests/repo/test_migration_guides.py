"""The programs of docs/migration/ before and after the change print the same, and what the page shows."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from page_programs import DOCS, programs_of, shown
from penstock_emulator import Emulator

TIMEOUT_S = 150
UNCHANGED = ("-m", "penstock.compat")
DATAPIPES = "PENSTOCK_DATAPIPES_PYTHON"
CLIENTS = "PENSTOCK_CLIENTS_PYTHON"


def python_of(variable: str) -> str:
    python = os.environ.get(variable)
    if python is None:
        pytest.skip(f"{variable} is not set: `./dev test` sets it to the Python of the library that this guide is about")
    return python


def run(program: str, folder: Path, environment: dict[str, str], python: str = sys.executable, *options: str) -> str:
    file = folder / "program.py"
    file.write_text(program)
    done = subprocess.run(
        [python, "-W", "ignore", *options, str(file)],
        env=dict(os.environ) | environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def with_training_objects(emulator: Emulator) -> dict[str, str]:
    """Makes a bucket with ten objects and returns the environment of a program that reads them."""
    client = emulator.client()
    client.create_bucket("migration")
    for number in range(10):
        client.put("migration", f"train/{number}.bin", bytes(100 + number))
    return emulator.environment() | {"BUCKET": "migration", "S3_ENDPOINT_URL": emulator.endpoint}


def printed(program: str, folder: Path, python: str = sys.executable, *options: str) -> str:
    """What a program prints with an emulator of its own that has the training objects."""
    with Emulator() as emulator:
        return run(program, folder, with_training_objects(emulator), python, *options)


def test_s3torchconnector(tmp_path: Path) -> None:
    before, after = programs_of("migration/s3torchconnector.md")
    expected = printed(before, tmp_path)
    assert {shown("migration/s3torchconnector.md", f"python {name}.py") for name in ("before", "after")} == {expected}
    assert printed(after, tmp_path) == expected
    assert printed(before, tmp_path, sys.executable, *UNCHANGED) == expected


def test_s3fs(tmp_path: Path) -> None:
    before, after, _ = programs_of("migration/s3fs.md")
    expected = printed(before, tmp_path, python_of(CLIENTS))
    assert {shown("migration/s3fs.md", f"python {name}.py") for name in ("before", "after")} == {expected}
    assert printed(after, tmp_path) == expected


def test_torchdata_datapipes(tmp_path: Path) -> None:
    before, pipes, nodes = programs_of("migration/torchdata.md")
    expected = printed(before, tmp_path, python_of(DATAPIPES))
    programs = ("-m penstock.compat before.py", "pipes.py", "nodes.py")
    assert {shown("migration/torchdata.md", f"python {program}") for program in programs} == {expected}
    assert printed(before, tmp_path, python_of(DATAPIPES), *UNCHANGED) == expected
    assert printed(pipes, tmp_path) == expected
    assert printed(nodes, tmp_path) == expected


def test_moto(tmp_path: Path) -> None:
    before, after = programs_of("migration/moto.md")
    expected = run(before, tmp_path, {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"})
    assert {shown("migration/moto.md", f"python {name}.py") for name in ("before", "after")} == {expected}
    assert run(after, tmp_path, {}) == expected


@contextmanager
def started(command: str, folder: Path) -> Iterator[str]:
    """Runs a command of a page, `penstock-emulator --port ...`, on a free port. Yields the endpoint."""
    executable = Path(os.environ["PENSTOCK_BUILD_DIR"]) / "emulator/server/penstock-emulator"
    arguments = shlex.split(re.sub(r"--port \d+", "--port 0", command))
    process = subprocess.Popen([executable, *arguments[1:]], stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["endpoint"]
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)


@pytest.mark.parametrize("page", ["localstack", "minio"])
def test_servers_differ_in_port_and_key_only(tmp_path: Path, page: str) -> None:
    before, after = programs_of(f"migration/{page}.md")
    commands = re.findall(r"^\$ (penstock-emulator .*)$", (DOCS / f"migration/{page}.md").read_text(), re.M)[:2]
    printed_by = []
    for number, (command, program) in enumerate(zip(commands, (before, after), strict=True)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with started(command, folder) as endpoint:
            printed_by.append(run(program, folder, {"S3_ENDPOINT": endpoint}))
    assert printed_by == [shown(f"migration/{page}.md", "python before.py")] * 2
    changed = [old for old, new in zip(before.splitlines(), after.splitlines(), strict=True) if old != new]
    assert {line.split("=")[0].strip() for line in changed} <= {"endpoint_url", "aws_access_key_id", "aws_secret_access_key"}
