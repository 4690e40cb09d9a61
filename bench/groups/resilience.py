"""Group `resilience`: clients of a service that throttles or delays them, and the fault matrix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import BUILD, Measurement, Row, interleave, rows, run_json
from servers import CREDENTIALS, Server, ask, penstock_emulator

CLIENTS = Path(__file__).parent.parent / "clients"
PEERS = ("penstock", "boto3 standard", "boto3 adaptive", "s3torchconnector")
PROCESSES = 8
THREADS = 8
READS_PER_SECOND = 55  # of the preset aws-strict
SETTLING_S = 60
MEASURED_S = 60
STARTING_S = 5
BATCH = 256
BATCHES = 400
COLD_THREADS = 64
ROUND_TRIP_S = 1.0
DIRECTORY_BUCKET = "bench--use1-az1--x-s3"
CELLS = 1000


def counters(server: Server) -> dict[str, int]:
    """The numbers of requests that the emulator has admitted and refused since its start."""
    report = ask(server, "limits")
    return {"admitted": int(report["admitted"]), "refused": int(report["refused"])}


def crowd(peer: str, limits: str) -> Measurement:
    """Eight processes of one client read one prefix: their share of the allowed rate, and how evenly they divide it."""
    with penstock_emulator("--memory", "--auth=off", "--limits", limits) as server:
        client = server.boto3()
        client.create_bucket(Bucket="bench")
        client.put_object(Bucket="bench", Key="train/part/one", Body=os.urandom(1024))
        begin = time.time() + STARTING_S + SETTLING_S
        end = begin + MEASURED_S
        command = [sys.executable, str(CLIENTS / "python_throttle.py"), peer, server.endpoint, "bench", "train/part/one"]
        processes = [
            subprocess.Popen(
                [*command, str(THREADS), str(begin), str(end)],
                env={**os.environ, **CREDENTIALS},
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for _ in range(PROCESSES)
        ]
        time.sleep(max(0.0, begin - time.time()))
        before = counters(server)
        time.sleep(max(0.0, end - time.time()))
        after = counters(server)
        counts = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
    good = [count["good"] for count in counts]
    refused = after["refused"] - before["refused"]
    asked = refused + after["admitted"] - before["admitted"]
    return {
        "goodput": sum(good) / (READS_PER_SECOND * MEASURED_S) * 100,
        "refused": refused / max(1, asked) * 100,
        "fair": min(good) / max(1e-9, sum(good) / len(good)),
        "failed": sum(count["failed"] for count in counts),
    }


def throttle(rounds: int) -> list[Row]:
    """8 processes with 8 threads each read one prefix under the strict preset. Measures the second minute; always one round."""
    del rounds  # one round takes eight minutes
    with tempfile.TemporaryDirectory() as folder:
        limits = Path(folder) / "limits.json"
        # A partition that splits under the peers' load would admit more than READS_PER_SECOND.
        limits.write_text(json.dumps({"preset": "aws-strict", "split_after_s": 0}))
        results = interleave({peer: (lambda peer=peer: crowd(peer, str(limits))) for peer in PEERS}, 1)
    quantities = {
        "goodput": ("throttle.goodput", "% of the allowed rate"),
        "refused": ("throttle.refused", "% of requests refused"),
        "fair": ("throttle.fair", "slowest process / mean"),
        "failed": ("throttle.failed", "reads that failed"),
    }
    return rows(results, "penstock", quantities)


def hedge(rounds: int) -> list[Row]:
    """Batches of 256 objects of 128 KiB under the latency profile s3-standard, with and without hedged reads."""
    with tempfile.TemporaryDirectory() as folder:
        limits = Path(folder) / "limits.json"
        limits.write_text(json.dumps({"latency": "s3-standard"}))
        with penstock_emulator("--memory", "--auth=off", "--limits", str(limits)) as server:
            client = server.boto3()
            client.create_bucket(Bucket="bench")
            body = os.urandom(128 << 10)
            for number in range(BATCH):
                client.put_object(Bucket="bench", Key=f"train/{number:06}", Body=body)
            program = str(BUILD / "bench/bench_client_hedge")

            def measure(mode: str) -> Measurement:
                command = [program, server.endpoint, "bench", "train/", str(BATCH), str(BATCHES), mode]
                got = run_json(command, CREDENTIALS, timeout=1200)
                return got | ({"extra": (got["requests"] / got["reads"] - 1) * 100} if mode == "hedge" else {})

            cells = {"penstock": lambda: measure("hedge"), "without hedging": lambda: measure("plain")}
            results = interleave(cells, rounds)
    quantities = {
        "p99_ms": ("hedge.p99", "ms/batch, 99th percentile"),
        "p50_ms": ("hedge.p50", "ms/batch, median"),
        "extra": ("hedge.extra", "% more requests"),
    }
    return rows(results, "penstock", quantities)


def sessions_made(server: Server) -> int:
    """The number of CreateSession requests in the emulator's journal."""
    question = {"question": "count", "filter": {"operations": ["CreateSession"]}}
    return int(ask(server, "journal-query", question)["count"])


def express_session(rounds: int) -> list[Row]:
    """64 threads read a directory bucket with a new client; each response takes 1 s. Measures the cost of the session."""
    with tempfile.TemporaryDirectory() as folder:
        faults = Path(folder) / "faults.json"
        faults.write_text(json.dumps([{"do": {"latency": {"ms": ROUND_TRIP_S * 1000}}}]))
        with penstock_emulator("--memory", "--faults", str(faults), journal=True) as server:
            program = str(CLIENTS / "python_express.py")

            def seconds(mode: str) -> float:
                command = [sys.executable, program, server.endpoint, DIRECTORY_BUCKET, "train/one", str(COLD_THREADS), mode]
                return run_json(command, CREDENTIALS)["seconds"]

            def measure() -> Measurement:
                plain, before = seconds("plain"), sessions_made(server)
                added = (seconds("session") - plain) / ROUND_TRIP_S
                return {"sessions": sessions_made(server) - before, "added": added}

            seconds("make")
            results = interleave({"penstock": measure}, rounds)
    quantities = {
        "sessions": ("express.session", "CreateSession requests, 64 cold threads"),
        "added": ("express.session.added", "round trips more than without a session"),
    }
    return rows(results, "penstock", quantities)


def matrix(rounds: int) -> list[Row]:
    """The defects that a sample of the fault matrix finds. Always one round."""
    del rounds
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "matrix.json"
        command = [sys.executable, "-m", "penstock_conformance.matrix", "--sample", str(CELLS), "--json", str(report)]
        subprocess.run(command, stdout=subprocess.DEVNULL, timeout=3600, check=False)  # exits with 1 if it finds defects
        facts = json.loads(report.read_text())["summary"]
    quantities = {
        "cells": ("matrix.cells", "of fault and request"),
        "silent_corruptions": ("matrix", "silent corruptions"),
        "hangs": ("matrix.hangs", "hangs"),
        "uploads_left_open": ("matrix.uploads", "uploads left open"),
    }
    return rows({"penstock": [{name: facts[name] for name in quantities}]}, "penstock", quantities)


SCENARIOS = [throttle, hedge, express_session, matrix]
