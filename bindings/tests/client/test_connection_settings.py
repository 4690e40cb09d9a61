"""Settings of connections: proxies, certificates, I/O threads, checksum policies."""

from __future__ import annotations

import contextlib
import dataclasses
import http.server
import pickle
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import penstock
import pytest
from http_responses import responding
from penstock import S3Client, S3ClientConfig
from penstock.testing import Emulator

SIGNED = S3ClientConfig(access_key_id="AKID", secret_access_key="SEK", force_path_style=True, max_attempts=1)


def config(**settings: object) -> S3ClientConfig:
    return dataclasses.replace(SIGNED, **settings)  # type: ignore[arg-type]


def test_requests_go_through_the_proxy():
    with responding(200, headers={"ETag": '"e"'}) as (proxy, received):
        address = proxy.endpoint.removeprefix("http://")
        client = S3Client("us-east-1", endpoint="http://storage.invalid", s3client_config=config(proxy=f"http://u:p@{address}"))
        client.put("bucket", "k", b"x")
        assert received[0].target == "http://storage.invalid/bucket/k"
        assert received[0].headers["proxy-authorization"] == "Basic dTpw"
        settings = config(proxy=f"http://{address}", no_proxy="other.example,storage.invalid")
        with pytest.raises(penstock.S3Exception):
            S3Client("us-east-1", endpoint="http://storage.invalid", s3client_config=settings).put("bucket", "k", b"x")
        assert len(received) == 1


def test_an_empty_proxy_ignores_the_environment(monkeypatch):
    with responding(200, headers={"ETag": '"e"'}) as (server, received):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        S3Client("us-east-1", endpoint=server.endpoint, s3client_config=config(proxy="")).put("bucket", "k", b"x")
        assert received[0].target == "/bucket/k"


def test_the_ca_bundle_is_used(certificate, tmp_path):
    pem, key = certificate
    with Emulator(tls_cert=str(pem), tls_key=str(key)) as emulator:

        def client(**settings: object) -> S3Client:
            return S3Client(
                emulator.region,
                endpoint=emulator.endpoint,
                s3client_config=dataclasses.replace(emulator.config(), max_attempts=1, **settings),  # type: ignore[arg-type]
            )

        with pytest.raises(penstock.S3UnauthenticatedError):
            client().list_buckets()
        client(ca_bundle_path=str(pem)).list_buckets()
        folder = tmp_path / "ca"
        folder.mkdir()
        (folder / "one.pem").write_bytes(pem.read_bytes())
        subprocess.run(["openssl", "rehash", str(folder)], check=True)
        client(ca_directory_path=str(folder)).list_buckets()


@contextlib.contextmanager
def server_that_asks_for_a_certificate(pem: Path, key: Path) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(200)
            self.send_header("x-amz-bucket-region", "us-east-1")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    context.load_verify_locations(pem)
    context.verify_mode = ssl.CERT_REQUIRED
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_client_shows_its_certificate(certificate, tmp_path):
    pem, key = certificate
    encrypted, together = tmp_path / "encrypted.pem", tmp_path / "together.pem"
    command = ["openssl", "pkcs8", "-topk8", "-in", str(key), "-out", str(encrypted), "-passout", "pass:PASSWORD"]
    subprocess.run(command, check=True, capture_output=True)
    together.write_bytes(pem.read_bytes() + key.read_bytes())
    with server_that_asks_for_a_certificate(pem, key) as endpoint:
        for settings in (
            {"client_certificate_path": str(pem), "client_key_path": str(key)},
            {"client_certificate_path": str(together)},
            {"client_certificate_path": str(pem), "client_key_path": str(encrypted), "client_key_password": "PASSWORD"},
        ):
            client = S3Client("us-east-1", endpoint=endpoint, s3client_config=config(ca_bundle_path=str(pem), **settings))
            assert client.head_bucket("bucket").region == "us-east-1"
        with pytest.raises(penstock.S3Exception):
            S3Client("us-east-1", endpoint=endpoint, s3client_config=config(ca_bundle_path=str(pem))).head_bucket("bucket")


def test_clients_share_connections_with_those_of_the_same_number_of_io_threads():
    with responding(200, headers={"ETag": '"e"'}) as (server, _):
        opened = []
        for number in None, None, 3, 3:
            client = S3Client("us-east-1", endpoint=server.endpoint, s3client_config=config(io_threads=number))
            client.put("bucket", "k", b"x")
            opened.append(client.metrics()["connections"]["opened"])
    assert opened == [1, 0, 1, 0]


def test_a_limit_of_bytes_per_second_delays_bodies():
    rate = 1 << 20
    with responding(200, headers={"ETag": '"e"'}, body=b"x" * rate) as (server, _):
        client = S3Client("us-east-1", endpoint=server.endpoint, s3client_config=config(max_bytes_per_second=rate))
        begin = time.monotonic()
        assert len(client.get("bucket", "k").body) == rate
        assert time.monotonic() - begin > 0.9  # a lower bound: the rate, less the burst and a piece


def test_checksum_policies():
    with responding(200, headers={"ETag": '"e"'}) as (server, received):
        for policy in None, "when_required":
            S3Client("us-east-1", endpoint=server.endpoint, s3client_config=config(upload_checksums=policy)).put("b", "k", b"x")
        assert ["x-amz-checksum-crc64nvme" in each.headers for each in received] == [True, False]
        for policy in None, "when_required":
            S3Client("us-east-1", endpoint=server.endpoint, s3client_config=config(download_checksums=policy)).get("b", "k")
        assert [each.headers.get("x-amz-checksum-mode") for each in received[2:]] == ["ENABLED", None]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"io_threads": 0}, ValueError, "io_threads must be None or 1 to 64, not 0"),
        ({"max_connections": 4097}, ValueError, "max_connections must be None or 1 to 4096, not 4097"),
        ({"max_bytes_per_second": 1}, ValueError, "max_bytes_per_second must be None or 65536 to"),
        ({"io_threads": True}, TypeError, "S3ClientConfig.io_threads must be int or None, not bool"),
        ({"proxy": 3}, TypeError, "S3ClientConfig.proxy must be str or None, not int"),
        ({"proxy": "ftp://h:1"}, ValueError, "ftp"),
        ({"no_proxy": "h"}, ValueError, "no_proxy needs proxy"),
        (
            {"upload_checksums": "never"},
            ValueError,
            "must be None, when_supported or when_required, not `never`",
        ),
        ({"client_key_password": b"PASSWORD"}, TypeError, "client_key_password must be str or None, not bytes"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error) as raised:
        S3Client("us-east-1", s3client_config=config(**settings)).head_bucket("bucket")
    assert message in str(raised.value)
    assert "PASSWORD" not in str(raised.value)


def test_secrets_of_the_settings_are_not_printed():
    settings = config(proxy="http://u:PROXYPASSWORD@h:1", client_key_password="KEYPASSWORD")
    assert "PASSWORD" not in repr(settings)
    assert pickle.loads(pickle.dumps(settings)) == settings
