"""Group `faults`: paced connections, delayed first bytes, resets of a namespace, and a simulated job of 4,096 ranks."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import statistics
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

from harness import Measurement, Row, interleave, process_cpu_seconds, rows, run_json
from servers import Server, penstock_emulator

CONNECTIONS = 64
RATE = 90_000_000  # bytes a second of one connection
FIRST_BYTE_MS = 30
SECONDS = 0.5  # duration of an object at its rate
OBJECTS = 100_000
RANKS = 4_096
BATCH = 500


def connect(server: Server) -> socket.socket:
    url = urllib.parse.urlsplit(server.endpoint)
    return socket.create_connection((url.hostname or "", url.port or 0), timeout=60)


def request(method: str, path: str, body: bytes = b"") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def ask(wire: socket.socket, method: str, path: str, body: bytes = b"") -> None:
    """Sends one request whose response fits in one packet."""
    wire.sendall(request(method, path, body))
    response = wire.recv(65536)
    if not response.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"bench: {method} {path} was answered {response[:300]!r}")


class Download:
    """Downloads of one object over one connection: the time of the first byte, and the rate of the rest."""

    def __init__(self, server: Server, size: int) -> None:
        self.wire = connect(server)
        self.size = size
        self.began = self.first = self.last = 0.0
        self.first_bytes = self.bytes = 0

    def start(self) -> None:
        if select.select([self.wire], [], [], 0)[0]:  # the end of the previous response
            self.wire.recv(1 << 20)
        self.bytes = 0
        self.began = time.perf_counter()
        self.wire.sendall(request("GET", "/bench/object"))

    def take(self, block: bytearray) -> bool:
        """Receives the bytes that have arrived, without copying them. Returns whether the object is complete."""
        count = self.wire.recv_into(block, len(block), socket.MSG_TRUNC)
        self.last = time.perf_counter()
        if self.bytes == 0:
            self.first, self.first_bytes = self.last, count
        self.bytes += count
        return self.bytes >= self.size

    def rate(self) -> float:
        return (self.bytes - self.first_bytes) / (self.last - self.first)


def run(downloads: list[Download]) -> None:
    """Runs all downloads at the same time, each once."""
    by_descriptor = {download.wire.fileno(): download for download in downloads}
    poll = select.epoll()
    block = bytearray(1 << 20)
    for descriptor, download in by_descriptor.items():
        poll.register(descriptor, select.EPOLLIN)
        download.start()
    while by_descriptor:
        for descriptor, _ in poll.poll(60):
            if by_descriptor[descriptor].take(block):
                poll.unregister(descriptor)
                del by_descriptor[descriptor]


def download_at_once(server: Server, count: int, rate: int) -> Measurement:
    downloads = [Download(server, round(rate * SECONDS)) for _ in range(count)]
    run(downloads)  # opens connections and grows buffers
    before, begin = process_cpu_seconds(server.pid), time.perf_counter()
    run(downloads)
    seconds = time.perf_counter() - begin
    gigabytes = sum(download.bytes for download in downloads) / 1e9
    rates = [download.rate() / rate for download in downloads]
    waits = [(download.first - download.began) * 1e3 - FIRST_BYTE_MS for download in downloads]
    for download in downloads:
        download.wire.close()
    return {
        "off": abs(statistics.median(rates) - 1) * 100,
        "first_byte": abs(statistics.median(waits)),
        "cpu_per_gb": (process_cpu_seconds(server.pid) - before) / gigabytes,
        "gb_per_s": gigabytes / seconds,
    }


@contextlib.contextmanager
def shaped(rate: int) -> Iterator[Server]:
    limits = {"latency": {"first_byte_ms": FIRST_BYTE_MS, "bytes_per_second": rate}}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(limits, file)
        file.flush()
        with penstock_emulator("--memory", "--auth", "off", "--limits", file.name) as server:
            wire = connect(server)
            ask(wire, "PUT", "/bench")
            ask(wire, "PUT", "/bench/object", bytes(round(rate * SECONDS)))
            wire.close()
            yield server


def shape(rounds: int) -> list[Row]:
    """1 connection, and 64 at the same time: the error of the rate and of the first byte's delay, and the server's CPU time."""
    made = []
    for count, rate, suffix in ((1, RATE, ".one"), (CONNECTIONS, RATE // 10, ".tenth"), (CONNECTIONS, RATE, "")):
        with shaped(rate) as server:
            results = interleave({"penstock": lambda: download_at_once(server, count, rate)}, rounds)  # noqa: B023
        quantities = {
            "off": (f"faults.shape{suffix}", f"% off {rate // 1_000_000} MB/s"),
            "first_byte": (f"faults.shape{suffix}.first_byte", f"ms off {FIRST_BYTE_MS} ms"),
            "gb_per_s": (f"faults.shape{suffix}.rate", "GB/s"),
        }
        if count > 1:  # the CPU time of 45 MB is below the resolution of the CPU clock
            quantities["cpu_per_gb"] = (f"faults.shape{suffix}.cpu", "CPU-s/GB")
        made += rows(results, "penstock", quantities)
    return made


def fill_and_reset(server: Server) -> Measurement:
    wire = connect(server)
    ask(wire, "PUT", "/bench")
    for begin in range(0, OBJECTS, BATCH):
        wire.sendall(b"".join(request("PUT", f"/bench/folder-{i % 100}/object-{i}") for i in range(begin, begin + BATCH)))
        responses = b""
        while responses.count(b"HTTP/1.1 200") < BATCH or not responses.endswith(b"\r\n\r\n"):
            responses += wire.recv(1 << 20)
    url = urllib.parse.urlsplit(server.admin)
    control = socket.create_connection((url.hostname or "", url.port or 0), timeout=60)
    ask(control, "GET", "/_penstock/health")
    begun = time.perf_counter()
    ask(control, "POST", "/_penstock/reset", b'{"namespace": "default"}')
    return {"ms": (time.perf_counter() - begun) * 1e3}


def reset(rounds: int) -> list[Row]:
    """A reset of a namespace with 100,000 objects."""
    with penstock_emulator("--memory", "--auth", "off") as server:
        results = interleave({"penstock": lambda: fill_and_reset(server)}, rounds)
    return rows(results, "penstock", {"ms": ("faults.reset", "ms")})


SIMULATION = f"""
import json, time
from penstock_emulator.simulate import simulate
begin = time.perf_counter()
report = simulate(ranks={RANKS}, strategy="hex", client="crt")
print(json.dumps({{"seconds": time.perf_counter() - begin, "requests": report.requests}}))
"""


def simulated(rounds: int) -> list[Row]:
    """A simulated checkpoint of 4,096 ranks."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "simulate.py"
        script.write_text(SIMULATION)
        results = interleave({"penstock": lambda: run_json([sys.executable, str(script)])}, rounds)
    return rows(results, "penstock", {"seconds": (f"simulate.{RANKS}", "s")})


SCENARIOS = [shape, reset, simulated]
