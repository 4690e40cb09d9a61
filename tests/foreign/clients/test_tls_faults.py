"""TLS faults of the emulator: how Python's ssl and our client report them."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import penstock
import pytest
from penstock.testing import Emulator

VERDICTS = {
    "expired": "certificate has expired",
    "not-yet-valid": "certificate is not yet valid",
    "wrong-host": "Hostname mismatch, certificate is not valid for 'localhost'.",
    "self-signed": "self-signed certificate",
    "unknown-authority": "unable to get local issuer certificate",
}
ABORTS = {
    "handshake-failure": "alert handshake failure",
    "protocol-version": "alert protocol version",
    "no-application-protocol": "alert no application protocol",
}


@pytest.fixture
def emulator(certificate: tuple[Path, Path]) -> Iterator[Emulator]:
    pem, key = certificate
    with Emulator(tls_cert=str(pem), tls_key=str(key)) as instance:
        yield instance


def connect(emulator: Emulator, certificate: tuple[Path, Path]) -> None:
    context = ssl.create_default_context(cafile=str(certificate[0]))
    port = int(emulator.endpoint.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
        context.wrap_socket(plain, server_hostname="localhost").close()


@pytest.mark.parametrize("mode", VERDICTS)
def test_an_invalid_certificate_is_rejected_with_its_reason(emulator, certificate, mode):
    emulator.faults().set([{"do": {"tls_certificate": {"mode": mode}}, "limit": {"times": 1}}])
    with pytest.raises(ssl.SSLCertVerificationError) as refused:
        connect(emulator, certificate)
    assert refused.value.verify_message == VERDICTS[mode]
    connect(emulator, certificate)
    emulator.faults().check()


@pytest.mark.parametrize("mode", ABORTS)
def test_an_aborted_handshake_sends_the_configured_alert(emulator, certificate, mode):
    emulator.faults().set([{"do": {"tls_abort": {"mode": mode}}, "limit": {"times": 1}}])
    with pytest.raises(ssl.SSLError) as refused:
        connect(emulator, certificate)
    # A Python that knows the alert's name writes it with underscores.
    assert ABORTS[mode] in str(refused.value).lower().replace("_", " ")
    connect(emulator, certificate)
    emulator.faults().check()


def test_a_truncated_handshake_ends_the_connection(emulator, certificate):
    emulator.faults().set([{"do": {"tls_abort": {"mode": "truncated"}}, "limit": {"times": 1}}])
    with pytest.raises((ssl.SSLEOFError, ConnectionError)):
        connect(emulator, certificate)
    connect(emulator, certificate)
    emulator.faults().check()


@pytest.mark.parametrize("fault", [{"tls_certificate": {"mode": "self-signed"}}, {"tls_abort": {"mode": "protocol-version"}}])
def test_concurrent_connections_meet_a_fault_exactly_as_often_as_its_limit(emulator, certificate, fault):
    emulator.faults().set([{"do": fault, "limit": {"times": 2}}])

    def fails(_: int) -> bool:
        try:
            connect(emulator, certificate)
        except ssl.SSLError:
            return True
        return False

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(fails, range(40))) == 2
    assert emulator.faults().account().fired == 2
    emulator.faults().check()


@pytest.mark.parametrize("mode", VERDICTS)
def test_our_client_does_not_retry_after_an_invalid_certificate(emulator, certificate, monkeypatch, mode):
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate[0]))
    reason = VERDICTS[mode] if mode != "wrong-host" else "no alternative certificate subject name matches"
    emulator.faults().set([{"id": "flawed", "do": {"tls_certificate": {"mode": mode}}}])
    with pytest.raises(penstock.S3UnauthenticatedError, match=f"TLS certificate of .* was not accepted: .*{reason}.*, 1 attempt"):
        emulator.client().create_bucket("bucket")
    assert emulator.faults().account().rule("flawed").fired == 1


@pytest.mark.parametrize("mode", [*ABORTS, "truncated"])
def test_our_client_fails_if_no_handshake_succeeds(emulator, certificate, monkeypatch, mode):
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate[0]))
    emulator.faults().set([{"id": "refused", "do": {"tls_abort": {"mode": mode}}}])
    with pytest.raises(penstock.S3Exception, match="TLS"):
        emulator.client(penstock.S3ClientConfig(max_attempts=3)).create_bucket("bucket")
    assert 1 <= emulator.faults().account().rule("refused").fired <= 3
