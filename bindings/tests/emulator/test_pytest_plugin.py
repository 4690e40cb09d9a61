"""The pytest plugin, used by test suites that run in their own pytest process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TIMEOUT_S = 120


@pytest.fixture
def run_suite(tmp_path: Path) -> Callable[..., str]:
    """Runs a suite of one file with the plugin and returns its output. `failed`: whether the suite must fail."""

    def run(source: str, *options: str, failed: bool = False) -> str:
        (tmp_path / "test_suite.py").write_text(source)
        command = [sys.executable, "-m", "pytest", "-p", "penstock_emulator.pytest_plugin", "-q", "-rA", *options, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, cwd=tmp_path, check=False)
        assert done.returncode == int(failed), done.stdout + done.stderr
        return done.stdout

    return run


CLIENTS = """
import os

import boto3
import penstock
import s3torchconnector


def test_every_client_finds_it(s3_emulator, s3_bucket):
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="key", Body=b"text")
    uri = f"s3://{s3_bucket}/"
    for module in (penstock, s3torchconnector):
        dataset = module.S3MapDataset.from_prefix(uri, region=s3_emulator.region)
        assert [reader.read() for reader in dataset] == [b"text"]
    assert os.environ["AWS_ENDPOINT_URL"] == s3_emulator.endpoint


def test_the_machines_accounts_are_out_of_reach(s3_emulator):
    assert "AWS_PROFILE" not in os.environ
    assert boto3.Session().get_credentials().access_key == s3_emulator.access_key_id


def test_the_environment_is_as_it_was():
    assert os.environ["AWS_PROFILE"] == "production"
    assert "AWS_ENDPOINT_URL" not in os.environ
"""


def test_all_clients_use_the_emulator_of_the_test(run_suite, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "production")
    assert "3 passed" in run_suite(CLIENTS)


MONKEYPATCH = """
import os

import pytest
from penstock.testing import emulated_s3

before = dict(os.environ) | {"AWS_REGION": "us-east-1"}


@pytest.fixture(scope="module", autouse=True)
def region_of_the_module():
    with emulated_s3():
        pass
    os.environ["AWS_REGION"] = "us-east-1"  # as in the emulator's environment


def test_changes_and_removes(monkeypatch, s3_bucket):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_PROFILE", "staging")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")


def test_as_before():
    assert {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"} == {
        name: value for name, value in before.items() if name != "PYTEST_CURRENT_TEST"}


@emulated_s3()
def test_decorated(monkeypatch):
    with emulated_s3():
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")


test_as_before_again = test_as_before
"""


def test_monkeypatch_requested_before_the_emulator_leaves_no_variables(run_suite, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    assert "4 passed" in run_suite(MONKEYPATCH)


DELETED = """
def test_deletes_and_passes(s3_emulator, s3_server, s3_faults):
    s3_faults.set([{"when": {"operation": "PutObject"}, "do": {"slow_down": {}}}])
    s3_server.delete_namespace(s3_emulator.name)


def test_deletes_and_fails(s3_emulator, s3_server):
    s3_server.delete_namespace(s3_emulator.name)
    assert False


def test_next(s3_bucket):
    pass
"""


def test_a_test_that_deletes_its_own_namespace_fails_with_one_sentence(run_suite):
    output = run_suite(DELETED, failed=True)
    assert output.count("create another one with s3_server.create_namespace(...)") >= 2
    assert "Traceback" not in output
    assert "S3NotFoundError" not in output
    assert "the namespace was deleted" in output
    assert "1 failed, 2 passed, 2 errors" in output


OVERLAPPING = """
import os
from concurrent.futures import ThreadPoolExecutor

import boto3
import pytest
from penstock.testing import emulated_s3


@emulated_s3()
def list_buckets():
    return boto3.client("s3").list_buckets()["Buckets"]


def test_a_thread_beside_the_fixture_is_refused(s3_bucket, s3_emulator):
    assert list_buckets() == []
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="one after the other"):
        pool.submit(list_buckets).result(30)
    assert os.environ["AWS_ENDPOINT_URL"] == s3_emulator.endpoint
"""


def test_a_call_in_another_thread_beside_the_fixture_is_refused(run_suite):
    assert "1 passed" in run_suite(OVERLAPPING)


WORLDS = """
import boto3
import pytest

seen = set()


@pytest.mark.parametrize("n", range(2))
def test_what_boto3_keeps_for_the_process_is_forgotten(s3_emulator, n):
    boto3.client("s3").create_bucket(Bucket="data")
    assert boto3.DEFAULT_SESSION.get_credentials().access_key == s3_emulator.access_key_id


@pytest.mark.parametrize("n", range(3))
def test_every_test_has_a_world_of_its_own(s3_emulator, s3_clock, n):
    client = s3_emulator.client()
    client.create_bucket("data")
    assert not any(page.object_info for page in client.list_objects("data"))
    with client.put_object("data", "left behind") as writer:
        writer.write(b"x")
    assert s3_clock.offset.total_seconds() == 0
    s3_clock.advance(60)
    assert s3_emulator.name not in seen
    seen.add(s3_emulator.name)


def test_namespaces_go_with_their_tests(s3_server):
    assert s3_server.namespaces() == ["default"]
"""


def test_tests_are_isolated_from_each_other(run_suite):
    assert "6 passed" in run_suite(WORLDS)


def test_a_suite_can_replace_the_server_fixture(run_suite):
    suite = """
import pytest
from penstock.testing import Emulator


@pytest.fixture(scope="session")
def s3_server():
    with Emulator(region="eu-west-1") as emulator:
        yield emulator


def test_region(s3_emulator, s3_bucket):
    assert s3_emulator.region == "eu-west-1"
"""
    assert "1 passed" in run_suite(suite)


JOURNAL = """
import boto3


def test_the_journal_is_this_tests_own(s3_bucket, s3_journal):
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="key", Body=b"1")
    s3_journal.assert_count(1, operations="PutObject", bucket=s3_bucket, key="key")


def test_and_the_next_has_another(s3_journal):
    assert len(s3_journal) == 0
"""


def test_the_journal_fixture_has_only_the_requests_of_the_test(run_suite: Callable[..., str]) -> None:
    assert "2 passed" in run_suite(JOURNAL)


PARALLEL = """
import os

import boto3
import pytest


@pytest.mark.parametrize("number", range(24))
def test_workers_never_meet(s3_emulator, number, tmp_path_factory):
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket="data")  # the same name in every test
    s3.put_object(Bucket="data", Key=str(number), Body=b"x")
    assert [entry["Key"] for entry in s3.list_objects_v2(Bucket="data")["Contents"]] == [str(number)]
    (tmp_path_factory.getbasetemp().parent / f"endpoint-{os.getpid()}").write_text(s3_emulator.endpoint)


def test_nothing():
    pass
"""


def test_each_xdist_worker_has_its_own_emulator(run_suite, tmp_path):
    assert "25 passed" in run_suite(PARALLEL, "-n", "3", f"--basetemp={tmp_path / 'base'}")
    endpoints = {path.read_text() for path in tmp_path.rglob("endpoint-*")}
    assert len(endpoints) == 3, "one for each worker"


FAULTS = """
import boto3
import pytest

TWICE = [{"id": "twice", "when": {"operation": "PutObject"}, "do": {"slow_down": {}}, "limit": {"times": 2}}]


@pytest.mark.s3_faults(TWICE)
def test_marked(s3_bucket, s3_journal):
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="key", Body=b"text")
    s3_journal.assert_count(3, operations=["PutObject"])


def test_set(s3_bucket, s3_faults):
    s3_faults.set(TWICE)
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="key", Body=b"text")


def test_without_faults(s3_bucket, s3_faults):
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="key", Body=b"text")
"""


def test_faults_are_set_by_a_marker_or_by_the_test(run_suite):
    assert "3 passed" in run_suite(FAULTS)


UNMET = """
import boto3
import pytest

def test_plans_by_the_namespace(s3_emulator, s3_bucket):
    s3_emulator.faults.set([{"id": "planned", "when": {"operation": "GetObject"}, "do": {"slow_down": {}}}])

@pytest.mark.s3_faults([{"id": "replaced", "when": {"operation": "GetObject"}, "do": {"slow_down": {}}}])
def test_sets_another(s3_bucket, s3_faults):
    s3_faults.set([{"when": {"operation": "PutObject"}, "do": {"slow_down": {}}, "limit": {"times": 1}}])
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="key", Body=b"text")

@pytest.mark.s3_faults([{"id": "cleared", "when": {"operation": "GetObject"}, "do": {"slow_down": {}}}])
def test_clears(s3_bucket, s3_faults):
    s3_faults.clear()

@pytest.mark.s3_faults([{"id": "forgotten", "when": {"operation": "GetObject"}, "do": {"slow_down": {}}}])
def test_forgets(s3_bucket, s3_faults):
    s3_faults.clear(forget=True)

@pytest.mark.s3_faults([{"id": "never-met", "when": {"operation": "GetObject"}, "do": {"slow_down": {}}}])
def test_reads_nothing(s3_bucket):
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="key", Body=b"text")
"""


def test_a_test_whose_planned_fault_did_not_fire_fails(run_suite):
    output = run_suite(UNMET, failed=True)
    assert "faults that were planned did not happen (seed 1" in output
    assert "'never-met' fired for 0 of the 0 requests" in output
    assert "'planned' fired for 0 of the 0 requests" in output
    assert "'replaced' fired for 0 of the 0 requests" in output
    assert "'cleared' fired for 0 of the 0 requests" in output
    assert "forgotten" not in output
    assert "PutObject" in output, "the report has the last requests"


SERVER = """
import urllib.error
import urllib.request

import pytest
from penstock.testing import Emulator

NEVER = [{"id": "never", "do": {"fin": {}, "at": "accept"}, "when": {"nth": 99}, "limit": {"times": 1}}]
FIRST = [{"id": "first", "do": {"reset": {}, "at": "accept"}, "limit": {"times": 1}}]

@pytest.fixture(scope="session")
def s3_server():
    with Emulator(faults=[{"id": "begun", "do": {"fin": {}, "at": "accept"}, "when": {"nth": 5000}}]) as emulator:
        yield emulator

@pytest.fixture
def checked_by_hand(s3_server):
    s3_server.faults().set(NEVER)
    yield
    with pytest.raises(AssertionError):
        s3_server.faults().check()
    s3_server.faults().clear(forget=True)

def test_never_met(s3_server, s3_bucket):
    s3_server.faults().set(NEVER)

def test_next(s3_server):
    assert [rule.id for rule in s3_server.faults().account().rules] == ["begun"]

def test_met(s3_server, s3_bucket):
    s3_server.faults().set(FIRST)
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        urllib.request.urlopen(s3_server.endpoint, timeout=30)

def test_by_hand(checked_by_hand):
    pass

def test_fails_for_another_reason(s3_server):
    s3_server.faults().set(NEVER)
    assert False

def test_last(s3_server):
    server_faults = s3_server.faults()
    assert [rule.id for rule in server_faults.account().rules] == ["begun"]
"""


def test_faults_that_a_test_sets_at_the_server_are_checked_and_removed_at_its_end(run_suite: Callable[..., str]) -> None:
    output = run_suite(SERVER, failed=True)
    assert "ERROR test_suite.py::test_never_met - " in output
    assert output.count("ERROR test_suite.py") == 1, "only the test whose fault did not fire and was not checked"
    assert "'never' fired for 0 of the 0 requests" in output
    assert "1 failed, 5 passed, 1 error" in output
    assert "S3 emulator, default namespace" in output


MODULE = """
import pytest

@pytest.fixture(scope="module")
def all_day(s3_server):
    s3_server.faults().set([{"id": "all-day", "do": {"fin": {}, "at": "accept"}, "when": {"nth": 5000}}])

@pytest.mark.parametrize("n", range(2))
def test_runs_under_it(s3_bucket, all_day, s3_server, n):
    assert s3_server.faults().account().rules[0].id == "all-day"
"""


def test_faults_that_a_module_fixture_sets_at_the_server_outlive_a_test(run_suite: Callable[..., str]) -> None:
    assert "2 passed" in run_suite(MODULE)


FAILING = """
import boto3
import pytest

RULES = [{"id": "gone", "when": {"operation": "PutObject"}, "do": {"error": {"code": "AccessDenied"}}}]


@pytest.mark.s3_faults({"name": "closed door", "seed": 5, "rules": RULES})
def test_stores(s3_bucket):
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="key", Body=b"text")
"""


def test_a_failing_test_shows_seed_fired_faults_and_the_last_requests(run_suite):
    output = run_suite(FAILING, failed=True)
    assert "faults 'closed door', seed 5: 1 fired on" in output
    assert "gone: fired 1 times, matched 1" in output
    assert "403 AccessDenied (PutObject" in output
    assert "ERROR" not in output, "a test that failed is not failed again for its faults"


FAILS_IN_SET_UP = """
import boto3
import pytest


@pytest.fixture
def data(s3_bucket, s3_faults):
    s3_faults.set({"seed": 4711, "rules": [{"id": "refused", "do": {"error": {"code": "AccessDenied"}}}]})
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="key", Body=b"text")


def test_of_the_data(data):
    pass
"""


def test_a_fixture_that_fails_has_the_report_too(run_suite):
    output = run_suite(FAILS_IN_SET_UP, failed=True)
    assert "ERROR at setup" in output
    assert "S3 emulator" in output
    assert "seed 4711" in output
    assert "PUT /bucket-" in output


DIRECTORIES = """
import boto3
import pytest


def test_a_directory_bucket_of_ones_own(s3_directory_bucket, s3_journal):
    boto3.client("s3").put_object(Bucket=s3_directory_bucket, Key="folder/key", Body=b"text")
    assert s3_directory_bucket.endswith("--use1-az4--x-s3")
    assert s3_journal.count(operations=["CreateSession"]) == 1


def test_more_of_them(s3_emulator):
    names = {s3_emulator.create_directory_bucket("b"), s3_emulator.create_directory_bucket("b", "usw2-lax1-az1")}
    assert {b["Name"] for b in boto3.client("s3").list_directory_buckets()["Buckets"]} == names
    with pytest.raises(ValueError, match="lower-case"):
        s3_emulator.create_directory_bucket("B")
"""


BUCKETS = """
import boto3
import pytest


def test_a_bucket_is_made_without_a_request(s3_emulator, s3_bucket, s3_journal):
    s3_emulator.create_bucket("another")
    s3_emulator.create_bucket("another")
    assert {bucket["Name"] for bucket in boto3.client("s3").list_buckets()["Buckets"]} == {s3_bucket, "another"}
    assert [entry.operation for entry in s3_journal.entries()] == ["ListBuckets"]
    with pytest.raises(ValueError, match="InvalidBucketName"):
        s3_emulator.create_bucket("Another")
"""


def test_the_plugin_creates_buckets(run_suite: Callable[..., str]) -> None:
    assert "1 passed" in run_suite(BUCKETS)


def test_the_plugin_creates_directory_buckets(run_suite: Callable[..., str]) -> None:
    assert "2 passed" in run_suite(DIRECTORIES)


TWO_MARKERS = """
import boto3
import pytest

ONCE = {"do": {"slow_down": {}}, "limit": {"times": 1}}
READS = [{"id": "read", "when": {"operation": "GetObject"}, **ONCE}]
WRITES = [{"id": "write", "when": {"operation": "PutObject"}, **ONCE}]


@pytest.mark.s3_faults(READS)
@pytest.mark.s3_faults(WRITES)
def test_two_on_a_test(s3_bucket):
    boto3.client("s3").put_object(Bucket=s3_bucket, Key="key", Body=b"text")


@pytest.mark.s3_faults(READS)
class TestOfAClass:
    @pytest.mark.s3_faults(WRITES)
    def test_replaces_those_of_its_class(self, s3_bucket):
        boto3.client("s3").put_object(Bucket=s3_bucket, Key="key", Body=b"text")
"""


def test_no_marker_of_a_test_is_ignored(run_suite):
    output = run_suite(TWO_MARKERS, failed=True)
    assert "1 passed, 1 error" in output
    assert "s3_faults is given twice" in output
