"""penstock.aio: readers compare what they return with the checksum of the object, whatever the reads; progress callbacks."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable
from typing import Any

import penstock
import pytest
from penstock import aio
from penstock.aio import _verification
from penstock.testing import Emulator

MIB = 1024**2
SIZE = 20 * MIB + 5


@pytest.fixture
def aio_client(emulator: Emulator) -> aio.S3Client:
    return aio.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=emulator.config())


@pytest.fixture(scope="module")
def data() -> bytes:
    return random.Random(1).randbytes(SIZE)


@pytest.fixture(params=["crc64nvme", "crc32", "crc32c"])
def algorithm(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def wrong_crc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every CRC that the reader computes is wrong, so a comparison fails."""
    crc = _verification._core.prefix_crc
    monkeypatch.setattr(_verification._core, "prefix_crc", lambda *arguments: crc(*arguments) ^ 1)


async def whole(reader: aio.ObjectReader, way: str) -> bytes:
    """Reads to the end in one of several ways."""
    if way == "blocks":
        return b"".join([block async for block in reader])
    if way == "small":
        pieces = []
        while piece := await reader.read(1_000_003):
            pieces.append(piece)
        return b"".join(pieces)
    if way == "readinto":
        buffer = bytearray(SIZE + 3)
        count = await reader.readinto(buffer)
        assert await reader.readinto(bytearray(5)) == 0
        return bytes(buffer[:count])
    if way == "parts and readinto":
        head = await reader.read(8 * MIB)
        reader._forget()  # nothing is prefetched, so the rest is received into the buffer
        buffer = bytearray(SIZE)
        count = await reader.readinto(buffer)
        return head + bytes(buffer[:count])
    if way == "exact readintos":
        buffer = bytearray(SIZE)
        view = memoryview(buffer)
        filled = 0
        while count := await reader.readinto(view[filled : filled + 9 * MIB]):
            filled += count
        return bytes(buffer)
    return await reader.read(10) + await reader.read()


WAYS = ["blocks", "small", "readinto", "parts and readinto", "exact readintos", "read"]


@pytest.mark.parametrize("way", WAYS)
def test_a_whole_object_is_compared(
    emulator: Emulator, client: penstock.S3Client, aio_client: aio.S3Client, bucket: str, data: bytes, algorithm: str, way: str
) -> None:
    client.put(bucket, "k", data, checksum_algorithm=algorithm)

    async def main() -> None:
        async with aio_client.get_object(bucket, "k") as reader:
            assert await whole(reader, way) == data
            assert reader._verification is None  # compared

    asyncio.run(main())
    heads = [entry for entry in emulator.journal().entries() if entry.operation == "HeadObject" and entry.bucket == bucket]
    assert len(heads) == 1


@pytest.mark.parametrize("way", WAYS)
def test_damage_raises_before_the_last_bytes_are_returned(
    client: penstock.S3Client, aio_client: aio.S3Client, bucket: str, data: bytes, way: str, wrong_crc: None
) -> None:
    client.put(bucket, "k", data)

    async def main() -> None:
        reader = aio_client.get_object(bucket, "k")
        with pytest.raises(penstock.S3DataLossError):
            await whole(reader, way)
        with pytest.raises(penstock.S3DataLossError):  # the error stays
            await reader.read(1)

    asyncio.run(main())


def damaging(read: Callable[..., Any]) -> Callable[..., Any]:
    """Changes one byte of the next response."""
    calls = itertools.count()

    async def damage(response: Any) -> tuple[bytes, Any]:
        data, metadata = await response
        return bytes([data[0] ^ 1]) + data[1:], metadata

    def damaged(*arguments: Any, **options: Any) -> Any:
        response = read(*arguments, **options)
        return response if next(calls) else asyncio.ensure_future(damage(response))

    return damaged


@pytest.mark.parametrize("damaged", [False, True])
@pytest.mark.parametrize("way", ["read", "readinto", "blocks"])
def test_an_object_is_compared_also_after_a_cancelled_read(
    emulator: Emulator,
    client: penstock.S3Client,
    aio_client: aio.S3Client,
    bucket: str,
    data: bytes,
    way: str,
    damaged: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client.put(bucket, "k", data)
    when = {"operation": "GetObject", "bucket": bucket, "range": {"first": f">={8 * MIB}"}}

    async def main() -> None:
        reader = aio_client.get_object(bucket, "k")
        first = await reader.read(3 * MIB + 1)
        emulator.faults().set([{"id": "later", "when": when, "do": {"stall": {"ms": 60_000}}}])
        reader._forget()  # what was prefetched before the fault
        calls: dict[str, Any] = {
            "read": lambda: reader.read(12 * MIB),
            "readinto": lambda: reader.readinto(bytearray(12 * MIB)),
            "blocks": lambda: whole(reader, "blocks"),
        }
        task = asyncio.ensure_future(calls[way]())
        reached = 8 * MIB if way == "blocks" else 3 * MIB + 1
        while emulator.faults().account().rule("later").fired == 0 or reader.tell() < reached:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        emulator.faults().clear()
        assert reader.tell() == reached
        if damaged:
            monkeypatch.setattr(aio_client, "_read", damaging(aio_client._read))
            with pytest.raises(penstock.S3DataLossError):
                await reader.read()
            return
        rest = await reader.read()
        assert data.endswith(rest)
        assert way == "blocks" or first + rest == data
        assert reader._verification is None  # compared

    try:
        asyncio.run(main())
    finally:
        emulator.faults().clear()


def test_ranges_and_objects_without_checksum_are_not_compared(
    emulator: Emulator, client: penstock.S3Client, aio_client: aio.S3Client, bucket: str, data: bytes, wrong_crc: None
) -> None:
    client.put(bucket, "k", data)
    emulator.client(penstock.S3ClientConfig(upload_checksums="when_required")).put(
        bucket, "sha", data, checksum_algorithm="sha256"
    )

    async def main() -> None:
        assert await aio_client.get_object(bucket, "k", range=(1, None)).read(SIZE) == data[1:]
        for way in WAYS:
            assert await whole(aio_client.get_object(bucket, "sha"), way) == data

    asyncio.run(main())


def test_an_object_of_one_part_takes_one_request(
    emulator: Emulator, client: penstock.S3Client, aio_client: aio.S3Client, bucket: str, data: bytes
) -> None:
    small = data[: 5 * MIB]
    client.put(bucket, "k", small)

    async def main() -> None:
        for way in ("blocks", "small", "readinto"):
            before = sum(aio_client.metrics()["requests"].values())
            assert await whole(aio_client.get_object(bucket, "k"), way) == small
            assert sum(aio_client.metrics()["requests"].values()) == before + 1

    asyncio.run(main())


# ---- progress


@pytest.mark.parametrize("way", WAYS)
def test_progress_of_a_reader(client: penstock.S3Client, aio_client: aio.S3Client, bucket: str, data: bytes, way: str) -> None:
    client.put(bucket, "k", data)
    reports: list[tuple[int, int | None]] = []

    async def main() -> None:
        reader = aio_client.get_object(bucket, "k", progress=lambda *report: reports.append(report))
        assert await whole(reader, way) == data

    asyncio.run(main())
    assert reports[-1][0] >= SIZE  # bytes that are fetched twice count twice
    assert {total for _, total in reports} == {SIZE}
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)


def test_an_exception_of_progress_ends_the_read(client: penstock.S3Client, aio_client: aio.S3Client, bucket: str) -> None:
    client.put(bucket, "k", b"hello")

    def fail(done: int, total: int | None) -> None:
        raise ValueError("planted")

    async def main() -> None:
        with pytest.raises(ValueError, match="planted"):
            await aio_client.get_object(bucket, "k", progress=fail).read()

    asyncio.run(main())


@pytest.mark.parametrize("size", [0, 10, SIZE])
def test_progress_of_a_writer(aio_client: aio.S3Client, bucket: str, data: bytes, size: int) -> None:
    reports: list[tuple[int, int | None]] = []

    async def main() -> None:
        async with aio_client.put_object(bucket, "k", progress=lambda *report: reports.append(report)) as writer:
            await writer.write(data[:size])
        assert await aio_client.get_object(bucket, "k").read() == data[:size]

    asyncio.run(main())
    assert reports[-1] == (size, size)
    assert reports[:-1] == ([(8 * MIB, None), (16 * MIB, None)] if size == SIZE else [])


def test_an_exception_of_progress_aborts_an_upload(
    client: penstock.S3Client, aio_client: aio.S3Client, bucket: str, data: bytes
) -> None:
    def fail(done: int, total: int | None) -> None:
        raise ValueError("planted")

    async def main() -> None:
        with pytest.raises(ValueError, match="planted"):
            async with aio_client.put_object(bucket, "k", progress=fail) as writer:
                await writer.write(data)
        with pytest.raises(penstock.S3NotFoundError):
            await aio_client.head(bucket, "k")
        assert (await aio_client.list_multipart_uploads(bucket)).uploads == []

    asyncio.run(main())


def test_progress_must_be_callable(aio_client: aio.S3Client, bucket: str) -> None:
    with pytest.raises(TypeError, match="progress must be a callable or None, not int"):
        aio_client.get_object(bucket, "k", progress=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="progress must be a callable or None, not int"):
        aio_client.put_object(bucket, "k", progress=5)  # type: ignore[arg-type]
