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
from typing import Any

import pytest

from ._exceptions import S3NotFoundError
from ._offline_environment import environment_set, offline_environment
from .testing import Clock, Emulator, Faults, Journal, Namespace

_SHOWN_REQUESTS = 20
_SERVER = "default"  # the namespace that decides about connections
_namespace_key = pytest.StashKey[Namespace]()
_server_key = pytest.StashKey[Emulator]()
_passed_key = pytest.StashKey[bool]()
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Emulator]:
    """The emulator of this process. Override it for another region, TLS, users, or limits of all tests."""
    with Emulator() as emulator:
        yield emulator


# Of all tests, and so set up behind wider fixtures, whose faults are not the test's, and before the other ones.
@pytest.fixture(autouse=True)
def _s3_server_faults(request: pytest.FixtureRequest) -> Iterator[None]:
    """Checks what the test set at the server itself, for the connections of all namespaces, and takes it back."""
    server = request.getfixturevalue("s3_server") if "s3_server" in request.fixturenames else None
    if not isinstance(server, Emulator):
        yield
        return
    server._planned_faults.discard(_SERVER)
    request.node.stash[_server_key] = server
    yield
    if _SERVER not in server._planned_faults:
        return
    try:
        if request.node.stash.get(_passed_key, False):
            _check_faults(server.faults(), server.journal())
    finally:
        server._planned_faults.discard(_SERVER)
        server.faults().restore()
        for test_id in server.faults().retry_tests():
            server._core.delete_retry_test(_SERVER, test_id)


@pytest.fixture
def s3_emulator(s3_server: Emulator, request: pytest.FixtureRequest) -> Iterator[Namespace]:
    """A namespace of this test's own, with the environment prepared for clients.

    A test that passes although a fault it planned never happened fails when it is torn down.
    """
    namespace = s3_server.create_namespace(f"test-{next(_numbers)}")
    request.node.stash[_namespace_key] = namespace
    try:
        with environment_set(offline_environment(namespace.environment())):
            yield namespace
        if request.node.stash.get(_passed_key, False):
            _check_faults(namespace.faults, namespace.journal)
    finally:
        s3_server.delete_namespace(namespace.name)


@pytest.fixture
def s3_faults(s3_emulator: Namespace, request: pytest.FixtureRequest) -> Faults:
    """The faults of this test's namespace: those of the marker ``s3_faults``, or what the test sets."""
    for marker in request.node.iter_markers("s3_faults"):
        if len(marker.args) != 1 or marker.kwargs:
            raise pytest.UsageError("s3_faults takes one argument: the name of a scenario, its document, or the path of its file")
        s3_emulator.faults.set(marker.args[0])
        break
    return s3_emulator.faults


@pytest.fixture
def s3_bucket(s3_emulator: Namespace) -> str:
    """The name of an empty bucket of this test's own."""
    name = f"bucket-{next(_numbers)}"
    s3_emulator.client().create_bucket(name)
    return name


@pytest.fixture
def s3_directory_bucket(s3_emulator: Namespace) -> str:
    """The name of an empty directory bucket (S3 Express One Zone) of this test's own."""
    return s3_emulator.create_directory_bucket(f"bucket-{next(_numbers)}")


@pytest.fixture
def s3_clock(s3_emulator: Namespace) -> Clock:
    """The clock of this test's namespace: dates, signatures, expiry, limits."""
    return s3_emulator.clock


@pytest.fixture
def s3_journal(s3_emulator: Namespace) -> Journal:
    """What the clients of this test asked: entries, questions, assertions."""
    return s3_emulator.journal


def pytest_configure(config: pytest.Config) -> None:
    """Tells pytest of the marker."""
    config.addinivalue_line(
        "markers",
        "s3_faults(scenario): run the test under these faults: a built-in scenario's name, a document, or a file's path",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A marked test need not ask for the fixture."""
    for item in items:
        names = getattr(item, "fixturenames", None)
        if names is not None and item.get_closest_marker("s3_faults") and "s3_faults" not in names:
            names.append("s3_faults")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Shows what S3 did and was asked, where a test failed."""
    outcome: Any = yield
    report: pytest.TestReport = outcome.get_result()
    if call.when == "call":
        item.stash[_passed_key] = report.passed
    if not report.failed or call.when == "teardown":  # of a teardown the check has told
        return
    if namespace := item.stash.get(_namespace_key, None):
        report.sections.append(("S3 emulator", _describe(namespace.faults, namespace.journal)))
    server = item.stash.get(_server_key, None)
    if server is not None and _SERVER in server._planned_faults:
        report.sections.append(("S3 emulator, the server's own", _describe(server.faults(), server.journal())))


def _check_faults(faults: Faults, journal: Journal) -> None:
    try:
        faults.check_all()
    except AssertionError as error:
        pytest.fail(f"{error}\n{_describe(faults, journal)}", pytrace=False)


def _describe(faults: Faults, journal: Journal) -> str:
    lines = []
    try:
        account = faults.account()
    except S3NotFoundError:
        lines.append("no faults were planned")
    else:
        name = f" {account.name!r}" if account.name else ""
        lines.append(f"faults{name}, seed {account.seed}: {account.fired} fired on {account.requests} requests")
        lines += [f"  {rule.id}: fired {rule.fired} times, matched {rule.matched}" for rule in account.rules]
    lines.append(journal.describe(_SHOWN_REQUESTS))
    return "\n".join(lines)
