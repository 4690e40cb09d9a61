"""Fixtures of every test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_ambient_aws() -> Iterator[None]:
    """Hides the AWS configuration of the developer from the tests."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("AWS_")}
    os.environ.update(AWS_EC2_METADATA_DISABLED="true", AWS_CONFIG_FILE="/dev/null", AWS_SHARED_CREDENTIALS_FILE="/dev/null")
    os.environ.setdefault("PENSTOCK_HEDGE_READS", "false")  # tests count requests, also on a slow machine
    os.environ.setdefault("PENSTOCK_EMULATOR_PORT", "0")  # any free port, for programs that tests start
    yield
    os.environ.update(kept)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1 and localhost, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    pem, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command += ["-keyout", str(key), "-out", str(pem), "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,DNS:*.localhost,IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True)
    return pem, key
