"""A server that responds to GETs only once enough of them are waiting, which proves that they were in flight together."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import penstock

TIMEOUT_S = 20


class Gate:
    """Holds GETs until `together` of them have arrived, then responds to all. A held GET gets 501 after `TIMEOUT_S`.

    The response to a GET of the path `ungated` is immediate.
    """

    def __init__(self, content: bytes, together: int, ungated: str) -> None:
        self.content = content
        self.together = together
        self.ungated = ungated
        self.requested: list[str] = []
        self.timed_out = 0  # requests with the response 501
        self._changed = threading.Condition()

    def pass_through(self, path: str) -> bool:
        with self._changed:
            self.requested.append(path)
            self._changed.notify_all()
            opened = path == self.ungated or self._changed.wait_for(lambda: len(self.requested) >= self.together, TIMEOUT_S)
            self.timed_out += not opened
            return opened

    def wait_for(self, count: int) -> bool:
        """Waits until `count` requests have arrived. False: they did not arrive within `TIMEOUT_S`."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.requested) >= count, TIMEOUT_S)


@contextlib.contextmanager
def gate_server(
    content: bytes, together: int, whole: dict[str, str] | None = None, *, ungated: str = ""
) -> Iterator[tuple[Gate, str]]:
    """Runs a server with a `Gate`. Yields the gate and the endpoint.

    Args:
        content: The body of every object.
        together: The number of GETs that opens the gate.
        whole: Further headers of responses to GETs of a whole object.
        ungated: A path with an immediate response.
    """
    gate = Gate(content, together, ungated)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if not gate.pass_through(self.path):
                with contextlib.suppress(OSError):  # the client has closed the connection
                    self.send_error(501, "too few requests arrived together")
                return
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "bytes=0-"))
            assert asked is not None
            first = int(asked[1])
            last = min(int(asked[2]) if asked[2] else len(content), len(content) - 1)
            if "Range" in self.headers:
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
            else:
                self.send_response(200)
                for name, value in (whole or {}).items():
                    self.send_header(name, value)
            self.send_header("Content-Length", str(last + 1 - first))
            self.send_header("ETag", '"e"')
            self.send_header("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT")
            self.end_headers()
            with contextlib.suppress(OSError):  # the client has closed the connection
                self.wfile.write(content[first : last + 1])

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    class Server(ThreadingHTTPServer):
        request_queue_size = 256
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield gate, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def gate_config(**options: object) -> penstock.S3ClientConfig:
    return penstock.S3ClientConfig(unsigned=True, force_path_style=True, max_attempts=1, **options)  # type: ignore[arg-type]
