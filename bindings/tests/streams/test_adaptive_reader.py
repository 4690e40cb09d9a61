"""The default reader: its requests, prefetching, checksums and versions."""

from __future__ import annotations

import base64
import contextlib
import io
import pickle
import random
import re
import tarfile

import penstock
import pytest
from awscrt.checksums import crc64nvme
from bucket_io import put
from gate_server import gate_config, gate_server
from penstock import S3ReaderConstructor, _core
from penstock.s3reader import AdaptiveS3Reader, SequentialS3Reader

MIB = 1024**2
DATA = random.Random(3).randbytes(24 * MIB + 5)


@pytest.fixture(scope="module")
def large(emulator):
    """A bucket and a key of an object with DATA."""
    client = emulator.client()
    client.create_bucket("adaptive")
    put(client, "adaptive", "large", DATA)
    return "adaptive", "large"


class Costs:
    """Requests and bytes of a client since the construction."""

    def __init__(self, client):
        self.client, self.before = client, client.metrics()

    def _since(self):
        now = self.client.metrics()
        gets = now["requests"].get("GetObject", 0) - self.before["requests"].get("GetObject", 0)
        heads = now["requests"].get("HeadObject", 0) - self.before["requests"].get("HeadObject", 0)
        return gets, heads, now["bytes_received"] - self.before["bytes_received"]

    requests = property(lambda self: self._since()[:2])
    received = property(lambda self: self._since()[2])


def test_a_small_object_takes_one_request_for_any_sequence_of_calls(client, bucket):
    data = DATA[: 3 * MIB]
    put(client, bucket, "k", data)
    costs = Costs(client)
    reader = client.get_object(bucket, "k")
    assert reader.read(4) == data[:4]
    assert reader.seek(0, io.SEEK_END) == len(data)
    assert reader.seek(-10, io.SEEK_END) == len(data) - 10
    assert reader.read() == data[-10:]
    assert reader.seek(0) == 0
    assert reader.read() == data
    assert reader.seek(10**9) == len(data)
    assert costs.requests == (1, 0)


def test_a_small_object_stays_in_memory_after_a_whole_read(client, bucket):
    put(client, bucket, "k", b"x" * 1000)
    costs = Costs(client)
    reader = client.get_object(bucket, "k")
    first = reader.read()
    assert reader.seek(0) == 0
    assert reader.read() is first
    assert costs.requests == (1, 0)


def test_reading_in_order_fetches_ahead_in_few_requests(client, large):
    costs = Costs(client)
    reader = client.get_object(*large)
    pieces = []
    while piece := reader.read(100_000):
        pieces.append(piece)
    assert b"".join(pieces) == DATA
    gets, heads = costs.requests
    assert gets <= 14 and heads == 0
    assert len(DATA) <= costs.received < len(DATA) + 2 * MIB
    assert len(reader._window.getvalue()) <= 8 * MIB


def test_readinto_in_order_returns_the_whole_object(client, large):
    reader, memory, got = client.get_object(*large), bytearray(700_001), bytearray()
    while count := reader.readinto(memory):
        got += memory[:count]
    assert got == DATA


def test_a_read_of_the_start_receives_at_most_two_megabytes(client, large):
    costs = Costs(client)
    with client.get_object(*large) as reader:
        assert reader.read(512) == DATA[:512]
    assert costs.requests == (1, 0)
    assert costs.received <= 2 * MIB


def test_each_random_read_requests_only_its_bytes(client, large):
    reader = client.get_object(*large)
    reader.read(1)
    random_positions = random.Random(4)
    costs = Costs(client)
    for _ in range(20):
        position = random_positions.randrange(2 * MIB, len(DATA) - 200_000)
        size = random_positions.choice([1, 1000, 150_000])
        reader.seek(position)
        assert reader.read(size) == DATA[position : position + size]
    gets, heads = costs.requests
    assert gets <= 20 and heads == 0
    assert costs.received <= 20 * 150_000


class RequestedBytes:
    """Bytes requested since the construction, from the server's journal. A request without a range counts as 1 MiB."""

    def __init__(self, emulator):
        self.journal = emulator.journal()
        self.last = self.journal.last

    def bytes(self):
        entries = self.journal.entries(after=self.last)
        assert {entry.operation for entry in entries} == {"GetObject"}
        sizes = [entry.range[1] - entry.range[0] for entry in entries if entry.range]
        return sum(size if size <= 8 * MIB else MIB for size in sizes)


@pytest.mark.parametrize("start", [0, 10 * MIB])
@pytest.mark.parametrize("stride_kib", [48, 64, 65, 128, 200, 256, 512, 1000, 1024, 2048])
def test_skipped_bytes_are_not_prefetched(emulator, client, large, start, stride_kib):
    requested = RequestedBytes(emulator)
    reads = range(start, min(len(DATA), start + 60 * stride_kib * 1024) - 4096, stride_kib * 1024)
    with client.get_object(*large) as reader:
        for position in reads:
            reader.seek(position)
            assert reader.read(4096) == DATA[position : position + 4096]
    begin = MIB if start == 0 else 0  # a first read at offset 0 requests 1 MiB
    assert requested.bytes() <= begin + len(reads) * 64 * 1024


@pytest.mark.parametrize("start", [0, 10 * MIB])
@pytest.mark.parametrize(("stride", "count"), [(5000, 4096), (8192, 4096), (300_000, 150_000), (10_000, 1000)])
def test_at_most_four_times_the_bytes_read_are_requested(emulator, client, large, start, stride, count):
    requested = RequestedBytes(emulator)
    span = 8 * MIB
    reads = range(start, start + span, stride)
    with client.get_object(*large) as reader:
        for position in reads:
            reader.seek(position)
            reader.read(count)
    assert requested.bytes() <= max(4 * count * len(reads), span) + MIB


def test_listing_an_archive_requests_only_its_headers(emulator, client, bucket):
    member = MIB - 512
    with io.BytesIO() as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            for number in range(20):
                entry = tarfile.TarInfo(f"m{number}")
                entry.size = member
                archive.addfile(entry, io.BytesIO(DATA[:member]))
        put(client, bucket, "tar", file.getvalue())
    requested = RequestedBytes(emulator)
    with client.get_object(bucket, "tar") as reader, tarfile.open(fileobj=reader, mode="r:") as archive:
        assert len(archive.getmembers()) == 20
    assert requested.bytes() <= MIB + 22 * 64 * 1024


def test_bytes_read_again_do_not_increase_the_prefetch(emulator, client, large):
    requested = RequestedBytes(emulator)
    with client.get_object(*large) as reader:
        reader.seek(5 * MIB)
        for _ in range(100):
            reader.read(60_000)
            reader.seek(5 * MIB)
        reader.seek(5 * MIB + 65_536)
        reader.read(100)
    assert requested.bytes() <= 4 * 65_536


def test_a_large_read_is_received_in_its_result(client, large):
    reader = client.get_object(*large)
    reader.seek(3 * MIB)
    costs = Costs(client)
    assert reader.read(16 * MIB) == DATA[3 * MIB : 19 * MIB]
    memory = bytearray(20 * MIB)
    reader.seek(MIB)
    assert reader.readinto(memory) == 20 * MIB
    assert memory == DATA[MIB : 21 * MIB]
    assert costs.received < 46 * MIB  # includes bytes that two connections received twice where their ranges met


def test_large_reads_in_order_fetch_each_byte_once(client, large):
    reader = client.get_object(*large)
    costs = Costs(client)
    assert [reader.read(9 * MIB) for _ in range(4)] == [DATA[: 9 * MIB], DATA[9 * MIB : 18 * MIB], DATA[18 * MIB :], b""]
    assert costs.received < len(DATA) + 2 * MIB


def test_a_read_of_the_rest_fetches_each_byte_once(client, large):
    reader = client.get_object(*large)
    costs = Costs(client)
    assert reader.read(10) + reader.read() == DATA
    assert costs.received < len(DATA) + 2 * MIB


@pytest.mark.parametrize("size", [0, 10, 9 * MIB])
def test_a_seek_before_any_read_is_clamped_to_the_size(client, bucket, size):
    put(client, bucket, "k", bytes(size))
    for target in (1, 11, MIB, 8 * MIB, 10 * MIB):
        costs = Costs(client)
        assert client.get_object(bucket, "k").seek(target) == min(target, size)
        assert sum(costs.requests) <= (1 if size else 2)  # a range beyond the end does not prove that the object is empty


def test_windows_never_mix_versions(client, bucket):
    for content in (b"a", b"b"):
        if content == b"b":
            reader = client.get_object(bucket, "k")
            assert reader.read(3) == b"aaa"
        put(client, bucket, "k", content * (12 * MIB))
    with pytest.raises(penstock.S3PreconditionFailedError):
        while reader.read(MIB):
            pass


@contextlib.contextmanager
def damaged_object(flipped):
    """A reader of 12 MiB, the bytes that the server sends with the one at `flipped` changed, and the object's checksum."""
    data = bytearray(DATA[: 12 * MIB])
    crc = base64.b64encode(crc64nvme(bytes(data)).to_bytes(8, "big")).decode()
    if flipped is not None:
        data[flipped] ^= 1
    headers = {"x-amz-checksum-crc64nvme": crc, "x-amz-checksum-type": "FULL_OBJECT"}
    with gate_server(bytes(data), 1, headers) as (_, endpoint):
        client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=gate_config())
        yield client.get_object("b", "k"), data, crc


@pytest.mark.parametrize("flipped", [None, 0, 5 * MIB, 12 * MIB - 1])
def test_an_object_read_in_order_is_verified_by_its_checksum(flipped):
    with damaged_object(flipped) as (reader, data, crc):
        got = b""
        expected = contextlib.nullcontext() if flipped is None else pytest.raises(penstock.S3DataLossError, match=re.escape(crc))
        with expected:
            while piece := reader.read(300_000):
                got += piece
        assert (got == data) == (flipped is None)
        if flipped is not None:
            with pytest.raises(penstock.S3DataLossError):
                reader.read(300_000)  # a new request for the rest could not be verified
            assert reader.tell() == len(got)


def again_from_the_start(reader):
    reader.read(100)
    reader.seek(0)
    return reader.read()


@pytest.mark.parametrize("flipped", [None, 0, 150, 5 * MIB, 12 * MIB - 1])
@pytest.mark.parametrize(
    "read",
    [
        lambda reader: reader.read(100) + reader.read(),
        lambda reader: reader.readline(100) + reader.read(),
        lambda reader: io.BufferedReader(reader).read(),
        again_from_the_start,
    ],
    ids=["rest", "line", "buffered", "again"],
)
def test_an_object_whose_rest_is_read_at_once_is_verified_by_its_checksum(flipped, read):
    with damaged_object(flipped) as (reader, data, crc):
        if flipped is None:
            assert read(reader) == data
        else:
            with pytest.raises(penstock.S3DataLossError, match=re.escape(crc)):
                read(reader)


def test_a_failed_read_keeps_the_position_and_can_be_repeated(client, bucket):
    reader = client.get_object(bucket, "late")
    with pytest.raises(penstock.S3NotFoundError):
        reader.read(10)
    put(client, bucket, "late", b"here now")
    assert reader.tell() == 0
    assert reader.read(4) == b"here"


def test_reading_continues_after_a_failure_between_windows(client, bucket):
    put(client, bucket, "k", DATA)
    reader = client.get_object(bucket, "k")
    got = reader.read(1000)
    client.delete_object(bucket, "k")
    for _ in range(2):
        with pytest.raises(penstock.S3NotFoundError):
            reader.read(5 * MIB)
        assert reader.tell() == 1000
        with pytest.raises(penstock.S3NotFoundError):
            reader.readinto(bytearray(5 * MIB))
        assert reader.tell() == 1000
    put(client, bucket, "k", DATA)  # the same ETag, so the same version for the reader
    while piece := reader.read(5 * MIB):
        got += piece
    assert got == DATA


def test_prefetched_memory_is_bounded_and_released(client, large):
    before, most = _core.memory_usage()["held"], 0
    with client.get_object(*large) as reader:
        for _ in range(0, len(DATA) - MIB, 200_000):
            reader.read(200_000)
            most = max(most, _core.memory_usage()["held"] - before)
        assert 0 < most <= 5 * 8 * MIB
    assert _core.memory_usage()["held"] == before


def test_prefetch_twice_sends_one_request(client, bucket):
    put(client, bucket, "k", b"x" * 100)
    costs = Costs(client)
    reader = client.get_object(bucket, "k")
    reader.prefetch()
    reader.prefetch()
    assert reader.read() == b"x" * 100
    reader.prefetch()
    assert costs.requests == (1, 0)


def test_the_default_reader_is_a_sequential_reader(client, bucket):
    constructor = pickle.loads(pickle.dumps(S3ReaderConstructor.default()))
    reader = client.get_object(bucket, "k", reader_constructor=constructor)
    assert type(reader) is AdaptiveS3Reader and isinstance(reader, SequentialS3Reader)
    assert type(client.get_object(bucket, "k")) is AdaptiveS3Reader
    assert S3ReaderConstructor.get_reader_type_string(constructor) == "sequential"


def test_the_default_reader_reads_a_custom_stream_once():
    """In s3torchconnector's tests, get_stream takes no range and returns an iterator of bytes."""
    opened = []

    def get_stream():
        opened.append(1)
        return iter([b"ab", b"", b"cdef"])

    reader = S3ReaderConstructor.default()(bucket="b", key="k", get_object_info=lambda: None, get_stream=get_stream)
    assert reader.read(3) == b"abc"
    reader.seek(1)
    assert reader.read() == b"bcdef"
    assert reader.seek(1) == 1 and reader.read(1) == b"b"
    assert opened == [1]
