"""A writer publishes its object in close(), and only there."""

from __future__ import annotations

import array
import gc
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import interrupted
import penstock
import pytest
from bucket_io import get, keys, put
from penstock._put_stream import PutObjectStream
from penstock.testing import Emulator

PART = 5 * 1024**2
SINGLE = 64 * 1024**2  # the largest object of one PUT


@pytest.mark.parametrize("size", [0, 1, 1000, SINGLE - 1, SINGLE, SINGLE + 1])
def test_round_trip(client, bucket, size):
    data = bytes(range(251)) * (size // 251 + 1)
    put(client, bucket, "k", data[:size])
    assert get(client, bucket, "k") == data[:size]


@pytest.mark.parametrize("size", [PART - 1, PART, PART + 1, 3 * PART, 3 * PART + 5])
@pytest.mark.parametrize("piece", [1_000_003, 3 * PART + 5])
def test_objects_round_trip_in_parts(emulator, bucket, size, piece):
    client = emulator.client(penstock.S3ClientConfig(part_size=PART))
    data = (bytes(range(251)) * (size // 251 + 1))[:size]
    with client.put_object(bucket, "k") as writer:
        for at in range(0, size, piece):
            writer.write(data[at : at + piece])
    assert get(client, bucket, "k") == data
    requests = client.metrics()["requests"]
    assert requests.get("UploadPart", 0) == (-(-size // PART) if size > PART else 0)
    assert requests.get("PutObject", 0) == (size <= PART)


def test_writes_of_every_size_arrive_in_order(client, bucket):
    """Small writes are buffered and large ones are sent without a copy; their order must not change."""
    sizes = [1, 0, 16_384, 16_385, 3, 65_536, 70_000_000, 5, 20_000_000, 100, 16_000, 16_000, 16_000, 16_000, 16_000, 1]
    pieces = [bytes([i + 1]) * size for i, size in enumerate(sizes)]
    with client.put_object(bucket, "k") as writer:
        for i, piece in enumerate(pieces):
            buffer = bytearray(piece)
            assert writer.write(memoryview(buffer)) == len(piece)
            buffer[:] = bytes(len(buffer))  # the writer must not use the buffer after write()
            assert writer.tell() == sum(sizes[: i + 1])
    assert get(client, bucket, "k") == b"".join(pieces)


def test_a_thousand_small_writes_are_one_request(client, bucket):
    with client.put_object(bucket, "k") as writer:
        for i in range(1000):
            writer.write(b"%03d" % i)
    assert get(client, bucket, "k") == b"".join(b"%03d" % i for i in range(1000))
    assert client.metrics()["requests"]["PutObject"] == 1


def test_aborted_small_writes_are_discarded(client, bucket):
    writer = client.put_object(bucket, "k")
    writer.write(b"small")
    writer.abort()
    with pytest.raises(penstock.S3Exception, match="Cannot write to closed object"):
        writer.stream.write(b"x")
    with pytest.raises(penstock.S3Exception, match="canceled"):
        writer.stream._writer.write(b"x")
    assert keys(client, bucket) == []


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_write_accepts_every_bytes_like_object(client, bucket, kind):
    with client.put_object(bucket, "k") as writer:
        assert writer.write(kind(b"hello ")) == 6
        assert writer.write(kind(b"world")) == 5
        assert writer.tell() == 11
    assert get(client, bucket, "k") == b"hello world"


def test_nothing_is_visible_before_close(client, bucket):
    writer = client.put_object(bucket, "k")
    writer.write(b"x" * (SINGLE + 1))
    assert keys(client, bucket) == []
    writer.close()
    assert keys(client, bucket) == ["k"]


@pytest.mark.parametrize("size", [10, SINGLE + 1])
def test_an_exception_aborts_the_upload(client, bucket, size):
    """s3torchconnector publishes the truncated object when the writer is garbage collected."""
    put(client, bucket, "k", b"good")
    with pytest.raises(RuntimeError, match="halfway"), client.put_object(bucket, "k") as writer:
        writer.write(b"x" * size)
        raise RuntimeError("halfway")
    del writer
    gc.collect()
    assert get(client, bucket, "k") == b"good"
    assert client._client.list_multipart_uploads(bucket) == []


@pytest.mark.parametrize("size", [10, SINGLE + 1])
def test_a_writer_dropped_without_close_publishes_nothing(client, bucket, size):
    writer = client.put_object(bucket, "k")
    writer.write(b"x" * size)
    with pytest.warns(ResourceWarning, match="without close"):
        del writer
        gc.collect()
    assert keys(client, bucket) == []
    assert client._client.list_multipart_uploads(bucket) == []


def test_interpreter_exit_publishes_nothing(emulator, client, bucket):
    program = f"""
        import penstock
        config = penstock.S3ClientConfig(force_path_style=True, access_key_id={emulator.access_key_id!r},
                                         secret_access_key={emulator.secret_access_key!r})
        client = penstock.S3Client("us-east-1", endpoint={emulator.endpoint!r}, s3client_config=config)
        writer = client.put_object({bucket!r}, "k")
        writer.write(b"x" * {SINGLE + 1})
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)
    assert keys(client, bucket) == []
    assert client._client.list_multipart_uploads(bucket) == []


def test_close_is_idempotent_and_thread_safe(client, bucket):
    writer = client.put_object(bucket, "k")
    writer.write(b"x")
    threads = [threading.Thread(target=writer.close) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert writer.closed
    assert client.metrics()["requests"]["PutObject"] == 1


def test_writing_after_close_raises(client, bucket):
    writer = client.put_object(bucket, "k")
    writer.close()
    with pytest.raises(ValueError, match="I/O operation on closed file"):
        writer.write(b"x")
    assert not writer.writable()


def test_a_failed_close_raises_once(client):
    writer = client.put_object("no-such-bucket-here", "k")
    writer.write(b"x")
    with pytest.raises(penstock.S3NotFoundError, match="bucket does not exist"):
        writer.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writer.close()
        del writer
        gc.collect()


def test_stream_rules(client, bucket):
    stream = PutObjectStream(client._client, bucket, "k", None, PART)
    stream.close()
    with pytest.raises(penstock.S3Exception, match="Cannot close object more than once"):
        stream.close()
    with pytest.raises(penstock.S3Exception, match="Cannot write to closed object"):
        stream.write(b"x")


def test_a_writer_is_only_writable(client, bucket):
    with client.put_object(bucket, "k") as writer:
        assert (writer.readable(), writer.seekable(), writer.writable()) == (False, False, True)
        writer.flush()


def write_in_a_thread(writer: penstock.S3Writer) -> tuple[threading.Thread, list[BaseException]]:
    errors: list[BaseException] = []

    def write() -> None:
        try:
            while True:
                writer.write(bytes(SINGLE + 1))
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    return thread, errors


def await_fired(emulator: Emulator, rule: str) -> None:
    deadline = time.monotonic() + 30
    while emulator.faults().account().rule(rule).fired == 0:
        assert time.monotonic() < deadline, f"rule {rule} did not fire"
        time.sleep(0.005)


def test_abort_while_an_upload_is_created_leaves_no_upload():
    """The request used to be cancelled before its id arrived, and the upload stayed open."""
    with Emulator() as own_emulator:
        client = own_emulator.client(penstock.S3ClientConfig(max_attempts=1))
        client.create_bucket("bucket")
        own_emulator.faults().set(
            [{"id": "slow", "when": {"operation": "CreateMultipartUpload"}, "do": {"stall": {"ms": 1000}, "at": "after_commit"}}]
        )
        writer = client.put_object("bucket", "k")
        thread, errors = write_in_a_thread(writer)
        await_fired(own_emulator, "slow")
        writer.abort()
        thread.join()
        assert isinstance(errors[0], penstock.S3Exception)
        deadline = time.monotonic() + 20
        while (
            client._client.list_multipart_uploads("bucket")
            or own_emulator.journal().count(operations="AbortMultipartUpload") == 0
        ):
            assert time.monotonic() < deadline, "the upload is still open"
            time.sleep(0.01)


def test_an_upload_created_after_operation_timeout_is_removed():
    """The request used to be cancelled before its id arrived, and the upload stayed open."""
    with Emulator() as own_emulator:
        own_emulator.client().create_bucket("bucket")
        client = own_emulator.client(penstock.S3ClientConfig(operation_timeout=0.3))
        own_emulator.faults().set(
            [{"id": "slow", "when": {"operation": "CreateMultipartUpload"}, "do": {"stall": {"ms": 1000}, "at": "after_commit"}}]
        )
        writer = client.put_object("bucket", "k")
        started = time.monotonic()
        with pytest.raises(penstock.S3TimeoutError):
            writer.write(bytes(SINGLE + 1))
        assert time.monotonic() - started < 0.9, "the caller waits no longer than operation_timeout"
        deadline = time.monotonic() + 20
        while (
            client._client.list_multipart_uploads("bucket")
            or own_emulator.journal().count(operations="AbortMultipartUpload") == 0
        ):
            assert time.monotonic() < deadline, "the upload is still open"
            time.sleep(0.01)


def test_abort_during_a_write_waits_for_a_slow_removal():
    """It used to raise S3TimeoutError after 75 ms."""
    with Emulator() as own_emulator:
        client = own_emulator.client()
        client.create_bucket("bucket")
        own_emulator.faults().set(
            [
                {"id": "part", "when": {"operation": "UploadPart"}, "do": {"stall": {"ms": 600_000}, "at": "before_commit"}},
                {"when": {"operation": "AbortMultipartUpload"}, "do": {"stall": {"ms": 500}, "at": "before_commit"}},
            ]
        )
        writer = client.put_object("bucket", "k")
        thread, errors = write_in_a_thread(writer)
        await_fired(own_emulator, "part")
        writer.abort()
        thread.join()
        assert isinstance(errors[0], penstock.S3Exception)
        assert client._client.list_multipart_uploads("bucket") == []


def test_an_exception_is_not_replaced_by_a_failing_abort():
    """The exception of the block used to be lost if the abort failed too."""
    with Emulator() as own_emulator:
        client = own_emulator.client(penstock.S3ClientConfig(max_attempts=1))
        client.create_bucket("bucket")
        with pytest.raises(ValueError, match="mine"), client.put_object("bucket", "k") as writer:
            writer.write(b"x" * (SINGLE + 1))
            own_emulator.stop()
            raise ValueError("mine")


def test_write_counts_the_bytes_of_any_buffer(client, bucket):
    """An array of ten 8-byte numbers used to count as 10 bytes."""
    with client.put_object(bucket, "k") as writer:
        assert writer.write(array.array("d", [0.0] * 10)) == 80
        assert writer.tell() == 80
    assert get(client, bucket, "k") == bytes(80)


def test_ctrl_c_while_closing_is_a_keyboard_interrupt():
    """It used to be a SystemError if the object had been published."""
    program = """
        import hashlib, socket, sys, threading, penstock
        listener = socket.create_server(("127.0.0.1", 0))
        tag = hashlib.md5(b"hello").hexdigest()
        def serve(connection):
            data = connection.recv(65536)
            while data:
                if data.startswith(b"PUT"):
                    print("waiting", flush=True)
                elif data.startswith(b"HEAD"):
                    head = f'HTTP/1.1 200 OK\\r\\nETag: "{tag}"\\r\\nContent-Length: 5\\r\\n\\r\\n'
                    connection.sendall(head.encode())
                data = connection.recv(65536)
        def accept():
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        config = penstock.S3ClientConfig(force_path_style=True, access_key_id="a", secret_access_key="b")
        endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
        writer = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config).put_object("bucket", "key")
        writer.write(b"hello")
        try:
            writer.close()
        except KeyboardInterrupt:
            sys.exit(42)
    """
    assert interrupted.exit_status(program, timeout_s=60) == 42
