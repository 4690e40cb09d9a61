"""Progress callbacks that use the reader or writer that calls them: an error or no effect, never a hang or wrong bytes."""

from __future__ import annotations

from collections.abc import Callable

import penstock
import pytest
from bucket_io import get, put
from penstock.s3reader import DCPOptimizedS3Reader, ItemRange, S3ReaderConstructor
from penstock.testing import Emulator

PART = 5 << 20
SIZE = 8 * PART
SLOW_PARTS = [{"when": {"operation": "UploadPart"}, "do": {"stall": {"ms": 300}, "at": "before_commit"}}]


@pytest.fixture
def slow_bucket():
    """A client and a bucket where each part takes 0.3 s, so that callbacks run during `write`."""
    with Emulator(faults=SLOW_PARTS) as emulator:
        client = emulator.client(penstock.S3ClientConfig(part_size=PART, throughput_target_gbps=0.4))
        client.create_bucket("slow")
        yield client, "slow"


def use_writer(writer: penstock.S3Writer, call: str) -> None:
    writer.write(bytes(100)) if call == "write" else writer.close()


@pytest.mark.parametrize("call", ["write", "close"])
def test_a_progress_callback_that_uses_its_writer_raises_value_error(slow_bucket, call: str):
    client, bucket = slow_bucket
    calls: list[int] = []

    def use(done: int, total: int | None) -> None:
        calls.append(done)
        use_writer(writer, call)

    writer = client.put_object(bucket, "k", progress=use)
    with pytest.raises(ValueError, match=rf"{call}\(\) was called by a progress callback"), writer:
        writer.write(bytes(SIZE))
    assert calls
    with pytest.raises(penstock.S3Exception):
        get(client, bucket, "k")
    assert client._client.list_multipart_uploads(bucket) == []


@pytest.mark.parametrize("call", ["write", "close"])
def test_a_rejected_call_in_a_progress_callback_has_no_effect(slow_bucket, call: str):
    client, bucket = slow_bucket
    refused: list[int] = []

    def use(done: int, total: int | None) -> None:
        with pytest.raises(ValueError, match=r"no effect|closed file"):
            use_writer(writer, call)
        refused.append(done)

    data = bytes(range(251)) * (SIZE // 251)
    with client.put_object(bucket, "k", progress=use) as writer:
        for at in range(0, len(data), 1_000_003):
            writer.write(data[at : at + 1_000_003])
    assert len(refused) > 1
    assert get(client, bucket, "k") == data


@pytest.mark.parametrize("nth", [1, 2, 5])
def test_a_callback_may_abort_its_upload(slow_bucket, nth: int):
    client, bucket = slow_bucket
    calls: list[int] = []

    def give_up(done: int, total: int | None) -> None:
        calls.append(done)
        if len(calls) == nth:
            writer.abort()

    writer = client.put_object(bucket, "k", progress=give_up)
    with pytest.raises((penstock.S3Exception, ValueError)):
        for _ in range(SIZE // 1_000_000):
            writer.write(bytes(1_000_000))
        writer.close()
    assert writer.closed
    with pytest.raises(penstock.S3Exception):
        get(client, bucket, "k")
    assert client._client.list_multipart_uploads(bucket) == []


@pytest.mark.parametrize("call", ["write", "close", "abort"])
def test_the_last_progress_call_is_made_after_the_upload(client, bucket, call: str):
    calls: list[int] = []

    def use(done: int, total: int | None) -> None:
        calls.append(done)
        if call == "abort":
            writer.abort()
            return
        with pytest.raises(ValueError, match=f"{call}|closed"):
            use_writer(writer, call)

    writer = client.put_object(bucket, "k", progress=use)
    writer.write(bytes(1000))
    writer.close()
    assert calls == [1000]
    assert get(client, bucket, "k") == bytes(1000)


@pytest.mark.parametrize(
    "read",
    [
        lambda reader: reader.read(),
        lambda reader: reader.read(10_000_000),
        lambda reader: reader.readinto(bytearray(10_000_000)),
    ],
    ids=["all", "some", "into"],
)
def test_a_progress_callback_that_reads_its_reader_raises_or_has_no_effect(client, bucket, monkeypatch, read: Callable):
    monkeypatch.setattr("penstock._progress.INTERVAL", 0.0)  # a call for every block
    data = bytes(range(251)) * 80_000
    put(client, bucket, "k", data)
    kinds: list[str] = []

    def use(done: int, total: int | None) -> None:
        if not kinds:
            kinds.append("called")
            reader.seek(0, 2)
            reader.read(1000)

    reader = client.get_object(bucket, "k", reader_constructor=S3ReaderConstructor.sequential(), progress=use)
    try:
        read(reader)
    except RuntimeError as error:
        assert "progress callback" in str(error)
    assert kinds
    reader.seek(0)
    assert reader.read() == data


class Planted(Exception):
    pass


ITEMS = [ItemRange(0, 3_000_000), ItemRange(3_000_000, 9_000_000), ItemRange(9_000_000, 16_064_000)]


def read_twice(reader, size: int | None) -> bytes:
    """Reads, and repeats the read after an exception of the callback."""
    position = reader.tell()
    try:
        return reader.read(size)
    except Planted:
        assert reader.tell() == position
        return reader.read(size)


def in_items(reader) -> bytes:
    pieces = []
    for item in ITEMS:
        reader.seek(item.start)
        pieces.append(read_twice(reader, item.end - item.start))
    return b"".join(pieces)


def in_pieces(reader) -> bytes:
    return b"".join(iter(lambda: read_twice(reader, 3_000_000), b""))


def at_once(reader) -> bytes:
    return read_twice(reader, None)


def item_reader(bucket: str, key: str, get_object_info: Callable, get_stream: Callable) -> DCPOptimizedS3Reader:
    return DCPOptimizedS3Reader(bucket, key, ITEMS, get_object_info, get_stream)


@pytest.mark.parametrize("call", [1, 2, 5, 12])
@pytest.mark.parametrize(
    ("constructor", "read"),
    [
        (S3ReaderConstructor.default(), in_pieces),
        (S3ReaderConstructor.default(), at_once),
        (S3ReaderConstructor.sequential(), in_pieces),
        (S3ReaderConstructor.sequential(), at_once),
        (S3ReaderConstructor.range_based(), in_pieces),
        (S3ReaderConstructor.range_based(), at_once),
        (item_reader, in_items),
    ],
    ids=["default", "default-all", "sequential", "sequential-all", "ranged", "ranged-all", "items"],
)
def test_a_repeated_read_after_an_exception_of_the_callback_returns_the_same_bytes(
    client, bucket, monkeypatch, constructor, read, call: int
):
    monkeypatch.setattr("penstock._progress.INTERVAL", 0.0)  # a call for every block
    data = bytes(range(251)) * 64_000
    put(client, bucket, "k", data)
    calls: list[int] = []

    def fail_once(done: int, total: int | None) -> None:
        calls.append(done)
        if len(calls) == call:
            raise Planted

    assert read(client.get_object(bucket, "k", reader_constructor=constructor, progress=fail_once)) == data
    assert calls
