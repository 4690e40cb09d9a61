"""One HTTP/1.1 connection that sends exactly the bytes it is given and reads answers with the standard library."""

from __future__ import annotations

import http.client
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from .. import _tls as tls
from .._kept import once_more

TIMEOUT_S = 30


@dataclass
class Answer:
    """What came back."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header, several joined by ", "; None: absent."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(values) if values else None


class Connection:
    """A kept-alive connection to an endpoint, opened when needed.

    Not safe for several threads. `close()` when done.
    """

    def __init__(self, endpoint: str, ca_file: str | None = None) -> None:
        parts = urlsplit(endpoint)
        self.host = parts.netloc
        self._address = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        self._tls = tls.context(ca_file) if parts.scheme == "https" else None
        self._socket: socket.socket | None = None

    def close(self) -> None:
        """Closes the connection; the next request opens another."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, method: str, head: bytes, body: bytes, half_close: bool = False) -> Answer:
        """Sends one request and reads its answer.

        Args:
            method: Decides whether the answer has a body.
            head: Request line and headers, with the empty line.
            body: What follows the head.
            half_close: Ends the sending side after the body, as a client does that gives up.

        Raises:
            OSError, http.client.HTTPException: there is no answer.
        """
        return once_more(
            lambda: self._exchange(method, head, body, half_close), reused=self._socket is not None, close=self.close
        )

    def _exchange(self, method: str, head: bytes, body: bytes, half_close: bool) -> Answer:
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
            pass  # refused before the body was read: the answer is already there
        response = http.client.HTTPResponse(self._socket, method=method)
        try:
            response.begin()
            content = response.read()
            answer = Answer(response.status, response.reason, response.getheaders(), content)
            ends = response.will_close or half_close
        except http.client.IncompleteRead:
            self.close()
            raise
        finally:
            response.close()
        if ends:
            self.close()
        return answer

    def _connect(self) -> socket.socket:
        plain = socket.create_connection(self._address, timeout=TIMEOUT_S)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._tls.wrap_socket(plain, server_hostname=self._address[0]) if self._tls else plain
