"""A recording proxy in this process, between a client and an S3 endpoint. Hooks can change requests and responses."""

from __future__ import annotations

import functools
import hashlib
import http.client
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qsl, unquote, urlsplit

from ._access import Access
from ._reconnect import with_reconnect
from ._records import Record, Records
from ._tls import tls_context

TIMEOUT_S = 120
_HOP = {"connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade", "expect"}
_RANGE = re.compile(r"bytes (\d+)-(\d+)/")
_CODE = re.compile(rb"<Code>([^<]*)</Code>")
# These operations can fail with status 200 and an error in the body.
_LATE_ERRORS = ("CompleteMultipartUpload", "CopyObject", "UploadPartCopy")
Headers = list[tuple[str, str]]


class Cut(Exception):
    """Raised by a hook to close the client's connection without a response."""


@dataclass
class Response:
    """A response to the client."""

    status: int
    headers: Headers = field(default_factory=list)
    body: bytes = b""
    reason: str = ""

    def header(self, name: str) -> str:
        """Value of the header; empty if absent."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


@dataclass
class Exchange:
    """A request that the proxy is forwarding.

    A hook that changes `target`, `headers` or `body` sets `changed`; the proxy then signs the request again.
    """

    record: Record
    method: str
    target: str
    headers: Headers
    body: bytes
    changed: bool = False

    def header(self, name: str) -> str:
        """Value of the header; empty if absent."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    def set_header(self, name: str, value: str | None) -> None:
        """Replaces the header; None removes it. The proxy signs the request again."""
        self.headers = [pair for pair in self.headers if pair[0].lower() != name.lower()]
        if value is not None:
            self.headers.append((name, value))
        self.changed = True


Forward = Callable[[Exchange], Response]
#: Intercepts a request. It can forward the request any number of times, and returns the response for the client.
Hook = Callable[[Exchange, Forward], Response]


class RecordingProxy:
    """Listens on a free port of 127.0.0.1 until it is closed. A context manager.

    Requests are forwarded unchanged, including ``Host``, so that their signatures stay valid. Endpoints that accept only their
    own host name, such as AWS, need `resign`: the proxy then signs each request again for the endpoint.

    Args:
        access: The endpoint to forward to, and the credentials to sign with.
        resign: None: only if the endpoint is below amazonaws.com.

    Thread safety: safe from any thread.
    """

    def __init__(self, access: Access, *, resign: bool | None = None) -> None:
        self._access = access
        self._open = _opener(access)
        self._resign = access.endpoint.endswith(".amazonaws.com") if resign is None else resign
        self._hooks: list[Hook] = []
        self._records: list[Record] = []
        self._lock = threading.Lock()
        self._numbers = 0
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        """The URL that clients connect to."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> RecordingProxy:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections and stops."""
        self._server.shutdown()
        self._server.close_connections()
        self._server.server_close()
        self._thread.join()

    def records(self) -> Records:
        """Requests since the start or the last :meth:`forget`, in order of arrival."""
        with self._lock:
            return Records(self._records)

    def forget(self) -> None:
        """Clears the records."""
        with self._lock:
            self._records.clear()

    @contextmanager
    def using(self, hook: Hook) -> Iterator[None]:
        """Installs `hook` for the duration of the block. The hook that was installed last sees a request first."""
        with self._lock:
            self._hooks = [*self._hooks, hook]
        try:
            yield
        finally:
            with self._lock:
                self._hooks = [each for each in self._hooks if each is not hook]

    # ---- one exchange, on the connection's thread

    def _exchange(self, exchange: Exchange, connection: _Upstream) -> Response:
        record = exchange.record
        with self._lock:
            self._numbers += 1
            record.number = self._numbers
            self._records.append(record)
            hooks = self._hooks

        def forward(exchange: Exchange) -> Response:
            return self._forward(exchange, connection)

        handler: Forward = forward
        for hook in hooks:
            handler = _behind(hook, handler)
        try:
            response = handler(exchange)
        finally:
            record.ended_s = time.monotonic()
        _complete(record, response)
        return response

    def _forward(self, exchange: Exchange, connection: _Upstream) -> Response:
        target, headers = exchange.target, exchange.headers
        signed = exchange.header("authorization").startswith("AWS4-HMAC-SHA256")
        if signed and (self._resign or exchange.changed):
            target, headers = self._signed(exchange)
        return connection.send(exchange.method, target, headers, exchange.body)

    def _signed(self, exchange: Exchange) -> tuple[str, Headers]:
        from .wire.signing import Identity, sign  # needs botocore

        access = self._access
        credential = exchange.header("authorization").partition("Credential=")[2].split("/")
        region, service = (credential[2], credential[3]) if len(credential) > 4 else (access.region, "s3")
        payload = exchange.header("x-amz-content-sha256") or "UNSIGNED-PAYLOAD"
        if re.fullmatch("[0-9a-f]{64}", payload):
            payload = hashlib.sha256(exchange.body).hexdigest()
        dropped = {"authorization", "x-amz-date", "x-amz-content-sha256", *(["host"] if self._resign else [])}
        headers = [pair for pair in exchange.headers if pair[0].lower() not in dropped]
        if self._resign:
            headers.insert(0, ("Host", urlsplit(access.endpoint).netloc))
        auth = {"kind": "header", "region": region, "service": service, "token": access.session_token}
        identity = Identity(access.access_key, access.secret_key)
        signed = sign(exchange.method, access.endpoint, exchange.target, headers, payload, auth, identity)
        return signed.target, signed.headers


def _behind(hook: Hook, forward: Forward) -> Forward:
    return lambda exchange: hook(exchange, forward)


def _complete(record: Record, response: Response) -> None:
    """Adds the response to the record."""
    record.status = response.status
    record.etag = response.header("etag")
    record.bytes_out = len(response.body)
    record.response_headers = {name.lower(): value for name, value in response.headers}
    if (response.status >= 400 or record.operation in _LATE_ERRORS) and (code := _CODE.search(response.body)):
        record.error_code = code[1].decode(errors="replace")
    if record.operation == "GetObject" and response.status == 200:
        record.fetched = (0, len(response.body))
    elif record.operation == "GetObject" and response.status == 206 and (sent := _RANGE.match(response.header("content-range"))):
        record.fetched = (int(sent[1]), int(sent[1]) + len(response.body))


def _opener(access: Access) -> Callable[[], http.client.HTTPConnection]:
    """Returns a function that opens connections to the endpoint."""
    parts = urlsplit(access.endpoint)
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "https":
        return functools.partial(http.client.HTTPSConnection, host, port, timeout=TIMEOUT_S, context=tls_context(access.ca))
    return functools.partial(http.client.HTTPConnection, host, port, timeout=TIMEOUT_S)


class _Upstream:
    """A connection to the endpoint; it lives as long as the client's connection."""

    def __init__(self, open_connection: Callable[[], http.client.HTTPConnection]) -> None:
        self._open = open_connection
        self._connection: http.client.HTTPConnection | None = None

    def send(self, method: str, target: str, headers: Headers, body: bytes) -> Response:
        return with_reconnect(
            lambda: self._send(method, target, headers, body), reused=self._connection is not None, close=self.close
        )

    def _send(self, method: str, target: str, headers: Headers, body: bytes) -> Response:
        if self._connection is None:
            self._connection = self._open()
            self._connection.connect()
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = self._connection
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders(body or None)
        received = connection.getresponse()
        content = received.read()
        if received.will_close:
            self.close()
        return Response(received.status, received.getheaders(), content, received.reason)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, proxy: RecordingProxy) -> None:
        self.proxy = proxy
        self.connections: set[socket.socket] = set()
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def close_connections(self) -> None:
        """Wakes the threads that wait for a client's next request."""
        with self.lock:
            for each in self.connections:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores closed connections of clients and of the endpoint: the record has status 0."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.upstream = _Upstream(self.server.proxy._open)
        with self.server.lock:
            self.server.connections.add(self.connection)

    def finish(self) -> None:
        with self.server.lock:
            self.server.connections.discard(self.connection)
        self.upstream.close()
        super().finish()

    def _serve(self) -> None:
        try:
            body = self._body()
        except (OSError, ValueError):  # the client closed the connection before the end of its request
            self.close_connection = True
            return
        headers = [(name, value) for name, value in self.headers.items() if name.lower() not in _HOP]
        if body and not self.headers.get("content-length"):
            headers.append(("Content-Length", str(len(body))))
        exchange = Exchange(_record(self.command, self.path, headers, len(body)), self.command, self.path, headers, body)
        try:
            response = self.server.proxy._exchange(exchange, self.upstream)
        except (Cut, OSError, http.client.HTTPException):
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)  # a forked worker process may also hold the descriptor
            return
        self._respond(response)

    def _body(self) -> bytes:
        if "chunked" in (self.headers.get("transfer-encoding") or "").lower():
            pieces = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self._exactly(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return b"".join(pieces)
        return self._exactly(int(self.headers.get("content-length") or 0))

    def _exactly(self, size: int) -> bytes:
        data = self.rfile.read(size)
        if len(data) < size:
            raise ConnectionError(f"the client sent {len(data)} of {size} bytes")
        return data

    def _respond(self, response: Response) -> None:
        self.send_response_only(response.status, response.reason or None)
        bodiless = self.command == "HEAD" or response.status in (204, 304)
        for name, value in response.headers:
            if name.lower() in _HOP or (name.lower() == "content-length" and not bodiless):
                continue
            self.send_header(name, value)
        if not bodiless:
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if not bodiless:
            self.wfile.write(response.body)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_OPTIONS = _serve  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Requests are recorded, not printed."""


def _record(method: str, target: str, headers: Headers, size: int) -> Record:
    path, _, text = target.partition("?")
    bucket, _, key = path.removeprefix("/").partition("/")
    query = dict(parse_qsl(text, keep_blank_values=True))
    lower = {name.lower(): value for name, value in headers}
    operation = _operation(method, bool(bucket), bool(key), query, lower)
    return Record(
        0, method, target, operation, unquote(bucket), unquote(key), query, lower, began_s=time.monotonic(), bytes_in=size
    )


# By method: query parameters that select another operation than the plain one on a bucket or object.
_BUCKET_OPERATIONS = {
    "GET": (
        *(("session", "CreateSession"), ("uploads", "ListMultipartUploads")),
        *(("versions", "ListObjectVersions"), ("list-type", "ListObjectsV2")),
    ),
    "POST": (("delete", "DeleteObjects"),),
}
_OBJECT_OPERATIONS = {
    "GET": (("uploadId", "ListParts"), ("attributes", "GetObjectAttributes"), ("tagging", "GetObjectTagging")),
    "PUT": (("partNumber", "UploadPart"), ("renameObject", "RenameObject"), ("tagging", "PutObjectTagging")),
    "POST": (("uploads", "CreateMultipartUpload"), ("uploadId", "CompleteMultipartUpload")),
    "DELETE": (("uploadId", "AbortMultipartUpload"), ("tagging", "DeleteObjectTagging")),
}
_PLAIN_BUCKET = {"GET": "ListObjects", "PUT": "CreateBucket", "HEAD": "HeadBucket", "DELETE": "DeleteBucket"}
_PLAIN_OBJECT = {"GET": "GetObject", "PUT": "PutObject", "HEAD": "HeadObject", "DELETE": "DeleteObject"}


def _service_operation(query: dict[str, str], headers: dict[str, str]) -> str:
    """The operation of ``GET /``. The AWS CRT sends CreateSession to it if the endpoint is an IP address."""
    if "session" in query:
        return "CreateSession"
    return "ListDirectoryBuckets" if "/s3express/aws4_request" in headers.get("authorization", "") else "ListBuckets"


def _operation(method: str, bucket: bool, key: bool, query: dict[str, str], headers: dict[str, str]) -> str:
    if not bucket:
        return _service_operation(query, headers) if method == "GET" else ""
    named, plain = (_OBJECT_OPERATIONS, _PLAIN_OBJECT) if key else (_BUCKET_OPERATIONS, _PLAIN_BUCKET)
    name = next((name for parameter, name in named.get(method, ()) if parameter in query), plain.get(method, ""))
    copy = {"PutObject": "CopyObject", "UploadPart": "UploadPartCopy"}
    return copy.get(name, name) if "x-amz-copy-source" in headers else name
