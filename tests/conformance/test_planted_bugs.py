"""A client that is broken in known ways is found out, each time by the check that is there for it.

Python layers of our client are broken in place, and requests on their way are, by a proxy between client and bench: what the
second kind does to ours it would do to any other client.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

import pytest
from penstock import S3Exception, S3IterableDataset, _core, _iterable_dataset
from penstock._object_iterator import Position, Share
from penstock._writer import S3Writer
from penstock.dcp import S3StorageReader, S3StorageWriter
from penstock.dcp.s3_prefix_strategy import HexPrefixStrategy
from penstock_conformance import Access, Bench, run, suites
from penstock_conformance._admin import Admin
from penstock_conformance._proxy import Answer, RecordingProxy
from penstock_conformance.clients._penstock import Penstock
from penstock_conformance.suites._directory_bucket import complete_body


@contextmanager
def broken(owner: object, name: str, replacement: object) -> Iterator[type[Penstock]]:
    """Our client with a part of it replaced."""
    with mock.patch.object(owner, name, replacement):
        yield Penstock


@contextmanager
def meddled(bench: Bench, hook) -> Iterator[object]:
    """Our client behind a proxy that does something to its requests before anybody has seen them."""
    under_test = bench.access.at(bench.proxy.endpoint)
    with RecordingProxy(under_test, resign=False) as between, between.using(hook):
        yield lambda access: Penstock(access.at(between.endpoint))


# ---- bugs of datasets


def skips_a_shard(bench):
    """The last worker's share is nobody's: the step between objects of a share counts one worker too many."""

    def share(self):
        taken = original(self)
        return Share(taken.first, taken.world_size, taken.num_workers + 1)

    original = S3IterableDataset._share
    return broken(S3IterableDataset, "_share", share)


def duplicates_a_shard(bench):
    """Rank 1 takes itself for rank 0."""

    def rank_and_world_size():
        rank, world = original()
        return (0 if rank == 1 else rank), world

    original = _iterable_dataset._rank_and_world_size
    return broken(_iterable_dataset, "_rank_and_world_size", rank_and_world_size)


def shares_by_blocks(bench):
    """Complete and without doubles, but rank 0 has what is the last rank's."""

    def rank_and_world_size():
        rank, world = original()
        return world - 1 - rank, world

    original = _iterable_dataset._rank_and_world_size
    return broken(_iterable_dataset, "_rank_and_world_size", rank_and_world_size)


def resumes_one_too_far(bench):
    """The state counts the object that is about to come as one that came."""

    def state_dict(self):
        return {**original(self), "yielded": self.yielded + 1}

    original = Position.state_dict
    return broken(Position, "state_dict", state_dict)


def resumes_in_any_world(bench):
    """A state of another world is taken as if it were one of this."""

    def load_state_dict(self, state):
        self.yielded = int(state["yielded"])

    return broken(Position, "load_state_dict", load_state_dict)


# ---- bugs of checkpoints


def wrong_prefix_for_a_rank(bench):
    """Digits are not reversed."""

    def generate_prefix(self, rank):
        prefix, _, name = original(self, rank).partition("/")
        return f"{prefix[::-1]}/{name}"

    original = HexPrefixStrategy.generate_prefix
    return broken(HexPrefixStrategy, "generate_prefix", generate_prefix)


def metadata_beside_the_shards(bench):
    """The commit has another name, which no reader looks for."""

    def metadata_uri(self):
        return original(self).replace(".metadata", "metadata")

    original = S3StorageWriter._metadata_uri
    return broken(S3StorageWriter, "_metadata_uri", metadata_uri)


def _ranged(exchange) -> tuple[int, int] | None:
    """First and last byte that a read of a shard asks for."""
    text = exchange.header("range")
    if exchange.record.operation != "GetObject" or not text or not exchange.record.key.endswith(".distcp"):
        return None
    first, _, last = text.removeprefix("bytes=").partition("-")
    return int(first), int(last)


def reads_one_byte_too_many(bench):
    def hook(exchange, forward):
        asked = _ranged(exchange)
        if asked is None:
            return forward(exchange)
        exchange.set_header("Range", f"bytes={asked[0]}-{asked[1] + 1}")
        answer = forward(exchange)
        size = asked[1] - asked[0] + 1
        whole = answer.header("content-range").partition("/")[2]
        headers = [pair for pair in answer.headers if pair[0].lower() != "content-range"]
        headers.append(("Content-Range", f"bytes {asked[0]}-{asked[1]}/{whole}"))
        return Answer(answer.status, headers, answer.body[:size], answer.reason)

    return meddled(bench, hook)


def reads_a_range_twice(bench):
    def hook(exchange, forward):
        if _ranged(exchange):
            forward(exchange)
        return forward(exchange)

    return meddled(bench, hook)


def drops_if_match(bench):
    def hook(exchange, forward):
        if exchange.header("if-match"):
            exchange.set_header("If-Match", None)
        return forward(exchange)

    return meddled(bench, hook)


def ignores_a_changed_etag(bench):
    """It neither insists on an ETag nor looks at the one that comes."""

    def hook(exchange, forward):
        if exchange.header("if-match"):
            exchange.set_header("If-Match", None)
        answer = forward(exchange)
        if _ranged(exchange):
            answer.headers = [pair for pair in answer.headers if pair[0].lower() != "etag"] + [("ETag", '"always-the-same"')]
        return answer

    return meddled(bench, hook)


def asks_for_each_item_alone(bench):
    """Nothing is coalesced, whatever gap was allowed."""

    def init(self, *args, **kwargs):
        original(self, *args, **{**kwargs, "max_gap_size": 0})

    original = S3StorageReader.__init__
    return broken(S3StorageReader, "__init__", init)


def retries_what_it_must_not(bench):
    """A write that S3 refused is sent again."""

    def complete_multipart_upload(self, *args):
        try:
            return original(self, *args)
        except S3Exception:
            return original(self, *args)

    original = _core.Client.complete_multipart_upload
    bench.thorough = True  # the refusals are a few of the failures, and a sample may have none of them
    return broken(_core.Client, "complete_multipart_upload", complete_multipart_upload)


# ---- bugs of writes


def publishes_what_an_exception_ended(bench):
    """Leaving a writer closes it, however it is left."""
    return broken(S3Writer, "__exit__", lambda self, *_: self.close())


def completes_what_it_should_give_up(bench):
    """An upload that is given up is completed with the parts that are there."""
    parts: dict[str, dict[int, str]] = {}
    one_is_there = threading.Event()

    def hook(exchange, forward):
        query, operation = exchange.record.query, exchange.record.operation
        if operation == "AbortMultipartUpload" and one_is_there.wait(10):
            there = sorted(parts.get(query["uploadId"], {}).items())
            exchange.method, exchange.body, exchange.changed = "POST", complete_body(there).encode(), True
            exchange.set_header("Content-Length", str(len(exchange.body)))
        answer = forward(exchange)
        if operation == "UploadPart":
            parts.setdefault(query["uploadId"], {})[int(query["partNumber"])] = answer.header("etag")
            one_is_there.set()
        return answer

    return meddled(bench, hook)


def publishes_parts_as_they_come(bench):
    """Each part is written under the object's name, too; a write that comes to its end leaves the whole object."""

    def hook(exchange, forward):
        if exchange.record.operation == "UploadPart":
            early = dataclasses.replace(exchange, target=exchange.target.partition("?")[0], changed=True)
            forward(early)
        return forward(exchange)

    return meddled(bench, hook)


def drops_if_none_match(bench):
    def hook(exchange, forward):
        if exchange.header("if-none-match"):
            exchange.set_header("If-None-Match", None)
        return forward(exchange)

    return meddled(bench, hook)


def drops_if_match_of_a_write(bench):
    return drops_if_match(bench)


def forgets_that_none_may_be_there(bench):
    def put_object(self, *args, if_none_match=False, **named):
        return original(self, *args, **named)

    original = _core.Client.put_object
    return broken(_core.Client, "put_object", put_object)


def forgets_which_one_may_be_there(bench):
    def put_object(self, *args, if_match=None, **named):
        return original(self, *args, **named)

    original = _core.Client.put_object
    return broken(_core.Client, "put_object", put_object)


# The check that is there for it, and what the check has to say.
BUGS = {
    skips_a_shard: ("sharding/exactly-once", "never came"),
    duplicates_a_shard: ("sharding/exactly-once", "came more than once"),
    shares_by_blocks: ("sharding/documented-share", "rank 0 of"),
    resumes_one_too_far: ("sharding/resumed", "left after"),
    resumes_in_any_world: ("sharding/changed-world", "never came"),
    wrong_prefix_for_a_rank: ("prefixes/exact-prefixes", "expected 'a000000000/__10_', found '000000000a/__10_'"),
    metadata_beside_the_shards: ("prefixes/exact-keys", "found ['__0_0.distcp'"),
    reads_one_byte_too_many: ("dcp-ranges/over-read", "bytes of run/step-1/__0_0.distcp that nothing allows"),
    reads_a_range_twice: ("dcp-ranges/no-byte-twice", "came twice"),
    drops_if_match: ("dcp-ranges/one-etag", "reads have no If-Match"),
    ignores_a_changed_etag: ("dcp-ranges/replaced-meanwhile", "the load ended without an error"),
    asks_for_each_item_alone: ("dcp-ranges/coalesced", " stretches of run/step-1/__0_0.distcp"),
    retries_what_it_must_not: ("retry/complete-multipart-upload", "was tried again: 2 requests"),
    forgets_that_none_may_be_there: ("retry/put-object-if-none-match", "was done where its condition does not hold"),
    forgets_which_one_may_be_there: ("retry/put-object-if-match", "was done where its condition does not hold"),
    publishes_what_an_exception_ended: ("writes/left", "small, of a new object: what is there: expected [], found ['key']"),
    completes_what_it_should_give_up: ("writes/left", "large, over an object: the object that was there is another one"),
    publishes_parts_as_they_come: ("writes/killed", "the object that was there is another one"),
    drops_if_none_match: ("writes/only-if-absent", "large: published without if-none-match: "),
    drops_if_match_of_a_write: ("writes/only-if-unchanged", "the caller was told that it was written, over another object"),
}


@pytest.fixture
def bench(standalone):
    access = Access(standalone.endpoint, standalone.access_key, standalone.secret_key, standalone.region)
    with Bench(access, admin=Admin(standalone.admin), seed=1) as instance:
        yield instance


def failed_checks(bench, client, names) -> dict[str, list[str]]:
    chosen = [suites.find(name) for name in dict.fromkeys(name.partition("/")[0] for name in names)]
    return {verdict.name: verdict.problems for verdict in run(chosen, bench, [client], only=sorted(names)).failed}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_planted_bug_is_caught_by_its_check(bench, bug):
    check, says = BUGS[bug]
    with ExitStack() as stack:
        problems = failed_checks(bench, stack.enter_context(bug(bench)), {check})
    assert says in "\n".join(problems[check])


@pytest.mark.timeout(900)
def test_without_a_bug_those_checks_pass(bench):
    """Behind a proxy that does nothing as well."""
    with meddled(bench, lambda exchange, forward: forward(exchange)) as client:
        assert failed_checks(bench, client, {check for check, _ in BUGS.values()}) == {}


def test_there_are_at_least_ten_bugs_of_every_kind():
    assert len(BUGS) >= 10
    kinds = [name for name, _ in itertools.groupby(check.partition("/")[0] for check, _ in BUGS.values())]
    assert kinds == ["sharding", "prefixes", "dcp-ranges", "retry", "writes"]
