"""The attempts of each client for each failure of S3: docs/reference/retries.md is compared with the journal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import boto3
import pytest
from penstock.testing import emulated_s3

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = Path(__file__).with_name("retrying_clients.py")
TIMEOUT_S = 150
TABLE = re.findall(r"^\| `([a-z0-9-]+)` \|(.*)\|$", (ROOT / "docs/reference/retries.md").read_text(), re.M)

# The fault of every request for the key of that name.
FAULTS = {
    "slow-down": {"slow_down": {}},
    "internal-error": {"error": {"code": "InternalError"}},
    "service-unavailable": {"error": {"code": "ServiceUnavailable"}},
    "request-timeout": {"error": {"code": "RequestTimeout"}},
    "access-denied": {"error": {"code": "AccessDenied"}},
    "reset": {"reset": {}, "at": "after_commit"},
    "truncated": {"truncate": {"mode": "fin"}, "at": "body_out@5"},
    "put-slow-down": {"slow_down": {}},
    "put-internal-error": {"error": {"code": "InternalError"}},
    "put-ack-lost": {"reset": {}, "at": "after_commit"},
}


def columns() -> list[str]:
    header = re.search(r"^\| Failure \|(.*)\|$", (ROOT / "docs/reference/retries.md").read_text(), re.M)
    assert header is not None
    return [cell.strip().strip("`") for cell in header[1].split("|")]


def promised(client: str) -> dict[str, int]:
    """Requests by failure, from the table."""
    place = columns().index(client)
    return {failure: int(re.search(r"\d+", cells.split("|")[place])[0]) for failure, cells in TABLE}


def seen(client: str) -> dict[str, int]:
    """Requests by failure, from the emulator's journal."""
    rules = [{"id": key, "when": {"key": {"exactly": key}}, "do": fault, "must_fire": True} for key, fault in FAULTS.items()]
    python = os.environ.get("PENSTOCK_CLIENTS_PYTHON") if client == "s3fs" else sys.executable
    if python is None:
        pytest.fail("s3fs is in an environment of its own: set PENSTOCK_CLIENTS_PYTHON to its Python, as ./dev test does")
    with emulated_s3() as s3:
        boto3.client("s3").create_bucket(Bucket="data")
        for key in FAULTS:
            if not key.startswith("put-"):
                boto3.client("s3").put_object(Bucket="data", Key=key, Body=b"0123456789")
        s3.journal().clear()
        s3.faults().set({"rules": rules})
        subprocess.run([python, str(SCRIPT), client, "data", *FAULTS], check=True, timeout=TIMEOUT_S, capture_output=True)
        reads = ["HeadObject", "GetObject"] if client == "s3fs" else ["GetObject"]
        writes = ["PutObject", "CreateMultipartUpload"]
        return {
            key: s3.journal().count(bucket="data", key=key, operations=writes if key.startswith("put-") else reads)
            for key in FAULTS
        }


@pytest.mark.parametrize("client", columns())
def test_each_client_makes_the_documented_number_of_attempts(client):
    assert seen(client) == promised(client)


def test_the_table_has_every_failure():
    assert [failure for failure, _ in TABLE] == list(FAULTS)
