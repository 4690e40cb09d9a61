"""Suites, verdicts and reports in all formats, clients, and the recording proxy."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from penstock_conformance import Access, Bench, Chart, Failed, NotRun, Suite, Trial, run, suites
from penstock_conformance import _html as html
from penstock_conformance._proxy import Cut, Response
from penstock_conformance._records import coalesced, length, union, without
from penstock_conformance._report import verdict_text
from penstock_conformance.clients import find
from penstock_conformance.clients._penstock import Penstock

suite = Suite("sample", "A sample", "All outcomes.")


@suite.check("good", "a claim that holds")
def _(trial: Trial) -> None:
    trial.evidence(numbers=[1, 2])
    trial.table("Figures", ("name", "count"), [("one", 1), ("many", 12345)])
    trial.chart(Chart("Drawn", "x", "y", [("line & more", [(1, 2), (2, 4), (4, 3)])], logarithmic=True))


@suite.check("bad", "a claim that does not <hold>")
def _(trial: Trial) -> None:
    trial.expect_equal(1, 2, "the number")
    with trial.case("second"):
        raise OSError("no \x01 response")


@suite.check("stopped", "a check that stops at its first problem")
def _(trial: Trial) -> None:
    raise Failed("stopped")


@suite.check("absent", "a check that cannot run")
def _(trial: Trial) -> None:
    raise NotRun("needs something that is missing")


@suite.check("many", "a check with more problems than a report lists")
def _(trial: Trial) -> None:
    for i in range(50):
        trial.expect(False, f"problem {i}")


@suite.check("lacking", "a check that suppresses all exceptions of its client")
def _(trial: Trial) -> None:
    with trial.case("tolerant"), contextlib.suppress(Exception):
        trial.client.prefix_strategy_base()
        raise NotRun("the client has none")


@pytest.fixture
def bench(standalone):
    with Bench(Access(standalone.endpoint, standalone.access_key, standalone.secret_key)) as instance:
        yield instance


@pytest.fixture
def report(bench):
    return run([suite], bench, [Penstock])


def test_each_check_has_its_outcome(report):
    assert {v.check: v.outcome for v in report.verdicts} == {
        "good": "passed", "bad": "failed", "stopped": "failed", "absent": "not run", "many": "failed",
        "lacking": "not run",
    }  # fmt: skip
    assert report.verdict("sample/bad").problems == ["the number: expected 2, found 1", "second: OSError: no \x01 response"]
    assert report.verdict("sample/stopped").problems == ["stopped"]
    assert report.verdict("sample/absent").reason == "needs something that is missing"
    assert report.verdict("sample/lacking").reason == "the client has none"
    assert report.verdict("sample/many").problems[-1] == "and 30 further problems"
    assert {v.client for v in report.verdicts} == {"penstock"}


def test_the_json_report_is_complete(report):
    document = json.loads(json.dumps(report.document()))
    assert document["summary"] == {"passed": 1, "failed": 3, "not run": 2}
    assert document["verdicts"][0]["evidence"] == {"numbers": [1, 2]}
    assert document["verdicts"][0]["tables"][0]["rows"] == [["one", 1], ["many", 12345]]
    assert set(document["clients"]) == {"penstock"}


def test_the_junit_report_has_counts_and_problems(report):
    root = ElementTree.fromstring(report.junit())
    (one,) = root
    assert (one.get("name"), one.get("tests"), one.get("failures"), one.get("skipped")) == ("sample (penstock)", "6", "3", "2")
    assert "no ? response" in (one.find("testcase[@name='bad']/failure").text or "")


def test_the_html_report_has_charts_tables_and_problems(report):
    page = html.page(report)
    ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    for text in (
        "line &amp; more",
        "12,345",
        "a claim that does not &lt;hold&gt;",
        "needs something that is missing",
        "3 failed",
    ):
        assert text in page, text
    assert "http" not in page.replace(report.endpoint, "")  # the page loads nothing


def test_the_text_report_has_problems_and_reasons(report):
    assert "not run: 1 (needs something that is missing)" in report.text()
    assert verdict_text(report.verdict("sample/bad")).startswith(
        "FAILED  sample/bad [penstock]: a claim that does not <hold>\n    the"
    )
    assert verdict_text(report.verdict("sample/good"), verbose=False) == ""


def test_duplicate_check_names_are_rejected(bench):
    twice = Suite("twice", "", "")
    for _ in range(2):
        twice.check("same", "")(lambda trial: None)
    with pytest.raises(ValueError, match="duplicate check names: same"):
        twice.checks(bench)


@pytest.mark.parametrize(
    ("name", "says"), [("s3cmd", "unknown client 's3cmd': expected penstock, "), ("json:JSONDecoder", "not a subclass")]
)
def test_unknown_clients_are_rejected(name, says):
    with pytest.raises(ValueError, match=says):
        find(name)


def test_requests_of_a_client_are_recorded_and_buckets_are_deleted(bench):
    custom = Suite("custom", "", "")
    seen = []

    @custom.check("requests", "")
    def _(trial: Trial) -> None:
        bucket = trial.bucket()
        trial.client.put(bucket, "a key", b"0123456789")
        assert trial.client.get(bucket, "a key") == trial.store.get(bucket, "a key") == b"0123456789"
        seen.extend([bucket, trial.records])

    assert run([custom], bench, [Penstock]).failed == []
    bucket, records = seen
    assert [record.operation for record in records.of(key="a key")] == ["PutObject", "GetObject"]
    assert records.fetched("a key") == [(0, 10)]
    assert records.max_concurrent() == 1
    with pytest.raises(Exception, match="bucket does not exist"):
        bench.store.keys(bucket)


def send(bench, method, target, **headers):
    connection = http.client.HTTPConnection(urlsplit(bench.proxy.endpoint).netloc, timeout=30)
    try:
        connection.request(method, target, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_a_hook_can_respond_forward_and_cut(bench):
    def hook(exchange, forward):
        if exchange.record.key == "cut":
            raise Cut
        if exchange.record.key == "own":
            return Response(418, [("X-A", "b")], b"tea")
        return forward(exchange)

    with bench.proxy.using(hook):
        assert send(bench, "GET", "/b/own") == (418, b"tea")
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            send(bench, "GET", "/b/cut")
    assert send(bench, "GET", "/no-such-bucket/own")[0] == 404
    assert [record.status for record in bench.proxy.records()] == [418, 0, 404]


@pytest.mark.parametrize("head", [b"Content-Length: 100", b"Transfer-Encoding: chunked"])
def test_an_incomplete_request_is_not_forwarded(bench, head):
    """For example because the client was killed. The part that arrived would be a different request."""
    parts = urlsplit(bench.proxy.endpoint)
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as client:
        client.sendall(b"PUT /b/k HTTP/1.1\r\nHost: b\r\n" + head + b"\r\n\r\n40\r\nbegun")
        client.shutdown(socket.SHUT_WR)
        assert client.recv(100) == b""
    assert list(bench.proxy.records()) == []


def test_a_changed_request_is_signed_again(bench):
    bucket = bench.new_bucket()
    bench.store.put(bucket, "k", b"0123456789")

    def longer(exchange, forward):
        if exchange.record.operation == "GetObject":
            exchange.set_header("Range", "bytes=2-4")
        return forward(exchange)

    with bench.proxy.using(longer):
        data = find("boto3")(bench.access.at(bench.proxy.endpoint)).get(bucket, "k")
    assert data == b"234"


def test_a_bench_needs_an_endpoint():
    with pytest.raises(ValueError, match="expected http://host:port"):
        Bench(Access("localhost:9000", "a", "b"))


@pytest.mark.parametrize("operation", ["GET /b", "GET /b/k?uploadId=1", "POST /b?delete", "PUT /b/k?renameObject", "GET /"])
def test_requests_are_recorded_with_their_operation(bench, operation):
    send(bench, *operation.split())
    names = {"GET /b": "ListObjects", "POST /b?delete": "DeleteObjects", "GET /": "ListBuckets"}
    names |= {"GET /b/k?uploadId=1": "ListParts", "PUT /b/k?renameObject": "RenameObject"}
    assert bench.proxy.records()[0].operation == names[operation]


def test_range_arithmetic():
    assert union([(5, 9), (0, 2), (2, 3), (8, 10), (4, 4)]) == [(0, 3), (5, 10)]
    assert without([(0, 10), (20, 30)], [(2, 4), (9, 21)]) == [(0, 2), (4, 9), (21, 30)]
    assert coalesced([(0, 1), (3, 4), (9, 10)], 2) == [(0, 4), (9, 10)]
    assert coalesced([(0, 1), (3, 4), (9, 10)], float("inf")) == [(0, 10)]
    assert length([(0, 3), (2, 4)]) == 5


def test_create_session_and_list_directory_buckets_differ_from_list_buckets(bench):
    signed = "AWS4-HMAC-SHA256 Credential=K/20260101/us-east-1/s3express/aws4_request, SignedHeaders=host, Signature=0"
    send(bench, "GET", "/?session")
    send(bench, "GET", "/", Authorization=signed)
    assert [record.operation for record in bench.proxy.records()] == ["CreateSession", "ListDirectoryBuckets"]


def test_a_client_without_datasets_is_not_run_in_a_process_group(bench):
    """boto3, which has no datasets, once failed: rank 0 of 2 exited with status 1."""
    [verdict] = run([suites.find("sharding")], bench, [find("boto3")], only=["process-group"]).verdicts
    assert (verdict.outcome, verdict.reason) == ("not run", "boto3 has no sharded dataset")


def test_a_client_without_requests_to_aws_is_not_run_in_hosts(bench):
    [verdict] = run([suites.find("express-client")], bench, [find("s3torchconnector")], only=["/hosts"]).verdicts
    assert (verdict.outcome, verdict.reason) == ("not run", "s3torchconnector has no requests to AWS endpoints")
