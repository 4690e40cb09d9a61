"""Datasets: their items, sharding, pickling, and workers started by fork and spawn."""

from __future__ import annotations

import pickle
import threading
from collections import Counter

import penstock
import pytest
from bucket_io import put
from penstock import S3IterableDataset, S3MapDataset
from penstock._listing import identity
from torch.utils.data import DataLoader


def read_pair(reader):
    return reader.key, reader.read()


def load(dataset, workers, **options):
    """A DataLoader that yields items unchanged; the default collate function would turn tuples into lists."""
    return DataLoader(dataset, batch_size=None, num_workers=workers, collate_fn=identity, **options)


@pytest.fixture
def filled(client, bucket):
    for i in range(23):
        put(client, bucket, f"data/{i:03}", f"content {i}".encode())
    put(client, bucket, "other/x", b"not this")
    return bucket


def expected(count=23):
    return [(f"data/{i:03}", f"content {i}".encode()) for i in range(count)]


def make(cls, emulator, bucket, **options):
    return cls.from_prefix(
        f"s3://{bucket}/data/",
        region="us-east-1",
        endpoint=emulator.endpoint,
        transform=read_pair,
        s3client_config=emulator.config(),
        **options,
    )


def test_map_dataset(emulator, filled):
    dataset = make(S3MapDataset, emulator, filled)
    assert len(dataset) == 23
    assert len(dataset) == 23  # from the kept listing
    assert list(dataset) == expected()
    assert dataset[-1] == expected()[-1]
    with pytest.raises(IndexError):
        dataset[23]
    assert (dataset.region, dataset.endpoint) == ("us-east-1", emulator.endpoint)


def test_iterable_dataset_iterates_again(emulator, filled):
    dataset = make(S3IterableDataset, emulator, filled)
    assert list(dataset) == list(dataset) == expected()


@pytest.mark.parametrize("cls", [S3MapDataset, S3IterableDataset])
def test_from_objects(emulator, filled, cls):
    def build(uris):
        return cls.from_objects(
            uris,
            region="us-east-1",
            endpoint=emulator.endpoint,
            transform=read_pair,
            s3client_config=emulator.config(),
        )

    uri = f"s3://{filled}/data/001"
    assert list(build(uri)) == expected()[1:2]
    generated = build(u for u in (uri, f"s3://{filled}/data/000"))
    assert list(generated) == list(generated) == [expected()[1], expected()[0]]
    bad = build(["s3://ok/x", "https://no"])
    with pytest.raises(ValueError, match="Only s3:// URIs are supported"):
        list(bad)


@pytest.mark.parametrize("cls", [S3MapDataset, S3IterableDataset])
def test_pickles_before_and_after_use(emulator, filled, cls):
    dataset = make(cls, emulator, filled)
    assert list(pickle.loads(pickle.dumps(dataset))) == expected()
    list(dataset)
    assert list(pickle.loads(pickle.dumps(dataset))) == expected()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("workers", [1, 2])
def test_every_object_once_over_workers(emulator, filled, method, workers):
    dataset = make(S3IterableDataset, emulator, filled, enable_sharding=True)
    list(dataset)  # the parent has live connections when the workers start
    loader = load(dataset, workers, multiprocessing_context=method)
    assert sorted(loader) == expected()
    assert sorted(dataset) == expected()  # the parent can still use its connections


def test_without_sharding_every_worker_yields_all(emulator, filled):
    loader = load(make(S3IterableDataset, emulator, filled), 2)
    assert Counter(loader) == Counter(expected() * 2)


def test_map_dataset_in_workers(emulator, filled):
    loader = load(make(S3MapDataset, emulator, filled), 2)
    assert list(loader) == expected()


def test_ranks_get_equal_shares(emulator, filled):
    seen = []
    for rank in range(4):
        dataset = make(S3IterableDataset, emulator, filled, enable_sharding=True)
        dataset._rank, dataset._world_size = rank, 4
        mine = list(dataset)
        assert [int(key[-3:]) % 4 for key, _ in mine] == [rank] * len(mine)
        assert len(mine) in (5, 6)
        seen += mine
    assert sorted(seen) == expected()


def test_a_missing_bucket_is_an_error_at_the_first_access(emulator):
    for cls in (S3MapDataset, S3IterableDataset):
        dataset = make(cls, emulator, "no-such-bucket-here")
        with pytest.raises(penstock.S3NotFoundError, match=r"Service error: The bucket does not exist \(ListObjectsV2"):
            next(iter(dataset))


def test_each_listed_object_is_read_by_one_request(emulator, filled):
    dataset = make(S3IterableDataset, emulator, filled)
    list(dataset)
    assert dataset._get_client().metrics()["requests"] == {"ListObjectsV2": 1, "GetObject": 23}


def test_the_default_transform_yields_readers(emulator, filled):
    dataset = S3IterableDataset.from_prefix(
        f"s3://{filled}/data/", region="us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config()
    )
    assert [reader.read() for reader in dataset] == [content for _, content in expected()]


def test_threads_share_one_iterator(emulator, filled):
    for _ in range(5):
        shared = iter(make(S3IterableDataset, emulator, filled))
        taken: list[tuple[str, bytes]] = []
        threads = [threading.Thread(target=taken.extend, args=(shared,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(taken) == expected()


def test_threads_on_one_listing_never_crash_it_or_repeat_a_key(client, bucket):
    for number in range(40):
        put(client, bucket, f"k{number:02}", b"x")
    for _ in range(5):
        pages = client.list_objects(bucket, max_keys=1)
        seen: list[str] = []

        def read(pages=pages, seen=seen) -> None:
            try:
                for page in pages:
                    seen.extend(info.key for info in page.object_info)
            except RuntimeError as error:
                assert "two threads at a time" in str(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(seen) == len(set(seen)) <= 40
