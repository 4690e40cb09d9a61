"""Group `dcp`: distributed checkpoints by gloo ranks, compared with the reference connector and its fastest reader."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from groups.client_python import PEERS, create_bucket_without_md5
from harness import Measurement, Row, interleave, per_gigabyte, rows, run_json
from servers import CREDENTIALS, Server, ask, penstock_emulator

PROGRAM = str(Path(__file__).parent.parent / "clients" / "python_dcp.py")
RANKS = 4
TENSORS = 16
TENSOR_MIB = int(os.environ.get("PENSTOCK_BENCH_DCP_MIB", "2048")) // TENSORS
LARGE = f"{TENSORS}x{TENSOR_MIB << 20}"
SMALL = f"20000x{16 << 10}"
DELAY_MS = 25
TIMES = 2
TIMEOUT_S = 600


def run(peer: str, verb: str, server: Server, uri: str, ranks: int, shape: str, times: int = TIMES) -> Measurement:
    command = [sys.executable, PROGRAM, peer, verb, server.endpoint, uri, str(ranks), shape, str(times)]
    return run_json(command, CREDENTIALS, TIMEOUT_S)


def measured(results: dict[str, list[Measurement]], name: str) -> list[Row]:
    quantities = {"gb_per_s": (name, "GB/s"), "cpu_per_gb": (f"{name}.cpu", "CPU-s/GB"), "peak_mib": (f"{name}.peak", "MiB")}
    return rows(results, PEERS[0], quantities)


def bytes_sent(server: Server) -> int:
    """The bytes of all response bodies that the server has sent."""
    return int(ask(server, "stats")["bytes_out"])


def loaded(rounds: int, name: str, ranks: int, shape: str, delay_ms: int = 0) -> list[Row]:
    """Both clients load the same checkpoint, which four ranks have saved with the reference connector."""
    delay = ["--first-byte-delay", f"{delay_ms}ms"] if delay_ms else []
    with penstock_emulator("--memory", *delay) as server:
        create_bucket_without_md5(server, "bench")
        uri = "s3://bench/checkpoint"
        run("s3torchconnector", "save", server, uri, RANKS, shape, times=0)

        def measure(peer: str) -> Measurement:
            before = bytes_sent(server)
            got = run(peer, "load", server, uri, ranks, shape)
            needed = got["bytes"] / TIMES * (TIMES + 1)
            return per_gigabyte(got) | {"over": (bytes_sent(server) - before) / needed}

        results = interleave({peer: (lambda peer=peer: measure(peer)) for peer in PEERS}, rounds)
    return measured(results, name) + rows(results, PEERS[0], {"over": (f"{name}.bytes", "fetched/needed")})


def load(rounds: int) -> list[Row]:
    """4 ranks load 2 GiB in 16 tensors that are sharded over 4 ranks."""
    return loaded(rounds, "dcp.load", RANKS, LARGE)


def load_reshard(rounds: int) -> list[Row]:
    """2 ranks load the same checkpoint."""
    return loaded(rounds, "dcp.load_reshard", RANKS // 2, LARGE)


def load_25ms(rounds: int) -> list[Row]:
    """4 ranks load 20,000 tensors of 16 KiB; the first byte of each response is delayed by 25 ms."""
    return loaded(rounds, "dcp.load_25ms", RANKS, SMALL, DELAY_MS)


def save(rounds: int) -> list[Row]:
    """4 ranks save 2 GiB in 16 tensors to a bucket whose ETags are not MD5."""
    with penstock_emulator("--memory") as server:
        create_bucket_without_md5(server, "bench")

        def measure(peer: str) -> Measurement:
            return per_gigabyte(run(peer, "save", server, f"s3://bench/by-{peer}", RANKS, LARGE))

        results = interleave({peer: (lambda peer=peer: measure(peer)) for peer in PEERS}, rounds)
    return measured(results, "dcp.save")


SCENARIOS = [load, load_reshard, load_25ms, save]
