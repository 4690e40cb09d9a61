"""Listings: their objects, order, pages and memory, and bugs of s3torchconnector that Penstock does not have."""

from __future__ import annotations

import asyncio
import logging
import pickle
import random

import penstock
import penstock.aio
import pytest
from bucket_io import put
from endless_listing import endless_listing
from penstock import ObjectInfo, S3BucketKeyData, S3DataLossError, S3IterableDataset, S3MapDataset, _core, _versions
from penstock._listing import S3BucketIterable
from penstock._objects import parse_s3_uri
from penstock.fsspec import S3FileSystem

KEYS = sorted(
    ["a", "a/", "a/1", "a/2", "a//x", "a0", "b/1", "b/c/d", "b/c/e", "k with space", "k+plus", "k%20", "z/\u20ac", "~"]
    + [f"n/{i:03}" for i in range(40)],
    key=str.encode,
)


@pytest.fixture
def filled(client, bucket):
    for number, key in enumerate(KEYS):
        put(client, bucket, key, b"x" * number)
    return bucket


def key_of(reader):
    return reader.key


def over(cls, emulator, uri, transform=key_of):
    return cls.from_prefix(
        uri, region="us-east-1", endpoint=emulator.endpoint, transform=transform, s3client_config=emulator.config()
    )


# ---- objects of a listing


def test_a_listing_has_every_key_once_in_byte_order(client, filled):
    assert [item.key for item in S3BucketIterable(client, filled, "")] == KEYS
    assert [item.key for item in S3BucketIterable(client, filled, "", page_size=7)] == KEYS
    assert [item.key for item in S3BucketIterable(client, filled, "a/")] == ["a/", "a//x", "a/1", "a/2"]


def test_items_have_the_object_info_of_the_listing(client, filled):
    item = next(iter(S3BucketIterable(client, filled, "k%20")))
    head = client.head_object(filled, "k%20")
    assert isinstance(item, S3BucketKeyData)
    assert (item.bucket, item.key) == (filled, "k%20")
    assert item.object_info == ObjectInfo("k%20", head.etag, head.size, head.last_modified, "STANDARD", None)
    assert item.object_info.etag.startswith('"')


def test_object_info_is_immutable_and_pickles(client, filled):
    info = next(iter(client.list_objects(filled))).object_info[0]
    with pytest.raises(AttributeError):
        info.size = 5
    assert pickle.loads(pickle.dumps(info)) == info
    assert hash(info) == hash(ObjectInfo(*info))


def test_pages_have_a_continuation_token_until_the_listing_is_complete(client, filled):
    pages = client.list_objects(filled, max_keys=30)
    first = next(pages)
    assert [info.key for info in first.object_info] == KEYS[:30]
    assert not pages.complete
    assert pages.continuation_token
    assert [info.key for page in pages for info in page.object_info] == KEYS[30:]
    assert pages.complete
    assert pages.continuation_token is None
    with pytest.raises(StopIteration):
        next(pages)


def test_the_service_limits_the_page_size(client, bucket):
    """0 and 5000 used to be rejected; s3torchconnector sends them to the service."""
    for i in range(1001):
        put(client, bucket, f"{i:04}", b"")
    assert [len(page.object_info) for page in client.list_objects(bucket, max_keys=5000)] == [1000, 1]
    assert [len(page.object_info) for page in client.list_objects(bucket, max_keys=0)] == [0]
    with pytest.raises(penstock.S3InvalidArgumentError, match=r"max_keys must be 0 or more .*, not -1"):
        next(client.list_objects(bucket, max_keys=-1))


def test_common_prefixes_with_a_delimiter(client, filled):
    (page,) = client.list_objects(filled, delimiter="/")
    assert page.common_prefixes == ["a/", "b/", "n/", "z/"]
    assert [info.key for info in page.object_info] == ["a", "a0", "k with space", "k%20", "k+plus", "~"]


def test_each_iteration_lists_again(client, filled):
    objects = S3BucketIterable(client, filled, "n/")
    assert len(list(objects)) == 40
    put(client, filled, "n/new", b"")
    assert len(list(objects)) == 41


def test_a_listing_that_has_not_started_pickles(client, filled):
    """A listing of s3torchconnector raises TypeError after unpickling."""
    objects = pickle.loads(pickle.dumps(S3BucketIterable(client, filled, "a/")))
    assert [item.key for item in objects] == ["a/", "a//x", "a/1", "a/2"]


def test_a_started_listing_cannot_be_pickled(client, filled):
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(iter(S3BucketIterable(client, filled, "")))


# ---- packed listings


def test_a_packed_listing_equals_the_listing(client, filled):
    objects = S3BucketIterable(client, filled, "", page_size=7)
    kept = objects.as_list()
    assert len(kept) == len(KEYS)
    assert list(kept) == list(objects) == [kept[i] for i in range(len(KEYS))]
    assert kept[-1] == kept[len(KEYS) - 1]
    for index in (len(KEYS), -len(KEYS) - 1):
        with pytest.raises(IndexError, match="out of range; there are 54 objects"):
            kept[index]
    assert list(pickle.loads(pickle.dumps(kept))) == list(objects)


def test_a_packed_listing_outlives_its_client(emulator, filled):
    kept = S3BucketIterable(emulator.client(), filled, "a/").as_list()
    assert [item.key for item in kept] == ["a/", "a//x", "a/1", "a/2"]


@pytest.mark.parametrize("delimiter", ["/", "0"])
def test_parallel_listing_of_prefixes_yields_the_same_objects(emulator, client, filled, delimiter):
    parallel = emulator.client(penstock.S3ClientConfig(listing_delimiter=delimiter))
    for prefix in ("", "a", "b/", "none"):
        serial = S3BucketIterable(client, filled, prefix, page_size=5).as_list()
        assert list(S3BucketIterable(parallel, filled, prefix, page_size=5).as_list()) == list(serial)


def test_the_map_dataset_keeps_its_listing_packed(emulator, filled):
    dataset = over(S3MapDataset, emulator, f"s3://{filled}/")
    assert len(dataset) == len(KEYS)
    assert isinstance(dataset._dataset_bucket_key_pairs, _core.ObjectList)
    assert list(dataset) == KEYS
    order = random.Random(2).sample(range(-len(KEYS), len(KEYS)), 60)
    assert dataset.__getitems__(order) == [KEYS[i] for i in order]
    unpickled = pickle.loads(pickle.dumps(dataset))
    assert unpickled._bucket_key_pairs is not None  # does not list again
    assert list(unpickled) == KEYS


def test_an_index_out_of_range_is_raised_after_the_items_before_it(emulator, filled):
    seen = []
    dataset = over(S3MapDataset, emulator, f"s3://{filled}/", transform=lambda reader: seen.append(reader.key))
    with pytest.raises(IndexError, match="index 54 is out of range"):
        dataset.__getitems__([0, 1, len(KEYS), 2])
    assert seen == KEYS[:2]
    with pytest.raises(TypeError):
        dataset[0:2]


def test_len_items_and_batches_share_one_listing(emulator, filled):
    dataset = over(S3MapDataset, emulator, f"s3://{filled}/n/")
    assert len(dataset) == len(list(dataset)) == 40
    dataset.__getitems__([0, 1])
    assert dataset._get_client().metrics()["requests"]["ListObjectsV2"] == 1


# ---- datasets, logs and URIs


def test_building_a_dataset_sends_nothing(caplog):
    with caplog.at_level(logging.INFO):
        for cls in (S3MapDataset, S3IterableDataset):
            cls.from_prefix("s3://nowhere/p", region="us-east-1", endpoint="http://127.0.0.1:1")
            cls.from_objects(["s3://nowhere/p", "not a uri"], region="us-east-1", endpoint="http://127.0.0.1:1")
    assert [record.getMessage() for record in caplog.records] == [
        "Building S3MapDataset from_prefix s3_uri='s3://nowhere/p'",
        "Building S3MapDataset from_objects",
        "Building S3IterableDataset from_prefix s3_uri='s3://nowhere/p'",
        "Building S3IterableDataset from_objects",
    ]


def test_every_kind_of_listing_is_logged(client, filled, caplog):
    with caplog.at_level(logging.DEBUG, logger="penstock"):
        next(client.list_objects(filled, "a/"))
        next(iter(S3BucketIterable(client, filled, "b/")))
        S3BucketIterable(client, filled, "n/").as_list()
    listed = [r.getMessage() for r in caplog.records if r.getMessage().startswith("ListObjects")]
    assert listed == [f"ListObjects s3://{filled}/{prefix}" for prefix in ("a/", "b/", "n/")]


@pytest.mark.parametrize(
    ("uri", "parsed"),
    [
        ("s3://b", ("b", "")),
        ("s3://b/", ("b", "")),
        ("s3://b/k", ("b", "k")),
        ("s3://b//k", ("b", "/k")),
        ("s3://b/a b?c#d%20", ("b", "a b?c#d%20")),
        ("s3://arn:aws:s3:us-west-2:1234:accesspoint:p/k", ("arn:aws:s3:us-west-2:1234:accesspoint:p", "k")),
    ],
)
def test_uris_are_not_decoded(uri, parsed):
    assert parse_s3_uri(uri) == parsed


@pytest.mark.parametrize("uri", ["", "S3://b/k", "s3:/b/k", "http://b/k", "b/k"])
def test_other_schemes_are_refused(uri):
    with pytest.raises(ValueError, match="Only s3:// URIs are supported"):
        parse_s3_uri(uri)


@pytest.mark.parametrize("uri", ["s3://", "s3:///k"])
def test_a_uri_without_a_bucket_is_refused(uri):
    with pytest.raises(ValueError, match="Bucket name must be non-empty"):
        parse_s3_uri(uri)


def test_every_kind_of_listing_reports_a_missing_bucket(client):
    for listing in (S3BucketIterable(client, "no-such-bucket-here", ""), S3BucketIterable(client, "no-such-bucket-here", "p")):
        with pytest.raises(penstock.S3NotFoundError, match="Service error: The bucket does not exist"):
            next(iter(listing))
        with pytest.raises(penstock.S3NotFoundError, match="Service error: The bucket does not exist"):
            listing.as_list()


# ---- listings that do not advance


async def listed_by_asyncio(client, operation):
    async with penstock.aio.S3Client("us-east-1", endpoint=client.endpoint, s3client_config=client.s3client_config) as listing:
        return [page async for page in getattr(listing, operation)("bucket", "p/")]


def file_system_of(client):
    return S3FileSystem(anon=True, endpoint_url=client.endpoint)


PYTHON_LISTINGS = {
    "versions": lambda client: list(client.list_object_versions("bucket", "p/")),
    "objects by asyncio": lambda client: asyncio.run(listed_by_asyncio(client, "list_objects")),
    "versions by asyncio": lambda client: asyncio.run(listed_by_asyncio(client, "list_object_versions")),
    "uploads of the file system": lambda client: file_system_of(client).list_multipart_uploads("bucket"),
}


@pytest.mark.parametrize("listing", PYTHON_LISTINGS)
def test_a_listing_without_end_is_an_error(listing, monkeypatch):
    monkeypatch.setattr(_versions, "MAX_EMPTY_PAGES", 20)
    with endless_listing(last=50) as service:
        with pytest.raises((S3DataLossError, OSError), match=r"s3://bucket.* does not advance.*20 pages in succession"):
            PYTHON_LISTINGS[listing](service.client)
        assert 20 <= len(service.received) < 50  # some fetch a page ahead


@pytest.mark.parametrize("cycle", [1, 3])
@pytest.mark.parametrize("listing", PYTHON_LISTINGS)
def test_a_listing_whose_tokens_repeat_is_an_error(listing, cycle):
    with endless_listing(last=50, cycle=cycle) as service:
        with pytest.raises((S3DataLossError, OSError), match=r"s3://bucket.* does not advance"):
            PYTHON_LISTINGS[listing](service.client)
        assert len(service.received) < 12


def test_a_token_that_repeats_late_is_found_at_once():
    advance = _versions.AdvanceCheck("the listing")
    for number in range(33):
        advance.check((f"{number}", ""), empty=False)
    with pytest.raises(S3DataLossError, match=r"same token twice, '32', ''$"):
        advance.check(("32", ""), empty=False)


def test_pages_with_entries_reset_the_count_of_empty_pages(monkeypatch):
    monkeypatch.setattr(_versions, "MAX_EMPTY_PAGES", 3)
    advance = _versions.AdvanceCheck("the listing")
    for number, empty in enumerate([True, True, False, True, True]):
        advance.check(number, empty=empty)
    for _ in range(2):  # also a repeated request for the page
        with pytest.raises(S3DataLossError, match="does not advance"):
            advance.check(5, empty=True)
