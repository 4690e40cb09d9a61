"""Group `tls`: large transfers and single requests over TLS, compared with the cost of TLS alone and with other clients."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import subprocess
import sys
import tempfile
import unittest.mock
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import botocore
from groups.client import PYTHON_GET, ROUNDS_PER_CELL, SIZE, put_random
from groups.client_python import create_bucket_without_md5
from harness import BUILD, Measurement, Row, interleave, per_gigabyte, rows, run_json
from servers import CREDENTIALS, Server, penstock_emulator

PYTHON_UPLOAD = str(Path(__file__).parent.parent / "clients/python_upload.py")
CONNECTIONS = str(BUILD / "bench/bench_client_connections")
TLS = str(BUILD / "bench/bench_client_tls")


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*new, *subject], check=True, capture_output=True)
    return certificate, key


@contextlib.contextmanager
def secure_and_plain() -> Iterator[tuple[Server, Server]]:
    """Two emulators, the first with TLS; every client that this process starts trusts its certificate."""
    with contextlib.ExitStack() as stack:
        certificate, key = self_signed(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        stack.enter_context(unittest.mock.patch.dict(os.environ, {"AWS_CA_BUNDLE": str(certificate)}))
        secure = stack.enter_context(penstock_emulator("--memory", "--tls-cert", str(certificate), "--tls-key", str(key)))
        yield secure, stack.enter_context(penstock_emulator("--memory"))


def sum_of_cpu(*commands: list[str]) -> Measurement:
    """The programs run one after the other."""
    return {"cpu_per_gb": sum(per_gigabyte(run_json(command))["cpu_per_gb"] for command in commands)}


def get_1gib(rounds: int) -> list[Row]:
    """A large object into a reused buffer, compared with bare SSL_read(), decryption plus plain recv(), and other clients."""
    size = SIZE // 2
    get = str(BUILD / "bench/bench_client_get")
    repeats = str(ROUNDS_PER_CELL)
    with secure_and_plain() as servers:
        targets = []
        for server in servers:
            put_random(server, "bench", "big", size)
            url = urlsplit(server.presigned("bench", "big"))
            targets.append([str(url.hostname), str(url.port), f"{url.path}?{url.query}", str(size), repeats])
        endpoint = servers[0].endpoint

        def python(name: str) -> Measurement:
            return per_gigabyte(run_json([sys.executable, PYTHON_GET, name, endpoint, "bench", "big", repeats], CREDENTIALS))

        ours = [get, "penstock", endpoint, "bench", "big", str(size), repeats, "0", "0"]
        cells = {
            "penstock": lambda: per_gigabyte(run_json(ours, CREDENTIALS)),
            "bare SSL_read": lambda: per_gigabyte(run_json([TLS, "ssl_read", *targets[0]])),
            "decryption and plain": lambda: sum_of_cpu([TLS, "decrypt", str(size), repeats], [get, "recv", *targets[1]]),
            "penstock from Python": lambda: python("penstock_into"),
            "awscrt": lambda: python("awscrt"),
            "boto3": lambda: python("boto3"),
        }
        results = interleave(cells, rounds)
    return rows(results, "penstock", {"cpu_per_gb": ("tls.get_1gib", "CPU-s/GB"), "gb_per_s": ("tls.get_1gib.rate", "GB/s")})


def put_1gib(rounds: int) -> list[Row]:
    """An upload from memory with a CRC64NVME, compared with encryption plus plain send(), and other clients."""
    size = SIZE // 2
    put = str(BUILD / "bench/bench_client_put")
    repeats = str(ROUNDS_PER_CELL)
    with secure_and_plain() as (secure, plain):
        for server in (secure, plain):
            create_bucket_without_md5(server, "bench")
        target = {"Bucket": "bench", "Key": "sent"}
        url = urlsplit(plain.boto3().generate_presigned_url("put_object", Params=target, ExpiresIn=7200))
        send = [put, "send", str(url.hostname), str(url.port), f"{url.path}?{url.query}", str(size), repeats]

        def python(name: str) -> Measurement:
            command = [sys.executable, PYTHON_UPLOAD, name, secure.endpoint, "bench", str(size >> 20), repeats]
            return per_gigabyte(run_json(command, CREDENTIALS))

        cells = {
            "penstock": lambda: per_gigabyte(
                run_json([put, "penstock", secure.endpoint, "bench", "put", str(size), repeats], CREDENTIALS)
            ),
            "encryption and plain": lambda: sum_of_cpu([TLS, "encrypt", str(size), repeats], send),
            "penstock from Python": lambda: python("penstock"),
            "awscrt": lambda: python("awscrt"),
            "boto3": lambda: python("boto3"),
        }
        results = interleave(cells, rounds)
    names = {"cpu_per_gb": ("tls.put_1gib", "CPU-s/GB"), "gb_per_s": ("tls.put_1gib.rate", "GB/s")}
    return rows(results, "penstock", names)


def requests(rounds: int) -> list[Row]:
    """Single requests, compared with libcurl: GET and PUT, 64 MiB and 4 KiB, plain and over TLS."""
    program = str(BUILD / "bench/bench_client_requests")
    sizes = {"64mib": (64 << 20, 8, 2), "4kib": (4 << 10, 4000, 16)}  # name -> bytes, requests, in flight
    found: list[Row] = []
    with secure_and_plain() as (secure, plain):
        servers = {"plain": plain, "tls": secure}
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
            row = f"tls.requests.{kind}.{verb}_{name}"
            names = {"cpu_per_gb": (row, "CPU-s/GB"), "requests_per_cpu_s": (f"{row}.requests", "requests/CPU-s")}
            found += rows(results, "penstock", names)
    return found


@contextlib.contextmanager
def many_authorities() -> Iterator[list[str]]:
    """An emulator with TLS. Yields its host and port, and a bundle of its certificate behind botocore's authorities."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        certificate, key = self_signed(folder)
        bundle = folder / "bundle.pem"
        bundle.write_bytes((Path(botocore.__file__).parent / "cacert.pem").read_bytes() + certificate.read_bytes())
        server = stack.enter_context(penstock_emulator("--memory", "--tls-cert", str(certificate), "--tls-key", str(key)))
        url = urlsplit(server.endpoint)
        yield [str(url.hostname), str(url.port), str(bundle)]


def connections(rounds: int) -> list[Row]:
    """New connections one after the other, compared with OpenSSL alone and with libcurl, which resume sessions too."""
    with many_authorities() as target:
        load = ["20", "400"]  # connections before the measured ones, measured
        cells = {
            "penstock": lambda: run_json([CONNECTIONS, "penstock", *target, *load, "1"]),
            "bare OpenSSL": lambda: run_json([CONNECTIONS, "openssl", *target, *load]),
            "libcurl": lambda: run_json([CONNECTIONS, "libcurl", *target, *load]),
        }
        results = interleave(cells, rounds)
    return rows(results, "penstock", {"cpu_ms": ("tls.connections", "CPU-ms/connection")})


def burst(rounds: int) -> list[Row]:
    """100 connections at once by a new process, beside two busy ones."""
    with many_authorities() as target, contextlib.ExitStack() as stack:
        for _ in range(2):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        cells = {"penstock": lambda: run_json([CONNECTIONS, "penstock", *target, "0", "100", "100"])}
        results = interleave(cells, rounds)
    return rows(results, "penstock", {"seconds": ("tls.burst", "s"), "failed": ("tls.burst.failed", "failed connections")})


SCENARIOS = [get_1gib, put_1gib, requests, connections, burst]
