"""A scripted HTTP server over raw sockets: it sends exactly the bytes of a script."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

MAX_HOLD_S = 20
LINGER_0 = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def range(self) -> tuple[int, int]:
        """First and last byte of the Range header. Without a last byte, a number larger than any object."""
        first, _, last = self.headers.get("range", "bytes=0-").removeprefix("bytes=").partition("-")
        return int(first), int(last or 1 << 62)


@dataclass(frozen=True)
class Pause:
    """Sends nothing for some seconds, or until the peer closes."""

    seconds: float


@dataclass(frozen=True)
class Hold:
    """Sends nothing more; keeps the connection open until the peer closes it."""


@dataclass(frozen=True)
class Fin:
    """Closes the connection."""


@dataclass(frozen=True)
class Rst:
    """Resets the connection."""


@dataclass(frozen=True)
class Repeat:
    """Sends `piece` repeatedly until the peer closes the connection or `max_bytes` are sent."""

    piece: bytes
    seconds_between: float = 0.0
    max_bytes: int = 256 << 20


Action: TypeAlias = "bytes | Pause | Hold | Fin | Rst | Repeat"
# The actions for the n-th request (from 0), without requests for the server's `plain_key`.
Script: TypeAlias = Callable[[Request, int], Sequence[Action]]


class RawServer:
    """Runs `script` for each request. Requests for the object `plain_key` get a correct response with `plain_body`.

    `early`: the script starts after the head of a request, before the server reads the body.
    """

    def __init__(self, script: Script | Sequence[Action], plain_key: str, plain_body: bytes, *, early: bool = False) -> None:
        self._script: Script = script if callable(script) else lambda _request, _index: script
        self._plain_key, self._plain_body, self._early = plain_key, plain_body, early
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._scripted = 0
        self._running = 0  # scripts
        self._idle = threading.Condition(self._lock)
        self.requests: list[tuple[int, Request]] = []  # with the number of the connection
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> RawServer:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            sockets = list(self._sockets)
        for connection in sockets:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def connections(self, key: str) -> list[int]:
        """The connections on which `key` was requested, in order."""
        with self._lock:
            return [number for number, request in self.requests if request.target.split("?")[0].endswith("/" + key)]

    def wait_for_scripts(self, seconds: float) -> None:
        """Waits until no script runs, so that all bytes that scripts send after a response are sent."""
        with self._idle:
            self._idle.wait_for(lambda: self._running == 0, seconds)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                with self._lock:
                    number = len(self._sockets)
                    self._sockets.append(connection)
                threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as stream:
            while (head := _read_head(stream)) is not None:
                method, target, headers = head
                plain = target.split("?")[0].endswith("/" + self._plain_key)
                early = self._early and not plain
                body = b"" if early else _read_body(connection, stream, headers)
                with self._lock:
                    index = self._scripted
                    self._scripted += not plain
                    request = Request(method, target, headers, body)
                    self.requests.append((number, request))
                    self._running += 1
                try:
                    actions = [self._plain_response()] if plain else self._script(request, index)
                    goes_on = all(_perform(connection, action) for action in actions)
                finally:
                    with self._idle:
                        self._running -= 1
                        self._idle.notify_all()
                if not goes_on:
                    return
                if early:
                    _read_body(connection, stream, headers)

    def _plain_response(self) -> bytes:
        return (
            b'HTTP/1.1 200 OK\r\nETag: "plain"\r\nLast-Modified: Mon, 02 Jan 2023 03:04:05 GMT\r\nContent-Length: %d\r\n\r\n%b'
            % (len(self._plain_body), self._plain_body)
        )


def _read_head(stream: Any) -> tuple[str, str, dict[str, str]] | None:
    line = stream.readline().decode("latin-1")
    if not line.strip():
        return None
    method, target, _ = (line + "  ").split(" ", 2)
    headers = {}
    while line := stream.readline().decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return method, target, headers


def _read_body(connection: socket.socket, stream: Any, headers: dict[str, str]) -> bytes:
    size = int(headers.get("content-length", 0))
    if size and headers.get("expect", "").lower() == "100-continue":
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    return bytes(stream.read(size))


def _wait_for_close(connection: socket.socket, seconds: float) -> bool:
    """Returns whether the peer closed the connection. Does not read received bytes."""
    connection.settimeout(seconds)
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except TimeoutError:
        return False
    finally:
        connection.settimeout(None)


def _perform(connection: socket.socket, action: Action) -> bool:
    """Performs an action. Returns False if the connection must end."""
    if isinstance(action, bytes):
        connection.sendall(action)
    elif isinstance(action, Pause):
        return not _wait_for_close(connection, action.seconds)
    elif isinstance(action, Repeat):
        for _ in range(action.max_bytes // len(action.piece)):
            connection.sendall(action.piece)
            if action.seconds_between:
                time.sleep(action.seconds_between)
    elif isinstance(action, Hold):
        _wait_for_close(connection, MAX_HOLD_S)
        return False
    elif isinstance(action, Rst):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_0)
        return False
    else:
        return False
    return True
