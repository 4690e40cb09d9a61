"""Fixtures for pytest: S3 for each test, offline, in this process. Installed with Penstock, nothing to configure.

def test_upload(s3_bucket):
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="a", Body=b"1")

Every test that asks for one has a namespace of its own: buckets, users' clock, faults and journal that no other test sees, also
under pytest-xdist, where every worker has its own emulator. The environment of the test leads boto3, the AWS CLI, s3fs,
s3torchconnector and Penstock there, and away from any AWS account that the machine knows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from ._offline_environment import environment_set, offline_environment
from .testing import Clock, Emulator, Journal, Namespace

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Emulator]:
    """The emulator of this process. Override it for another region, TLS, users, or limits of all tests."""
    with Emulator() as emulator:
        yield emulator


@pytest.fixture
def s3_emulator(s3_server: Emulator) -> Iterator[Namespace]:
    """A namespace of this test's own, with the environment prepared for clients."""
    namespace = s3_server.create_namespace(f"test-{next(_numbers)}")
    try:
        with environment_set(offline_environment(namespace.environment())):
            yield namespace
    finally:
        s3_server.delete_namespace(namespace.name)


@pytest.fixture
def s3_bucket(s3_emulator: Namespace) -> str:
    """The name of an empty bucket of this test's own."""
    name = f"bucket-{next(_numbers)}"
    s3_emulator.client().create_bucket(name)
    return name


@pytest.fixture
def s3_clock(s3_emulator: Namespace) -> Clock:
    """The clock of this test's namespace: dates, signatures, expiry, limits."""
    return s3_emulator.clock


@pytest.fixture
def s3_journal(s3_emulator: Namespace) -> Journal:
    """What the clients of this test asked: entries, questions, assertions."""
    return s3_emulator.journal
