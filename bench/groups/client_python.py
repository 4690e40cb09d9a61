"""Group `client`, the Python part: data loading, checkpoints and the import, compared with the reference connector."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from harness import Measurement, Row, interleave, per_gigabyte, rows, run_json
from servers import CREDENTIALS, Server, penstock_emulator

CLIENTS = Path(__file__).parent.parent / "clients"
PEERS = ("penstock", "s3torchconnector")
OBJECT_BYTES = 100_000
WORKERS = 4
DELAY_MS = 25
# Enough for several seconds of ours; the peer is far slower and reads fewer.
OBJECTS = {"penstock": 8192, "s3torchconnector": 1024}
CHECKPOINT_MIB = int(os.environ.get("PENSTOCK_BENCH_CHECKPOINT_MIB", "1024"))
CHECKPOINT_ROUNDS = 2
IMPORTS = 20
CLIENTS_PYTHON = os.environ.get("PENSTOCK_CLIENTS_PYTHON", sys.executable)
# The peers are slower and send fewer.
SMALL_GETS = {"penstock_aio": 20_000, "penstock_threads": 10_000, "aiobotocore": 2000, "boto3_threads": 2000}


def fill(server: Server) -> None:
    """Fills a bucket for each client with its number of equal 100 KB objects."""
    from concurrent.futures import ThreadPoolExecutor

    client = server.boto3()
    body = os.urandom(OBJECT_BYTES)
    for name, count in OBJECTS.items():
        client.create_bucket(Bucket=name)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda i: client.put_object(Bucket=name, Key=f"data/{i:06}", Body=body), range(count)))  # noqa: B023


def data(rounds: int, style: str, delay_ms: int, name: str) -> list[Row]:
    options = ["--first-byte-delay", f"{delay_ms}ms"] if delay_ms else []
    with penstock_emulator("--memory", *options) as server:
        fill(server)

        def measure(peer: str) -> Measurement:
            command = [sys.executable, str(CLIENTS / "python_data.py"), peer, style, server.endpoint, peer, str(WORKERS), "1"]
            got = run_json(command, CREDENTIALS)
            return {"rate": got["objects"] / got["seconds"], "cpu": got["cpu"] / got["objects"] * 1e6}

        results = interleave({peer: (lambda peer=peer: measure(peer)) for peer in PEERS}, rounds)
    return rows(results, PEERS[0], {"rate": (name, "objects/s"), "cpu": (f"{name}.cpu", "CPU-us/object")})


def iter_100kb(rounds: int) -> list[Row]:
    """An iterable dataset, sharded over 4 workers; the first byte of each response is delayed by 25 ms."""
    return data(rounds, "iter", DELAY_MS, "data.iter_100kb")


def map_100kb(rounds: int) -> list[Row]:
    """A map dataset, shuffled batches of 128, 4 workers; the first byte of each response is delayed by 25 ms."""
    return data(rounds, "map", DELAY_MS, "data.map_100kb")


def iter_local(rounds: int) -> list[Row]:
    """The iterable dataset without the delay."""
    return data(rounds, "iter", 0, "data.iter_local")


def map_local(rounds: int) -> list[Row]:
    """The map dataset without the delay."""
    return data(rounds, "map", 0, "data.map_local")


def create_bucket_without_md5(server: Server, bucket: str) -> None:
    """Creates a bucket whose ETags are not MD5: the server's MD5 would dominate the time of uploads."""
    client = server.boto3()
    client.create_bucket(Bucket=bucket)
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms"}}
    client.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": [rule]})


def checkpoint(rounds: int, verb: str) -> list[Row]:
    size = str(CHECKPOINT_MIB)
    program = str(CLIENTS / "python_checkpoint.py")
    with penstock_emulator("--memory") as server:
        create_bucket_without_md5(server, "bench")
        if verb == "load":
            put_checkpoint(server)

        def measure(peer: str) -> Measurement:
            command = [sys.executable, program, peer, verb, server.endpoint, "bench", size, str(CHECKPOINT_ROUNDS)]
            return per_gigabyte(run_json(command, CREDENTIALS))

        results = interleave({peer: (lambda peer=peer: measure(peer)) for peer in PEERS}, rounds)
    name = f"ckpt.{verb}_1gib"
    quantities = {"gb_per_s": (name, "GB/s"), "cpu_per_gb": (f"{name}.cpu", "CPU-s/GB"), "peak_mib": (f"{name}.peak", "MiB")}
    return rows(results, PEERS[0], quantities)


def put_checkpoint(server: Server) -> None:
    sys.path.insert(0, str(CLIENTS))
    import tempfile

    import torch
    from python_checkpoint import make_state

    with tempfile.TemporaryFile() as file:
        torch.save(make_state(CHECKPOINT_MIB), file)
        file.seek(0)
        server.boto3().upload_fileobj(file, "bench", "checkpoint.pt")


def load_1gib(rounds: int) -> list[Row]:
    """torch.load of 16 tensors, weights only."""
    return checkpoint(rounds, "load")


def save_1gib(rounds: int) -> list[Row]:
    """torch.save of 16 tensors."""
    return checkpoint(rounds, "save")


def import_penstock(rounds: int) -> list[Row]:
    """The time of a new interpreter that imports the package, or also creates a client, minus one that does nothing.

    Medians of 20 runs.
    """
    clients = {"penstock": "penstock", "s3torchconnector": "s3torchconnector._s3client"}

    def milliseconds(code: str) -> float:
        taken = []
        for _ in range(IMPORTS):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            taken.append((time.perf_counter() - start) * 1e3)
        return statistics.median(taken)

    def measure(peer: str) -> Measurement:
        bare = milliseconds("pass")
        make = f"from {clients[peer]} import S3Client; S3Client('us-east-1')"
        return {"import": milliseconds(f"import {peer}") - bare, "client": milliseconds(make) - bare}

    results = interleave({peer: (lambda peer=peer: measure(peer)) for peer in PEERS}, rounds)
    return rows(results, PEERS[0], {"import": ("import.penstock", "ms"), "client": ("import.client", "ms")})


def aio_get_1kib(rounds: int) -> list[Row]:
    """GETs of 1 KiB, 64 at a time: penstock.aio on one event loop, and clients in 64 threads or on an event loop."""
    names = {name: name.replace("_aio", ".aio").replace("_", " in ") for name in SMALL_GETS}
    with penstock_emulator("--memory") as server:
        boto3 = server.boto3()
        boto3.create_bucket(Bucket="bench")
        boto3.put_object(Bucket="bench", Key="small", Body=bytes(1024))

        def measure(client: str) -> Measurement:
            python = CLIENTS_PYTHON if client == "aiobotocore" else sys.executable
            program = str(CLIENTS / "python_small.py")
            command = [python, program, client, server.endpoint, "bench", "small", str(SMALL_GETS[client])]
            return run_json(command, CREDENTIALS)

        results = interleave({names[client]: (lambda client=client: measure(client)) for client in SMALL_GETS}, rounds)
    quantities = {"rate": ("aio.get_1kib", "requests/s"), "cpu": ("aio.get_1kib.cpu", "CPU-us/request")}
    return rows(results, names["penstock_aio"], quantities)


SCENARIOS = [aio_get_1kib, iter_100kb, map_100kb, iter_local, map_local, load_1gib, save_1gib, import_penstock]
