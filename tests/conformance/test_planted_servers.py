"""A server that is broken in known ways is found out, each time by the check that is there for it: an emulator behind a proxy."""

from __future__ import annotations

import itertools

import pytest
from penstock.conformance import Access, Bench, run, suites
from penstock.conformance._admin import Admin
from penstock.conformance._proxy import Answer, RecordingProxy
from penstock.conformance.clients._penstock import Penstock
from penstock.dcp.s3_prefix_strategy import HexPrefixStrategy


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


@pytest.mark.parametrize(
    ("server", "checks", "says"),
    [
        (gives_no_session, {"one-session", "session-tokens", "listing", "rename"}, "the endpoint gives no sessions"),
        (does_not_rename, {"rename"}, "the endpoint renames no objects"),
    ],
)
def test_a_client_is_not_blamed_for_what_the_server_lacks(standalone, server, checks, says):
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with RecordingProxy(access) as between, between.using(server), Bench(access.at(between.endpoint)) as bench:
        verdicts = run([suites.find("express-client")], bench, [Penstock], only=sorted(f"/{check}" for check in checks)).verdicts
    assert {verdict.check: verdict.outcome for verdict in verdicts} == dict.fromkeys(checks, "not run")
    assert all(says in verdict.reason for verdict in verdicts)


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
