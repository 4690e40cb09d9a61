"""Access points of directory buckets (``name--zone--xa-s3``), compared with the requests of botocore 1.43.

The expected values are from the requests of one botocore client for the same calls and the same session responses.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import penstock
import pytest
from penstock import S3ClientConfig

POINT, OTHER = "point--usw2-az1--xa-s3", "other--usw2-az1--xa-s3"
SESSION = """<CreateSessionResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Credentials>
<SessionToken>tok-{0}</SessionToken><SecretAccessKey>s</SecretAccessKey><AccessKeyId>key-{0}</AccessKeyId>
<Expiration>2036-01-01T00:00:00Z</Expiration></Credentials></CreateSessionResult>"""
LISTING = (
    """<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated></ListBucketResult>"""
)
COPIED = "<CopyObjectResult><ETag>&quot;e&quot;</ETag></CopyObjectResult>"

# method, path, access key, signing region and name, session token
Sent = tuple[str, str, str, str, str]


class Service:
    """Responds to each request with success and records how it was signed."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        sent = self.sent

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def respond(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                signed = re.match(r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d+/([^/]+/[^/]+)/", self.headers["Authorization"])
                assert signed is not None
                token = self.headers.get("x-amz-s3session-token", "")
                path, _, query = self.path.partition("?")
                sent.append((self.command, path, signed[1], signed[2], token))
                body = b""
                if "session" in query:
                    body = SESSION.format(path.strip("/")).encode()
                elif "list-type" in query:
                    body = LISTING.encode()
                elif "x-amz-copy-source" in self.headers:
                    body = COPIED.encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", '"e"')
                self.send_header("Last-Modified", "Sun, 22 Nov 2026 00:00:00 GMT")
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = respond  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:
                del format, args

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def client(self, **config: object) -> penstock.S3Client:
        endpoint = f"http://127.0.0.1:{self.server.server_address[1]}"
        return penstock.S3Client("us-west-2", endpoint=endpoint, s3client_config=S3ClientConfig(max_attempts=1, **config))

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def service(monkeypatch) -> Iterator[Service]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    running = Service()
    yield running
    running.close()


def asks(point: str) -> Sent:
    return ("GET", f"/{point}", "AKID", "us-west-2/s3express", "")


def with_session(method: str, point: str, key: str = "") -> Sent:
    return (method, f"/{point}/{key}".rstrip("/"), f"key-{point}", "us-west-2/s3express", f"tok-{point}")


def test_each_access_point_has_its_own_session(service):
    client = service.client()
    client.head_object(POINT, "k")
    client.head_object(POINT, "k")
    client.head_object(OTHER, "k")
    list(client.list_objects(POINT))
    client.rename_object(POINT, "j", "k")
    client.delete_object(POINT, "k")
    assert service.sent == [
        asks(POINT),
        with_session("HEAD", POINT, "k"),
        with_session("HEAD", POINT, "k"),
        asks(OTHER),
        with_session("HEAD", OTHER, "k"),
        with_session("GET", POINT),
        with_session("PUT", POINT, "k"),
        with_session("DELETE", POINT, "k"),
    ]


def test_a_copy_is_signed_without_a_session(service):
    service.client().copy_object(POINT, "j", POINT, "k")
    assert service.sent == [("PUT", f"/{POINT}/k", "AKID", "us-west-2/s3express", "")]


def test_access_points_work_with_path_style_addressing(service):
    service.client(force_path_style=True).head_object(POINT, "k")
    assert service.sent == [asks(POINT), with_session("HEAD", POINT, "k")]


def test_sessions_can_be_turned_off(service, monkeypatch):
    monkeypatch.setenv("AWS_S3_DISABLE_EXPRESS_SESSION_AUTH", "true")
    service.client().head_object(POINT, "k")
    assert service.sent == [("HEAD", f"/{POINT}/k", "AKID", "us-west-2/s3express", "")]


def test_listing_versions_of_an_access_point_is_rejected(service):
    with pytest.raises(penstock.S3InvalidArgumentError, match="directory bucket"):
        list(service.client().list_object_versions(POINT, "k"))
    assert service.sent == []
