"""Group `client`: the client's cost of a download."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlsplit

from harness import BUILD, Measurement, Row, interleave, per_gigabyte, rows, run_json
from servers import CREDENTIALS, Server, penstock_emulator

SIZE = 1 << 30
ROUNDS_PER_CELL = 2
PYTHON_GET = str(Path(__file__).parent.parent / "clients/python_get.py")


def put_random(server: Server, bucket: str, key: str, size: int) -> None:
    import io
    import os

    client = server.boto3()
    client.create_bucket(Bucket=bucket)
    block = os.urandom(1 << 20)
    client.upload_fileobj(io.BytesIO(block * (size >> 20)), bucket, key)


def get_1gib(rounds: int) -> list[Row]:
    """A 1 GiB object into a reused buffer, compared with a bare recv() loop, boto3 and the reference connector."""
    with penstock_emulator("--memory") as server:
        put_random(server, "bench", "big", SIZE)
        url = urlsplit(server.presigned("bench", "big"))
        program = str(BUILD / "bench/bench_client_get")
        common = ["bench", "big", str(SIZE), str(ROUNDS_PER_CELL)]

        def ours() -> Measurement:
            return per_gigabyte(run_json([program, "penstock", server.endpoint, *common, "0", "0"], CREDENTIALS))

        def bare() -> Measurement:
            target = f"{url.path}?{url.query}"
            host, port = str(url.hostname), str(url.port)
            return per_gigabyte(run_json([program, "recv", host, port, target, str(SIZE), str(ROUNDS_PER_CELL)]))

        def python(name: str) -> Measurement:
            command = [sys.executable, PYTHON_GET, name, server.endpoint, "bench", "big", str(ROUNDS_PER_CELL)]
            return per_gigabyte(run_json(command, CREDENTIALS))

        cells = {
            "penstock": ours,
            "bare recv": bare,
            "boto3": lambda: python("boto3"),
            "s3torchconnector": lambda: python("s3torchconnector"),
            "s3torchconnector ranged": lambda: python("s3torchconnector_into"),
        }
        results = interleave(cells, rounds)
    names = {
        "cpu_per_gb": ("client.get_1gib", "CPU-s/GB"),
        "gb_per_s": ("client.get_1gib.rate", "GB/s"),
        "peak_mib": ("client.get_1gib.peak", "MiB"),
    }
    return rows(results, "penstock", names)


def get_1kib(rounds: int) -> list[Row]:
    """1 KiB objects, 64 in flight, from C++, compared with a bare epoll loop."""
    requests, in_flight = 100_000, 64
    program = str(BUILD / "bench/bench_client_get_small")
    with penstock_emulator("--memory") as server:
        client = server.boto3()
        client.create_bucket(Bucket="bench")
        client.put_object(Bucket="bench", Key="small", Body=b"x" * 1024)
        url = urlsplit(server.presigned("bench", "small"))
        load = [str(requests), str(in_flight)]
        bare = [program, "bare", str(url.hostname), str(url.port), f"{url.path}?{url.query}", *load]
        cells = {
            "penstock": lambda: run_json([program, "penstock", server.endpoint, "bench", "small", *load], CREDENTIALS),
            "bare epoll": lambda: run_json(bare),
        }
        results = interleave(cells, rounds)
    return rows(
        results, "penstock", {"cpu_us": ("client.get_1kib", "CPU-us/request"), "requests": ("client.get_1kib.rate", "requests/s")}
    )


SCENARIOS = [get_1gib, get_1kib]
