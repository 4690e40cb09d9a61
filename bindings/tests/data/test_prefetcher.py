"""Prefetching: the requests in flight, the memory, and that readers behave the same."""

from __future__ import annotations

import io
import itertools
import random
import time

import penstock
import pytest
from bucket_io import put
from forked import in_child
from gate_server import gate_config, gate_server
from penstock import ObjectInfo, S3BucketKeyData, S3IterableDataset, S3MapDataset, S3ReaderConstructor, _core
from penstock._listing import S3BucketIterable, identity
from penstock._prefetcher import Prefetcher
from penstock._streams import ObjectSource
from torch.utils.data import DataLoader

MIB = 1024**2
KIND = S3ReaderConstructor.default()


def uris(count, bucket="b"):
    return [f"s3://{bucket}/{i}" for i in range(count)]


def read_all(reader):
    return reader.key, reader.read()


def over(dataset_class, endpoint, uris, **options):
    transform = options.pop("transform", read_all)
    return dataset_class.from_objects(
        uris, region="us-east-1", endpoint=endpoint, transform=transform, s3client_config=gate_config(**options)
    )


def source_of(reader):
    return reader._get_stream.source


def get_requests(client):
    return client.metrics()["requests"].get("GetObject", 0)


# ---- requests in flight


def test_a_batch_is_fetched_together():
    with gate_server(b"x" * 100, together=64) as (gate, endpoint):
        dataset = over(S3MapDataset, endpoint, uris(64))
        order = random.Random(1).sample(range(64), 64)
        assert dataset.__getitems__(order) == [(str(i), b"x" * 100) for i in order]
        assert len(gate.requested) == 64


def test_a_data_loader_asks_for_batches():
    with gate_server(b"x" * 100, together=8) as (gate, endpoint):
        loader = DataLoader(over(S3MapDataset, endpoint, uris(32)), batch_size=8, collate_fn=identity)
        assert [key for batch in loader for key, _ in batch] == [str(i) for i in range(32)]
        assert len(gate.requested) == 32


def test_the_iterable_dataset_fetches_the_next_objects_together():
    with gate_server(b"x" * 100, together=32) as (gate, endpoint):
        assert list(over(S3IterableDataset, endpoint, uris(96))) == [(str(i), b"x" * 100) for i in range(96)]
        assert len(gate.requested) == 96


@pytest.mark.parametrize(("size", "at_a_time"), [(100, 10), (101, 9), (1000, 1), (5000, 1), (None, 1)])
def test_requests_in_flight_fill_the_budget(size, at_a_time):
    """An object that is larger than the budget, or of unknown size, counts as the whole budget."""
    content = b"x" * (size or 100)
    with gate_server(content, together=at_a_time) as (gate, endpoint):
        client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=gate_config())
        infos = [ObjectInfo(str(i), '"e"', size, 0) if size else None for i in range(30)]
        readers = Prefetcher(client, [S3BucketKeyData("b", str(i), info) for i, info in enumerate(infos)], KIND, 1000)
        most = 0
        for number, reader in enumerate(readers):
            most = max(most, readers._core.coming)
            assert readers._core.coming <= min(at_a_time, 29 - number)
            assert readers._core.coming_bytes <= 1000
            assert reader.read() == content
        assert most >= at_a_time - at_a_time // 4  # besides the chunk that is in use
        assert len(gate.requested) >= 30


def test_without_a_budget_nothing_is_fetched_ahead():
    with gate_server(b"x", together=1) as (gate, endpoint):
        dataset = over(S3IterableDataset, endpoint, uris(5), look_ahead_bytes=0, transform=identity)
        readers = list(dataset)
        assert gate.requested == []
        assert [r.read() for r in readers] == [b"x"] * 5


def test_a_range_based_reader_fetches_only_the_requested_bytes(client, bucket):
    put(client, bucket, "k", b"0123456789")
    before = get_requests(client)
    readers = Prefetcher(client, [S3BucketKeyData(bucket, "k")] * 3, S3ReaderConstructor.range_based(), MIB)
    assert len(list(readers)) == 3
    assert get_requests(client) == before


def test_a_negative_budget_is_refused():
    with pytest.raises(ValueError, match=r"look_ahead_bytes must be .*, not -1"):
        penstock.S3ClientConfig(look_ahead_bytes=-1)


# ---- unread readers


def test_unread_readers_stop_the_prefetch_and_hold_little_memory(client, bucket):
    for i in range(40):
        put(client, bucket, str(i), b"x" * 1000)
    before = get_requests(client)
    objects = [S3BucketKeyData(bucket, str(i), ObjectInfo(str(i), "", 1000, 0)) for i in range(40)]
    readers = list(Prefetcher(client, objects, KIND, 4000))
    held = sum(1 for r in readers if source_of(r).head is not None)
    assert held <= 5
    assert get_requests(client) - before < 20
    assert [r.read() for r in readers] == [b"x" * 1000] * 40  # released bytes are fetched again


def test_the_prefetch_continues_when_readers_are_read_again():
    with gate_server(b"x" * 100, together=1) as (_, endpoint):
        client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=gate_config())
        objects = (S3BucketKeyData("b", str(i), ObjectInfo(str(i), '"e"', 100, 0)) for i in itertools.count())
        readers = Prefetcher(client, objects, KIND, 200)
        for _ in range(10):
            next(readers)
        assert readers._suspended
        for _ in range(4):
            next(readers).read()
        assert not readers._suspended
        assert readers._core.coming >= 1
        readers.close()


def test_batches_that_are_read_later_are_fetched_once(client, bucket):
    for i in range(20):
        put(client, bucket, f"p/{i:02}", b"x" * 50)
    before = get_requests(client)
    objects = [S3BucketKeyData(bucket, f"p/{i:02}") for i in range(20)]
    readers = Prefetcher(client, objects, KIND, 100 * MIB)
    for _ in range(4):
        assert [r.read() for r in itertools.islice(readers, 5)] == [b"x" * 50] * 5
    assert get_requests(client) - before == 20


# ---- the same behaviour as single items


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("limit", [1, 7, 999, 1000, 1001, 5000])
def test_readers_behave_the_same_for_any_prefetched_part(client, bucket, known, limit):
    data = random.Random(3).randbytes(1000)
    put(client, bucket, "k", data)
    info = next(iter(client.list_objects(bucket))).object_info[0] if known else None
    steps = [
        lambda r: (r.read(), r.read(), r.tell()),
        lambda r: [r.read(11) for _ in range(95)],
        lambda r: (r.seek(-10, io.SEEK_END), r.read(), r.seek(3), r.read(5)),
        lambda r: (r.seek(500), r.read(20), r.seek(0), r.read()),
        lambda r: [(n := bytearray(300), r.readinto(n)) for _ in range(5)],
        lambda r: r.readlines(),
    ]
    for kind in (S3ReaderConstructor.sequential(), S3ReaderConstructor.range_based(), S3ReaderConstructor.range_based(0)):
        for step in steps:
            source = ObjectSource(bucket, "k")
            reader = client._reader(source, info, kind)
            source.fetch_ahead(client, limit)
            assert step(reader) == step(io.BytesIO(data))


def test_prefetched_bytes_are_neither_fetched_again_nor_copied(client, bucket):
    data = b"x" * 100_000
    put(client, bucket, "k", data)
    reader = next(Prefetcher(client, [S3BucketKeyData(bucket, "k")], KIND, 100 * MIB))
    before = client.metrics()["requests"].get("HeadObject", 0)
    assert reader.seek(0, io.SEEK_END) == 100_000
    reader.seek(0)
    first = reader.read()
    assert first == data
    assert source_of(reader).head is first
    assert get_requests(client) == 1
    assert client.metrics()["requests"].get("HeadObject", 0) == before  # the prefetch returned the size


def test_objects_larger_than_the_limit_are_read_whole(client, bucket):
    data = random.Random(4).randbytes(20 * MIB + 5)
    put(client, bucket, "big", data)
    info = next(iter(client.list_objects(bucket))).object_info[0]
    for known in (None, info):
        for reader in Prefetcher(client, [S3BucketKeyData(bucket, "big", known)] * 2, KIND, 100 * MIB):
            assert reader.read() == data
        for reader in Prefetcher(client, [S3BucketKeyData(bucket, "big", known)], KIND, 100 * MIB):
            assert b"".join(iter(lambda: reader.read(3 * MIB), b"")) == data  # noqa: B023


def test_an_object_that_changes_after_its_prefetch_never_mixes_versions(client, bucket):
    put(client, bucket, "k", b"a" * (9 * MIB))
    reader = next(Prefetcher(client, [S3BucketKeyData(bucket, "k")], KIND, 100 * MIB))
    assert reader.read(10) == b"a" * 10
    put(client, bucket, "k", b"b" * (9 * MIB))
    with pytest.raises(penstock.S3PreconditionFailedError):
        reader.read()


def test_an_error_is_raised_by_the_reader_of_its_object_only(client, bucket):
    for key in ("a", "c"):
        put(client, bucket, key, key.encode())
    a, b, c = Prefetcher(client, [S3BucketKeyData(bucket, key) for key in "abc"], KIND, MIB * 100)
    with pytest.raises(penstock.S3NotFoundError, match="The key does not exist"):
        b.read()
    assert (a.read(), c.read()) == (b"a", b"c")
    put(client, bucket, "b", b"late")
    assert b.read() == b"late"  # an error is not remembered


def test_an_error_of_the_listing_is_raised_after_the_readers_before_it(client, bucket):
    put(client, bucket, "a", b"a")

    def objects():
        yield S3BucketKeyData(bucket, "a")
        raise LookupError("the listing broke")

    readers = Prefetcher(client, objects(), KIND, MIB)
    assert next(readers).read() == b"a"
    with pytest.raises(LookupError, match="the listing broke"):
        next(readers)
    assert list(readers) == []


def test_an_interrupt_of_the_objects_iterator_loses_no_object(client, bucket):
    for i in range(20):
        put(client, bucket, str(i), str(i).encode())
    interrupts = iter([7, 140])  # during the first prefetch, and while readers are returned

    class Interrupted:
        """Raises KeyboardInterrupt twice, and continues afterwards."""

        def __init__(self):
            self.number = 0
            self.next_interrupt = next(interrupts)

        def __iter__(self):
            return self

        def __next__(self):
            if self.number == self.next_interrupt:
                self.next_interrupt = next(interrupts, -1)
                raise KeyboardInterrupt
            if self.number == 200:
                raise StopIteration
            self.number += 1
            key = str((self.number - 1) % 20)
            return S3BucketKeyData(bucket, key, ObjectInfo(key, "", len(key), 0))

    readers = Prefetcher(client, Interrupted(), KIND, 100 * MIB)
    got, interrupted = [], 0
    while len(got) < 200:
        try:
            got.append(next(readers).read())
        except KeyboardInterrupt:
            interrupted += 1
    assert got == [str(i % 20).encode() for i in range(200)]
    assert interrupted == 2
    assert list(readers) == []


def test_prefetched_memory_counts_against_the_process_limit_and_is_released(client, bucket):
    """Runs in a child process: in this one, readers of other tests may still release memory."""
    for i in range(30):
        put(client, bucket, str(i), b"x" * 100_000)
    objects = [S3BucketKeyData(bucket, str(i % 30), ObjectInfo(str(i % 30), "", 100_000, 0)) for i in range(300)]

    def measure() -> str:
        readers = Prefetcher(client, objects, KIND, 100 * MIB)
        first = next(readers)
        ahead = _core.memory_usage()["held"]
        read = [first.read(), *(reader.read() for reader in readers)]
        readers.close()
        return f"{ahead >= 90 * 100_000} {read == [b'x' * 100_000] * 300} {_core.memory_usage()['held']}"

    assert in_child(measure) == "True True 0"


def test_keys_that_are_not_utf8_are_sent_unchanged():
    with gate_server(b"x", together=1) as (gate, endpoint):
        client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=gate_config())
        key = b"a\xff".decode("utf-8", "surrogateescape")
        (reader,) = Prefetcher(client, [S3BucketKeyData("b", key)], KIND, MIB)
        assert (reader.key, reader.read()) == (key, b"x")
        assert gate.requested == ["/b/a%FF"]


def test_a_forked_child_cannot_use_the_parents_prefetch(client, bucket):
    put(client, bucket, "a", b"a")
    readers = Prefetcher(client, [S3BucketKeyData(bucket, "a")] * 200, KIND, MIB)
    next(readers).read()
    assert in_child(lambda: str(drained(readers))).startswith("RuntimeError: this prefetcher was made in process")
    assert [reader.read() for reader in readers] == [b"a"] * 199  # the parent continues


def drained(readers):
    return [reader.read() for reader in readers]


def test_batch_errors_are_those_of_single_items(emulator, client, bucket):
    for i in range(3):
        put(client, bucket, str(i), b"x")
    seen = []

    def transform(reader):
        seen.append(reader.key)
        return reader.read()

    dataset = S3MapDataset.from_objects(
        [*uris(3, bucket), f"s3://{bucket}/missing"], region="us-east-1", endpoint=emulator.endpoint, transform=transform,
        s3client_config=emulator.config(),
    )  # fmt: skip
    with pytest.raises(IndexError):
        dataset.__getitems__([0, 1, 99])
    with pytest.raises(penstock.S3NotFoundError):
        dataset.__getitems__([2, 3, 0])
    assert seen == ["0", "1", "2", "missing"]  # in order, and none after the failure
    assert dataset.__getitems__([-2, 0]) == [b"x", b"x"]
    assert dataset.__getitems__([]) == []


def test_batches_of_a_subclass_use_its_getitem(emulator, client, bucket):
    put(client, bucket, "0", b"zero")

    class Labelled(S3MapDataset):
        def __getitem__(self, i):
            return i, super().__getitem__(i)

    dataset = Labelled.from_objects(
        uris(1, bucket), region="us-east-1", endpoint=emulator.endpoint, transform=lambda r: r.read(),
        s3client_config=emulator.config(),
    )  # fmt: skip
    assert dataset.__getitems__([0, 0]) == [(0, b"zero")] * 2


def test_close_cancels_requests_without_waiting_for_their_responses():
    with gate_server(b"x", together=1000, ungated="/b/0") as (gate, endpoint):
        client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=gate_config())
        readers = Prefetcher(client, [S3BucketKeyData("b", str(i)) for i in range(16)], KIND, 100 * MIB)
        reader = next(readers)
        assert gate.wait_for(2)
        readers.close()
        del readers, reader
        assert gate.timed_out == 0, "close() waited for a response"


# ---- shares of a listing


@pytest.mark.parametrize("step", [1, 2, 3, 7, 8, 9, 40])
def test_a_share_of_a_listing_is_independent_of_the_page_size(client, bucket, step):
    for i in range(30):
        put(client, bucket, f"{i:02}", b"")

    keys = [f"{i:02}" for i in range(30)]
    for first in (0, 1, 7, 8, 17, 29, 30, 100):
        found = [item.key for item in S3BucketIterable(client, bucket, "", page_size=8).every(step, first)]
        assert found == keys[first::step]


# ---- chunks


@pytest.mark.parametrize(("size", "count", "most"), [(2 * MIB, 24, 1), (1000, 300, 32)])
def test_large_objects_are_returned_one_at_a_time(client, bucket, size, count, most):
    """The memory of a returned chunk is free for further requests only when the next chunk is requested."""
    for number in range(count):
        put(client, bucket, f"{number:03}", b"x" * size)
    objects = [S3BucketKeyData(bucket, f"{number:03}", ObjectInfo(f"{number:03}", "", size, 0)) for number in range(count)]
    core = _core.Prefetcher(client.core, iter(objects), 16 * MIB, 8 * MIB, 128, None, None)
    chunks = []
    while sum(chunks) < count:
        chunk = core.next(True, MIB)
        assert chunk
        chunks.append(len(chunk))
        wanted = min(count, sum(chunks) + core.coming)  # all requests have ended
        while client.metrics()["operations"]["GetObject"]["duration"]["count"] < wanted:
            time.sleep(0)
    ahead = chunks[: -max(1, 16 * MIB // size)]  # the end of the objects is returned at once
    assert all(length <= most for length in ahead)
    assert max(chunks) > 1
