"""Each planted client bug fails the check for it.

Some bugs patch Python layers of Penstock's client. Others change its requests in a proxy between client and bench, and would
affect any client alike.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
from penstock_conformance._proxy import RecordingProxy, Response
from penstock_conformance.clients._penstock import Penstock
from penstock_conformance.suites._directory_bucket import complete_body


@contextmanager
def broken(owner: object, name: str, replacement: object) -> Iterator[type[Penstock]]:
    """Penstock's client with an attribute of `owner` replaced."""
    with mock.patch.object(owner, name, replacement):
        yield Penstock


@contextmanager
def behind_proxy(bench: Bench, hook) -> Iterator[object]:
    """Penstock's client behind a proxy with a hook, in front of the recording proxy."""
    under_test = bench.access.at(bench.proxy.endpoint)
    with RecordingProxy(under_test, resign=False) as between, between.using(hook):
        yield lambda access: Penstock(access.at(between.endpoint))


# ---- bugs of datasets


def skips_a_shard(bench):
    """The step between the objects of a share counts one worker too many, so that one share is not read."""

    def share(self):
        taken = original(self)
        return Share(taken.first, taken.world_size, taken.num_workers + 1)

    original = S3IterableDataset._share
    return broken(S3IterableDataset, "_share", share)


def duplicates_a_shard(bench):
    """Rank 1 reports rank 0."""

    def rank_and_world_size():
        rank, world = original()
        return (0 if rank == 1 else rank), world

    original = _iterable_dataset._rank_and_world_size
    return broken(_iterable_dataset, "_rank_and_world_size", rank_and_world_size)


def reverses_the_ranks(bench):
    """Complete and without duplicates, but ranks have each other's shares."""

    def rank_and_world_size():
        rank, world = original()
        return world - 1 - rank, world

    original = _iterable_dataset._rank_and_world_size
    return broken(_iterable_dataset, "_rank_and_world_size", rank_and_world_size)


def resumes_one_too_far(bench):
    """The state counts the next object as already returned."""

    def state_dict(self):
        return {**original(self), "yielded": self.yielded + 1}

    original = Position.state_dict
    return broken(Position, "state_dict", state_dict)


def resumes_in_any_world(bench):
    """A state of another world size is accepted."""

    def load_state_dict(self, state):
        self.yielded = int(state["yielded"])

    return broken(Position, "load_state_dict", load_state_dict)


# ---- bugs of checkpoints


def wrong_prefix_for_a_rank(bench):
    """The digits are not reversed."""

    def generate_prefix(self, rank):
        prefix, _, name = original(self, rank).partition("/")
        return f"{prefix[::-1]}/{name}"

    original = HexPrefixStrategy.generate_prefix
    return broken(HexPrefixStrategy, "generate_prefix", generate_prefix)


def metadata_beside_the_shards(bench):
    """The metadata object has a wrong name, which no reader uses."""

    def metadata_uri(self):
        return original(self).replace(".metadata", "metadata")

    original = S3StorageWriter._metadata_uri
    return broken(S3StorageWriter, "_metadata_uri", metadata_uri)


def _ranged(exchange) -> tuple[int, int] | None:
    """First and last byte of a ranged read of a shard."""
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
        response = forward(exchange)
        size = asked[1] - asked[0] + 1
        whole = response.header("content-range").partition("/")[2]
        headers = [pair for pair in response.headers if pair[0].lower() != "content-range"]
        headers.append(("Content-Range", f"bytes {asked[0]}-{asked[1]}/{whole}"))
        return Response(response.status, headers, response.body[:size], response.reason)

    return behind_proxy(bench, hook)


def reads_a_range_twice(bench):
    def hook(exchange, forward):
        if _ranged(exchange):
            forward(exchange)
        return forward(exchange)

    return behind_proxy(bench, hook)


def drops_if_match(bench):
    def hook(exchange, forward):
        if exchange.header("if-match"):
            exchange.set_header("If-Match", None)
        return forward(exchange)

    return behind_proxy(bench, hook)


def ignores_a_changed_etag(bench):
    """The client sends no If-Match and ignores the ETag of the response."""

    def hook(exchange, forward):
        if exchange.header("if-match"):
            exchange.set_header("If-Match", None)
        response = forward(exchange)
        if _ranged(exchange):
            response.headers = [pair for pair in response.headers if pair[0].lower() != "etag"] + [("ETag", '"always-the-same"')]
        return response

    return behind_proxy(bench, hook)


def reads_each_item_separately(bench):
    """Items are never coalesced."""

    def init(self, *args, **kwargs):
        original(self, *args, **{**kwargs, "max_gap_size": 0})

    original = S3StorageReader.__init__
    return broken(S3StorageReader, "__init__", init)


def retries_rejected_writes(bench):
    """A write that S3 rejected is sent again."""

    def call(self, operation, arguments):
        try:
            return original(self, operation, arguments)
        except S3Exception:
            if operation != "complete_multipart_upload":
                raise
            return original(self, operation, arguments)

    original = _core.Client.call
    bench.thorough = True  # a sample may contain no rejection
    return broken(_core.Client, "call", call)


# ---- bugs of writes


def publish_in_another_thread(writer):
    """`close()` itself aborts while its thread handles an exception."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(writer.close).result()


def publishes_aborted_writes(bench):
    """An exception inside the context manager of a writer publishes what was written instead of aborting."""
    return broken(S3Writer, "__exit__", lambda self, *_: publish_in_another_thread(self))


def completes_aborted_uploads(bench):
    """An abort of an upload completes it with the parts sent so far."""
    parts: dict[str, dict[int, str]] = {}
    part_uploaded = threading.Event()

    def hook(exchange, forward):
        query, operation = exchange.record.query, exchange.record.operation
        if operation == "AbortMultipartUpload" and part_uploaded.wait(10):
            uploaded = sorted(parts.get(query["uploadId"], {}).items())
            exchange.method, exchange.body, exchange.changed = "POST", complete_body(uploaded).encode(), True
            exchange.set_header("Content-Length", str(len(exchange.body)))
        response = forward(exchange)
        if operation == "UploadPart":
            parts.setdefault(query["uploadId"], {})[int(query["partNumber"])] = response.header("etag")
            part_uploaded.set()
        return response

    return behind_proxy(bench, hook)


def publishes_parts_early(bench):
    """Each part is also written as the object; a complete write still results in the whole object."""

    def hook(exchange, forward):
        if exchange.record.operation == "UploadPart":
            forward(dataclasses.replace(exchange, target=exchange.target.partition("?")[0], changed=True))
        return forward(exchange)

    return behind_proxy(bench, hook)


def drops_if_none_match(bench):
    def hook(exchange, forward):
        if exchange.header("if-none-match"):
            exchange.set_header("If-None-Match", None)
        return forward(exchange)

    return behind_proxy(bench, hook)


def drops_if_match_of_a_write(bench):
    return drops_if_match(bench)


def put_object_ignores_if_none_match(bench):
    def put_object(self, *args, if_none_match=False, **named):
        return original(self, *args, **named)

    original = _core.Client.put_object
    return broken(_core.Client, "put_object", put_object)


def put_object_ignores_if_match(bench):
    def put_object(self, *args, if_match=None, **named):
        return original(self, *args, **named)

    original = _core.Client.put_object
    return broken(_core.Client, "put_object", put_object)


# For each bug, the check that must fail and a part of its problem.
BUGS = {
    skips_a_shard: ("sharding/exactly-once", "objects missing"),
    duplicates_a_shard: ("sharding/exactly-once", "objects more than once"),
    reverses_the_ranks: ("sharding/documented-share", "rank 0 of"),
    resumes_one_too_far: ("sharding/resumed", "interrupted after"),
    resumes_in_any_world: ("sharding/changed-world", "objects missing"),
    wrong_prefix_for_a_rank: ("prefixes/exact-prefixes", "expected 'a000000000/__10_', found '000000000a/__10_'"),
    metadata_beside_the_shards: ("prefixes/exact-keys", "found ['__0_0.distcp'"),
    reads_one_byte_too_many: ("dcp-ranges/over-read", "unnecessary bytes of run/step-1/__0_0.distcp"),
    reads_a_range_twice: ("dcp-ranges/no-byte-twice", "read twice"),
    drops_if_match: ("dcp-ranges/one-etag", "reads have no If-Match"),
    ignores_a_changed_etag: ("dcp-ranges/replaced-meanwhile", "the load succeeded with a mixture"),
    reads_each_item_separately: ("dcp-ranges/coalesced", " merged ranges of run/step-1/__0_0.distcp"),
    retries_rejected_writes: ("retry/complete-multipart-upload", "was retried: 2 requests"),
    put_object_ignores_if_none_match: ("retry/put-object-if-none-match", "succeeded although its condition does not hold"),
    put_object_ignores_if_match: ("retry/put-object-if-match", "succeeded although its condition does not hold"),
    publishes_aborted_writes: ("writes/left", "small, new object: keys in the bucket: expected [], found ['key']"),
    completes_aborted_uploads: ("writes/left", "large, existing object: the existing object was changed"),
    publishes_parts_early: ("writes/killed", "the existing object was changed"),
    drops_if_none_match: ("writes/only-if-absent", "large: published without if-none-match: "),
    drops_if_match_of_a_write: (
        "writes/only-if-unchanged",
        "success was reported to the caller, although",
    ),
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
def test_a_planted_bug_fails_its_check(bench, bug):
    check, says = BUGS[bug]
    with ExitStack() as stack:
        problems = failed_checks(bench, stack.enter_context(bug(bench)), {check})
    assert says in "\n".join(problems[check])


@pytest.mark.timeout(900)
def test_without_a_bug_the_checks_pass(bench):
    """Also behind a proxy that only forwards."""
    with behind_proxy(bench, lambda exchange, forward: forward(exchange)) as client:
        assert failed_checks(bench, client, {check for check, _ in BUGS.values()}) == {}


def test_the_bugs_cover_all_client_suites():
    assert len(BUGS) >= 10
    kinds = [name for name, _ in itertools.groupby(check.partition("/")[0] for check, _ in BUGS.values())]
    assert kinds == ["sharding", "prefixes", "dcp-ranges", "retry", "writes"]
