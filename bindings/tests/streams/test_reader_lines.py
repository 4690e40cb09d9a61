"""Lines of readers, and wrappers of the standard library around readers."""

from __future__ import annotations

import csv
import gzip
import io
import pickle
from functools import partial

import pytest
from bucket_io import put
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from penstock.s3reader import RangedS3Reader, SequentialS3Reader
from reader_kinds import KINDS, every_kind

DATA = b"0123456789abcdef"


@pytest.fixture
def open_reader(client, bucket):
    put(client, bucket, "k", DATA)
    return lambda kind, key="k": client.get_object(bucket, key, reader_constructor=KINDS[kind])


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_lines_equal_those_of_a_buffered_file_for_any_block_size(data):
    """s3torchconnector reads lines one byte at a time."""
    text = data.draw(st.lists(st.sampled_from([b"\n", b"a", b"\r", b"bcd", b"\r\n", b"0123456789"]), max_size=30).map(b"".join))
    size = data.draw(st.integers(1, 9))

    def get_stream(start=None, end=None):
        part = text[start or 0 : len(text) if end is None else end]
        return iter([part[i : i + size] for i in range(0, len(part), size)])

    info = type("Info", (), {"size": len(text)})
    buffer_size = data.draw(st.sampled_from([None, 0, 1, 4]))
    make = data.draw(st.sampled_from([SequentialS3Reader, partial(RangedS3Reader, buffer_size=buffer_size)]))
    reader, model = make("b", "k", lambda: info, get_stream), io.BufferedReader(io.BytesIO(text))
    for _ in range(data.draw(st.integers(0, 12))):
        argument = data.draw(st.sampled_from([(), (-1,), (None,), (0,), (1,), (3,), (100,)]))
        assert reader.readline(*argument) == model.readline(*argument)
        assert reader.tell() == model.tell()
    hint = data.draw(st.sampled_from([-1, 0, 2, 100]))
    assert reader.readlines(hint) == model.readlines(hint)
    assert list(reader) == list(model)
    assert next(reader, None) is None


@every_kind
def test_lines_across_large_blocks(client, bucket, kind):
    lines = [b"x" * length + b"\n" for length in (0, 1, 1024**2 - 2, 3, 1024**2, 5 * 1024**2, 0, 4 * 1024**2 + 7)] + [b"no end"]
    put(client, bucket, "lines", b"".join(lines))
    if kind == "range_based(7)":
        lines = lines[:2]  # each request has 7 bytes
        put(client, bucket, "lines", b"".join(lines))
    reader = client.get_object(bucket, "lines", reader_constructor=KINDS[kind])
    assert list(reader) == lines


def test_iterating_over_lines_sends_one_request(client, bucket):
    put(client, bucket, "k", b"line\n" * 100_000)
    before = client.metrics()["requests"].get("GetObject", 0)
    assert sum(1 for _ in client.get_object(bucket, "k")) == 100_000
    assert client.metrics()["requests"]["GetObject"] == before + 1


@every_kind
def test_wrappers_of_the_standard_library_read_from_a_reader(client, bucket, kind):
    """s3torchconnector's readers have no read1, which these call."""
    rows = [["a", "ü"], ["1", "2\n3"], ["", "end"]]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    put(client, bucket, "csv", text.getvalue().encode())
    put(client, bucket, "gz", gzip.compress(DATA * 100))
    put(client, bucket, "pickle", pickle.dumps(rows))

    def opened(key):
        return client.get_object(bucket, key, reader_constructor=KINDS[kind])

    assert list(csv.reader(io.TextIOWrapper(opened("csv"), encoding="utf-8", newline=""))) == rows
    with gzip.open(opened("gz")) as unpacked:
        assert unpacked.read() == DATA * 100
    assert pickle.load(opened("pickle")) == rows
    buffered = io.BufferedReader(opened("csv"))
    assert buffered.peek(1)[:1] == b"a" and buffered.read() == text.getvalue().encode()


@every_kind
def test_read1_returns_at_most_the_given_size(open_reader, kind):
    reader, got = open_reader(kind), b""
    assert reader.read1(0) == b""
    while piece := reader.read1(5):
        assert len(piece) <= 5
        got += piece
    assert got == DATA and reader.read1() == b""
    reader.seek(3)
    memory = bytearray(4)
    count = reader.readinto1(memory)
    assert 0 < count <= 4 and memory[:count] == DATA[3 : 3 + count]
