"""penstock.aio: requests, readers, writers and listings on an event loop."""

from __future__ import annotations

import asyncio
import pickle
import sys
import threading
import warnings
from contextlib import AsyncExitStack, aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import penstock
import pytest
from forked import in_child
from penstock import aio
from penstock.requests import ObjectToDelete

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from penstock.testing import Emulator

MIB = 1024**2


@pytest.fixture
def aio_client(emulator: Emulator) -> aio.S3Client:
    return aio.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=emulator.config())


def pattern(size: int) -> bytes:
    return bytes(i * 7 % 251 for i in range(4096)) * (size // 4096 + 1)


def object_of(size: int) -> bytes:
    return pattern(size)[:size]


def test_put_and_get_return_the_results_of_the_blocking_client(
    client: penstock.S3Client, aio_client: aio.S3Client, bucket: str
) -> None:
    async def main() -> None:
        stored = await aio_client.put(bucket, "k", b"hello", content_type="text/plain", metadata={"a": "b"})
        found = await aio_client.get(bucket, "k", range=(1, 3))
        assert (found.body, found.metadata.etag, found.metadata.metadata) == (b"el", stored.etag, {"a": "b"})
        assert found == client.get(bucket, "k", range=(1, 3))
        assert await aio_client.head(bucket, "k") == client.head(bucket, "k")
        assert await aio_client.head_object(bucket, "k") == client.head_object(bucket, "k")

    asyncio.run(main())


def test_a_pickled_client_is_a_client_with_the_same_settings(aio_client: aio.S3Client, bucket: str) -> None:
    async def main() -> None:
        await aio_client.put(bucket, "k", b"hello")
        copied = pickle.loads(pickle.dumps(aio_client))
        assert (await copied.get(bucket, "k")).body == b"hello"

    asyncio.run(main())


def test_get_fills_a_buffer(aio_client: aio.S3Client, bucket: str) -> None:
    async def main() -> None:
        await aio_client.put(bucket, "k", b"hello")
        buffer = bytearray(8)
        assert (await aio_client.get(bucket, "k", buffer=buffer)).body == b"hello"
        assert buffer == b"hello\0\0\0"

    asyncio.run(main())


def test_requests_of_buckets_objects_and_uploads(aio_client: aio.S3Client, bucket: str) -> None:
    async def main() -> None:
        await aio_client.create_bucket(bucket)  # owned already
        assert bucket in [each.name for each in await aio_client.list_buckets()]
        await aio_client.put(bucket, "a", b"1")
        await aio_client.copy(bucket, "a", bucket, "b")
        await aio_client.copy_object(bucket, "a", bucket, "c")
        deleted = await aio_client.delete_objects(bucket, ["a", ObjectToDelete("b")])
        assert [each.key for each in deleted.deleted] == ["a", "b"]
        await aio_client.delete_object(bucket, "c")
        upload = await aio_client.create_multipart_upload(bucket, "m")
        part = await aio_client.upload_part(bucket, "m", upload, 1, b"part")
        await aio_client.complete_multipart_upload(bucket, "m", upload, [part])
        assert [info.key async for info in aio_client.list_objects(bucket).objects()] == ["m"]

    asyncio.run(main())


def test_presigned_urls_equal_those_of_the_blocking_client(
    client: penstock.S3Client, aio_client: aio.S3Client, bucket: str
) -> None:
    def without_time(url: str) -> str:
        return url.partition("X-Amz-Date")[0]

    url = asyncio.run(aio_client.presign("get", bucket, "k")).url
    assert without_time(url) == without_time(client.presign("get", bucket, "k").url)


@pytest.mark.parametrize(
    "call",
    [
        lambda client, bucket: client.get(bucket, "none"),
        lambda client, bucket: client.head(bucket, "none"),
        lambda client, bucket: client.put(bucket, "k", b"", if_match="0"),
        lambda client, bucket: client.put(bucket, "k", "text"),
        lambda client, bucket: client.get(bucket, "k", range=(3, 1)),
        lambda client, bucket: client.delete_bucket("no-such-bucket"),
    ],
)
def test_errors_are_those_of_the_blocking_client(
    client: penstock.S3Client, aio_client: aio.S3Client, bucket: str, call: Callable[[Any, str], Any]
) -> None:
    with pytest.raises(Exception) as blocking:
        call(client, bucket)

    async def main() -> None:
        await call(aio_client, bucket)

    with pytest.raises(type(blocking.value)) as awaited:
        asyncio.run(main())
    assert type(awaited.value) is type(blocking.value)
    for name in ("code", "status", "operation", "bucket", "key", "attempts"):
        assert getattr(awaited.value, name, None) == getattr(blocking.value, name, None)


# ---- readers


@pytest.mark.parametrize("size", [0, 1, 100_000, 3 * MIB + 1])
def test_reader_reads_everything(client: penstock.S3Client, emulator: Emulator, bucket: str, size: int) -> None:
    data = object_of(size)
    client.put(bucket, "k", data)
    config = emulator.config(penstock.S3ClientConfig(part_size=5 * MIB))
    aio_client = aio.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=config)

    async def main() -> None:
        assert await aio_client.get_object(bucket, "k").read() == data
        assert b"".join([block async for block in aio_client.get_object(bucket, "k")]) == data
        reader = aio_client.get_object(bucket, "k")
        pieces = []
        while piece := await reader.read(70_001):
            pieces.append(piece)
        assert b"".join(pieces) == data
        assert reader.tell() == size
        buffer = bytearray(size + 3)
        assert await aio_client.get_object(bucket, "k").readinto(buffer) == size
        assert buffer == data + b"\0\0\0"

    asyncio.run(main())


def test_reader_reads_parts_and_verifies_them(
    client: penstock.S3Client, aio_client: aio.S3Client, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = object_of(20 * MIB + 5)
    client.put(bucket, "k", data)

    async def main() -> None:
        async with aio_client.get_object(bucket, "k") as reader:
            blocks = [block async for block in reader]
        assert [len(block) for block in blocks] == [8 * MIB, 8 * MIB, 4 * MIB + 5]
        assert b"".join(blocks) == data
        assert (
            await aio_client.get_object(bucket, "k", range=(7 * MIB, 17 * MIB + 1)).read(11 * MIB) == data[7 * MIB : 17 * MIB + 1]
        )
        reader = aio_client.get_object(bucket, "k")
        head = await reader.read(10)
        buffer = bytearray(20 * MIB)
        assert await reader.readinto(buffer) == 20 * MIB - 5
        assert head + buffer[: 20 * MIB - 5] == data

    asyncio.run(main())
    crc = aio._reader._core.prefix_crc  # type: ignore[attr-defined]
    monkeypatch.setattr(aio._reader._core, "prefix_crc", lambda *arguments: crc(*arguments) ^ 1)  # type: ignore[attr-defined]

    async def mismatch() -> None:
        reader = aio_client.get_object(bucket, "k")
        assert len(await reader.read(16 * MIB)) == 16 * MIB
        for _ in range(2):  # the error stays
            with pytest.raises(penstock.S3DataLossError, match="crc64nvme"):
                await reader.read()

    asyncio.run(mismatch())


@pytest.mark.parametrize("way", ["read", "read to the end", "readinto"])
@pytest.mark.parametrize("ending", ["cancelled", "failed"])
def test_a_read_that_does_not_end_normally_loses_no_bytes(
    emulator: Emulator, aio_client: aio.S3Client, bucket: str, way: str, ending: str
) -> None:
    data = b"".join(number.to_bytes(4, "big") for number in range(5 * MIB))
    action: dict[str, Any] = {"stall": {"ms": 60_000}} if ending == "cancelled" else {"error": {"code": "AccessDenied"}}
    # The requests after the first part.
    when = {"operation": "GetObject", "bucket": bucket, "range": {"first": f">={8 * MIB}"}}

    async def main() -> None:
        await aio_client.put(bucket, "k", data)
        emulator.faults().set([{"id": "later-parts", "when": when, "do": action}])
        async with aio_client.get_object(bucket, "k") as reader:
            first = await reader.read(MIB)  # requests the later parts too
            calls = {"read": lambda: reader.read(9 * MIB), "readinto": lambda: reader.readinto(bytearray(9 * MIB))}
            task = asyncio.ensure_future(calls.get(way, reader.read)())
            if ending == "cancelled":
                while reader.tell() < 8 * MIB:  # until it waits for the second part
                    await asyncio.sleep(0.01)
                task.cancel()
            with pytest.raises(asyncio.CancelledError if ending == "cancelled" else penstock.S3Exception):
                await task
            assert reader.tell() == MIB
            emulator.faults().clear()
            assert first + await reader.read() == data

    try:
        asyncio.run(main())
    finally:
        emulator.faults().clear()


def test_reader_prefetches_a_bounded_number_of_parts(client: penstock.S3Client, aio_client: aio.S3Client, bucket: str) -> None:
    client.put(bucket, "k", object_of(64 * MIB))

    async def main() -> None:
        async with aio_client.get_object(bucket, "k") as reader:
            for _ in range(40):
                await reader.read(MIB)
            assert len(reader._parts) <= 4
            asked = reader._asked
            await asyncio.wait([future for future, _ in reader._parts])
            assert reader._asked == asked <= (40 + 5 * 8) * MIB

    asyncio.run(main())


def test_reader_pins_the_version(aio_client: aio.S3Client, bucket: str) -> None:
    async def main() -> None:
        await aio_client.put(bucket, "k", object_of(9 * MIB))
        reader = aio_client.get_object(bucket, "k")
        await reader.read(1)
        reader._forget()
        await aio_client.put(bucket, "k", object_of(9 * MIB)[::-1])
        with pytest.raises(penstock.S3PreconditionFailedError):
            await reader.read(9 * MIB)

    asyncio.run(main())


def test_reader_is_used_by_one_task_and_not_after_close(aio_client: aio.S3Client, bucket: str) -> None:
    async def main() -> None:
        await aio_client.put(bucket, "k", b"x")
        reader = aio_client.get_object(bucket, "k")
        results = await asyncio.gather(reader.read(1), reader.read(1), return_exceptions=True)
        assert results[0] == b"x"
        assert "two tasks" in str(results[1])
        await reader.close()
        with pytest.raises(ValueError, match="closed"):
            await reader.read(1)

    asyncio.run(main())


# ---- writers


@pytest.mark.parametrize("size", [0, 10, 8 * MIB, 20 * MIB + 3])
def test_writer_publishes_on_success(client: penstock.S3Client, aio_client: aio.S3Client, bucket: str, size: int) -> None:
    data = object_of(size)

    async def main() -> None:
        for chunk in (max(size, 1), 1_000_003):
            async with aio_client.put_object(bucket, "k", content_type="text/x") as writer:
                for start in range(0, size, chunk):
                    await writer.write(bytearray(data[start : start + chunk]))
            assert writer.result is not None
            assert writer.tell() == size
            found = await aio_client.get_object(bucket, "k").read()
            assert found == data
        async with aio_client.put_object(bucket, "bytes") as writer:
            await writer.write(data)

    asyncio.run(main())
    assert client.get(bucket, "bytes").body == data
    assert client.head(bucket, "k").content_type == "text/x"


def open_uploads(client: penstock.S3Client, bucket: str) -> list[str]:
    return [upload.key for upload in client.list_multipart_uploads(bucket).uploads]


def test_writer_discards_after_an_exception(client: penstock.S3Client, aio_client: aio.S3Client, bucket: str) -> None:
    async def main() -> None:
        for size in (10, 20 * MIB):
            with pytest.raises(ZeroDivisionError):
                async with aio_client.put_object(bucket, "k") as writer:
                    await writer.write(bytes(size))
                    raise ZeroDivisionError
            with pytest.raises(ValueError, match="aborted"):
                await writer.write(b"x")

    asyncio.run(main())
    assert list(client.list_objects(bucket)) == [penstock.ListObjectResult([], [])]
    assert open_uploads(client, bucket) == []


async def by_finally(writer: aio.ObjectWriter, block: Callable[[], Awaitable[None]]) -> None:
    try:
        await block()
    finally:
        await writer.close()


async def by_another_task(writer: aio.ObjectWriter, block: Callable[[], Awaitable[None]]) -> None:
    try:
        await block()
    finally:
        await asyncio.create_task(writer.close())


async def by_an_exit_stack(writer: aio.ObjectWriter, block: Callable[[], Awaitable[None]]) -> None:
    async with AsyncExitStack() as stack:
        stack.push_async_callback(writer.close)
        await block()


CLOSES = [by_finally, by_another_task, by_an_exit_stack]


@pytest.mark.parametrize("size", [10, 20 * MIB])
@pytest.mark.parametrize("closes", CLOSES)
@pytest.mark.parametrize("error", [ZeroDivisionError, asyncio.CancelledError])
def test_close_while_an_exception_passes_aborts(
    client: penstock.S3Client,
    aio_client: aio.S3Client,
    bucket: str,
    size: int,
    closes: Callable[..., Awaitable[None]],
    error: type[BaseException],
) -> None:
    async def main() -> None:
        writer = aio_client.put_object(bucket, "k")
        await writer.write(bytes(size))
        waiting = asyncio.Event()

        async def block() -> None:
            if error is ZeroDivisionError:
                raise ZeroDivisionError
            waiting.set()
            await asyncio.Event().wait()

        task = asyncio.ensure_future(closes(writer, block))
        if error is asyncio.CancelledError:
            await waiting.wait()
            task.cancel()
        with pytest.raises(error) as raised:
            await task
        if sys.version_info >= (3, 11) and error is ZeroDivisionError:
            [note] = raised.value.__notes__
            assert note.startswith(f"s3://{bucket}/k was not published")
        with pytest.raises(ValueError, match="aborted"):
            await writer.close()

    asyncio.run(main())
    assert list(client.list_objects(bucket)) == [penstock.ListObjectResult([], [])]
    assert open_uploads(client, bucket) == []


def test_close_publishes_in_the_handler_of_an_earlier_exception(
    client: penstock.S3Client, aio_client: aio.S3Client, bucket: str
) -> None:
    async def main() -> None:
        outer = aio_client.put_object(bucket, "after")
        try:
            raise ZeroDivisionError
        except ZeroDivisionError:
            inner = aio_client.put_object(bucket, "inside")
            await inner.close()
            async with outer:
                pass
        late = aio_client.put_object(bucket, "late")
        with suppress(ZeroDivisionError):
            raise ZeroDivisionError
        await late.close()

    asyncio.run(main())
    assert [info.key for page in client.list_objects(bucket) for info in page.object_info] == ["after", "inside", "late"]


def test_close_after_a_failed_write_raises_the_error_of_the_write(aio_client: aio.S3Client) -> None:
    async def main() -> None:
        writer = aio_client.put_object("no-such-bucket", "k")
        try:
            await writer.write(bytes(20 * MIB))
        finally:
            await writer.close()

    with pytest.raises(penstock.S3NotFoundError) as raised:
        asyncio.run(main())
    assert "was not published" not in str(getattr(raised.value, "__notes__", ""))


def test_writer_discards_after_a_failed_part(client: penstock.S3Client, aio_client: aio.S3Client, bucket: str) -> None:
    async def main() -> None:
        with pytest.raises(penstock.S3NotFoundError):
            async with aio_client.put_object("no-such-bucket", "k") as writer:
                await writer.write(bytes(20 * MIB))
        await aio_client.put(bucket, "k", b"")
        with pytest.raises(penstock.S3PreconditionFailedError):
            async with aio_client.put_object(bucket, "k", if_match="0") as writer:
                await writer.write(bytes(9 * MIB))

    asyncio.run(main())
    assert open_uploads(client, bucket) == []


def test_writer_that_is_dropped_aborts_its_upload(client: penstock.S3Client, aio_client: aio.S3Client, bucket: str) -> None:
    async def main() -> None:
        writer = aio_client.put_object(bucket, "k")
        await writer.write(bytes(20 * MIB))
        assert open_uploads(client, bucket) == ["k"]
        with pytest.warns(ResourceWarning, match="neither closed nor aborted"):
            del writer
        while open_uploads(client, bucket):
            await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(main(), 60))
    assert list(client.list_objects(bucket)) == [penstock.ListObjectResult([], [])]


@pytest.mark.parametrize("end", ["exception", "abort", "close", "write"])
def test_writer_of_a_closed_client_aborts_its_upload(
    client: penstock.S3Client, aio_client: aio.S3Client, bucket: str, end: str
) -> None:
    async def main() -> None:
        writer = aio_client.put_object(bucket, "k")
        await writer.write(bytes(20 * MIB))
        assert open_uploads(client, bucket) == ["k"]
        await aio_client.close()
        if end == "abort":
            await writer.abort()
        elif end == "exception":
            with pytest.raises(ZeroDivisionError):
                async with writer:
                    raise ZeroDivisionError
        else:
            with pytest.raises((RuntimeError, penstock.S3Exception)):
                await (writer.close() if end == "close" else writer.write(bytes(20 * MIB)))

    asyncio.run(main())
    assert list(client.list_objects(bucket)) == [penstock.ListObjectResult([], [])]
    assert open_uploads(client, bucket) == []


def test_an_abort_that_the_end_of_the_client_cancels_is_sent_again(
    client: penstock.S3Client, aio_client: aio.S3Client, emulator: Emulator, bucket: str
) -> None:
    stall = {"stall": {"ms": 60_000}, "at": "headers"}
    held = {"when": {"operation": "AbortMultipartUpload"}, "do": stall, "limit": {"times": 1}}

    async def main() -> None:
        writer = aio_client.put_object(bucket, "k")
        await writer.write(bytes(20 * MIB))
        emulator.faults().set([held])
        aborting = asyncio.create_task(writer.abort())
        while emulator.faults().account().rules[0].fired == 0:
            await asyncio.sleep(0)
        await aio_client.close()
        await aborting
        assert open_uploads(client, bucket) == []

    asyncio.run(asyncio.wait_for(main(), 60))
    emulator.faults().clear()


def test_writer_that_is_dropped_after_its_loop_was_closed_aborts_its_upload(
    client: penstock.S3Client, aio_client: aio.S3Client, bucket: str
) -> None:
    async def main() -> aio.ObjectWriter:
        writer = aio_client.put_object(bucket, "k")
        await writer.write(bytes(20 * MIB))
        return writer

    writer = asyncio.run(main())
    assert open_uploads(client, bucket) == ["k"]
    with pytest.warns(ResourceWarning, match="neither closed nor aborted"):
        del writer
    assert open_uploads(client, bucket) == []


@pytest.mark.parametrize("ending", ["dropped", "aborted"])
def test_a_forked_child_cannot_end_the_upload_of_a_writer_of_its_parent(
    client: penstock.S3Client, aio_client: aio.S3Client, bucket: str, ending: str
) -> None:
    async def main() -> None:
        held = [aio_client.put_object(bucket, "k")]
        await held[0].write(bytes(20 * MIB))

        def end() -> str:
            if ending == "aborted":
                with pytest.raises(RuntimeError, match=r"cannot be used after fork\(\)"):
                    held[0].abort().send(None)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                held.clear()
            return "ended"

        assert in_child(end) == "ended"
        await held[0].close()

    asyncio.run(main())
    assert client.head(bucket, "k").size == 20 * MIB


# ---- listings and many objects


def test_listings_return_the_pages_of_the_blocking_client(
    client: penstock.S3Client, aio_client: aio.S3Client, bucket: str
) -> None:
    for i in range(25):
        client.put(bucket, f"{i % 3}/{i:02}", b"x")

    async def main() -> None:
        for prefix, delimiter, max_keys in (("", "", 10), ("1/", "", 1000), ("", "/", 2), ("none", "", 1)):
            pages = [page async for page in aio_client.list_objects(bucket, prefix, delimiter, max_keys)]
            assert pages == list(client.list_objects(bucket, prefix, delimiter, max_keys))
            versions = [page async for page in aio_client.list_object_versions(bucket, prefix, delimiter, max_keys)]
            assert versions == list(client.list_object_versions(bucket, prefix, delimiter, max_keys))
        with pytest.raises(penstock.S3NotFoundError):
            async for _ in aio_client.list_objects("no-such-bucket"):
                pass

    asyncio.run(main())


def test_get_many_yields_in_order_with_bounded_concurrency(aio_client: aio.S3Client, bucket: str) -> None:
    async def main() -> None:
        names = [f"{i:03}" for i in range(100)]
        await asyncio.gather(*(aio_client.put(bucket, name, name.encode()) for name in names))
        taken = []

        def keys() -> Any:
            for name in names:
                taken.append(name)
                yield name

        count = 0
        async with aclosing(aio_client.get_many(bucket, keys(), concurrency=7)) as objects:
            async for key, data in objects:
                assert data == key.encode()
                count += 1
                assert len(taken) <= count + 7
        assert count == 100
        with pytest.raises(penstock.S3NotFoundError):
            async for _ in aio_client.get_many(bucket, ["000", "none", "001"]):
                pass
        with pytest.raises(ValueError, match="concurrency must be at least 1, not 0"):
            async for _ in aio_client.get_many(bucket, names, concurrency=0):
                pass

    asyncio.run(main())


# ---- files


def test_files_and_directories(aio_client: aio.S3Client, bucket: str, tmp_path: Path) -> None:
    data = object_of(9 * MIB)
    source = tmp_path / "source"
    source.write_bytes(data)

    async def main() -> None:
        loop_thread = threading.get_ident()
        seen: list[tuple[int, int]] = []
        await aio_client.upload_file(source, bucket, "f", progress=lambda done, _: seen.append((threading.get_ident(), done)))
        await aio_client.download_file(bucket, "f", tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == data
        await asyncio.sleep(0)
        assert seen[-1] == (loop_thread, 9 * MIB)
        assert (await aio_client.download_directory(bucket, "", tmp_path / "all")).files == 1
        with pytest.raises(penstock.S3NotFoundError):
            await aio_client.download_file(bucket, "none", tmp_path / "none")

    asyncio.run(main())
    assert not (tmp_path / "none").exists()
