"""Rules of the reference connector's writer that programs rely on, with a stream that only records its calls."""

from __future__ import annotations

import contextlib
import gc
import io
import logging
import pickle
import sys
import threading
import time
import warnings

import penstock
import pytest
from bucket_io import get, keys, put
from penstock import S3Writer
from penstock.testing import Emulator


class RecordingStream:
    """A stream that records its calls instead of uploading."""

    def __init__(self, error=None):
        self.calls, self.error = [], error

    def write(self, data):
        self.calls.append(("write", data))

    def close(self):
        self.calls.append(("close",))
        if self.error is not None:
            raise self.error

    def abort(self):
        self.calls.append(("abort",))


def test_a_writer_is_a_writable_unseekable_buffered_file():
    stream = RecordingStream()
    writer = S3Writer(stream)
    assert isinstance(writer, io.BufferedIOBase)
    assert writer.stream is stream
    assert (writer.readable(), writer.writable(), writer.seekable(), writer.closed) == (False, True, False, False)
    assert writer.flush() is None
    for refused in (writer.read, writer.fileno, writer.detach, lambda: writer.seek(0), writer.truncate):
        with pytest.raises((io.UnsupportedOperation, OSError)):
            refused()
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(writer)
    writer.close()
    assert (writer.writable(), writer.closed) == (False, True)
    assert writer.flush() is None
    assert stream.calls == [("close",)]


@pytest.mark.parametrize("data", [b"abc", memoryview(b"abc"), bytearray(b"abc"), [1, 2, 3]])
def test_written_data_is_passed_to_the_stream_unchanged(data):
    """The stream decides which types it accepts."""
    stream = RecordingStream()
    with S3Writer(stream) as writer:
        assert writer.tell() == 0
        assert writer.write(data) == 3
        assert writer.write(data) == 3
        assert writer.tell() == 6
    assert stream.calls == [("write", data), ("write", data), ("close",)]
    assert stream.calls[0][1] is data


@pytest.mark.parametrize("data", ["text", [1, 2], None, 3])
def test_an_upload_accepts_bytes_only(client, bucket, data):
    writer = client.put_object(bucket, "k")
    with pytest.raises(TypeError, match="bytes-like"):
        writer.write(data)
    writer.abort()


def test_leaving_by_an_exception_does_not_publish(caplog):
    stream = RecordingStream()
    with caplog.at_level(logging.INFO, logger="penstock"), pytest.raises(KeyError), S3Writer(stream) as writer:
        raise KeyError("inside")
    assert stream.calls == [("abort",)]
    assert "Exception occurred before closing stream: KeyError: 'inside'" in caplog.text
    assert writer.closed
    writer.close()
    with pytest.raises(ValueError, match=r"^I/O operation on closed file\.$"):
        writer.write(b"x")
    del writer
    gc.collect()
    assert stream.calls == [("abort",)]


def test_a_garbage_collected_writer_does_not_publish():
    """The finaliser of s3torchconnector completes the upload and replaces the object by a truncated one."""
    stream = RecordingStream()
    writer = S3Writer(stream)
    writer.write(b"x")
    with pytest.warns(ResourceWarning, match="garbage-collected without close"):
        del writer
        gc.collect()
    assert stream.calls == [("write", b"x"), ("abort",)]


def leave_a_block(wrapper):
    with wrapper:
        raise KeyError("inside")


def leave_a_finally(wrapper):
    try:
        raise KeyError("inside")
    finally:
        wrapper.close()


@pytest.mark.parametrize(
    ("wrapped", "leave"),
    [
        (io.TextIOWrapper, leave_a_block),
        (io.TextIOWrapper, leave_a_finally),
        (io.BufferedWriter, leave_a_block),
        (io.BufferedWriter, leave_a_finally),
        (contextlib.closing, leave_a_block),
        (lambda writer: writer, leave_a_finally),
    ],
)
def test_a_wrapper_that_an_exception_closes_does_not_publish(wrapped, leave):
    """Wrappers call close() and do not pass the exception on."""
    stream = RecordingStream()
    writer = S3Writer(stream)
    wrapper = wrapped(writer)
    with pytest.raises(KeyError, match="inside"):
        leave(wrapper)
    assert stream.calls == [("abort",)]
    assert writer.closed


def test_a_wrapper_inside_the_block_of_the_writer_does_not_publish(client, bucket):
    with pytest.raises(KeyError, match="inside") as raised, client.put_object(bucket, "k") as writer:
        leave_a_block(io.TextIOWrapper(writer))
    assert keys(client, bucket) == []
    if sys.version_info >= (3, 11):
        assert f"s3://{bucket}/k was not published" in raised.value.__notes__[0]


@pytest.mark.parametrize(("wrapper", "half"), [(io.TextIOWrapper, "half"), (io.BufferedWriter, b"half")])
def test_a_wrapper_dropped_without_close_does_not_publish(wrapper, half):
    stream = RecordingStream()
    file = wrapper(S3Writer(stream))
    file.write(half)
    with pytest.warns(ResourceWarning, match="garbage-collected without close"):
        del file
        gc.collect()
    assert stream.calls == [("abort",)]


def test_a_writer_made_while_an_exception_is_handled_publishes():
    stream, late = RecordingStream(), RecordingStream()
    outer = S3Writer(late)
    try:
        raise KeyError("handled")
    except KeyError:
        with S3Writer(RecordingStream()):
            pass
        S3Writer(stream).close()
        with outer:  # its block begins while the exception is handled
            outer.close()
    assert (stream.calls, late.calls) == ([("close",)], [("close",)])


def test_closing_from_many_threads_publishes_once():
    stream = RecordingStream()
    writer, start = S3Writer(stream), threading.Barrier(5)

    def close():
        start.wait()
        writer.close()

    threads = [threading.Thread(target=close) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stream.calls == [("close",)]


def closing(writer):
    """A thread that closes the writer, and the list of what that raises."""
    raised = []

    def close():
        try:
            writer.close()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=close)
    thread.start()
    return thread, raised


def test_abort_of_another_thread_ends_a_close_under_way():
    class Slow(RecordingStream):
        closing, aborted, closed = threading.Event(), threading.Event(), threading.Event()

        def close(self):
            self.closing.set()
            assert self.aborted.wait(30), "abort() did not reach the stream during close()"
            self.closed.set()
            raise penstock.S3Exception("given up")

        def abort(self):
            super().abort()
            self.aborted.set()

    stream = Slow()
    writer = S3Writer(stream)
    closer, raised = closing(writer)
    assert stream.closing.wait(30)
    writer.abort()
    assert stream.closed.is_set(), "abort() returned before close() had ended"
    closer.join(30)
    assert [str(error) for error in raised] == ["given up"]
    assert stream.calls == [("abort",)]


@pytest.mark.parametrize(
    ("size", "operation", "moment"),
    [
        (100, "PutObject", "before_commit"),
        (11 << 20, "UploadPart", "before_commit"),
        (11 << 20, "CompleteMultipartUpload", "headers"),
    ],
)
def test_a_close_under_way_is_cancelled_by_another_thread(size, operation, moment):
    stall = [{"id": "held", "when": {"operation": operation}, "do": {"stall": {"ms": 120_000}, "at": moment}}]
    with Emulator(faults=stall) as emulator:
        client = emulator.client(penstock.S3ClientConfig(part_size=5 << 20))
        client.create_bucket("slow")
        writer = client.put_object("slow", "k")
        writer.write(bytes(size))
        closer, raised = closing(writer)
        deadline = time.monotonic() + 60
        while not (writer.closed and emulator.faults().account().rule("held").fired):
            assert time.monotonic() < deadline
            time.sleep(0.005)
        writer.abort()
        closer.join(60)
        assert time.monotonic() < deadline
        assert [type(error) for error in raised] == [penstock.S3Exception]
        assert client._client.list_multipart_uploads("slow") == []
        assert keys(client, "slow") == []


def test_an_error_in_close_is_raised_once():
    stream = RecordingStream(penstock.S3Exception("no"))
    writer = S3Writer(stream)
    with pytest.raises(penstock.S3Exception, match=r"^no$"):
        writer.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writer.close()
        writer.abort()
        with writer.__class__(RecordingStream()):
            pass
        del writer
        gc.collect()
    assert stream.calls == [("close",)]


def test_close_inside_the_block_publishes(client, bucket):
    with client.put_object(bucket, "k") as writer:
        writer.write(b"whole")
        writer.close()
        assert get(client, bucket, "k") == b"whole"
    assert client.metrics()["requests"]["PutObject"] == 1


def test_an_empty_object_is_one_request(client, bucket):
    """s3torchconnector sends three requests per object."""
    client.put_object(bucket, "k").close()
    put(client, bucket, "k2", b"small")
    assert get(client, bucket, "k") == b""
    assert {name: n for name, n in client.metrics()["requests"].items() if "Put" in name or "Upload" in name} == {"PutObject": 2}
