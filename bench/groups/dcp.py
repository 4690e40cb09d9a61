"""Group `dcp`: distributed checkpoints by gloo ranks, beside the reference connector with its own best reader."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from groups.client_python import PEERS, not_md5
from harness import Measurement, Row, interleave, per_gigabyte, rows, run_json
from servers import CREDENTIALS, Server, ask, free_port, penstock_emulator

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


def bytes_sent(admin: str) -> int:
    """What the server has sent, all answers together."""
    return int(ask(admin, "stats")["bytes_out"])


def loaded(rounds: int, name: str, ranks: int, shape: str, delay_ms: int = 0) -> list[Row]:
    """Both load the same checkpoint, which the reference has written by four ranks."""
    port = free_port()
    admin = f"http://127.0.0.1:{port}"
    delay = ["--first-byte-delay-ms", str(delay_ms)] if delay_ms else []
    with penstock_emulator("--memory", "--admin-port", str(port), *delay) as server:
        not_md5(server, "bench")
        uri = "s3://bench/checkpoint"
        run("s3torchconnector", "save", server, uri, RANKS, shape, times=0)

        def measure(peer: str) -> Measurement:
            before = bytes_sent(admin)
            got = run(peer, "load", server, uri, ranks, shape)
            needed = got["bytes"] / TIMES * (TIMES + 1)
            return per_gigabyte(got) | {"over": (bytes_sent(admin) - before) / needed}

        results = interleave({peer: (lambda peer=peer: measure(peer)) for peer in PEERS}, rounds)
    return measured(results, name) + rows(results, PEERS[0], {"over": (f"{name}.bytes", "fetched/needed")})


def load(rounds: int) -> list[Row]:
    """2 GiB in 16 tensors, sharded over 4 ranks, loaded by 4."""
    return loaded(rounds, "dcp.load", RANKS, LARGE)


def load_reshard(rounds: int) -> list[Row]:
    """The same, loaded by 2."""
    return loaded(rounds, "dcp.load_reshard", RANKS // 2, LARGE)


def load_25ms(rounds: int) -> list[Row]:
    """20,000 tensors of 16 KiB, 25 ms to each first byte."""
    return loaded(rounds, "dcp.load_25ms", RANKS, SMALL, DELAY_MS)


def save(rounds: int) -> list[Row]:
    """2 GiB in 16 tensors by 4 ranks, into a bucket whose ETags are not MD5."""
    with penstock_emulator("--memory") as server:
        not_md5(server, "bench")

        def measure(peer: str) -> Measurement:
            return per_gigabyte(run(peer, "save", server, f"s3://bench/by-{peer}", RANKS, LARGE))

        results = interleave({peer: (lambda peer=peer: measure(peer)) for peer in PEERS}, rounds)
    return measured(results, "dcp.save")


SCENARIOS = [load, load_reshard, load_25ms, save]
