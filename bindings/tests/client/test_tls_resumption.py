"""A new connection resumes the TLS session of an earlier one. The server is Python's, which says which handshakes resumed."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from penstock import S3Client, S3ClientConfig

RESPONSE = b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: "e"\r\nConnection: close\r\n\r\n'


@contextlib.contextmanager
def server(certificate: tuple[Path, Path], version: ssl.TLSVersion) -> Iterator[tuple[str, list[bool]]]:
    """Closes each connection after one response. Yields its endpoint, and whether each handshake resumed a session."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.maximum_version = version
    resumed: list[bool] = []

    def serve(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                plain, _ = listener.accept()
                with context.wrap_socket(plain, server_side=True) as connection:
                    resumed.append(bool(connection.session_reused))
                    request = b""
                    while b"\r\n\r\n" not in request:
                        request += connection.recv(65_536)
                    connection.sendall(RESPONSE)
                    connection.unwrap()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield f"https://localhost:{listener.getsockname()[1]}", resumed
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def client(endpoint: str, bundle: Path, **settings: object) -> S3Client:
    config = S3ClientConfig(
        access_key_id="AKID", secret_access_key="SEK", force_path_style=True, max_attempts=1, ca_bundle_path=str(bundle),
        io_threads=1, **settings,  # type: ignore[arg-type]
    )  # fmt: skip
    return S3Client("us-east-1", endpoint=endpoint, s3client_config=config)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_connections_to_one_server_resume_the_first_session(certificate, version):
    with server(certificate, version) as (endpoint, resumed):
        one = client(endpoint, certificate[0])
        for _ in range(4):
            one.head_object("bucket", "key")
    assert resumed == [False, True, True, True]


def test_a_session_is_not_resumed_on_another_server(certificate):
    with (
        server(certificate, ssl.TLSVersion.TLSv1_3) as (first, resumed_first),
        server(certificate, ssl.TLSVersion.TLSv1_3) as (second, resumed_second),
    ):
        for endpoint in (first, second):
            client(endpoint, certificate[0]).head_object("bucket", "key")
    assert (resumed_first, resumed_second) == ([False], [False])


def test_a_session_is_not_resumed_with_other_authorities(certificate, tmp_path):
    """Otherwise a client that trusts fewer authorities would use a server that only another client's authorities vouch for."""
    bundle = tmp_path / "copy.pem"
    bundle.write_bytes(certificate[0].read_bytes())
    with server(certificate, ssl.TLSVersion.TLSv1_3) as (endpoint, resumed):
        client(endpoint, certificate[0]).head_object("bucket", "key")
        client(endpoint, bundle).head_object("bucket", "key")
    assert resumed == [False, False]
