"""`penstock completion`: argcomplete's script, loaded in bash, completes commands, options, buckets and keys."""

from __future__ import annotations

import os
import subprocess

import pytest
from penstock.testing import Emulator

SHOW = """
eval "$(penstock completion bash)"
COMP_LINE="$1"
COMP_POINT=${#1}
COMP_TYPE=9
COMPREPLY=()
_python_argcomplete penstock
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """Returns what bash offers for a line. bash itself has taken `s3:` as a word of its own."""
    tmp_path = tmp_path_factory.mktemp("completion")
    (tmp_path / "penstock").write_text(f'#!/bin/sh\nexec {os.environ["PENSTOCK_CLIENTS_PYTHON"]} -m penstock "$@"\n')
    (tmp_path / "penstock").chmod(0o755)
    (tmp_path / "file.bin").write_text("")
    with Emulator() as emulator:
        client = emulator.client()
        client.create_bucket("data-bucket")
        for key in ("logs/1", "logs/2", "log book", "other"):
            client.put("data-bucket", key, b"")
        environment = {**os.environ, **emulator.environment(), "PATH": f"{tmp_path}:{os.environ['PATH']}"}

        def run(line: str) -> list[str]:
            command = ["bash", "-c", SHOW, "bash", line]
            done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0 and ("NoSuchBucket" in done.stderr if "no-such" in line else not done.stderr), done
            return sorted(word.strip() for word in done.stdout.splitlines())

        yield run


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("penstock c", ["cache", "cat", "checkpoint", "completion", "conformance", "cp"]),
        ("penstock cp --res", ["--resume"]),
        ("penstock sync --metadata-directive C", ["COPY"]),
        ("penstock checkpoint v", ["verify"]),
        ("penstock cp fi", ["file.bin"]),
        ("penstock ls s3://da", ["//data-bucket/"]),
        ("penstock cat s3://data-bucket/l", ["//data-bucket/log\\ book", "//data-bucket/logs/"]),
        ("penstock rm s3://data-bucket/logs/", ["//data-bucket/logs/1", "//data-bucket/logs/2"]),
        ("penstock ls s3://no-such-bucket/", []),
    ],
)
def test_bash_completes(complete, line, words):
    assert [word for word in complete(line) if word] == words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell):
    python = os.environ["PENSTOCK_CLIENTS_PYTHON"]
    done = subprocess.run([python, "-m", "penstock", "completion", shell], capture_output=True, text=True, timeout=60, check=True)
    assert "_ARGCOMPLETE" in done.stdout and "penstock" in done.stdout
