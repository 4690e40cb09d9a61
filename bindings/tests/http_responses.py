"""A server that sends one kind of response to every request and records the requests."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import penstock


class ReceivedRequest(NamedTuple):
    method: str
    target: str
    headers: dict[str, str]  # names in lower case
    body: bytes = b""


@contextlib.contextmanager
def responding(
    status: int,
    *,
    headers: dict[str, str] | None = None,
    body: bytes | Callable[[ReceivedRequest], bytes] = b"",
    config: penstock.S3ClientConfig | None = None,
) -> Iterator[tuple[penstock.S3Client, list[ReceivedRequest]]]:
    """Yields a client of the server, unsigned without `config`, and the list of its requests.

    Args:
        body: The body of the responses, or a function that returns it for a request.
    """
    received: list[ReceivedRequest] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def respond(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            request = ReceivedRequest(
                self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, content
            )
            received.append(request)
            sent = body if isinstance(body, bytes) else body(request)
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            if self.command == "HEAD":
                return
            with contextlib.suppress(ConnectionError):  # the client has gone
                self.wfile.write(sent)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = respond  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    config = config or penstock.S3ClientConfig(unsigned=True, force_path_style=True, max_attempts=2)
    try:
        endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        yield penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config), received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
