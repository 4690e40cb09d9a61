"""Group `client`, the readers: a large object into Python memory, compared with other clients' readers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from groups.client import SIZE, put_random
from harness import Measurement, Row, interleave, per_gigabyte, rows, run_json
from servers import CREDENTIALS, penstock_emulator

PYTHON_LINES = str(Path(__file__).parent.parent / "clients/python_lines.py")
PYTHON_GET = str(Path(__file__).parent.parent / "clients/python_get.py")
DOWNLOADS = 3
# The interpreter of the environment for peers that conflict with the other packages; `./dev bench` creates it.
CLIENTS_PYTHON = os.environ.get("PENSTOCK_CLIENTS_PYTHON", sys.executable)


def download(rounds: int, name: str, cells: dict[str, tuple[str, str]]) -> list[Row]:
    """`cells`: interpreter and reader by label; the first one is ours."""
    with penstock_emulator("--memory") as server:
        put_random(server, "bench", "big", SIZE)

        def measure(python: str, reader: str) -> Measurement:
            command = [python, PYTHON_GET, reader, server.endpoint, "bench", "big", str(DOWNLOADS)]
            return per_gigabyte(run_json(command, CREDENTIALS))

        results = interleave({cell: (lambda made=made: measure(*made)) for cell, made in cells.items()}, rounds)
    quantities = {"gb_per_s": (name, "GB/s"), "cpu_per_gb": (f"{name}.cpu", "CPU-s/GB"), "peak_mib": (f"{name}.peak", "MiB")}
    return rows(results, next(iter(cells)), quantities)


def read_1gib(rounds: int) -> list[Row]:
    """`reader.read()` of a 1 GiB object into new `bytes`."""
    peers = ("penstock", "boto3", "s3torchconnector")
    return download(rounds, "client.read_1gib", {peer: (sys.executable, peer) for peer in peers})


def readinto_1gib(rounds: int) -> list[Row]:
    """Range-based `reader.readinto()` of a 1 GiB object into reused memory."""
    cells = {peer: (sys.executable, f"{peer}_into") for peer in ("penstock", "s3torchconnector")}
    return download(rounds, "client.readinto_1gib", {**cells, "obstore": (CLIENTS_PYTHON, "obstore_into")})


def readline(rounds: int) -> list[Row]:
    """Lines of about 100 bytes, with the default reader."""
    lines = {"penstock": 1_000_000, "s3torchconnector": 20_000}  # each takes some seconds
    with penstock_emulator("--memory") as server:
        client = server.boto3()
        client.create_bucket(Bucket="bench")
        for name, count in lines.items():
            client.put_object(Bucket="bench", Key=name, Body=b"".join(b"%099d\n" % i for i in range(count)))

        def measure(name: str) -> Measurement:
            got = run_json([sys.executable, PYTHON_LINES, name, server.endpoint, "bench", name, "2"], CREDENTIALS)
            return {"rate": got["lines"] / got["seconds"], "cpu": got["cpu"] / got["lines"] * 1e6}

        results = interleave({name: (lambda name=name: measure(name)) for name in lines}, rounds)
    return rows(results, "penstock", {"rate": ("client.readline", "lines/s"), "cpu": ("client.readline.cpu", "CPU-us/line")})


SCENARIOS = [read_1gib, readinto_1gib, readline]
