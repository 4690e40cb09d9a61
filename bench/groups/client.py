"""Group `client`: the client's cost of a download."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import subprocess
import sys
import tempfile
import unittest.mock
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


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        str(key),
        "-out",
        str(certificate),
        *subject,
    ]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


def tls_1gib(rounds: int) -> list[Row]:
    """get_1gib over TLS, compared with a bare SSL_read() loop, and with the sum of decryption and plain recv()."""
    size = SIZE // 2
    tls = str(BUILD / "bench/bench_client_tls")
    get = str(BUILD / "bench/bench_client_get")
    common = ["bench", "big", str(size), str(ROUNDS_PER_CELL)]
    with contextlib.ExitStack() as stack:
        certificate, key = self_signed(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        trust = {"AWS_CA_BUNDLE": str(certificate)}
        stack.enter_context(unittest.mock.patch.dict(os.environ, trust))
        secure = stack.enter_context(penstock_emulator("--memory", "--tls-cert", str(certificate), "--tls-key", str(key)))
        plain = stack.enter_context(penstock_emulator("--memory"))
        targets = []
        for server in (secure, plain):
            put_random(server, "bench", "big", size)
            url = urlsplit(server.presigned("bench", "big"))
            targets.append([str(url.hostname), str(url.port), f"{url.path}?{url.query}", str(size), str(ROUNDS_PER_CELL)])

        def decryption_and_plain() -> Measurement:
            opening = per_gigabyte(run_json([tls, "decrypt", str(size), str(ROUNDS_PER_CELL)]))
            receiving = per_gigabyte(run_json([get, "recv", *targets[1]]))
            return {"cpu_per_gb": opening["cpu_per_gb"] + receiving["cpu_per_gb"]}

        cells = {
            "penstock": lambda: per_gigabyte(
                run_json([get, "penstock", secure.endpoint, *common, "0", "0"], CREDENTIALS | trust)
            ),
            "bare SSL_read": lambda: per_gigabyte(run_json([tls, "ssl_read", *targets[0]])),
            "decryption and plain": decryption_and_plain,
        }
        results = interleave(cells, rounds)
    return rows(
        results, "penstock", {"cpu_per_gb": ("client.tls_1gib", "CPU-s/GB"), "gb_per_s": ("client.tls_1gib.rate", "GB/s")}
    )


def requests(rounds: int) -> list[Row]:
    """Single requests, compared with libcurl: GET and PUT, 64 MiB and 4 KiB, plain and over TLS."""
    program = str(BUILD / "bench/bench_client_requests")
    sizes = {"64mib": (64 << 20, 8, 2), "4kib": (4 << 10, 4000, 16)}  # name -> bytes, requests, in flight
    found: list[Row] = []
    with contextlib.ExitStack() as stack:
        certificate, key = self_signed(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        stack.enter_context(unittest.mock.patch.dict(os.environ, {"AWS_CA_BUNDLE": str(certificate)}))
        servers = {
            "plain": stack.enter_context(penstock_emulator("--memory")),
            "tls": stack.enter_context(penstock_emulator("--memory", "--tls-cert", str(certificate), "--tls-key", str(key))),
        }
        for (kind, server), (name, load), verb in itertools.product(servers.items(), sizes.items(), ("put", "get")):
            bucket = f"bench-{name}"
            if verb == "put":
                server.boto3().create_bucket(Bucket=bucket)
            common = [verb, *map(str, load)]
            ours = [program, "penstock", *common, server.endpoint, bucket]
            libcurl = [program, "libcurl", *common, server.presigned(bucket, "k", verb)]
            cells = {
                "penstock": functools.partial(run_json, ours, CREDENTIALS),
                "libcurl": functools.partial(run_json, libcurl),
            }
            results = interleave(cells, rounds)
            row = f"client.requests.{kind}.{verb}_{name}"
            names = {"cpu_per_gb": (row, "CPU-s/GB"), "requests_per_cpu_s": (f"{row}.requests", "requests/CPU-s")}
            found += rows(results, "penstock", names)
    return found


SCENARIOS = [get_1gib, get_1kib, tls_1gib, requests]
