"""Group `client`, listings: 100,000 keys through Python, compared with other clients, and one page from C++."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from harness import BUILD, Measurement, Row, interleave, rows, run_json
from servers import CREDENTIALS, penstock_emulator

PYTHON_LIST = str(Path(__file__).parent.parent / "clients/python_list.py")
KEYS = 100_000
PAGE = 1000
# Listings per round: the peers take longer.
LISTINGS = {"penstock": 10, "penstock_kept": 10, "s3torchconnector": 2, "botocore": 1}


def list_100k(rounds: int) -> list[Row]:
    """Every key and size of a bucket. The row `.kept` is the packed list of S3MapDataset."""
    with tempfile.TemporaryDirectory() as data:
        run_json([str(BUILD / "bench/bench_seed_store"), data, "bench", str(KEYS), "100", "16", "8"], timeout=600)
        with penstock_emulator("--data", data) as server:

            def measure(name: str) -> Measurement:
                got = run_json([sys.executable, PYTHON_LIST, name, server.endpoint, "bench", str(LISTINGS[name])], CREDENTIALS)
                return {"rate": got["keys"] / got["seconds"], "cpu_ms": got["cpu"] / got["keys"] * PAGE * 1e3}

            results = interleave({name: (lambda name=name: measure(name)) for name in LISTINGS}, rounds)
    kept = {"penstock": results.pop("penstock_kept"), "botocore": results["botocore"]}
    names = {"rate": ("client.list_100k", "keys/s"), "cpu_ms": ("client.list_100k.cpu", "CPU-ms/page")}
    made = rows(results, "penstock", names)
    return made + rows(kept, "penstock", {"cpu_ms": ("client.list_100k.kept.cpu", "CPU-ms/page")})


def list_page(rounds: int) -> list[Row]:
    """A page of 1,000 keys listed from C++, compared with parsing such a page in memory."""
    pages = 2000
    program = str(BUILD / "bench/bench_client_list")
    with tempfile.TemporaryDirectory() as data:
        run_json([str(BUILD / "bench/bench_seed_store"), data, "bench", str(KEYS), "100", "16", "8"], timeout=600)
        with penstock_emulator("--data", data) as server:
            cells = {
                "penstock": lambda: run_json([program, "penstock", server.endpoint, "bench", str(pages)], CREDENTIALS),
                "parser alone": lambda: run_json([program, "parser", "-", "-", str(pages)]),
            }
            results = interleave(cells, rounds)
    alone = {"penstock": results["parser alone"]}
    whole = rows(results, "penstock", {"cpu_ms": ("client.list_page", "CPU-ms/page")})
    return whole + rows(alone, "penstock", {"cpu_ms": ("client.list_page.parser", "CPU-ms/page")})


SCENARIOS = [list_100k, list_page]
