"""Processes of bench/clients/python_scale.py that work at the same time."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from servers import CREDENTIALS, free_port

PROGRAM = str(Path(__file__).parent.parent / "clients" / "python_scale.py")
START_S = 120  # to import torch in many processes on few cores
GRACE_S = 60  # a piece of work may end that much after the end of a measurement
END_S = 10


class Team:
    """Running processes. `run` lets all of them work at the same time."""

    def __init__(self, processes: Sequence[subprocess.Popen[str]]) -> None:
        self._processes = processes

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self._processes]

    def _line(self, process: subprocess.Popen[str], timeout: float) -> str:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], timeout)
        line = process.stdout.readline() if ready else ""
        if not line:
            reason = f"wrote nothing for {timeout:g} s" if not ready else f"ended with status {process.wait(END_S)}"
            raise SystemExit(f"bench: {' '.join(map(str, process.args[1:]))} {reason}")  # type: ignore[index]
        return line

    def wait_until_ready(self) -> None:
        for process in self._processes:
            self._line(process, START_S)

    def start(self, seconds: float) -> None:
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(f"{seconds}\n")
            process.stdin.flush()

    def results(self, seconds: float) -> list[dict[str, Any]]:
        return [json.loads(self._line(process, seconds + GRACE_S)) for process in self._processes]

    def run(self, seconds: float) -> tuple[float, float]:
        """Returns the units that all processes have done, and their rate: the sum of each one's units per second."""
        self.start(seconds)
        results = self.results(seconds)
        return sum(each["units"] for each in results), sum(each["units"] / each["seconds"] for each in results)


@contextlib.contextmanager
def team(commands: Sequence[Sequence[str]], settings: Mapping[str, str] | None = None, ranks: bool = False) -> Iterator[Team]:
    """Starts one process for each list of arguments, and waits until all are ready. `ranks`: they are ranks of one job."""
    world = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(len(commands))} if ranks else {}
    processes = []
    try:
        for rank, arguments in enumerate(commands):
            env = os.environ | CREDENTIALS | dict(settings or {}) | world | {"RANK": str(rank), "OMP_NUM_THREADS": "1"}
            processes.append(
                subprocess.Popen(
                    [sys.executable, PROGRAM, *arguments], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
        made = Team(processes)
        made.wait_until_ready()
        yield made
    finally:
        for process in processes:
            assert process.stdin is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
        for process in processes:
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
