"""Objects that change between their listing and their read, and during a read.

The size and ETag of a listing are hints: a read starts with the current version and is pinned to it. A reader that has returned
the listed size is pinned to the listed version.
"""

from __future__ import annotations

import contextlib
from io import SEEK_END

import penstock
import pytest
from bucket_io import put
from penstock import ObjectInfo, S3IterableDataset, S3MapDataset
from penstock._streams import GetObjectStream, ObjectSource
from penstock.s3reader import RangedS3Reader
from reader_kinds import KINDS, every_kind

MIB = 1024**2
SIZES = {"none": 0, "smaller": 3, "same": 10, "larger": 5000, "much larger": 9 * MIB + 1}
every_size = pytest.mark.parametrize("size", SIZES)


def content(size):
    return (b"0123456789abcdef\n" * (size // 17 + 1))[:size]


def read_all(reader):
    return reader.read()


def read_pieces(reader):
    return b"".join(iter(lambda: reader.read(4 * MIB), b""))


def read_into(reader):
    memory = bytearray(10 * MIB)
    return bytes(memory[: reader.readinto(memory)])


def read_lines(reader):
    return b"".join(reader)


def seek_and_read(reader):
    reader.seek(2)
    rest = reader.read()
    reader.seek(0)
    return reader.read(2) + rest


USES = [read_all, read_pieces, read_into, read_lines]


def listed(client, bucket):
    return [info for page in client.list_objects(bucket) for info in page.object_info]


def over(cls, emulator, bucket, use, kind):
    return cls.from_prefix(
        f"s3://{bucket}/",
        region="us-east-1",
        endpoint=emulator.endpoint,
        transform=use,
        s3client_config=emulator.config(),
        reader_constructor=KINDS[kind],
    )


@every_kind
@every_size
def test_an_object_overwritten_after_its_listing_is_read_as_it_is_now(emulator, client, bucket, kind, size):
    """A map dataset used to raise S3PreconditionFailedError at every access."""
    put(client, bucket, "k", b"x" * 10)
    uses = USES[:-1] if kind == "range_based(7)" else USES  # lines would need a request per seven bytes
    datasets = [over(S3MapDataset, emulator, bucket, use, kind) for use in uses]
    assert [len(dataset) for dataset in datasets] == [1] * len(uses)
    now = content(SIZES[size])
    put(client, bucket, "k", now)
    for dataset in datasets:
        assert dataset[0] == now
        assert dataset.__getitems__([0, -1]) == [now, now]


@every_kind
@pytest.mark.parametrize("size", ["smaller", "same", "larger"])
def test_a_reader_that_seeks_first_reads_the_object_as_it_is_now(client, bucket, kind, size):
    put(client, bucket, "k", b"x" * 10)
    (info,) = listed(client, bucket)
    now = content(SIZES[size])
    put(client, bucket, "k", now)
    assert seek_and_read(client.get_object(bucket, "k", object_info=info, reader_constructor=KINDS[kind])) == now


@every_kind
@every_size
def test_an_object_overwritten_during_an_iteration_is_read_as_it_is_now(emulator, client, bucket, kind, size):
    keys = [f"{i:03}" for i in range(300)]  # more than are prefetched
    for key in keys:
        put(client, bucket, key, b"x" * 10)
    readers = iter(over(S3IterableDataset, emulator, bucket, lambda reader: reader, kind))
    assert next(readers).read() == b"x" * 10
    put(client, bucket, keys[-1], content(SIZES[size]))
    *_, last = readers
    assert (last.key, last.read()) == (keys[-1], content(SIZES[size]))


@every_kind
def test_an_object_deleted_after_its_listing_is_not_found(emulator, client, bucket, kind):
    put(client, bucket, "k", b"x" * 10)
    dataset = over(S3MapDataset, emulator, bucket, read_all, kind)
    assert len(dataset) == 1
    client.delete_object(bucket, "k")
    with pytest.raises(penstock.S3NotFoundError, match=f"The key does not exist.*s3://{bucket}/k"):
        _ = dataset[0]
    with pytest.raises(penstock.S3NotFoundError, match=f"The key does not exist.*s3://{bucket}/k"):
        dataset.__getitems__([0])


@every_kind
def test_a_reader_that_returned_the_listed_size_reads_that_version_only(client, bucket, kind):
    put(client, bucket, "k", b"x" * 10)
    (info,) = listed(client, bucket)
    put(client, bucket, "k", content(5000))
    reader = client.get_object(bucket, "k", object_info=info, reader_constructor=KINDS[kind])
    assert reader.seek(0, SEEK_END) == 10
    reader.seek(0)
    with pytest.raises(penstock.S3PreconditionFailedError):
        reader.read()


@every_kind
@pytest.mark.parametrize("size", ["smaller", "larger"])
def test_the_size_is_that_of_the_first_response(client, bucket, kind, size):
    put(client, bucket, "k", b"x" * 10)
    (info,) = listed(client, bucket)
    put(client, bucket, "k", content(SIZES[size]))
    reader = client.get_object(bucket, "k", object_info=info, reader_constructor=KINDS[kind])
    assert reader.read(2) == b"01"
    assert reader.seek(0, SEEK_END) == SIZES[size]
    assert reader.seek(SIZES[size] + 7) == SIZES[size]
    assert reader.seek(-1, SEEK_END) == SIZES[size] - 1
    assert reader.read() == content(SIZES[size])[-1:]


@every_kind
def test_a_started_read_is_pinned_to_its_version(client, bucket, kind):
    put(client, bucket, "k", b"x" * 10)
    (info,) = listed(client, bucket)
    put(client, bucket, "k", b"a" * (20 * MIB))
    reader = client.get_object(bucket, "k", object_info=info, reader_constructor=KINDS[kind])
    assert reader.read(3) == b"aaa"
    put(client, bucket, "k", b"b" * (20 * MIB))
    got = b"aaa"
    with contextlib.suppress(penstock.S3PreconditionFailedError):  # not raised if all requests were in flight
        while piece := reader.read(3 * MIB):
            got += piece
        assert len(got) == 20 * MIB
    assert set(got) == {ord("a")}


@pytest.mark.parametrize("buffer_size", [None, 0, 5])
@pytest.mark.parametrize("use", ["read", "readinto"])
def test_a_ranged_reader_over_independent_streams_reads_one_version(client, bucket, buffer_size, use):
    """The second stream used to have no ETag, and the reader returned a mix of both versions."""
    put(client, bucket, "k", b"a" * 100)

    def get_stream(start=None, end=None):
        return GetObjectStream(client._client, ObjectSource(bucket, "k"), start, end, None, None)

    reader = RangedS3Reader(bucket, "k", lambda: ObjectInfo("k", "", 100, 0), get_stream, buffer_size)
    if buffer_size is None:
        reader._buffer_size = reader._DIRECT_READ_BYTES = 20
    assert reader.read(10) == b"a" * 10
    put(client, bucket, "k", b"b" * 100)
    with pytest.raises(penstock.S3PreconditionFailedError):
        reader.read(50) if use == "read" else reader.readinto(bytearray(50))


def test_a_range_based_reader_seeks_beyond_the_listed_size(client, bucket):
    put(client, bucket, "k", content(100))
    (info,) = listed(client, bucket)
    for size in (5000, 20):
        put(client, bucket, "k", content(size))
        for buffer_size in (0, 7, None):
            reader = client.get_object(
                bucket, "k", object_info=info, reader_constructor=penstock.S3ReaderConstructor.range_based(buffer_size)
            )
            assert reader.seek(150) == min(150, size)
            assert reader.read(10) == content(size)[150:160]
            assert reader.seek(0, SEEK_END) == size
