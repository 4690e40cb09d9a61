"""Readers behave like io.BytesIO over the object's bytes, but clamp seeks to its size."""

from __future__ import annotations

import io
import random
from io import SEEK_END, SEEK_SET

import penstock
import pytest
from bucket_io import put
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from penstock import S3ReaderConstructor
from penstock.s3reader import RangedS3Reader, SequentialS3Reader
from penstock.s3reader.checkpoint import CheckpointReader

CONSTRUCTORS = {
    "default": S3ReaderConstructor.default(),
    "sequential": S3ReaderConstructor.sequential(),
    "ranged": S3ReaderConstructor.range_based(),
    "ranged-unbuffered": S3ReaderConstructor.range_based(buffer_size=0),
    "ranged-small": S3ReaderConstructor.range_based(buffer_size=7),
    "checkpoint": CheckpointReader,
}
DATA = random.Random(1).randbytes(1000) + b"\nline two\n\nlast without end"


@pytest.fixture(params=CONSTRUCTORS, ids=str)
def reader(request, client, bucket):
    put(client, bucket, "object", DATA)
    return client.get_object(bucket, "object", reader_constructor=CONSTRUCTORS[request.param])


def test_reads_everything(reader):
    assert reader.read() == DATA
    assert reader.read() == b""


def test_reads_in_pieces(reader):
    pieces = list(iter(lambda: reader.read(97), b""))
    assert b"".join(pieces) == DATA
    assert all(len(piece) == 97 for piece in pieces[:-1])


def test_readinto_fills_and_stops_at_the_end(reader):
    memory = bytearray(600)
    assert reader.readinto(memory) == 600
    assert memory == DATA[:600]
    assert reader.readinto(memory) == len(DATA) - 600
    assert memory[: len(DATA) - 600] == DATA[600:]
    assert reader.readinto(memory) == 0


def test_lines(reader):
    assert list(reader) == list(io.BytesIO(DATA))


def test_readline_with_limit(reader):
    expected = io.BytesIO(DATA)
    for limit in (5, 0, 2000, -1):
        assert reader.readline(limit) == expected.readline(limit)
        assert reader.tell() == expected.tell()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_sequence_matches_bytesio(client, bucket, data):
    """Random reads and seeks return the same as an io.BytesIO with clamped seeks."""
    content = data.draw(st.binary(max_size=60))
    name = data.draw(st.sampled_from(sorted(CONSTRUCTORS)))
    put(client, bucket, "p", content)
    reader, model = client.get_object(bucket, "p", reader_constructor=CONSTRUCTORS[name]), io.BytesIO(content)
    for _ in range(data.draw(st.integers(1, 8))):
        kind = data.draw(st.sampled_from(["read", "seek", "readinto", "tell", "readline"]))
        size = data.draw(st.integers(-2, 70))
        if kind == "read":
            assert reader.read(size) == model.read(size)
        elif kind == "readline":
            assert reader.readline(size) == model.readline(size)
        elif kind == "readinto":
            ours, theirs = bytearray(max(size, 0)), bytearray(max(size, 0))
            assert reader.readinto(ours) == model.readinto(theirs)
            assert ours == theirs
        elif kind == "seek":
            position = min(max(size, 0), len(content))
            assert reader.seek(max(size, 0), SEEK_SET) == model.seek(position)
        else:
            assert reader.tell() == model.tell()


def test_opening_costs_no_request(client, bucket):
    before = client.metrics()["requests"]
    client.get_object(bucket, "not-there")
    assert client.metrics()["requests"] == before


def test_whole_read_is_one_request(client, bucket):
    put(client, bucket, "k", b"x" * 100_000)
    client.get_object(bucket, "k").read()
    assert client.metrics()["requests"].get("GetObject") == 1
    assert "HeadObject" not in client.metrics()["requests"]


def test_a_listed_size_needs_no_head_request(client, bucket):
    put(client, bucket, "k", b"x" * 10)
    info = next(iter(client.list_objects(bucket))).object_info[0]
    assert client.get_object(bucket, "k", object_info=info).seek(0, SEEK_END) == 10
    assert "HeadObject" not in client.metrics()["requests"]


@pytest.mark.parametrize("name", ["ranged-small", "ranged-unbuffered"])
def test_a_changed_object_is_an_error_of_the_next_read(client, bucket, name):
    put(client, bucket, "k", b"a" * 100)
    reader = client.get_object(bucket, "k", reader_constructor=CONSTRUCTORS[name])
    assert reader.read(10) == b"a" * 10
    put(client, bucket, "k", b"b" * 100)
    with pytest.raises(penstock.S3PreconditionFailedError, match="k"):
        reader.read(90)


def test_many_parts_arrive_in_order(client, bucket):
    data = random.Random(2).randbytes(20 * 1024**2 + 7)
    put(client, bucket, "big", data)
    assert client.get_object(bucket, "big").read() == data
    stream = client._get_object_stream(bucket, "big", 5, len(data) - 3)
    assert b"".join(stream) == data[5:-3]


def test_readers_work_on_any_iterator_of_bytes():
    """Streams of custom get_stream functions in s3torchconnector's protocol have no read_all or readinto."""

    def stream(start=None, end=None):
        return iter([DATA[i : i + 100] for i in range(start or 0, len(DATA) if end is None else end, 100)])

    size = type("Info", (), {"size": len(DATA)})
    assert SequentialS3Reader("b", "k", lambda: size, stream).read() == DATA
    ranged = RangedS3Reader("b", "k", lambda: size, lambda start=None, end=None: iter([DATA[start:end]]), 50)
    assert [ranged.read(30), ranged.read(30)] == [DATA[:30], DATA[30:60]]
