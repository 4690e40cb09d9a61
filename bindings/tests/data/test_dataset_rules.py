"""Rules of the reference connector's datasets that programs rely on, and type information for mypy."""

from __future__ import annotations

import importlib.util
import io
import os
import subprocess
import sys
from pathlib import Path

import penstock
import pytest
from bucket_io import put
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from penstock import S3BucketKeyData, S3IterableDataset, S3MapDataset
from penstock._listing import identity
from torch.utils.data import DataLoader, DistributedSampler

COUNT = 13


@pytest.fixture
def filled(client, bucket):
    for i in range(COUNT):
        put(client, bucket, f"d/{i:03}", b"x" * i)
    return bucket


@pytest.fixture
def place(emulator):
    return {"region": "us-east-1", "endpoint": emulator.endpoint, "s3client_config": emulator.config()}


def key(reader):
    return reader.key


@pytest.mark.parametrize("cls", [S3MapDataset, S3IterableDataset])
def test_the_size_of_a_listed_object_needs_no_request(filled, place, cls):
    dataset = cls.from_prefix(f"s3://{filled}/d/", **place)
    assert [reader.seek(0, io.SEEK_END) for reader in dataset] == list(range(COUNT))
    assert dataset._get_client().metrics()["requests"].get("HeadObject", 0) == 0


def test_the_size_of_a_named_object_is_requested(filled, place):
    reader = S3MapDataset.from_objects(f"s3://{filled}/d/007", **place)[0]
    assert reader.seek(0, io.SEEK_END) == 7


@pytest.mark.parametrize("cls", [S3MapDataset, S3IterableDataset])
def test_invalid_uris_are_errors_at_first_use(place, cls):
    for uri, text in (("not-s3://b", "Only s3:// URIs are supported"), ("s3://", "Bucket name must be non-empty")):
        dataset = cls.from_prefix(uri, **place)
        with pytest.raises(ValueError, match=text):
            list(dataset)
        several = cls.from_objects(["s3://b/ok", uri], **place)
        for _ in range(2):
            with pytest.raises(ValueError, match=text):
                list(several)


def test_a_map_dataset_is_a_sequence(filled, place):
    dataset = S3MapDataset.from_prefix(f"s3://{filled}/d/", transform=key, **place)
    assert (len(dataset), dataset[0], dataset[-1], dataset[-COUNT]) == (COUNT, "d/000", "d/012", "d/000")
    for index in (COUNT, -COUNT - 1):
        with pytest.raises(IndexError):
            dataset[index]
    assert [item for item in dataset] == list(dataset) == [f"d/{i:03}" for i in range(COUNT)]  # noqa: C416  (by index, to the IndexError)
    assert not hasattr(S3IterableDataset, "__len__")


def test_len_works_twice_with_a_generator_of_uris(filled, place):
    dataset = S3MapDataset.from_objects((f"s3://{filled}/d/{i:03}" for i in range(3)), transform=key, **place)
    assert (len(dataset), len(dataset)) == (3, 3)
    assert list(dataset) == ["d/000", "d/001", "d/002"]


@pytest.mark.parametrize("cls", [S3MapDataset, S3IterableDataset])
def test_objects_may_come_from_any_function_that_takes_a_client(filled, place, cls):
    seen = []

    def objects(client):
        seen.append(client)
        return [S3BucketKeyData(filled, "d/002"), S3BucketKeyData(filled, "d/001")]

    dataset = cls("us-east-1", objects, place["endpoint"], key, place["s3client_config"])
    assert seen == []
    assert list(dataset) == ["d/002", "d/001"]
    assert seen == [dataset._get_client()]


@pytest.mark.parametrize("cls", [S3MapDataset, S3IterableDataset])
def test_the_client_of_a_dataset_can_be_replaced(client, filled, cls):
    dataset = cls.from_prefix(f"s3://{filled}/d/", region="nowhere", endpoint="http://127.0.0.1:1", transform=key)
    dataset._client = client
    assert dataset._get_client() is client
    assert len(list(dataset)) == COUNT


def test_a_dataset_uses_its_reader_constructor(filled, place):
    constructor = penstock.S3ReaderConstructor.range_based(buffer_size=5)
    dataset = S3MapDataset.from_prefix(f"s3://{filled}/d/", reader_constructor=constructor, **place)
    assert dataset._reader_constructor is constructor
    assert type(dataset[0]) is penstock.s3reader.RangedS3Reader
    by_default = S3MapDataset.from_prefix(f"s3://{filled}/d/", **place)
    assert isinstance(by_default[0], penstock.s3reader.SequentialS3Reader)
    assert by_default._get_object(1).read() == b"x"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(count=st.integers(0, 40), workers=st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_shards_partition_the_objects_for_any_numbers_of_workers(emulator, monkeypatch_module, count, workers):
    """Ranks may have different numbers of workers. Item i belongs to rank i % W, and there to worker (i // W) % N."""
    world = len(workers)
    dataset = S3IterableDataset(
        "us-east-1", lambda client: [S3BucketKeyData("b", str(i)) for i in range(count)], emulator.endpoint, key,
        emulator.config(), enable_sharding=True,
        reader_constructor=penstock.S3ReaderConstructor.range_based(),  # prefetches nothing, because the objects do not exist
    )  # fmt: skip
    seen, per_rank = [], []
    for rank, number in enumerate(workers):
        dataset._rank, dataset._world_size = rank, world
        mine = []
        for worker in range(max(1, number)):
            info = type("Info", (), {"id": worker, "num_workers": number})() if number else None
            monkeypatch_module.setattr("penstock._iterable_dataset.get_worker_info", lambda info=info: info)
            got = [int(item) for item in dataset]
            assert got == [i for i in range(count) if i % world == rank and (i // world) % max(1, number) == worker]
            mine += got
        per_rank.append(len(mine))
        seen += mine
    assert sorted(seen) == list(range(count))
    assert max(per_rank) - min(per_rank) <= 1


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def test_a_distributed_sampler_covers_a_map_dataset(filled, place):
    dataset = S3MapDataset.from_prefix(f"s3://{filled}/d/", transform=key, **place)
    seen = []
    for rank in range(2):
        sampler = DistributedSampler(dataset, num_replicas=2, rank=rank, shuffle=False)
        seen += list(DataLoader(dataset, batch_size=None, sampler=sampler, collate_fn=identity))
    assert set(seen) == {f"d/{i:03}" for i in range(COUNT)}


def test_mypy_checks_the_arguments_of_from_prefix(tmp_path, pytestconfig):
    found = importlib.util.find_spec("penstock")
    assert found is not None and found.origin is not None
    package = Path(found.origin).parent
    assert (package / "py.typed").is_file()
    programs = {
        "right": ('"s3://b/p", region="us-east-1"', True),
        "wrong_types": ("123, region=456", False),
        "wrong_kind": ('"s3://b/p", "us-east-1"', False),
    }
    for name, (arguments, _) in programs.items():
        text = f"import penstock\n\ndataset = penstock.S3MapDataset.from_prefix({arguments})\nreveal_type(dataset)\n"
        (tmp_path / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(pytestconfig.cache.mkdir("mypy"))]
    command += [f"{name}.py" for name in programs]
    environment = {**os.environ, "MYPYPATH": str(package.parent)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    lines = result.stdout.splitlines()
    for name, (_, accepted) in programs.items():
        mine = [line for line in lines if line.startswith(f"{name}.py:")]
        assert any('Revealed type is "penstock._map_dataset.S3MapDataset"' in line for line in mine), result.stdout
        errors = [line for line in mine if ": error:" in line]
        assert all('"from_prefix" of "S3MapDataset"' in line for line in errors), result.stdout
        assert (not errors) == accepted, result.stdout
