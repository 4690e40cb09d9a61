"""An HTTP/1.1 connection that sends exactly the given bytes and parses responses with http.client."""

from __future__ import annotations

import http.client
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from .._reconnect import with_reconnect
from .._tls import tls_context

TIMEOUT_S = 30


@dataclass
class Response:
    """A response."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header; multiple values are joined by ", ". None if absent."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(values) if values else None


class Connection:
    """A persistent connection to an endpoint, opened on first use. Call `close()` when done.

    Thread safety: one thread.
    """

    def __init__(self, endpoint: str, ca_file: str | None = None) -> None:
        parts = urlsplit(endpoint)
        self.host = parts.netloc
        self._address = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        self._tls = tls_context(ca_file) if parts.scheme == "https" else None
        self._socket: socket.socket | None = None

    def close(self) -> None:
        """Closes the connection. The next request opens a new one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, method: str, head: bytes, body: bytes, half_close: bool = False) -> Response:
        """Sends a request and reads the response.

        Args:
            method: Determines whether the response has a body.
            head: Request line and headers, including the empty line.
            body: The bytes after the head.
            half_close: Shut down the sending side after the body.

        Raises:
            OSError, http.client.HTTPException: there is no complete response.
        """
        return with_reconnect(
            lambda: self._exchange(method, head, body, half_close), reused=self._socket is not None, close=self.close
        )

    def _exchange(self, method: str, head: bytes, body: bytes, half_close: bool) -> Response:
        if self._socket is None:
            self._socket = self._connect()
        try:
            if len(body) < 1 << 16:
                self._socket.sendall(head + body)
            else:
                self._socket.sendall(head)
                self._socket.sendall(body)
            if half_close:
                self._socket.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server rejected the request before it read the body, and has already sent the response
        reader = http.client.HTTPResponse(self._socket, method=method)
        try:
            reader.begin()
            content = reader.read()
            response = Response(reader.status, reader.reason, reader.getheaders(), content)
            ends = reader.will_close or half_close
        except http.client.IncompleteRead:
            self.close()
            raise
        finally:
            reader.close()
        if ends:
            self.close()
        return response

    def _connect(self) -> socket.socket:
        plain = socket.create_connection(self._address, timeout=TIMEOUT_S)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._tls.wrap_socket(plain, server_hostname=self._address[0]) if self._tls else plain
