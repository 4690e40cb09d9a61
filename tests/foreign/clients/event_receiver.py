"""An HTTP or HTTPS server of Python's standard library that receives event notifications."""

from __future__ import annotations

import contextlib
import json
import queue
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Received:
    path: str
    headers: dict[str, str]  # names in lower case
    message: dict[str, Any]


@dataclass
class Receiver:
    """`answer` is called for each request and returns the status."""

    port: int
    answer: Callable[[Received], int]
    scheme: str
    received: queue.Queue[Received] = field(default_factory=queue.Queue)

    def url(self, path: str = "/events") -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}{path}"

    def take(self, count: int) -> list[Received]:
        """Returns the next requests, in the order of their arrival."""
        return [self.received.get(timeout=60) for _ in range(count)]


@contextlib.contextmanager
def receiving(
    answer: Callable[[Received], int] = lambda _: 200, port: int = 0, certificate: tuple[Path, Path] | None = None
) -> Iterator[Receiver]:
    """With a certificate and its key: over TLS."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Received(self.path, headers, json.loads(body))
            receiver.received.put(request)
            self.send_response(receiver.answer(request))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    server.block_on_close = False  # a handler may be blocked by the test
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    receiver = Receiver(server.server_address[1], answer, "https" if certificate else "http")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
