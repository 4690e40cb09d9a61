"""The core's RangeReader: scattered ranges into memory that Python owns."""

from __future__ import annotations

import array
import ctypes
import random
import weakref

import penstock
import pytest
from bucket_io import put
from penstock import _core
from penstock.testing import Emulator


class Memory(bytearray):
    """A bytearray that supports weak references."""


def address_of(memory: bytearray) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def pieces_of(memory: bytearray, extents: list[tuple[int, int]]) -> array.array[int]:
    """Triples that put each (begin, size) at the same place of `memory` as in the object."""
    base = address_of(memory)
    return array.array("Q", [number for begin, size in extents for number in (begin, base + begin, size)])


def reader_of(client: penstock.S3Client, **options: int) -> _core.RangeReader:
    return _core.RangeReader(client._client, **options)


def test_ranges_of_many_objects_are_received_in_their_memory(client: penstock.S3Client, bucket: str) -> None:
    generator = random.Random(1)
    reader = reader_of(client, max_request=100_000)
    contents: dict[int, bytes] = {}
    memory: dict[int, bytearray] = {}
    extents: dict[int, list[tuple[int, int]]] = {}
    for token in range(10):
        contents[token] = generator.randbytes(500_000)
        put(client, bucket, f"key {token}", contents[token])
        memory[token] = bytearray(500_000)
        cuts = sorted(generator.sample(range(500_000), 20))
        extents[token] = [(begin, end - begin) for begin, end in zip(cuts[::2], cuts[1::2], strict=True)]
        reader.start(bucket, f"key {token}", pieces_of(memory[token], extents[token]), memory[token], token)
    ended = {}
    while (batch := reader.next()) is not None:
        token, etag, error = batch
        assert error is None
        ended[token] = etag
    assert ended == {token: client.head_object(bucket, f"key {token}").etag.strip('"') for token in range(10)}
    for token in range(10):
        for begin, size in extents[token]:
            assert memory[token][begin : begin + size] == contents[token][begin : begin + size]
    usage = reader.usage()
    assert usage["bytes_wanted"] == sum(size for each in extents.values() for _, size in each)
    assert usage["bytes_asked"] >= usage["bytes_wanted"]


def test_a_missing_object_is_an_error_of_its_batch(client: penstock.S3Client, bucket: str) -> None:
    memory = bytearray(10)
    reader = reader_of(client)
    reader.start(bucket, "missing", pieces_of(memory, [(0, 10)]), memory, 7)
    batch = reader.next()
    assert batch is not None
    token, _, error = batch
    assert token == 7
    assert isinstance(error, penstock.S3Exception)
    assert str(error).startswith("Service error: The key does not exist")
    assert reader.next() is None


def test_memory_is_kept_alive_until_the_end_of_its_batch(emulator: Emulator, client: penstock.S3Client, bucket: str) -> None:
    put(client, bucket, "large", bytes(20_000_000))
    for _ in range(5):
        reader = reader_of(client)
        memory = Memory(20_000_000)
        gone = weakref.ref(memory)
        reader.start(bucket, "large", pieces_of(memory, [(0, 20_000_000)]), memory, 1)
        del memory
        assert gone() is not None
        del reader  # waits for requests in flight
        assert gone() is None


def test_a_cancelled_batch_is_an_error(client: penstock.S3Client, bucket: str) -> None:
    put(client, bucket, "large", bytes(5_000_000))
    reader = reader_of(client, max_request=1000, parallel=1)
    memory = bytearray(5_000_000)
    reader.start(bucket, "large", pieces_of(memory, [(0, 5_000_000)]), memory, 1)
    reader.cancel()
    batch = reader.next()
    assert batch is not None
    assert batch[2] is not None


def test_wrong_arguments_are_refused(client: penstock.S3Client, bucket: str) -> None:
    reader = reader_of(client)
    with pytest.raises(ValueError, match="whole triples"):
        reader.start(bucket, "key", b"1234567", None, 1)
    with pytest.raises(TypeError, match="parallel must be int or None, not str"):
        reader_of(client, parallel="two")  # type: ignore[arg-type]


def test_overlapping_ranges_are_fetched_once(client: penstock.S3Client, bucket: str) -> None:
    content = random.Random(2).randbytes(100_000)
    put(client, bucket, "key", content)
    one, two = bytearray(60_000), bytearray(60_000)
    pieces = array.array("Q", [30_000, address_of(two), 60_000, 0, address_of(one), 60_000])
    reader = reader_of(client)
    reader.start(bucket, "key", pieces, (one, two), 1)
    batch = reader.next()
    assert batch is not None
    assert batch[2] is None
    assert (one, two) == (content[:60_000], content[30_000:90_000])
    assert reader.usage()["bytes_asked"] == 90_000
