"""Rules of the reference connector's readers that programs rely on, and bugs of its readers that Penstock does not have."""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import io
import pickle
import random
import signal
import threading
from array import array
from functools import partial

import numpy as np
import penstock
import pytest
import torch
from bucket_io import put
from gate_server import gate_config, gate_server
from penstock import S3Reader, S3ReaderConstructor, _core
from penstock._objects import HeadObjectResult
from penstock.s3reader import RangedS3Reader, SequentialS3Reader
from reader_kinds import KINDS, every_kind

DATA = b"0123456789abcdef"


@pytest.fixture
def open_reader(client, bucket):
    put(client, bucket, "k", DATA)
    return lambda kind, key="k": client.get_object(bucket, key, reader_constructor=KINDS[kind])


class Counted:
    """A get_stream and a get_object_info that count their calls."""

    def __init__(self, data=DATA):
        self.data, self.ranges, self.sizes = data, [], 0

    def get_stream(self, start=None, end=None):
        self.ranges.append((start, end))
        part = self.data[start or 0 : len(self.data) if end is None else end]
        return iter([part[i : i + 4] for i in range(0, len(part), 4)])

    def get_object_info(self):
        self.sizes += 1
        return type("Info", (), {"size": len(self.data)})


# ---- read, readinto, tell


@every_kind
@pytest.mark.parametrize("rest", [(), (None,), (-1,), (-100,)])
def test_read_without_a_size_returns_the_rest(open_reader, kind, rest):
    reader = open_reader(kind)
    assert reader.read(3) == DATA[:3]
    assert reader.read(*rest) == DATA[3:]
    assert reader.read(*rest) == b""


@every_kind
def test_read_of_nothing_and_beyond_the_end(open_reader, kind):
    reader = open_reader(kind)
    assert reader.read(0) == b""
    assert reader.read(True) == b"0"
    assert reader.read(size=100) == DATA[1:]
    assert reader.read(100) == b""
    assert type(reader.tell()) is int and reader.tell() == len(DATA)


@every_kind
@pytest.mark.parametrize("size", [1.0, "1", b"1", [1]])
def test_a_size_is_an_integer_or_none(open_reader, kind, size):
    with pytest.raises(TypeError, match=r"argument should be integer or None, not <class '\w+'>"):
        open_reader(kind).read(size)


@every_kind
def test_readinto_accepts_any_writable_buffer_and_counts_bytes(open_reader, kind):
    """s3torchconnector counts a buffer's elements."""
    reader = open_reader(kind)
    numbers = array("i", [0, 0])
    assert reader.readinto(memoryview(numbers)) == 8
    assert numbers.tobytes() == DATA[:8]
    assert reader.readinto(bytearray()) == 0
    memory = bytearray(100)
    assert reader.readinto(memory) == 8
    assert memory[:8] == DATA[8:]
    assert reader.readinto(memory) == 0


@every_kind
def test_readinto_accepts_an_empty_buffer_of_several_dimensions(open_reader, kind):
    reader = open_reader(kind)
    for shape in ((0, 5), (5, 0), (0,)):
        assert reader.readinto(np.zeros(shape)) == 0
    assert reader.tell() == 0


@every_kind
def test_a_size_beyond_memory_is_an_error_that_names_it(kind):
    counted = Counted()

    def get_object_info():
        return type("Info", (), {"size": 2**63})

    def reader():
        return KINDS[kind](bucket="b", key="k", get_object_info=get_object_info, get_stream=counted.get_stream)

    uses = [lambda: reader().seek(1, io.SEEK_END)]
    if kind.startswith("range_based"):  # other readers get the size from the response
        uses += [lambda: reader().read(), lambda: reader().read(1)]
    for use in uses:
        with pytest.raises(penstock.S3Exception, match=f"s3://b/k is {2**63} bytes") as raised:
            use()
        assert (raised.value.bucket, raised.value.key) == ("b", "k")


@every_kind
@pytest.mark.parametrize(
    ("buffer", "name"), [(b"x", "bytes"), ("x", "str"), (memoryview(b"x"), "memoryview"), (None, "NoneType")]
)
def test_readinto_rejects_a_read_only_buffer(open_reader, kind, buffer, name):
    with pytest.raises(TypeError, match=f"argument must be a writable bytes-like object, not {name}"):
        open_reader(kind).readinto(buffer)


# ---- seek


@every_kind
def test_seeks_are_clamped_to_the_object(open_reader, kind):
    reader = open_reader(kind)
    assert reader.seek(10**9) == len(DATA)
    assert reader.seek(3, io.SEEK_CUR) == len(DATA)
    assert reader.seek(0, io.SEEK_CUR) == len(DATA)
    assert reader.seek(5, io.SEEK_END) == len(DATA)
    assert reader.seek(-5, io.SEEK_END) == len(DATA) - 5
    assert reader.seek(-1, io.SEEK_CUR) == len(DATA) - 6
    assert reader.read(2) == DATA[-6:-4]


@every_kind
@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((1.0,), TypeError, "integer argument expected, got <class 'float'>"),
        (("1",), TypeError, "integer argument expected, got <class 'str'>"),
        ((None,), TypeError, "integer argument expected, got <class 'NoneType'>"),
        ((0, "foo"), TypeError, "integer argument expected, got <class 'str'>"),
        ((0, 5), ValueError, "Seek must be passed SEEK_CUR, SEEK_SET, or SEEK_END"),
        ((-1,), ValueError, "negative seek value -1"),
        ((-17, io.SEEK_END), ValueError, "negative seek value -1"),
        ((-1, io.SEEK_CUR), ValueError, "negative seek value -1"),
    ],
)
def test_a_failed_seek_keeps_the_position(open_reader, kind, arguments, error, text):
    reader = open_reader(kind)
    with pytest.raises(error, match=text):
        reader.seek(*arguments)
    assert reader.tell() == 0
    assert reader.read() == DATA


@every_kind
def test_a_reader_is_a_readable_seekable_buffered_file(open_reader, kind):
    reader = open_reader(kind)
    assert isinstance(reader, io.BufferedIOBase) and isinstance(reader, S3Reader)
    assert (reader.readable(), reader.seekable(), reader.writable()) == (True, True, False)
    for refused in (reader.fileno, reader.detach, lambda: reader.write(b"x"), reader.truncate):
        with pytest.raises(io.UnsupportedOperation):
            refused()
    assert not hasattr(reader, "peek") and not hasattr(reader, "readall")


@every_kind
def test_a_reader_has_a_bucket_and_a_key_and_reports_a_missing_object(client, open_reader, kind, bucket):
    reader = open_reader(kind)
    assert (reader.bucket, reader.key) == (bucket, "k")
    missing = "The object was not found" if kind.startswith("range") else "The key does not exist"  # of HEAD and of GET
    with pytest.raises(penstock.S3Exception, match=f"Service error: {missing}"):
        open_reader(kind, "missing").read()
    with pytest.raises(penstock.S3Exception):
        open_reader(kind, "missing").seek(0, io.SEEK_END)
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(reader)


def test_the_base_class_is_abstract():
    assert inspect.isabstract(S3Reader)
    assert {"read", "seek", "tell", "readinto", "bucket", "key"} <= S3Reader.__abstractmethods__


# ---- close


@every_kind
def test_a_closed_reader_rejects_every_call(open_reader, kind):
    """Readers of s3torchconnector still read after close()."""
    reader = open_reader(kind)
    with reader:
        reader.read(1)
    assert reader.closed
    reader.close()
    with_arguments = (lambda: reader.seek(0), lambda: reader.readinto(bytearray(3)), lambda: reader.read(1), lambda: next(reader))
    for use in (reader.read, reader.tell, reader.readline, reader.readlines, reader.read1, reader.__enter__, *with_arguments):
        with pytest.raises(ValueError, match="closed file"):
            use()


@pytest.mark.parametrize("make", [SequentialS3Reader, RangedS3Reader, S3ReaderConstructor.default()])
@pytest.mark.parametrize("bucket_name", ["", None])
def test_a_reader_requires_a_bucket_but_no_key(make, bucket_name, recwarn):
    counted = Counted()
    with pytest.raises(ValueError, match="Bucket should be specified"):
        make(bucket=bucket_name, key="k", get_object_info=counted.get_object_info, get_stream=counted.get_stream)
    make(bucket="b", key="", get_object_info=counted.get_object_info, get_stream=counted.get_stream).close()
    assert (counted.ranges, counted.sizes, list(recwarn)) == ([], 0, [])


# ---- sequential


def test_a_sequential_reader_opens_one_stream_and_keeps_its_bytes():
    counted = Counted()
    reader = SequentialS3Reader("b", "k", counted.get_object_info, counted.get_stream)
    assert reader.read(5) == DATA[:5]
    assert reader.seek(1) == 1
    assert reader.read() == DATA[1:]
    assert reader.seek(0) == 0
    assert reader.read() == DATA
    assert reader.seek(100) == len(DATA)  # known by then
    assert (counted.ranges, counted.sizes) == ([(None, None)], 0)


def test_a_sequential_reader_seeks_to_the_end_without_a_stream():
    counted = Counted()
    reader = SequentialS3Reader("b", "k", counted.get_object_info, counted.get_stream)
    assert [reader.seek(0, io.SEEK_END), reader.seek(9, io.SEEK_END)] == [len(DATA), len(DATA)]
    assert (counted.ranges, counted.sizes) == ([], 1)


def test_prefetch_opens_the_stream_of_a_sequential_reader_once():
    counted = Counted()
    reader = SequentialS3Reader("b", "k", counted.get_object_info, counted.get_stream)
    reader.prefetch()
    reader.prefetch()
    assert reader.read() == DATA
    assert counted.ranges == [(None, None)]


# ---- range-based


def ranged(counted, buffer_size):
    return RangedS3Reader("b", "k", counted.get_object_info, counted.get_stream, buffer_size)


def test_small_ranged_reads_fill_the_buffer_and_large_ones_do_not():
    counted = Counted()
    reader = ranged(counted, 6)
    assert [reader.read(2), reader.read(3)] == [DATA[:2], DATA[2:5]]
    assert counted.ranges == [(0, 6)]
    assert reader.read(3) == DATA[5:8]  # the buffered byte, then the next window
    assert counted.ranges == [(0, 6), (6, 12)]
    reader.seek(9)
    assert reader.read(7) == DATA[9:]  # the buffered bytes, then the last 4 through the buffer, clamped to the end
    assert counted.ranges == [(0, 6), (6, 12), (12, 16)]
    reader.seek(0)
    assert reader.read(6) == DATA[:6]  # as many bytes as the buffer holds: without the buffer
    assert counted.ranges[3:] == [(0, 6)]
    assert counted.sizes == 1


def test_without_a_buffer_each_read_is_one_range_request():
    counted = Counted()
    reader = ranged(counted, 0)
    assert [reader.read(2), reader.read(3)] == [DATA[:2], DATA[2:5]]
    memory = bytearray(4)
    reader.readinto(memory)
    assert counted.ranges == [(0, 2), (2, 5), (5, 9)]


@every_kind
def test_a_read_of_a_replaced_object_never_mixes_versions(client, bucket, kind):
    """The range-based reader of s3torchconnector returns a mix of both versions."""
    size = 20 * 1024**2
    put(client, bucket, "big", b"a" * size)
    reader = client.get_object(bucket, "big", reader_constructor=KINDS[kind])
    got = reader.read(10)
    put(client, bucket, "big", b"b" * size)
    with contextlib.suppress(penstock.S3PreconditionFailedError):  # not raised if all requests were in flight
        while piece := reader.read(3 * 1024**2):
            got += piece
        assert len(got) == size
    assert got == b"a" * len(got)


# ---- errors inside of torch.load


@pytest.mark.parametrize("make", [SequentialS3Reader, RangedS3Reader, partial(RangedS3Reader, buffer_size=0)])
@pytest.mark.parametrize("error", [penstock.S3ThrottledError("slow down"), KeyboardInterrupt("now"), OSError("gone")])
def test_torch_load_raises_what_a_read_raised(make, error):
    """torch took the error for a missing readinto and raised AttributeError: the reader has no attribute `read`."""
    file = io.BytesIO()
    torch.save({"w": torch.ones(500_000), "v": torch.ones(500_000)}, file)
    counted = Counted(file.getvalue())

    def failing(start=None, end=None):
        begin, end = start or 0, len(counted.data) if end is None else end
        for at in range(begin, end, 100_000):
            if at + 100_000 > 2_000_000:
                raise error
            yield counted.data[at : min(at + 100_000, end)]

    reader = make("b", "k", counted.get_object_info, failing)
    with pytest.raises(type(error)) as caught:
        torch.load(reader, weights_only=True)
    assert caught.value is error


def test_only_the_read_of_torch_after_a_failed_readinto_fails_again():
    counted, fail = Counted(), []

    def get_stream(start=None, end=None):
        if fail:
            raise OSError(fail.pop())
        return counted.get_stream(start, end)

    def failed_at(position, buffer):
        fail.append("once")
        reader.seek(position)
        with pytest.raises(OSError, match="once"):
            reader.readinto(buffer)

    reader, memory = RangedS3Reader("b", "k", counted.get_object_info, get_stream, 0), ctypes.create_string_buffer(2)
    from_memory = ctypes.pythonapi.PyMemoryView_FromMemory
    from_memory.restype, writable = ctypes.py_object, 0x200
    unowned = from_memory(memory, ctypes.c_ssize_t(2), ctypes.c_int(writable))
    failed_at(4, unowned)
    with pytest.raises(OSError, match="once"):
        reader.read(2)
    assert reader.read(2) == DATA[4:6]
    failed_at(4, unowned)
    reader.seek(5)
    assert [reader.read(2), reader.read(2)] == [DATA[5:7], DATA[7:9]]
    failed_at(4, unowned)
    assert reader.readinto(unowned) == 2
    assert reader.read() == DATA[6:]
    failed_at(4, bytearray(2))
    assert reader.read(2) == DATA[4:6]


# ---- constructors


def test_constructors_are_partials_that_pickle_and_have_names():
    names = S3ReaderConstructor.get_reader_type_string
    sequential, by_range = S3ReaderConstructor.sequential(), S3ReaderConstructor.range_based(buffer_size=5)
    assert isinstance(sequential, partial) and sequential.func is SequentialS3Reader
    assert isinstance(by_range, partial) and by_range.func is RangedS3Reader and by_range.keywords["buffer_size"] == 5
    assert isinstance(S3ReaderConstructor.default(), partial)
    assert issubclass(S3ReaderConstructor.default().func, SequentialS3Reader)
    assert [names(pickle.loads(pickle.dumps(each))) for each in (sequential, by_range, S3ReaderConstructor.default())] == [
        "sequential", "range_based", "sequential",
    ]  # fmt: skip
    assert (names(None), names(partial(dict)), names(object())) == ("sequential", "unknown", "unknown")


def test_a_constructor_is_called_with_keywords(client, bucket):
    put(client, bucket, "k", DATA)
    seen = {}

    def constructor(**arguments):
        seen.update(arguments)
        return SequentialS3Reader(**arguments)

    reader = client.get_object(bucket, "k", reader_constructor=constructor)
    assert sorted(seen) == ["bucket", "get_object_info", "get_stream", "key"]
    assert seen["get_object_info"]().size == len(DATA)
    assert b"".join(seen["get_stream"](start=2, end=5)) == DATA[2:5]
    assert b"".join(seen["get_stream"](start=2)) == DATA[2:]
    assert b"".join(seen["get_stream"]()) == DATA
    assert reader.read() == DATA


def test_a_second_thread_on_a_stream_gets_an_error():
    with gate_server(DATA, together=2) as (gate, endpoint):
        client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=gate_config())
        stream = _core.Stream(client._client, "b", "k")
        got = []
        first = threading.Thread(target=lambda: got.append(next(stream)))
        first.start()
        assert gate.wait_for(1)
        with pytest.raises(RuntimeError, match="two threads"):
            next(stream)
        assert client.get_object("b", "other").read() == DATA  # opens the gate
        first.join()
        assert got == [DATA]


@every_kind
def test_a_reader_that_two_threads_use_at_a_time_raises(kind):
    calls = [
        lambda reader: reader.read(),
        lambda reader: reader.read(4),
        lambda reader: reader.read1(4),
        lambda reader: reader.readinto(bytearray(4)),
        lambda reader: reader.readline(),
        next,
        lambda reader: reader.seek(8),
    ]
    with gate_server(DATA, 2) as (gate, endpoint):
        client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=gate_config())
        known = HeadObjectResult('"e"', len(DATA), 0, "STANDARD")
        reader = client.get_object("b", "k", object_info=known, reader_constructor=KINDS[kind])
        got = []
        first = threading.Thread(target=lambda: got.append(reader.read(4)))
        first.start()
        assert gate.wait_for(1)
        for call in calls:
            with pytest.raises(RuntimeError, match="two threads"):
                call(reader)
        assert client.get_object("b", "other").read() == DATA  # opens the gate
        first.join()
        assert got == [DATA[:4]]
        assert reader.read() == DATA[4:]


class FailsAfterOneBlock:
    """A stream of 100 bytes. The reader uses itself while the next block is due, as a progress callback can."""

    def __init__(self, use):
        self.use = use
        self.blocks = iter([b"x" * 100])

    def __iter__(self):
        return self

    def __next__(self):
        block = next(self.blocks, None)
        if block is None:
            self.use()
        return block


@pytest.mark.parametrize(
    "call",
    [
        lambda reader: reader.read(),
        lambda reader: reader.read(200),
        lambda reader: reader.readinto(bytearray(200)),
        lambda reader: reader.readline(),
        next,
    ],
)
def test_a_call_of_a_busy_reader_leaves_its_position_unchanged(call):
    positions = []

    def use_again():
        with pytest.raises(RuntimeError, match="two threads"):
            call(reader)
        positions.append(reader.tell())
        raise OSError("the stream ends here")

    reader = SequentialS3Reader(
        "b", "k", lambda: HeadObjectResult('"e"', 200, 0, "STANDARD"), lambda *_: FailsAfterOneBlock(use_again)
    )
    assert reader.read(10) == b"x" * 10
    with pytest.raises(OSError, match="the stream ends here"):
        reader.read()
    assert positions == [10]
    assert reader.tell() == 10
    assert reader.read(90) == b"x" * 90


@every_kind
@pytest.mark.parametrize("first", [0, 1])
def test_a_seek_beyond_what_any_object_can_have_is_clamped(open_reader, kind, first):
    for target in (2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**70):
        reader = open_reader(kind)
        reader.read(first)
        assert reader.seek(target) == len(DATA)
        assert reader.read(5) == b""


class Interrupted(BaseException):
    """Raised by a signal handler."""


def test_a_reader_can_be_used_after_a_signal_handler_has_raised():
    """The handler may run between any two bytecodes of a read, also around the lock of the calls that wait for bytes."""
    counted = Counted()
    reader = RangedS3Reader("b", "k", counted.get_object_info, counted.get_stream, buffer_size=2)
    moments = random.Random(1)

    def interrupt(*_: object) -> None:
        raise Interrupted

    # CPU time, because pytest-timeout uses the other timer. Repeated, because Python may ignore an exception, as in a finalizer.
    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        for _ in range(400):
            with contextlib.suppress(Interrupted):
                signal.setitimer(signal.ITIMER_VIRTUAL, moments.uniform(1e-5, 4e-4), 0.1)
                while True:
                    reader.seek(0)
                    reader.read(3)
                    reader.readline(3)
                    reader.readinto(bytearray(3))
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            reader.seek(5)
            assert reader.read(3) == DATA[5:8]
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
