"""The checksums of objects whose first part a dataset prefetches and whose rest it reads by ranges are verified."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import penstock
import pytest
from penstock import S3ClientConfig, S3IterableDataset, S3MapDataset, S3ReaderConstructor
from penstock.testing import Emulator

MIB = 1024**2
PART = 5 * MIB
DATA = random.Random(8).randbytes(3 * PART + 77)
SMALL = b"small"


@pytest.fixture
def own_emulator() -> Iterator[Emulator]:
    with Emulator() as emulator:
        client = emulator.client(S3ClientConfig(part_size=PART))
        client.create_bucket("data")
        for key, data in (("large", DATA), ("small", SMALL)):
            with client.put_object("data", key) as writer:
                writer.write(data)
        yield emulator


def dataset(emulator: Emulator, kind: Any = S3IterableDataset, listed: bool = True) -> Any:
    config = emulator.config(S3ClientConfig(part_size=PART, max_attempts=2))
    arguments = {"region": "us-east-1", "endpoint": emulator.endpoint, "s3client_config": config}
    if listed:
        return kind.from_prefix("s3://data/", **arguments)
    return kind.from_objects(["s3://data/large", "s3://data/small"], **arguments)


def in_pieces(reader: Any, size: int) -> bytes:
    return b"".join(iter(lambda: reader.read(size), b""))


def into_memory(reader: Any) -> bytes:
    memory = bytearray(4 * PART)
    count = 0
    while more := reader.readinto(memoryview(memory)[count:]):
        count += more
    return bytes(memory[:count])


def into_one_memory(reader: Any) -> bytes:
    memory = bytearray(reader.seek(0, 2))
    reader.seek(0)
    assert reader.readinto(memory) == len(memory)
    return bytes(memory)


READINGS: dict[str, Callable[[Any], bytes]] = {
    "whole": lambda reader: reader.read(),
    "pieces": lambda reader: in_pieces(reader, 300_001),
    "large pieces": lambda reader: in_pieces(reader, 7 * MIB),
    "pieces above the limit of direct reads": lambda reader: in_pieces(reader, 9 * MIB),
    "begin and rest": lambda reader: reader.read(10) + reader.read(),
    "first part and rest": lambda reader: reader.read(PART) + reader.read(),
    "several parts and rest": lambda reader: reader.read(PART + 10) + reader.read(PART) + reader.read(),
    "into memory": into_memory,
    "into memory of its size": into_one_memory,
}


def prefetched(reader: Any) -> Any:
    reader.prefetch()
    return reader


def of_known_size(reader: Any) -> Any:
    """The size comes from a HEAD request."""
    assert reader.seek(0, 2) == len(DATA)
    reader.seek(0)
    return reader


def after_a_read_elsewhere(reader: Any) -> Any:
    """The size comes from the response to a range, which has no checksum."""
    reader.seek(len(DATA) - 10)
    reader.read()
    reader.seek(0)
    return reader


BEGINNINGS: dict[str, Callable[[Any], Any]] = {
    "new": lambda reader: reader,
    "prefetched": prefetched,
    "of known size": of_known_size,
    "after a read elsewhere": after_a_read_elsewhere,
}


def flip_bits(emulator: Emulator, offset: int = 5, **when: Any) -> None:
    """Flips a bit in every response with bytes of the object, or only in the ones given by `when`."""
    flip = {
        "when": {"operation": "GetObject", "key": "large", **when},
        "do": {"corrupt": {"mode": "flip-bit"}, "at": f"body_out@{offset}"},
    }
    emulator.faults().set([{**flip, "must_fire": False}])


def opened(emulator: Emulator, beginning: str) -> Any:
    client = emulator.client(S3ClientConfig(part_size=PART, max_attempts=2))
    return BEGINNINGS[beginning](client.get_object("data", "large"))


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_every_full_read_of_a_reader_is_verified(own_emulator, beginning, reading):
    """A read() of the rest, and pieces of an object of known size, used to be returned without a comparison."""
    assert READINGS[reading](opened(own_emulator, beginning)) == DATA
    flip_bits(own_emulator)
    with pytest.raises(penstock.S3DataLossError, match="have CRC64NVME"):
        READINGS[reading](opened(own_emulator, beginning))


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_wrong_byte_of_one_response_is_never_returned_with_the_last_byte(own_emulator, beginning, reading):
    for nth in range(1, 7):
        flip_bits(own_emulator, nth=nth)
        try:
            read = READINGS[reading](opened(own_emulator, beginning))
        except penstock.S3DataLossError:
            continue
        assert read == DATA, nth


def test_a_full_read_is_verified_after_an_exception_of_a_progress_callback(own_emulator, monkeypatch):
    """The bytes before the exception used to be missing from the comparison."""

    def read(size: int) -> bytes:
        calls = iter(range(10**6))

        def report(done: int, total: int | None) -> None:
            if next(calls) == 1:
                raise ValueError("mine")

        client = own_emulator.client(S3ClientConfig(part_size=PART, max_attempts=2))
        reader, pieces = client.get_object("data", "large", progress=report), []
        while not pieces or pieces[-1]:
            with contextlib.suppress(ValueError):
                pieces.append(reader.read(size))
        return b"".join(pieces)

    monkeypatch.setattr("penstock._progress.INTERVAL", 0.0)
    for size in (300_001, 2 * MIB, 9 * MIB):
        own_emulator.faults().clear()
        assert read(size) == DATA
        flip_bits(own_emulator)
        with pytest.raises(penstock.S3DataLossError, match="have CRC64NVME"):
            read(size)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("kind", [S3IterableDataset, S3MapDataset])
@pytest.mark.parametrize("listed", [True, False])
def test_intact_objects_are_read(own_emulator, listed, kind, reading):
    objects = dataset(own_emulator, kind, listed)
    after = own_emulator.journal().last
    readers = iter(objects) if kind is S3IterableDataset else iter(objects.__getitems__([0, 1]))
    assert {reader.key: READINGS[reading](reader) for reader in readers} == {"large": DATA, "small": SMALL}
    heads = own_emulator.journal().entries(after=after, operations="HeadObject")
    assert [entry.key for entry in heads] == ["large"]


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("kind", [S3IterableDataset, S3MapDataset])
@pytest.mark.parametrize("listed", [True, False])
def test_a_wrong_byte_is_detected(own_emulator, listed, kind, reading):
    """The wrong byte used to be returned to the reader."""
    flip_bits(own_emulator)
    objects = dataset(own_emulator, kind, listed)
    readers = iter(objects) if kind is S3IterableDataset else iter(objects.__getitems__([0, 1]))
    reader = next(reader for reader in readers if reader.key == "large")
    with pytest.raises(penstock.S3DataLossError, match="received bytes have CRC64NVME"):
        READINGS[reading](reader)


def test_a_wrong_byte_is_detected_by_readinto_of_the_whole_object(own_emulator):
    """A reader that knew the size used to request a range, and S3 returns no checksum for a range."""
    own_emulator.faults().set(
        [{"when": {"operation": "GetObject", "key": "large"}, "do": {"corrupt": {"mode": "flip-bit"}, "at": "body_out@5"}}]
    )
    reader = own_emulator.client(S3ClientConfig(part_size=PART, max_attempts=2)).get_object("data", "large")
    with pytest.raises(penstock.S3DataLossError, match="CRC64NVME"):
        into_one_memory(reader)


RANGED = {
    "default buffer": S3ReaderConstructor.range_based(),
    "buffer of 1 MiB": S3ReaderConstructor.range_based(MIB),
}


def listed_reader(emulator: Emulator, key: str, constructor: Any) -> Any:
    config = emulator.config(S3ClientConfig(part_size=PART, max_attempts=2))
    objects = S3IterableDataset.from_prefix(
        f"s3://data/{key}", region="us-east-1", endpoint=emulator.endpoint, s3client_config=config, reader_constructor=constructor
    )
    return next(iter(objects))


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("constructor", RANGED.values(), ids=RANGED)
def test_a_range_based_reader_of_a_listed_object_is_verified(own_emulator, constructor, reading):
    """No response to a range has the checksum, so these reads used to be returned without a comparison."""
    after = own_emulator.journal().last
    assert READINGS[reading](listed_reader(own_emulator, "large", constructor)) == DATA
    assert own_emulator.journal().count(after=after, operations="HeadObject") <= 1
    flip_bits(own_emulator)
    with pytest.raises(penstock.S3DataLossError, match="have CRC64NVME"):
        READINGS[reading](listed_reader(own_emulator, "large", constructor))


@pytest.mark.parametrize("reading", READINGS)
def test_a_range_based_reader_of_a_small_listed_object_sends_one_request(own_emulator, reading):
    after = own_emulator.journal().last
    assert READINGS[reading](listed_reader(own_emulator, "small", S3ReaderConstructor.range_based())) == SMALL
    assert [entry.operation for entry in own_emulator.journal().entries(after=after)] == ["ListObjectsV2", "GetObject"]
    flip_bits(own_emulator, offset=2, key="small")
    with pytest.raises(penstock.S3DataLossError, match="have CRC64NVME"):
        READINGS[reading](listed_reader(own_emulator, "small", S3ReaderConstructor.range_based()))


def test_a_range_based_reader_of_the_start_of_a_listed_object_sends_no_head_request(own_emulator):
    after = own_emulator.journal().last
    reader = listed_reader(own_emulator, "large", S3ReaderConstructor.range_based())
    assert reader.read(100) + reader.read(100) == DATA[:200]
    # On a slow machine several requests fill the buffer.
    assert {entry.operation for entry in own_emulator.journal().entries(after=after)} == {"ListObjectsV2", "GetObject"}


def test_a_range_based_reader_reads_no_more_than_its_buffer_of_an_object_that_has_grown(own_emulator):
    reader = listed_reader(own_emulator, "small", S3ReaderConstructor.range_based(MIB))
    own_emulator.client().copy_object("data", "large", "data", "small")
    after = own_emulator.journal().last
    assert reader.read(10) == DATA[:10]
    assert in_pieces(reader, MIB) == DATA[10:]
    assert own_emulator.journal().count(after=after, operations="GetObject") > 10


def test_head_requests_stop_if_they_return_no_checksum(own_emulator, monkeypatch):
    monkeypatch.setenv("AWS_RESPONSE_CHECKSUM_VALIDATION", "when_required")
    client = own_emulator.client(S3ClientConfig(part_size=PART))
    for number in range(30):
        client.copy_object("data", "large", "data", f"large-{number}")
    after = own_emulator.journal().last
    assert sum(reader.read() == DATA for reader in dataset(own_emulator)) == 31
    assert 8 <= own_emulator.journal().count(after=after, operations="HeadObject") < 31


def test_a_failed_head_request_does_not_fail_the_read(own_emulator):
    own_emulator.faults().set(
        [{"when": {"operation": "HeadObject"}, "do": {"error": {"status": 404, "code": "NoSuchKey"}, "at": "headers"}}]
    )
    assert {reader.key: reader.read() for reader in dataset(own_emulator)} == {"large": DATA, "small": SMALL}
