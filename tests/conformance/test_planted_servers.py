"""Planted server bugs, in a proxy in front of the emulator: each fails its server check, and no client check."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from penstock.dcp.s3_prefix_strategy import HexPrefixStrategy
from penstock_conformance import Access, Bench, run, suites
from penstock_conformance._admin import Admin
from penstock_conformance._proxy import RecordingProxy, Response
from penstock_conformance.clients._boto3 import Boto3
from penstock_conformance.clients._penstock import Penstock


def unchanged(exchange, forward):
    return forward(exchange)


def accepts_sessions_for_missing_buckets(exchange, forward):
    """Requests with a session for an object in a missing bucket succeed."""
    response = forward(exchange)
    of_session = exchange.header("x-amz-s3session-token") and exchange.record.key
    return Response(200) if of_session and response.status in (403, 404) else response


def does_not_create_sessions(exchange, forward):
    """CreateSession returns a listing, as from a server that does not support it."""
    return Response(200, body=b"<ListBucketResult/>") if exchange.record.operation == "CreateSession" else forward(exchange)


def overwrites_on_unsupported_requests(exchange, forward):
    """PutObjectTagging overwrites the object with its body and returns NotImplemented."""
    if exchange.record.operation != "PutObjectTagging":
        return forward(exchange)
    exchange.target, exchange.changed = exchange.target.partition("?")[0], True
    forward(exchange)
    return Response(501, body=b"<Error><Code>NotImplemented</Code></Error>")


BUGS = {
    accepts_sessions_for_missing_buckets: (
        "express/session-of-nothing",
        "in a missing bucket with a session of another bucket: 200",
    ),
    does_not_create_sessions: ("express/session-of-nothing", "CreateSession returned 200 without credentials"),
    overwrites_on_unsupported_requests: ("express/not-there", "object after PutObjectTagging"),
}


def judge(standalone, hook, check):
    """The verdict of a check on the emulator behind a hook."""
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with RecordingProxy(access) as between, between.using(hook), Bench(access.at(between.endpoint)) as bench:
        [verdict] = run([suites.find("express")], bench, only=[check]).verdicts
    return verdict


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_planted_bug_fails_its_check_of_servers(standalone, bug):
    check, says = BUGS[bug]
    verdict = judge(standalone, bug, check)
    assert says in "\n".join(verdict.problems)


@pytest.mark.parametrize("check", sorted({check for check, _ in BUGS.values()}))
def test_without_a_bug_the_checks_of_servers_pass(standalone, check):
    verdict = judge(standalone, unchanged, check)
    assert (verdict.outcome, verdict.problems) == ("passed", [])


def does_not_rename(exchange, forward):
    """RenameObject returns success without effect."""
    return Response(200) if exchange.record.operation == "RenameObject" else forward(exchange)


def publishes_parts():
    """Each uploaded part immediately becomes the object."""

    def hook(exchange, forward):
        if exchange.record.operation == "UploadPart":
            forward(dataclasses.replace(exchange, target=exchange.target.partition("?")[0], changed=True))
        return forward(exchange)

    return hook


def truncates_objects():
    """Objects over 500 bytes lose their last seven bytes."""

    def hook(exchange, forward):
        if exchange.record.operation == "PutObject" and len(exchange.body) > 500:
            exchange.body = exchange.body[:-7]
            sums = [name for name, _ in exchange.headers if name.lower().startswith(("content-md5", "x-amz-checksum-"))]
            for name in (*sums, "x-amz-content-sha256"):
                exchange.set_header(name, None)
            exchange.set_header("Content-Length", str(len(exchange.body)))
        return forward(exchange)

    return hook


def returns_the_previous_version():
    """Reads of an overwritten object return its previous version."""
    written = {}

    def hook(exchange, forward):
        record = exchange.record
        versions = written.setdefault((record.bucket, record.key), [])
        response = forward(exchange)
        if record.operation == "PutObject" and response.status == 200:
            versions.append(exchange.body)
        if record.operation == "GetObject" and len(versions) > 1:
            return Response(200, [("ETag", '"before"'), ("Last-Modified", response.header("Last-Modified"))], versions[-2])
        return response

    return hook


def without(*headers, of):
    """Ignores headers of some operations."""

    def server():
        def hook(exchange, forward):
            for header in headers if exchange.record.operation in of else ():
                exchange.set_header(header, None)
            return forward(exchange)

        return hook

    server.__name__ = f"ignores {', '.join(headers)} of {', '.join(of)}"
    return server


def reports_late(*statuses, code=b"", times=1 << 30):
    """CompleteMultipartUpload responses with these statuses become 200 with an error in the body: the original, or `code`."""

    def server():
        left = iter(range(times))

        def hook(exchange, forward):
            response = forward(exchange)
            if (
                exchange.record.operation != "CompleteMultipartUpload"
                or response.status not in statuses
                or next(left, None) is None
            ):
                return response
            body = b"<Error><Code>" + code + b"</Code><Message>-</Message></Error>" if code else response.body
            return Response(200, [("Content-Type", "application/xml")], body)

        return hook

    server.__name__ = f"reports {code.decode() or 'errors'} of Complete with status 200"
    return server


def stateless(hook):
    """A factory for a hook without state; the other hooks need a new instance per test."""

    def server():
        return hook

    server.__name__ = hook.__name__
    return server


def publishes_aborted_uploads(exchange, forward):
    if exchange.record.operation == "AbortMultipartUpload":
        early = dataclasses.replace(exchange, method="PUT", target=exchange.target.partition("?")[0], body=b"x")
        early.set_header("Content-Length", "1")
        forward(early)
    return forward(exchange)


def executes_rejected_writes(exchange, forward):
    response = forward(exchange)
    if exchange.record.operation == "PutObject" and response.status == 412:
        for header in ("If-Match", "If-None-Match"):
            exchange.set_header(header, None)
        forward(exchange)
    return response


def returns_a_wrong_size(exchange, forward):
    response = forward(exchange)
    if exchange.record.operation == "HeadObject":
        response.headers = [(name, "1" if name.lower() == "content-length" else value) for name, value in response.headers]
    return response


def lists_nothing(exchange, forward):
    """Only for listings with a prefix, so that the cleanup still works."""
    record = exchange.record
    return (
        Response(200, body=b"<ListBucketResult/>") if record.method == "GET" and record.query.get("prefix") else forward(exchange)
    )


WRITES = ("PutObject", "CompleteMultipartUpload")
LATE_ERROR = "returned 200 InternalError for CompleteMultipartUpload"
NO_SESSIONS = "does not support sessions"
EXECUTED = "executed a write that it rejected because of"
SERVER_BUGS = [
    (
        stateless(does_not_create_sessions),
        "express-client",
        "one-session session-tokens listing rename",
        "does not support sessions",
    ),
    (stateless(does_not_rename), "express-client", "rename", "does not support RenameObject"),
    (publishes_parts, "writes", "whole left killed only-if-absent", "published parts of an upload that was not completed"),
    (truncates_objects, "writes", "whole left only-if-absent", "returned wrong content"),
    (truncates_objects, "dcp-ranges", "exact-coverage", "returned wrong content"),
    (truncates_objects, "sharding", "exactly-once", "returned wrong content"),
    (returns_the_previous_version, "writes", "only-if-unchanged", "returned wrong content"),
    (stateless(publishes_aborted_uploads), "writes", "left", "published an upload that was aborted"),
    (
        stateless(executes_rejected_writes),
        "writes",
        "only-if-absent",
        EXECUTED,
    ),
    (stateless(executes_rejected_writes), "writes", "only-if-unchanged", EXECUTED),
    (stateless(returns_a_wrong_size), "writes", "whole", "returned size 1 from HeadObject for an object of 3000 bytes"),
    (stateless(lists_nothing), "sharding", "uneven-counts", "does not list an existing object once"),
    (
        without("Range", of=["GetObject"]),
        "dcp-ranges",
        "over-read no-byte-twice coalesced",
        "returned the whole object for Range: bytes=0-0",
    ),
    (
        without("If-Match", of=["GetObject"]),
        "dcp-ranges",
        "replaced-meanwhile",
        "ignores If-Match of GetObject",
    ),
    (without("If-None-Match", of=WRITES), "writes", "only-if-absent", "ignores If-None-Match of writes"),
    (without("If-None-Match", of=WRITES[1:]), "writes", "only-if-absent", "ignores If-None-Match of writes"),
    (without("If-Match", of=WRITES), "writes", "only-if-unchanged", "ignores If-Match of writes"),
    (
        reports_late(200, code=b"InternalError"),
        *("writes", "whole left killed only-if-absent"),
        LATE_ERROR,
    ),
    (
        reports_late(200, code=b"InternalError"),
        "prefixes",
        "exact-keys",
        LATE_ERROR,
    ),
]


def judge_clients(standalone, hook, suite, checks, clients):
    """The verdicts of checks on clients, with the emulator behind a hook."""
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with RecordingProxy(access) as between, between.using(hook), Bench(access.at(between.endpoint)) as bench:
        return run([suites.find(suite)], bench, clients, only=[f"{suite}/{check}" for check in checks]).verdicts


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("server", "suite", "checks", "says"), SERVER_BUGS, ids=[f"{suite} {server.__name__}" for server, suite, *_ in SERVER_BUGS]
)
def test_a_client_does_not_fail_because_of_the_server(standalone, server, suite, checks, says):
    verdicts = judge_clients(standalone, server(), suite, checks.split(), [Penstock])
    assert {verdict.check: (verdict.outcome, verdict.problems) for verdict in verdicts} == dict.fromkeys(
        checks.split(), ("not run", [])
    )
    assert [verdict.reason for verdict in verdicts if f"the endpoint {says}" not in verdict.reason] == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "server", [reports_late(412, 409), reports_late(200, code=b"InternalError", times=1)], ids=lambda s: s.__name__
)
def test_clients_are_tested_with_servers_that_report_errors_with_status_200(standalone, server):
    """S3 can send status 200 for CompleteMultipartUpload before it is finished, and then an error."""
    verdicts = judge_clients(standalone, server(), "writes", ["only-if-absent"], [Penstock, Boto3])
    assert [(verdict.client, verdict.outcome, verdict.problems) for verdict in verdicts] == [
        ("penstock", "passed", []),
        ("boto3", "passed", []),
    ]


def test_an_error_in_the_body_of_a_200_response_is_an_error(standalone):
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with Bench(access) as bench, bench.proxy.using(reports_late(412)()):
        bucket = bench.new_bucket()
        bench.store.put(bucket, "key", b"there")
        client = Penstock(access.at(bench.proxy.endpoint))
        with pytest.raises(Exception, match="PreconditionFailed"):
            client.put_if(bucket, "key", bytes(6 << 20), etag=None)
        found = [(record.status, record.error_code) for record in bench.proxy.records().of("CompleteMultipartUpload")]
    assert found == [(200, "PreconditionFailed")]


class SequentialNames(HexPrefixStrategy):
    """Claims to distribute names, but starts each with an increasing number."""

    _numbers = itertools.count()

    def generate_prefix(self, rank):
        return f"{next(self._numbers):09}/__{rank}_"


class SequentialClient(Penstock):
    def prefix_strategy(self, name, **arguments):
        return SequentialNames(**arguments) if name == "hex" else super().prefix_strategy(name, **arguments)


@pytest.mark.timeout(300)
def test_names_in_one_partition_are_throttled_more(standalone):
    """Once passed even if a quarter of these requests was throttled, and none with default names."""
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with Bench(access, admin=Admin(standalone.admin)) as bench:
        [verdict] = run([suites.find("prefixes")], bench, [SequentialClient], only=["prefixes/slowed-down"]).verdicts[:1]
    refused = verdict.evidence["refused"]
    assert refused["hex"] > refused["binary"]
    assert refused["default"] > refused["binary"]
