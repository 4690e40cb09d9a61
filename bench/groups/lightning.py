"""Group `dcp`, Lightning: a model saved and loaded through S3LightningCheckpoint, compared with the reference connector."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from groups.client_python import PEERS, create_bucket_without_md5
from harness import Measurement, Row, interleave, per_gigabyte, rows, run_json
from servers import CREDENTIALS, penstock_emulator

PROGRAM = str(Path(__file__).parent.parent / "clients" / "python_lightning.py")
MODEL_MIB = int(os.environ.get("PENSTOCK_BENCH_LIGHTNING_MIB", "480"))  # 500 MB
TIMES = 3


def save_load(rounds: int) -> list[Row]:
    """500 MB in 16 tensors, saved and loaded with weights_only, in a bucket whose ETags are not MD5."""
    with penstock_emulator("--memory") as server:
        create_bucket_without_md5(server, "bench")

        def measure(peer: str) -> Measurement:
            got = run_json([sys.executable, PROGRAM, peer, server.endpoint, "bench", str(MODEL_MIB), str(TIMES)], CREDENTIALS)
            half = got["bytes"] / 2e9
            return per_gigabyte(got) | {"save": half / got["save"], "load": half / got["load"]}

        results = interleave({peer: (lambda peer=peer: measure(peer)) for peer in PEERS}, rounds)
    name = "lightning.save_load"
    quantities = {
        "gb_per_s": (name, "GB/s"),
        "save": (f"{name}.save", "GB/s"),
        "load": (f"{name}.load", "GB/s"),
        "cpu_per_gb": (f"{name}.cpu", "CPU-s/GB"),
        "peak_mib": (f"{name}.peak", "MiB"),
    }
    return rows(results, PEERS[0], quantities)


SCENARIOS = [save_load]
