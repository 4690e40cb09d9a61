"""Runs the `penstock` command in this process, with the emulator as its service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from endless_listing import EndlessListing
from penstock import __main__
from penstock.testing import Emulator

TIMEOUT_S = 60
# Shells start background processes with SIGINT ignored, nohup with SIGHUP ignored, and children inherit that.
PREAMBLE = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); signal.signal(signal.SIGHUP, signal.SIG_DFL); "
    "from penstock.__main__ import main; "
)


def start(emulator: Emulator | EndlessListing, *words: object, preamble: str = "", **options: Any) -> subprocess.Popen[bytes]:
    """Starts a command as a process.

    Args:
        preamble: Statements of Python that the process runs first.
    """
    command = [sys.executable, "-c", PREAMBLE + preamble + "sys.exit(main())", *map(str, words)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, env=os.environ | emulator.environment(), **pipes | options)


class Run(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return sorted(self.out.splitlines())

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Penstock:
    """Runs commands: ``penstock("ls", "s3://bucket")``. A `status` other than the expected one fails the test."""

    def __init__(self, emulator: Emulator, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        for name, value in emulator.environment().items():
            monkeypatch.setenv(name, value)

    def __call__(self, *words: object, status: int = 0) -> Run:
        self._capsys.readouterr()
        try:
            found = __main__.main([str(word) for word in words])
        except SystemExit as ended:  # argparse
            found = int(ended.code or 0)
        run = Run(found, *self._capsys.readouterr())
        assert found == status, run
        return run


def tree(root: Path) -> dict[str, bytes]:
    """Returns the files below a folder by their relative names; links are not followed."""
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file() and not path.is_symlink()
    }


def make_tree(root: Path, *names: str) -> None:
    """Creates files whose content is their name."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
