"""Sends each raw request of `hostile_vectors` to an emulator and checks the status and the state of the connection."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hostile_vectors import CLOSED, EITHER, Vector, admin_vectors, vectors

PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
TIMEOUT_S = 30
CANARY = b"canary in step"


@dataclass
class Response:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""


class Connection:
    """Reads responses with the framing of RFC 9112; asserts that they are well formed."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
        self._buffer = b""

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        # The server may reject a request before it is sent completely; the response is read afterwards.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(data)

    def end_sending(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def _more(self) -> bool:
        try:
            received = self._socket.recv(1 << 16)
        except ConnectionResetError:
            return False
        self._buffer += received
        return received != b""

    def _take(self, size: int) -> bytes | None:
        while len(self._buffer) < size:
            if not self._more():
                return None
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def _line(self) -> bytes | None:
        while b"\r\n" not in self._buffer:
            if not self._more():
                return None
        line, self._buffer = self._buffer.split(b"\r\n", 1)
        return line

    def response(self, *, head: bool = False) -> Response | None:
        """The next final response; None at the end of the connection."""
        line = self._line()
        if line is None:
            assert self._buffer == b"", f"a truncated response: {self._buffer[:200]!r}"
            return None
        assert line.startswith(b"HTTP/1.1 "), line[:200]
        response = Response(int(line.split(b" ")[1]), [])
        while header := self._line():
            name, colon, value = header.partition(b":")
            assert colon, header
            response.headers.append((name.lower(), value.strip()))
        if response.status == 100:
            return self.response(head=head)
        framing = [(name, value) for name, value in response.headers if name in (b"content-length", b"transfer-encoding")]
        if head or response.status in (204, 304) or not framing:
            return response
        assert len(framing) == 1, framing
        name, value = framing[0]
        if name == b"content-length":
            response.body = self._take(int(value)) or b""
            return response
        while size := int(self._line() or b"0", 16):
            response.body += self._take(size) or b""
            assert self._line() == b""
        assert self._line() == b""
        return response


@dataclass(frozen=True)
class Target:
    s3_port: int
    admin: str

    @property
    def admin_port(self) -> int:
        return int(self.admin.rsplit(":", 1)[1])


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    command = [str(PROGRAM), "--memory", "--auth", "off"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            port = int(ready["endpoint"].rsplit(":", 1)[1])
            for path, body in ((b"/bucket", b""), (b"/bucket/canary", CANARY)):
                with Connection(port) as connection:
                    connection.send(
                        b"PUT " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
                    )
                    response = connection.response()
                    assert response is not None and response.status == 200
            yield Target(port, ready["admin"])
        finally:
            process.terminate()
            assert process.wait(TIMEOUT_S) == 0


def check(vector: Vector, port: int, canary: bytes, canary_body: bytes) -> None:
    with Connection(port) as connection:
        connection.send(vector.sent)
        connection.send(canary)
        connection.end_sending()
        first = connection.response(head=vector.sent.startswith(b"HEAD "))
        assert first is not None, "the connection ended without a response"
        assert first.status in vector.statuses, (first.status, first.body[:300])
        for name, _ in first.headers:
            assert name != b"x-injected", first.headers
        second = connection.response()
        if vector.after is CLOSED or (vector.after is EITHER and second is None):
            assert second is None, (second.status, second.body[:300])
            return
        assert second is not None, "the connection ended"
        assert (second.status, second.body) == (200, canary_body), (second.status, second.body[:300])
        assert connection.response() is None, "a response without a request"


@pytest.mark.parametrize("vector", [pytest.param(vector, id=vector.name) for vector in vectors()])
def test_the_s3_port_handles_a_hostile_request(target: Target, vector: Vector) -> None:
    check(vector, target.s3_port, b"GET /bucket/canary HTTP/1.1\r\nHost: localhost\r\n\r\n", CANARY)


HEALTH = b"GET /_penstock/health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("vector", [pytest.param(vector, id=vector.name) for vector in admin_vectors()])
def test_the_admin_port_handles_a_hostile_request(target: Target, vector: Vector) -> None:
    with Connection(target.admin_port) as connection:
        connection.send(HEALTH)
        health = connection.response()
    assert health is not None
    check(vector, target.admin_port, HEALTH, health.body)
