"""Our client over TLS, with a CA bundle for the emulator's certificate and without."""

from __future__ import annotations

import os

import penstock
import pytest
from penstock.testing import Emulator


@pytest.fixture
def emulator(certificate):
    pem, key = certificate
    with Emulator(tls_cert=str(pem), tls_key=str(key)) as instance:
        yield instance


def test_objects_round_trip_with_the_right_ca_bundle(emulator, certificate, monkeypatch):
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate[0]))
    client = emulator.client()
    client.create_bucket("bucket")
    data = os.urandom(20 * 1024**2 + 1)
    with client.put_object("bucket", "k") as writer:
        writer.write(data)
    assert client.get_object("bucket", "k").read() == data


def test_an_unknown_certificate_is_refused(emulator):
    client = emulator.client(penstock.S3ClientConfig(max_attempts=1))
    with pytest.raises(penstock.S3UnauthenticatedError, match="certificate"):
        client.create_bucket("bucket")
