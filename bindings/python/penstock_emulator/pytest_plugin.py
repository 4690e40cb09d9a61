"""pytest fixtures that run tests against an S3 emulator in this process, offline. pytest loads them without configuration.

def test_upload(s3_bucket):
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="a", Body=b"1")

Each test that uses them has its own namespace: its buckets, clock, faults and journal are not visible to other tests, also with
pytest-xdist, where each worker has its own emulator. Environment variables direct boto3, the AWS CLI, s3fs, s3torchconnector and
Penstock to the emulator, and hide any AWS account configured on the machine.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from ._clock import Clock
from ._emulator import Emulator, Namespace
from ._exceptions import NotFoundError
from ._faults import Faults
from ._journal import Journal
from .offline_environment import environment_set, forget_undone, offline_environment, undo_again

_SHOWN_REQUESTS = 20
_SERVER = "default"  # the namespace whose faults apply to connections
_namespace_key = pytest.StashKey[Namespace]()
_server_key = pytest.StashKey[Emulator]()
_passed_key = pytest.StashKey[bool]()
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Emulator]:
    """The emulator of this process. Override this fixture to set a region, TLS, users or limits for all tests."""
    with Emulator() as emulator:
        yield emulator


# autouse: set up after fixtures of wider scope, whose faults do not belong to the test, and before the test's own fixtures.
@pytest.fixture(autouse=True)
def _s3_server_faults(request: pytest.FixtureRequest) -> Iterator[None]:
    """Checks and then removes the faults that the test set in the server's default namespace, for all connections."""
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
    """A namespace for this test, with environment variables that direct clients to it.

    If the test passes but a planned fault did not happen, the teardown fails.
    """
    namespace = s3_server.create_namespace(f"test-{next(_numbers)}")
    request.node.stash[_namespace_key] = namespace
    try:
        with environment_set(offline_environment(namespace.environment()), nested_only=True):
            yield namespace
        if namespace.name not in s3_server.namespaces():
            pytest.fail(
                f"the test deleted its own namespace '{namespace.name}', so its faults cannot be checked;"
                " create another one with s3_server.create_namespace(...) and delete that",
                pytrace=False,
            )
        if request.node.stash.get(_passed_key, False):
            _check_faults(namespace.faults, namespace.journal)
    finally:
        with suppress(NotFoundError):
            s3_server.delete_namespace(namespace.name)


@pytest.fixture
def s3_faults(s3_emulator: Namespace, request: pytest.FixtureRequest) -> Faults:
    """The faults of this test's namespace: those of the marker ``s3_faults``, and those that the test sets."""
    markers = list(request.node.iter_markers_with_node("s3_faults"))
    if markers:
        node, marker = markers[0]  # The nearest: that of the test, else of its class, else of its module.
        if len(marker.args) != 1 or marker.kwargs:
            raise pytest.UsageError("s3_faults takes one argument: the name of a scenario, a document, or the path of its file")
        if sum(other is node for other, _ in markers) > 1:
            raise pytest.UsageError(f"s3_faults is given twice for {node.name}: put all rules into one list")
        s3_emulator.faults.set(marker.args[0])
    return s3_emulator.faults


@pytest.fixture
def s3_bucket(s3_emulator: Namespace) -> str:
    """The name of an empty bucket for this test."""
    name = f"bucket-{next(_numbers)}"
    s3_emulator.create_bucket(name)
    return name


@pytest.fixture
def s3_directory_bucket(s3_emulator: Namespace) -> str:
    """The name of an empty directory bucket (S3 Express One Zone) for this test."""
    return s3_emulator.create_directory_bucket(f"bucket-{next(_numbers)}")


@pytest.fixture
def s3_clock(s3_emulator: Namespace) -> Clock:
    """The clock of this test's namespace, which determines dates, signature ages, expiry and limits."""
    return s3_emulator.clock


@pytest.fixture
def s3_journal(s3_emulator: Namespace) -> Journal:
    """The journal of the requests in this test's namespace: entries, queries and assertions."""
    return s3_emulator.journal


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line(
        "markers",
        "s3_faults(scenario): run the test under these faults: a built-in scenario's name, a document, or a file's path",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Adds the fixture `s3_faults` to tests with the marker of the same name."""
    for item in items:
        names = getattr(item, "fixturenames", None)
        if names is not None and item.get_closest_marker("s3_faults") and "s3_faults" not in names:
            names.append("s3_faults")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """Excludes what fixtures did to the environment during the set-up from the restoration after the test."""
    forget_undone()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Restores variables that pytest's ``monkeypatch`` set to those of the emulator after the fixtures had restored them."""
    yield
    undo_again()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Adds the faults and requests of the emulator to the report of a failed test."""
    outcome: Any = yield
    report: pytest.TestReport = outcome.get_result()
    if call.when == "call":
        item.stash[_passed_key] = report.passed
    if not report.failed or call.when == "teardown":  # the check in the teardown has its own report
        return
    if namespace := item.stash.get(_namespace_key, None):
        report.sections.append(("S3 emulator", _describe(namespace.faults, namespace.journal)))
    server = item.stash.get(_server_key, None)
    if server is not None and _SERVER in server._planned_faults:
        report.sections.append(("S3 emulator, default namespace", _describe(server.faults(), server.journal())))


def _check_faults(faults: Faults, journal: Journal) -> None:
    try:
        faults.check_all()
    except AssertionError as error:
        pytest.fail(f"{error}\n{_describe(faults, journal)}", pytrace=False)


def _describe(faults: Faults, journal: Journal) -> str:
    lines = []
    try:
        account = faults.account()
    except NotFoundError:
        lines.append("no faults were planned")
    else:
        name = f" {account.name!r}" if account.name else ""
        lines.append(f"faults{name}, seed {account.seed}: {account.fired} fired on {account.requests} requests")
        lines += [f"  {rule.id}: fired {rule.fired} times, matched {rule.matched}" for rule in account.rules]
    try:
        lines.append(journal.describe(_SHOWN_REQUESTS))
    except NotFoundError:
        return "the namespace was deleted"
    return "\n".join(lines)
