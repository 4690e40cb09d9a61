"""2,000 stalled clients do not delay another client, and the emulator's memory and threads stay bounded."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
STALLED = 2000
HUGE = os.urandom(1 << 20) * 8
ROUNDS, ROUNDS_S = 100, 5  # of the other client; the emulator closes a stalled connection after 20 s
MAX_THREADS = 2 * 256 + 16  # serving threads, a hashing thread that each keeps after a large body, and the emulator's own
MAX_MEMORY_KIB = 128 << 10
TIMEOUT_S = 60


class Emulator:
    def __init__(self, process: subprocess.Popen[str], endpoint: str) -> None:
        self.process = process
        self.host, port = endpoint.removeprefix("http://").rsplit(":", 1)
        self.port = int(port)

    def send(self, method: str, target: str, body: bytes | None = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, target, body)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def connect(self, opening: bytes) -> socket.socket:
        client = socket.create_connection((self.host, self.port), TIMEOUT_S)
        client.sendall(opening)
        return client

    def status(self, name: str) -> int:
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)[1])  # type: ignore[index]


@pytest.fixture(scope="module", params=["--memory", "--data"])
def emulator(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    where = ["--memory"] if request.param == "--memory" else ["--data", str(tmp_path_factory.mktemp("data"))]
    process = subprocess.Popen([str(PROGRAM), "--auth", "off", *where], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        started = Emulator(process, json.loads(process.stdout.readline())["endpoint"])
        assert started.send("PUT", "/bucket")[0] == 200
        assert started.send("PUT", "/bucket/huge", HUGE)[0] == 200
        yield started
    finally:
        process.terminate()
        assert process.wait(TIMEOUT_S) == 0
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def put(key: str, length: int) -> bytes:
    return f"PUT /bucket/{key} HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n".encode()


# The bytes that a stalled client sends before it stops.
OPENINGS = {
    "bodies": lambda number: put(f"slow{number}", len(HUGE)) + HUGE[:10],
    "small bodies": lambda number: put(f"slow{number}", 100) + HUGE[:10],
    "heads": lambda _: b"GET /bucket/huge HTTP/1.1\r\nHost: h\r\nX-Slow: ",
    "responses": lambda _: b"GET /bucket/huge HTTP/1.1\r\nHost: h\r\n\r\n",
    "rejected requests": lambda _: b"NONSENSE\r\n\r\nand more",
}


def read_response(client: socket.socket) -> bytes:
    """Returns the status and the body, joined."""
    with client.makefile("rb") as arrived:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += arrived.read(1)
        length = re.search(rb"Content-Length: (\d+)", head)
        return head.split(b" ", 2)[1] + (arrived.read(int(length[1])) if length else b"")


@pytest.mark.parametrize("kind", OPENINGS)
def test_stalled_clients_delay_no_other_client_and_can_continue(emulator: Emulator, kind: str) -> None:
    stalled = [emulator.connect(OPENINGS[kind](number)) for number in range(STALLED)]
    try:
        took: list[float] = []
        end = time.monotonic() + ROUNDS_S
        while len(took) < ROUNDS and time.monotonic() < end:
            began = time.monotonic()
            body = b"%d" % len(took) * 100
            assert emulator.send("PUT", "/bucket/good", body)[0] == 200
            assert emulator.send("GET", "/bucket/good") == (200, body)
            took.append(time.monotonic() - began)
        assert emulator.send("PUT", "/bucket/large", HUGE)[0] == 200
        assert emulator.send("GET", "/bucket/large") == (200, HUGE)
        print(f"{kind}: put and get p50 {statistics.median(took) * 1e3:.1f} ms, most {max(took) * 1e3:.1f} ms")
        assert max(took) < 15, "a request that waits for the stalled clients takes 20 s"
        assert emulator.status("Threads") <= MAX_THREADS
        assert emulator.status("VmRSS") <= MAX_MEMORY_KIB
        if "bodies" in kind:
            for number in (0, 1, 500, STALLED - 1):
                stalled[number].sendall(HUGE[10 : len(HUGE) if kind == "bodies" else 100])
                assert read_response(stalled[number]) == b"200"
                whole = HUGE if kind == "bodies" else HUGE[:100]
                assert emulator.send("GET", f"/bucket/slow{number}") == (200, whole)
        if kind == "responses":
            for number in (0, 1, 500, STALLED - 1):
                assert read_response(stalled[number]) == b"200" + HUGE
    finally:
        for client in stalled:
            client.close()
