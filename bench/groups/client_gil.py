"""Group `client`: transfers while a Python thread of their process holds the GIL."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from harness import Measurement, Row, interleave, rows

CLIENT = Path(__file__).parent.parent / "clients/python_gil.py"
BULK_READS = 2
SMALL_READS = 8  # more than there are I/O threads
SMALL_BYTES = 1 << 20
PIECE_BYTES = 256 << 10
PACED_BYTES_PER_S = 50e6  # of each endless object
SECONDS = float(os.environ.get("PENSTOCK_BENCH_GIL_SECONDS", "10"))
MARGIN_S = 0.2  # not counted at the start and at the end
TIMEOUT_S = 60


class Server:
    """Sends the endless objects as fast as the client receives them, or at a rate, and the small ones once the GIL is held."""

    def __init__(self, bytes_per_s: float) -> None:
        self._bytes_per_s = bytes_per_s
        self.held = threading.Event()
        self.ready = threading.Semaphore(0)
        self.sent: dict[str, list[float]] = {}  # by key of an endless object: when sendall() of each piece returned
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                threading.Thread(target=self._serve, args=(self._listener.accept()[0],), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):  # the client has ended
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(4096)
            found = re.match(rb"GET /bkt/(\S+)", head)
            assert found is not None, head
            key = found[1].decode()
            self.ready.release()
            if key.startswith("bulk"):
                self._send_bulk(connection, self.sent.setdefault(key, []))
            self.held.wait(TIMEOUT_S)
            connection.sendall(self._head(SMALL_BYTES) + bytes(SMALL_BYTES))

    @staticmethod
    def _head(size: int) -> bytes:
        fields = f'Content-Length: {size}\r\nETag: "e"\r\nLast-Modified: Wed, 01 Jan 2025 00:00:00 GMT'
        return f"HTTP/1.1 200 OK\r\n{fields}\r\n\r\n".encode()

    def _send_bulk(self, connection: socket.socket, times: list[float]) -> None:
        connection.sendall(self._head(1 << 36))
        piece = bytes(PIECE_BYTES)
        due = time.monotonic()
        while True:
            due = max(due + PIECE_BYTES / self._bytes_per_s, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
            connection.sendall(piece)
            times.append(time.monotonic())


def measure(mode: str, bytes_per_s: float) -> Measurement:
    server = Server(bytes_per_s)
    command = [sys.executable, str(CLIENT), str(server.port), str(BULK_READS), str(SMALL_READS), str(SECONDS), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdin is not None and program.stdout is not None
        for _ in range(BULK_READS + SMALL_READS):
            if not server.ready.acquire(timeout=TIMEOUT_S):
                raise SystemExit(f"bench: the client did not send its requests within {TIMEOUT_S} s")
        time.sleep(MARGIN_S)
        program.stdin.write(b"go\n")
        program.stdin.flush()
        assert program.stdout.read(1) == b"h"
        server.held.set()
        sleep = json.loads(program.stdout.readline())
    server.close()
    begin, end = sleep["begin"] + MARGIN_S, sleep["end"] - MARGIN_S
    counted = [[at for at in times if begin <= at <= end] for times in server.sent.values()]
    gaps = [later - earlier for times in counted for earlier, later in itertools.pairwise(times)]
    pieces = sum(map(len, counted))
    return {"gb_per_s": pieces * PIECE_BYTES / (end - begin) / 1e9, "stall_ms": max(gaps, default=end - begin) * 1e3}


def compare(rounds: int, bytes_per_s: float, quantities: dict[str, tuple[str, str]]) -> list[Row]:
    """Two endless reads into existing memory and 8 reads of 1 MiB that need new Python memory, for 10 s."""
    results = interleave({mode: (lambda mode=mode: measure(mode, bytes_per_s)) for mode in ("held", "free")}, rounds)
    return rows(results, "held", quantities)


def gil_held(rounds: int) -> list[Row]:
    """Reads without a rate limit."""
    return compare(rounds, math.inf, {"gb_per_s": ("client.gil_held", "GB/s")})


def gil_held_paced(rounds: int) -> list[Row]:
    """Reads at 100 MB/s, which leaves the processors mostly idle: a late piece was delayed by the GIL."""
    return compare(
        rounds,
        PACED_BYTES_PER_S,
        {"gb_per_s": ("client.gil_held.paced", "GB/s"), "stall_ms": ("client.gil_held.stall", "ms")},
    )


SCENARIOS = (gil_held, gil_held_paced)
