"""The runner reports wrong responses, with the expected and the found value."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from penstock.__main__ import main
from penstock_conformance.wire.cases import Case
from penstock_conformance.wire.connection import Response
from penstock_conformance.wire.expectation import differences
from penstock_conformance.wire.runner import Runner
from penstock_conformance.wire.signing import Identity
from penstock_conformance.wire.template import UnknownNameError, fill

JUDGE = ["conformance", "--access-key", "a", "--secret-key", "b", "--endpoint"]
ERROR = b"<Error><Code>NoSuchKey</Code><Message>gone</Message><RequestId>1</RequestId><HostId>2</HostId></Error>"


def response(status=200, headers=(), body=b"") -> Response:
    return Response(status, "OK", list(headers), body)


@pytest.mark.parametrize(
    ("expect", "says"),
    [
        ({"status": 200}, "status: expected 200, found 404 (NoSuchKey: gone)"),
        ({"status": 404, "reason": "Not Found"}, "reason phrase: expected 'Not Found', found 'OK'"),
        ({"status": 404, "headers": {"ETag": '"x"'}}, "header ETag: expected '\"x\"', found none"),
        ({"status": 404, "headers": {"a": None}}, "header a: expected none, found ['1']"),
        ({"status": 404, "headers": {"A": {"matches": "[a-z]"}}}, "header A: expected to match '[a-z]', found '1'"),
        ({"status": 404, "headers": {"A": {"one_of": ["2", "3"]}}}, "header A: expected one of ['2', '3'], found '1'"),
        ({"status": 404, "body": "hello"}, "body: expected b'hello', found"),
        ({"status": 404, "error": {"Code": "NoSuchBucket"}}, "element Code: expected 'NoSuchBucket', found 'NoSuchKey'"),
        ({"status": 404, "error": {"Key": "k"}}, "element Key: expected 'k', found none"),
        ({"status": 404, "error": {"Code": {"count": 2}}}, "element Code: expected 2 of them, found 1"),
        ({"status": 404, "error": {"Code": ["NoSuchKey", "x"]}}, "element Code: expected ['NoSuchKey', 'x'], found"),
        ({"status": 404, "xml": {"root": "Error"}}, "XML namespace: expected 'http://s3.amazonaws.com/doc"),
        ({"status": 404, "xml": {"root": "Other", "namespace": ""}}, "XML root: expected Other, found Error"),
        ({"status": 404, "xml": {"namespace": "", "order": ["Message", "Code"]}}, "element order: expected ['Message', 'Code']"),
        ({"status": 404, "xml": {"namespace": "", "text": "x"}}, "XML text: expected 'x', found None"),
    ],
)
def test_each_difference_is_reported(expect, says):
    found = differences(response(404, [("A", "1")], ERROR), expect)
    assert len(found) == 1
    assert found[0].startswith(says)


def test_a_matching_response_has_no_differences():
    error = {"Code": "NoSuchKey", "Key": None, "Message": {"matches": "g.*"}}
    expect = {"status": 404, "headers": {"a": "1", "b": None}, "error": error}
    assert differences(response(404, [("A", "1")], ERROR), expect) == []


def test_a_body_that_is_not_xml_is_a_difference():
    assert "expected XML <Error>" in differences(response(400, body=b"oops"), {"status": 400, "error": {"Code": "X"}})[0]


def test_references_are_replaced_and_unknown_ones_rejected():
    assert fill("/${bucket}/${key|url}", {"bucket": "b", "key": "a/b c"}) == "/b/a%2Fb%20c"
    with pytest.raises(UnknownNameError, match="up"):
        fill("${up}", {"bucket": "b"})


class _Wrong(BaseHTTPRequestHandler):
    """Responds to each request with 200 and an empty body or listing."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        listing = b'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></ListBucketResult>'
        body = listing if "list-type=2" in self.path else b""
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_POST = do_DELETE = do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def wrong_server() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Wrong)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_server_that_always_returns_200_fails(wrong_server, capsys, tmp_path):
    report = tmp_path / "report.json"
    assert main([*JUDGE, wrong_server, "wire", "--only", "ranges/", "--only", "law/", "--json", str(report)]) == 1
    printed = capsys.readouterr().out
    assert "FAILED  wire/ranges/part-first-nine: recorded: AWS, recorded February 2026" in printed
    assert "status: expected 206, found 200" in printed
    assert "FAILED  wire/law/every-response-has-both-request-ids" in printed
    assert '"check": "ranges/part-first-nine"' in report.read_text()


def test_a_case_that_the_endpoint_does_not_support_is_not_run(wrong_server):
    case = Case("t/n", "recorded", "s", {"method": "GET", "path": "/"}, {"status": 500}, needs=["second_account"])
    report = Runner(wrong_server, Identity("a", "b")).run([case])
    assert report.failed == []
    assert "second account" in report.verdicts[0].not_run


def test_a_failing_step_fails_the_case(wrong_server):
    step = {"method": "PUT", "path": "/${bucket}/k", "save": {"v": {"header": "x-amz-version-id"}}}
    case = Case("t/n", "recorded", "s", {"method": "GET", "path": "/"}, {"status": 200}, setup=[step])
    report = Runner(wrong_server, Identity("a", "b")).run([case])
    assert report.failed[0].problems == ["ValueError: the response has no header x-amz-version-id"]


def test_an_unknown_pattern_is_an_error(capsys):
    assert main(["conformance", "--emulator", "wire", "--only", "no-such-case"]) == 2
    assert "no check name contains no-such-case" in capsys.readouterr().err
