"""A server that is broken in known ways is found out, each time by the check that is there for it: an emulator behind a proxy."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from penstock.dcp.s3_prefix_strategy import HexPrefixStrategy
from penstock_conformance import Access, Bench, run, suites
from penstock_conformance._admin import Admin
from penstock_conformance._proxy import Answer, RecordingProxy
from penstock_conformance.clients._boto3 import Boto3
from penstock_conformance.clients._penstock import Penstock


def as_it_is(exchange, forward):
    return forward(exchange)


def lets_a_session_into_nothing(exchange, forward):
    """A session's requests for an object of a bucket that is not there are answered as if it were."""
    answer = forward(exchange)
    of_session = exchange.header("x-amz-s3session-token") and exchange.record.key
    return Answer(200) if of_session and answer.status in (403, 404) else answer


def gives_no_session(exchange, forward):
    """CreateSession is answered by a listing, as by a server that does not know it."""
    return Answer(200, body=b"<ListBucketResult/>") if exchange.record.operation == "CreateSession" else forward(exchange)


def refuses_and_does_it(exchange, forward):
    """PutObjectTagging writes its body as the object, and then says that it is not implemented."""
    if exchange.record.operation != "PutObjectTagging":
        return forward(exchange)
    exchange.target, exchange.changed = exchange.target.partition("?")[0], True
    forward(exchange)
    return Answer(501, body=b"<Error><Code>NotImplemented</Code></Error>")


BUGS = {
    lets_a_session_into_nothing: ("express/session-of-nothing", "in a missing bucket by another bucket's session: 200"),
    gives_no_session: ("express/session-of-nothing", "CreateSession was answered 200 without credentials"),
    refuses_and_does_it: ("express/not-there", "the object after PutObjectTagging"),
}


def judge(standalone, hook, check):
    """The verdict on an emulator behind a hook."""
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with RecordingProxy(access) as between, between.using(hook), Bench(access.at(between.endpoint)) as bench:
        [verdict] = run([suites.find("express")], bench, only=[check]).verdicts
    return verdict


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_broken_server_is_caught_by_its_check(standalone, bug):
    check, says = BUGS[bug]
    verdict = judge(standalone, bug, check)
    assert says in "\n".join(verdict.problems)


@pytest.mark.parametrize("check", sorted({check for check, _ in BUGS.values()}))
def test_a_server_that_is_not_broken_passes(standalone, check):
    verdict = judge(standalone, as_it_is, check)
    assert (verdict.outcome, verdict.problems) == ("passed", [])


def does_not_rename(exchange, forward):
    """RenameObject is answered as if it were done."""
    return Answer(200) if exchange.record.operation == "RenameObject" else forward(exchange)


def publishes_parts():
    """What comes as a part is the object at once."""

    def hook(exchange, forward):
        if exchange.record.operation == "UploadPart":
            forward(dataclasses.replace(exchange, target=exchange.target.partition("?")[0], changed=True))
        return forward(exchange)

    return hook


def stores_a_part_of_it():
    """The last seven bytes of an object that is not quite small are lost."""

    def hook(exchange, forward):
        if exchange.record.operation == "PutObject" and len(exchange.body) > 500:
            exchange.body = exchange.body[:-7]
            sums = [name for name, _ in exchange.headers if name.lower().startswith(("content-md5", "x-amz-checksum-"))]
            for name in (*sums, "x-amz-content-sha256"):
                exchange.set_header(name, None)
            exchange.set_header("Content-Length", str(len(exchange.body)))
        return forward(exchange)

    return hook


def gives_the_one_before():
    """An object that was replaced is read as it was."""
    written = {}

    def hook(exchange, forward):
        record = exchange.record
        versions = written.setdefault((record.bucket, record.key), [])
        answer = forward(exchange)
        if record.operation == "PutObject" and answer.status == 200:
            versions.append(exchange.body)
        if record.operation == "GetObject" and len(versions) > 1:
            return Answer(200, [("ETag", '"before"'), ("Last-Modified", answer.header("Last-Modified"))], versions[-2])
        return answer

    return hook


def without(*headers, of):
    """Of such operations these headers are overlooked."""

    def server():
        def hook(exchange, forward):
            for header in headers if exchange.record.operation in of else ():
                exchange.set_header(header, None)
            return forward(exchange)

        return hook

    server.__name__ = f"overlooks {', '.join(headers)} of {', '.join(of)}"
    return server


def says_late(*statuses, code=b"", often=1 << 30):
    """Complete's answers with these statuses become 200 and an error in the body: theirs, or `code`."""

    def server():
        left = iter(range(often))

        def hook(exchange, forward):
            answer = forward(exchange)
            if (
                exchange.record.operation != "CompleteMultipartUpload"
                or answer.status not in statuses
                or next(left, None) is None
            ):
                return answer
            body = b"<Error><Code>" + code + b"</Code><Message>-</Message></Error>" if code else answer.body
            return Answer(200, [("Content-Type", "application/xml")], body)

        return hook

    server.__name__ = f"answers Complete by 200 and {code.decode() or 'its error'}"
    return server


def keeps_nothing(hook):
    """The others are made anew for each test, for what they keep in mind."""

    def server():
        return hook

    server.__name__ = hook.__name__
    return server


def publishes_what_is_given_up(exchange, forward):
    if exchange.record.operation == "AbortMultipartUpload":
        early = dataclasses.replace(exchange, method="PUT", target=exchange.target.partition("?")[0], body=b"x")
        early.set_header("Content-Length", "1")
        forward(early)
    return forward(exchange)


def writes_what_it_refuses(exchange, forward):
    answer = forward(exchange)
    if exchange.record.operation == "PutObject" and answer.status == 412:
        for header in ("If-Match", "If-None-Match"):
            exchange.set_header(header, None)
        forward(exchange)
    return answer


def tells_another_size(exchange, forward):
    answer = forward(exchange)
    if exchange.record.operation == "HeadObject":
        answer.headers = [(name, "1" if name.lower() == "content-length" else value) for name, value in answer.headers]
    return answer


def lists_nothing(exchange, forward):
    """Below a prefix; else its buckets could not be removed."""
    record = exchange.record
    return (
        Answer(200, body=b"<ListBucketResult/>") if record.method == "GET" and record.query.get("prefix") else forward(exchange)
    )


WRITES = ("PutObject", "CompleteMultipartUpload")
NOT_BLAMED = [
    (keeps_nothing(gives_no_session), "express-client", "one-session session-tokens listing rename", "gives no sessions"),
    (keeps_nothing(does_not_rename), "express-client", "rename", "renames no objects"),
    (publishes_parts, "writes", "whole left killed only-if-absent", "published parts of an upload that nobody had completed"),
    (stores_a_part_of_it, "writes", "whole left only-if-absent", "gives other bytes than it took"),
    (stores_a_part_of_it, "dcp-ranges", "exact-coverage", "gives other bytes than it took"),
    (stores_a_part_of_it, "sharding", "exactly-once", "gives other bytes than it took"),
    (gives_the_one_before, "writes", "only-if-unchanged", "gives other bytes than it took"),
    (keeps_nothing(publishes_what_is_given_up), "writes", "left", "published an upload that was given up"),
    (keeps_nothing(writes_what_it_refuses), "writes", "only-if-absent", "refuses a write under If-None-Match and does it"),
    (keeps_nothing(writes_what_it_refuses), "writes", "only-if-unchanged", "refuses a write under If-Match and does it"),
    (keeps_nothing(tells_another_size), "writes", "whole", "says of an object of 3000 bytes by HeadObject that it has 1"),
    (keeps_nothing(lists_nothing), "sharding", "uneven-counts", "does not list an object once that is there"),
    (
        without("Range", of=["GetObject"]),
        "dcp-ranges",
        "over-read no-byte-twice coalesced",
        "answered a range, bytes=0-0, by the ",
    ),
    (
        without("If-Match", of=["GetObject"]),
        "dcp-ranges",
        "replaced-meanwhile",
        "takes no notice of If-Match when an object is read",
    ),
    (without("If-None-Match", of=WRITES), "writes", "only-if-absent", "takes no notice of If-None-Match"),
    (without("If-None-Match", of=WRITES[1:]), "writes", "only-if-absent", "takes no notice of If-None-Match"),
    (without("If-Match", of=WRITES), "writes", "only-if-unchanged", "takes no notice of If-Match"),
    (
        says_late(200, code=b"InternalError"),
        *("writes", "whole left killed only-if-absent"),
        "answered CompleteMultipartUpload by 200 InternalError",
    ),
    (says_late(200, code=b"InternalError"), "prefixes", "exact-keys", "answered CompleteMultipartUpload by 200 InternalError"),
]


def judge_clients(standalone, hook, suite, checks, clients):
    """Of each client and check the verdict, with an emulator behind a hook."""
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with RecordingProxy(access) as between, between.using(hook), Bench(access.at(between.endpoint)) as bench:
        return run([suites.find(suite)], bench, clients, only=[f"{suite}/{check}" for check in checks]).verdicts


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("server", "suite", "checks", "says"), NOT_BLAMED, ids=[f"{suite} {server.__name__}" for server, suite, *_ in NOT_BLAMED]
)
def test_a_client_is_not_blamed_for_what_the_server_does(standalone, server, suite, checks, says):
    verdicts = judge_clients(standalone, server(), suite, checks.split(), [Penstock])
    assert {verdict.check: (verdict.outcome, verdict.problems) for verdict in verdicts} == dict.fromkeys(
        checks.split(), ("not run", [])
    )
    assert [verdict.reason for verdict in verdicts if f"the endpoint {says}" not in verdict.reason] == []


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "server", [says_late(412, 409), says_late(200, code=b"InternalError", often=1)], ids=lambda s: s.__name__
)
def test_clients_are_judged_by_a_server_that_says_its_errors_late(standalone, server):
    """S3 answers Complete by 200 before it is done, and may be busy."""
    verdicts = judge_clients(standalone, server(), "writes", ["only-if-absent"], [Penstock, Boto3])
    assert [(verdict.client, verdict.outcome, verdict.problems) for verdict in verdicts] == [
        ("penstock", "passed", []),
        ("boto3", "passed", []),
    ]


def test_an_error_in_the_body_of_a_200_is_one(standalone):
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with Bench(access) as bench, bench.proxy.using(says_late(412)()):
        bucket = bench.new_bucket()
        bench.store.put(bucket, "key", b"there")
        client = Penstock(access.at(bench.proxy.endpoint))
        with pytest.raises(Exception, match="PreconditionFailed"):
            client.put_if(bucket, "key", bytes(6 << 20), etag=None)
        found = [(record.status, record.error_code) for record in bench.proxy.records().of("CompleteMultipartUpload")]
    assert found == [(200, "PreconditionFailed")]


class NamesThatGrow(HexPrefixStrategy):
    """Takes itself for one that spreads, and begins every name with a number that only grows."""

    _numbers = itertools.count()

    def generate_prefix(self, rank):
        return f"{next(self._numbers):09}/__{rank}_"


class Crowding(Penstock):
    def prefix_strategy(self, name, **arguments):
        return NamesThatGrow(**arguments) if name == "hex" else super().prefix_strategy(name, **arguments)


@pytest.mark.timeout(300)
def test_names_that_crowd_into_one_partition_are_caught(standalone):
    """A quarter of their requests could be refused, and none of default names: it passed."""
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with Bench(access, admin=Admin(standalone.admin)) as bench:
        [verdict] = run([suites.find("prefixes")], bench, [Crowding], only=["prefixes/slowed-down"]).verdicts[:1]
    refused = verdict.evidence["refused"]
    assert refused["hex"] > refused["binary"]
    assert refused["default"] > refused["binary"]
