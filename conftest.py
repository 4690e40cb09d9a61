"""Fixtures of every test."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_ambient_aws() -> Iterator[None]:
    """Hides the AWS configuration of the developer from the tests."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("AWS_")}
    os.environ.update(AWS_EC2_METADATA_DISABLED="true", AWS_CONFIG_FILE="/dev/null", AWS_SHARED_CREDENTIALS_FILE="/dev/null")
    os.environ.setdefault("PENSTOCK_HEDGE_READS", "false")  # tests count requests, also on a slow machine
    yield
    os.environ.update(kept)
