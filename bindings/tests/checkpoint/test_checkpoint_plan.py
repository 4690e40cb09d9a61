"""torch.load with S3Checkpoint.reader: what is fetched and when, and files that the plan does not support."""

from __future__ import annotations

import collections
import io
import pickle
import random
import zipfile

import penstock
import pytest
import torch
from bucket_io import put
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from penstock import _core
from penstock.s3reader import SequentialS3Reader
from penstock.s3reader._zip_directory import Directory, find_directory, joined, read_directory, storages_in_load_order

MIB = 1024**2


def saved(state) -> bytes:
    file = io.BytesIO()
    torch.save(state, file)
    return file.getvalue()


def equal(a, b) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.fixture
def checkpoint(emulator):
    return penstock.S3Checkpoint("us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config())


class Cost:
    """Counts requests and bytes inside a ``with`` block."""

    def __init__(self, checkpoint):
        self._client = checkpoint._client

    def _now(self):
        stats = self._client.metrics()
        return sum(stats["requests"].values()), stats["bytes_received"]

    def __enter__(self):
        self._before = self._now()
        return self

    def __exit__(self, *_):
        self.requests, self.received = (now - before for now, before in zip(self._now(), self._before, strict=True))


def load(checkpoint, client, bucket, data: bytes, **options):
    put(client, bucket, "c.pt", data)
    with Cost(checkpoint) as cost, checkpoint.reader(f"s3://{bucket}/c.pt") as reader:
        loaded = torch.load(reader, **options)
    return loaded, cost


def test_thousand_small_tensors_are_fetched_by_few_requests(checkpoint, client, bucket):
    state = {f"w{i}": torch.full((2500,), float(i)) for i in range(1000)}
    data = saved(state)
    loaded, cost = load(checkpoint, client, bucket, data, weights_only=True)
    assert equal(loaded, state)
    assert cost.requests <= 2 + len(data) / (4 * MIB) + 2
    assert cost.received < len(data) + MIB


def test_prefetched_memory_is_bounded_and_freed(checkpoint, client, bucket):
    state = {f"w{i}": torch.full((MIB,), float(i)) for i in range(40)}
    put(client, bucket, "c.pt", saved(state))
    before, reader = _core.memory_usage()["held"], checkpoint.reader(f"s3://{bucket}/c.pt")
    with reader:
        torch.load(reader, weights_only=True)
        assert _core.memory_usage()["held"] - before <= 96 * MIB
    assert _core.memory_usage()["held"] == before


def test_records_in_another_order_than_the_load(checkpoint, client, bucket):
    """Older versions of torch.save sorted records as text: 0, 1, 10, 100, 101, ..., 11, 110, ..."""
    state = {f"w{i}": torch.full((20_000 if i % 50 else 500_000,), float(i)) for i in range(200)}
    source = zipfile.ZipFile(io.BytesIO(saved(state)))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        for name in sorted(source.namelist()):
            target.writestr(name, source.read(name))
    loaded, cost = load(checkpoint, client, bucket, file.getvalue(), weights_only=True)
    assert equal(loaded, state)
    assert cost.requests < 60
    assert cost.received < 1.2 * len(file.getvalue())


@pytest.mark.parametrize(
    "options",
    [{"weights_only": False}, {"map_location": torch.device("cpu")}, {"map_location": lambda s, _: s}, {"mmap": False}],
    ids=str,
)
def test_options_of_torch_load(checkpoint, client, bucket, options):
    base = torch.rand(300_000)
    state = collections.OrderedDict(a=base, b=base[10:20], c=torch.rand(3, 4, 5).half(), empty=torch.empty(0))
    loaded, _ = load(checkpoint, client, bucket, saved(state), **options)
    assert equal(loaded, state)
    assert loaded["a"].untyped_storage().data_ptr() == loaded["b"].untyped_storage().data_ptr()


def test_load_to_the_meta_device_fetches_little(checkpoint, client, bucket):
    data = saved({f"w{i}": torch.rand(1_000_000) for i in range(10)})
    loaded, cost = load(checkpoint, client, bucket, data, map_location="meta", weights_only=True)
    assert loaded["w9"].is_meta
    assert cost.received < 12 * MIB


def test_older_formats_and_pickles(checkpoint, client, bucket):
    state = {f"w{i}": torch.rand(500_000) for i in range(6)}
    file = io.BytesIO()
    torch.save(state, file, _use_new_zipfile_serialization=False)
    loaded, cost = load(checkpoint, client, bucket, file.getvalue(), weights_only=True)
    assert equal(loaded, state)
    assert cost.received < len(file.getvalue()) + 2 * MIB
    objects = [random.Random(i).randbytes(1000) for i in range(5000)]
    put(client, bucket, "p", pickle.dumps(objects))
    with Cost(checkpoint) as cost:
        assert pickle.load(checkpoint.reader(f"s3://{bucket}/p")) == objects
    assert cost.requests < 12
    assert load(checkpoint, client, bucket, saved({"step": 3}))[0] == {"step": 3}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_module(checkpoint, client, bucket):
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(800, 800)), file)
    put(client, bucket, "m.pt", file.getvalue())
    module = torch.jit.load(checkpoint.reader(f"s3://{bucket}/m.pt"))
    file.seek(0)
    assert torch.equal(module.weight, torch.jit.load(file).weight)


def test_other_zip_file(checkpoint, client, bucket):
    file = io.BytesIO()
    contents = {f"dir/{i}": random.Random(i).randbytes(400_000) for i in range(12)}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in contents.items():
            target.writestr(name, content)
    put(client, bucket, "z", file.getvalue())
    with zipfile.ZipFile(checkpoint.reader(f"s3://{bucket}/z")) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == contents


def test_truncated_file_raises_the_error_of_torch(checkpoint, client, bucket):
    put(client, bucket, "c.pt", saved({"w": torch.rand(1_000_000)})[:-100_000])
    with pytest.raises(RuntimeError, match="central directory"):
        torch.load(checkpoint.reader(f"s3://{bucket}/c.pt"), weights_only=True)


def test_reader_is_usable_as_a_file_after_the_load(checkpoint, client, bucket):
    data = saved({f"w{i}": torch.rand(300_000) for i in range(8)})
    put(client, bucket, "c.pt", data)
    reader = checkpoint.reader(f"s3://{bucket}/c.pt")
    assert isinstance(reader, SequentialS3Reader)
    for _ in range(2):
        reader.seek(0)
        torch.load(reader, weights_only=True)
    reader.seek(0)
    assert reader.read() == data
    reader.seek(-7, io.SEEK_END)
    assert reader.readlines() == io.BytesIO(data[-7:]).readlines()
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader.readinto(bytearray(1))


@pytest.fixture(scope="module")
def file_of_tensors(emulator):
    data = saved({f"w{i}": torch.rand(100_000) for i in range(20)})
    client = emulator.client()
    client.create_bucket("plan")
    put(client, "plan", "c.pt", data)
    return data


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_random_operations_match_bytesio(checkpoint, file_of_tensors, data):
    """Random reads and seeks, with and without reading the directory first."""
    reader, model = checkpoint.reader("s3://plan/c.pt"), io.BytesIO(file_of_tensors)
    size = len(file_of_tensors)
    if data.draw(st.booleans()):
        assert equal(torch.load(reader, weights_only=True), torch.load(model, weights_only=True))
    positions = st.one_of(st.integers(0, size), st.sampled_from([0, MIB - 1, MIB, size - 512 * 1024, size - 22, size]))
    for _ in range(data.draw(st.integers(1, 8))):
        position = data.draw(positions)
        assert reader.seek(position) == model.seek(position)
        for kind in data.draw(st.lists(st.sampled_from(["read", "readinto", "readline", "rest"]), max_size=3)):
            count = data.draw(st.sampled_from([0, 1, 30, 5000, 400_000, 3_000_000]))
            if kind == "readinto":
                ours, theirs = bytearray(count), bytearray(count)
                assert reader.readinto(ours) == model.readinto(theirs)
                assert ours == theirs
            elif kind == "rest":
                assert reader.read() == model.read()
            else:
                assert getattr(reader, kind)(count) == getattr(model, kind)(count)
            assert reader.tell() == model.tell()


# ---- the directory


def test_directory_of_torch_and_of_zipfile():
    for data in (saved({f"w{i}": torch.rand(10 + i) for i in range(12)}), saved({})):
        found = find_directory(data[-4096:], len(data))
        assert found is not None
        records = read_directory(data[found.start : found.end], found.start)
        infos = sorted(zipfile.ZipFile(io.BytesIO(data)).infolist(), key=lambda info: info.header_offset)
        assert [(record.name, record.start) for record in records] == [(info.filename, info.header_offset) for info in infos]
        assert records[-1].end == found.start


def test_storages_are_in_the_order_of_their_numbers():
    data = saved({f"w{i}": torch.rand(10) for i in range(12)})
    found = find_directory(data, len(data))
    assert found is not None
    storages = storages_in_load_order(read_directory(data[found.start : found.end], found.start))
    assert [storage.name for storage in storages] == [f"archive/data/{i}" for i in range(12)]
    assert joined(storages, 64 * 1024) == [(storages[0].start, storages[-1].end)]
    assert len(joined(storages[::2], 0)) == 6


def test_offsets_beyond_4_gib():
    def entry(name: bytes, start: int, size: int) -> bytes:
        big = [value for value in (size, size, start) if value >= 0xFFFFFFFF]
        extra = (
            b"XX\x02\x00ab" + b"\x01\x00" + (8 * len(big)).to_bytes(2, "little") + b"".join(v.to_bytes(8, "little") for v in big)
        )
        short = [min(value, 0xFFFFFFFF).to_bytes(4, "little") for value in (size, size, start)]
        lengths = len(name).to_bytes(2, "little") + len(extra).to_bytes(2, "little")
        head = b"PK\x01\x02" + bytes(16) + short[0] + short[1] + lengths + bytes(10) + short[2]
        return head + name + extra

    directory = entry(b"a/data/0", 0, 6 << 30) + entry(b"a/data/1", 6 << 30, 10) + entry(b"a/data/2", 7 << 30, 5 << 30)
    assert [tuple(record) for record in read_directory(directory, 12 << 30)] == [
        ("a/data/0", 0, 6 << 30),
        ("a/data/1", 6 << 30, 7 << 30),
        ("a/data/2", 7 << 30, 12 << 30),
    ]


@given(st.binary(max_size=200))
def test_invalid_directory_returns_no_records(noise):
    assert isinstance(read_directory(noise, 10**6), list)
    assert read_directory(b"PK\x01\x02" + noise[:30], 10**6) == []
    found = find_directory(noise + b"PK\x05\x06" + noise, 300)
    assert found is None or isinstance(found, Directory)
