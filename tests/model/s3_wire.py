"""A fast HTTP client for many small signed requests: one kept-alive socket, UNSIGNED-PAYLOAD, one response at a time.

Only for the property test: it sends only canonical targets and can read only well-formed responses.
"""

from __future__ import annotations

import hashlib
import hmac
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

TIMEOUT_S = 60


@dataclass
class Response:
    """Status, headers by lower-case name, and body."""

    status: int
    headers: dict[str, str]
    body: bytes


class Wire:
    """One connection to one endpoint. Not safe for several threads."""

    def __init__(self, endpoint: str, access_key: str, secret_key: str, region: str) -> None:
        parts = urlsplit(endpoint)
        self._host = parts.netloc
        self._access_key, self._secret_key, self._region = access_key, secret_key, region
        self._address = (parts.hostname, parts.port)
        self._socket: socket.socket | None = None
        self._pending = b""
        self._scope, self._key = "", b""
        self.requests = 0

    def close(self) -> None:
        """Closes the connection. The next request opens another."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Response:
        """Sends one request and waits for its response.

        Args:
            method: HTTP method.
            path: `/bucket/key`, not encoded.
            query: Parameters, not encoded; sent in canonical order.
            headers: Further headers, all signed.
            body: The body.
        """
        target = quote(path, safe="/-_.~")
        pairs = sorted((quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in (query or {}).items())
        search = "&".join(f"{name}={value}" for name, value in pairs)
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        fields = {name.lower(): value for name, value in (headers or {}).items()}
        fields |= {"host": self._host, "x-amz-content-sha256": "UNSIGNED-PAYLOAD", "x-amz-date": stamp}
        names = sorted(fields)
        canonical = "\n".join(
            [method, target, search, *(f"{name}:{fields[name]}" for name in names), "", ";".join(names), "UNSIGNED-PAYLOAD"]
        )
        self._use_day(stamp[:8])
        text = f"AWS4-HMAC-SHA256\n{stamp}\n{self._scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()
        credential = f"{self._access_key}/{self._scope}"
        lines = [f"{method} {target}{'?' + search if search else ''} HTTP/1.1", *(f"{name}: {fields[name]}" for name in names)]
        lines.append(
            f"authorization: AWS4-HMAC-SHA256 Credential={credential},SignedHeaders={';'.join(names)},Signature={signature}"
        )
        if body or method in ("PUT", "POST"):
            lines.append(f"content-length: {len(body)}")
        self.requests += 1
        return self._exchange(method, "\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def _use_day(self, day: str) -> None:
        scope = f"{day}/{self._region}/s3/aws4_request"
        if scope != self._scope:
            key = ("AWS4" + self._secret_key).encode()
            for word in scope.split("/"):
                key = hmac.new(key, word.encode(), hashlib.sha256).digest()
            self._scope, self._key = scope, key

    def _exchange(self, method: str, message: bytes) -> Response:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=TIMEOUT_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._pending = b""
        self._socket.sendall(message)
        head = self._read_until(b"\r\n\r\n").decode("latin-1")
        status_line, *lines = head.split("\r\n")[:-2]
        status = int(status_line.split(" ", 2)[1])
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = b""
        if method != "HEAD" and status not in (204, 304):
            body = (
                self._read_chunks()
                if headers.get("transfer-encoding") == "chunked"
                else self._read(int(headers["content-length"]))
            )
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Response(status, headers, body)

    def _read_chunks(self) -> bytes:
        parts = []
        while size := int(self._read_until(b"\r\n"), 16):
            parts.append(self._read(size))
            self._read(2)
        self._read(2)
        return b"".join(parts)

    def _read_until(self, end: bytes) -> bytes:
        while end not in self._pending:
            self._receive(65536)
        found, _, self._pending = self._pending.partition(end)
        return found + end

    def _read(self, size: int) -> bytes:
        parts, missing = [self._pending], size - len(self._pending)
        while missing > 0:
            self._pending = b""
            self._receive(max(65536, min(missing, 1 << 20)))
            parts.append(self._pending)
            missing -= len(self._pending)
        whole = b"".join(parts)
        self._pending = whole[size:]
        return whole[:size]

    def _receive(self, size: int) -> None:
        assert self._socket is not None
        data = self._socket.recv(size)
        if not data:
            raise ConnectionError("the endpoint closed the connection in the middle of a response")
        self._pending += data
