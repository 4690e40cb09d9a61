"""Directory buckets (S3 Express One Zone) in Python: sessions, listings, renames, appends, checkpoints."""

from __future__ import annotations

import itertools
import os
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from bucket_io import get, keys, put
from forked import in_child
from penstock import S3ClientConfig, S3IterableDataset, S3MapDataset
from penstock.dcp import S3FileSystem, S3StorageReader, S3StorageWriter
from penstock.testing import Emulator, Faults, Namespace

_numbers = itertools.count()


@pytest.fixture
def namespace(emulator: Emulator) -> Iterator[Namespace]:
    name = f"express-{next(_numbers)}"
    yield emulator.create_namespace(name)
    emulator.delete_namespace(name)


@pytest.fixture
def client(namespace: Namespace) -> penstock.S3Client:
    return namespace.client()


@pytest.fixture
def bucket(client: penstock.S3Client) -> str:
    name = f"express-{next(_numbers)}--use1-az4--x-s3"
    client.create_bucket(name)
    return name


LOST = [{"do": {"reset": {}, "at": "after_commit"}, "limit": {"times": 1}}]


@pytest.fixture
def lossy(emulator: Emulator) -> Iterator[tuple[penstock.S3Client, str, Faults]]:
    """A client and a bucket of the default namespace, and the faults of that namespace."""
    client = emulator.client()
    name = f"lossy-{next(_numbers)}--use1-az4--x-s3"
    client.create_bucket(name)
    yield client, name, emulator.faults()
    emulator.faults().clear()


def sessions(client: penstock.S3Client) -> int:
    return int(client.metrics()["requests"].get("CreateSession", 0))


def test_requests_of_a_session_meet_the_faults_of_their_namespace(namespace, client, bucket):
    put(client, bucket, "key", b"text")
    journal = namespace.journal
    namespace.faults.set([{"do": {"slow_down": {}}, "when": {"operation": "GetObject"}, "limit": {"times": 1}}])
    assert get(client, bucket, "key") == b"text"
    assert journal.count(operations=["GetObject"], status=503) == 1


def test_sessions_work_if_the_servers_clock_is_ahead(namespace, client, bucket):
    put(client, bucket, "key", b"text")
    namespace.faults.set([{"do": {"clock_skew": {"ahead_s": 1200}}}])
    assert get(namespace.client(), bucket, "key") == b"text"


def test_a_directory_bucket_has_the_same_calls_as_other_buckets(client, bucket):
    put(client, bucket, "a/b", b"text")
    assert get(client, bucket, "a/b") == b"text"
    assert client.head_object(bucket, "a/b").size == 4
    client.copy_object(bucket, "a/b", bucket, "a/c")
    assert set(keys(client, bucket)) == {"a/b", "a/c"}
    client.delete_object(bucket, "a/b")
    client.delete_object(bucket, "a/c")
    assert keys(client, bucket) == []
    assert sessions(client) == 1
    client.delete_bucket(bucket)


def test_large_objects_are_uploaded_in_consecutive_parts(namespace, bucket):
    client = namespace.client(S3ClientConfig(part_size=5 * 1024**2))
    data = os.urandom(12 * 1024**2 + 7)
    put(client, bucket, "large", data)
    assert get(client, bucket, "large") == data


def test_sixty_four_threads_make_one_session(client, namespace, bucket):
    put(namespace.client(), bucket, "key", b"x" * 100)
    fresh = namespace.client()
    with ThreadPoolExecutor(64) as pool:
        assert set(pool.map(lambda _: get(fresh, bucket, "key"), range(64))) == {b"x" * 100}
    assert sessions(fresh) == 1


def test_an_expired_session_is_replaced(client, namespace, bucket):
    put(client, bucket, "key", b"content")
    namespace.clock.advance(301)
    assert get(client, bucket, "key") == b"content"
    namespace.clock.advance(301)
    assert client.head_object(bucket, "key").size == 7
    namespace.clock.advance(301)
    put(client, bucket, "key", b"again")
    assert get(client, bucket, "key") == b"again"
    assert sessions(client) == 4


def test_sessions_can_be_turned_off(namespace, bucket):
    client = namespace.client(S3ClientConfig(disable_s3_express_session_auth=True))
    put(client, bucket, "key", b"content")
    assert get(client, bucket, "key") == b"content"
    assert sessions(client) == 0


def test_a_failed_session_names_the_missing_bucket(client):
    with pytest.raises(penstock.S3Exception) as error:
        get(client, "none--use1-az4--x-s3", "key")
    assert "none--use1-az4--x-s3" in str(error.value)


def test_directory_buckets_are_listed_by_their_own_request(client, bucket):
    assert client.list_directory_buckets() == [bucket]


def test_an_invalid_directory_bucket_name_is_an_error_with_the_format(client):
    with pytest.raises(penstock.S3Exception, match="Unrecognized S3Express bucket name format") as error:
        client.create_bucket("data--az1--x-s3")
    assert "base--zone--x-s3" in str(error.value)


# ---- listings


NAMES = ["step10/a", "step1/b", "step1/a", "step2", "st", "other/step1", "step", "z", "stop/x"]


@pytest.fixture
def listed(client: penstock.S3Client, bucket: str) -> str:
    for name in NAMES:
        put(client, bucket, name, name.encode())
    return bucket


@pytest.mark.parametrize("prefix", ["", "step", "step1", "step1/", "step1/a", "st", "other/st", "none", "other/none"])
def test_any_prefix_lists_the_keys_that_start_with_it(client, listed, prefix):
    assert set(keys(client, listed, prefix)) == {name for name in NAMES if name.startswith(prefix)}


def test_a_delimiter_and_a_prefix_inside_a_name(client, listed):
    pages = list(client.list_objects(listed, "ste", "/"))
    assert {found.key for page in pages for found in page.object_info} == {"step", "step2"}
    assert {name for page in pages for name in page.common_prefixes} == {"step1/", "step10/"}


def test_a_map_dataset_is_in_order(namespace, emulator, listed):
    dataset = S3MapDataset.from_prefix(
        f"s3://{listed}/step", region="us-east-1", endpoint=emulator.endpoint, s3client_config=namespace.config()
    )
    expected = sorted(name for name in NAMES if name.startswith("step"))
    assert [dataset[index].key for index in range(len(dataset))] == expected


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_shards_of_an_iterable_dataset_have_every_object_once(namespace, emulator, listed, shards):
    order = sorted(NAMES)
    iterable = penstock._listing.S3BucketIterable(namespace.client(), listed, "")
    for shard in range(shards):
        assert [found.key for found in iterable.every(shards, shard)] == order[shard::shards]
    dataset = S3IterableDataset.from_prefix(
        f"s3://{listed}", region="us-east-1", endpoint=emulator.endpoint, s3client_config=namespace.config()
    )
    assert [reader.key for reader in dataset] == order


# ---- renames


def test_a_rename_is_one_request(client, bucket):
    put(client, bucket, "old key+", b"text")
    client.rename_object(bucket, "old key+", "new/key")
    assert set(keys(client, bucket)) == {"new/key"}
    assert get(client, bucket, "new/key") == b"text"
    assert client.metrics()["requests"]["RenameObject"] == 1
    assert "CopyObject" not in client.metrics()["requests"]


def test_a_rename_replaces_the_target_unless_a_condition_fails(client, bucket):
    put(client, bucket, "a", b"1")
    put(client, bucket, "b", b"2")
    with pytest.raises(penstock.S3PreconditionFailedError):
        client.rename_object(bucket, "a", "b", if_none_match="*")
    with pytest.raises(penstock.S3PreconditionFailedError):
        client.rename_object(bucket, "a", "b", source_if_match='"other"')
    assert get(client, bucket, "b") == b"2"
    etag = client.head_object(bucket, "b").etag
    client.rename_object(bucket, "a", "b", if_match=etag, source_if_match=client.head_object(bucket, "a").etag)
    assert get(client, bucket, "b") == b"1"


def test_a_rename_whose_response_was_lost_happens_once(lossy):
    client, bucket, faults = lossy
    put(client, bucket, "a", b"1")
    faults.set([rule | {"when": {"operation": "RenameObject"}} for rule in LOST])
    client.rename_object(bucket, "a", "b")
    faults.check()
    assert keys(client, bucket) == ["b"]
    assert client.metrics()["requests"]["RenameObject"] == 2


def test_a_missing_source_is_not_found(client, bucket):
    with pytest.raises(penstock.S3NotFoundError):
        client.rename_object(bucket, "none", "b")


# ---- appends


def test_appends_are_buffered_and_stay_in_order(client, bucket):
    with client.append_object(bucket, "log", buffer_size=10) as log:
        assert log.write(b"0123") == 4
        assert (log.size, log.tell()) == (0, 4)
        log.write(b"456789")
        assert log.size == 10
        log.write(memoryview(b"ab"))
        log.flush()
        assert (log.size, log.tell()) == (12, 12)
        log.write(b"end")
    assert log.closed
    assert get(client, bucket, "log") == b"0123456789abend"
    with client.append_object(bucket, "log") as log:
        assert log.size == 15
        log.write(b"!")
    assert get(client, bucket, "log") == b"0123456789abend!"


def test_an_aborted_append_writer_keeps_the_appended_bytes(client, bucket):
    writer = client.append_object(bucket, "log", buffer_size=4)
    writer.write(b"1234")
    writer.write(b"5")
    writer.abort()
    assert writer.closed and writer.pending == b""
    writer.close()
    assert get(client, bucket, "log") == b"1234"


def test_an_append_whose_response_was_lost_happens_once(lossy):
    client, bucket, faults = lossy
    with client.append_object(bucket, "log", buffer_size=1) as log:
        for text in (b"one ", b"two ", b"three "):  # the first one creates the object
            faults.set([rule | {"when": {"operation": "PutObject"}} for rule in LOST])
            log.write(text)
            faults.check()
    assert get(client, bucket, "log") == b"one two three "


def test_an_append_by_another_writer_fails_this_one(client, bucket):
    first = client.append_object(bucket, "log", buffer_size=1)
    first.write(b"one ")
    with client.append_object(bucket, "log") as second:
        second.write(b"two ")
    with pytest.raises(penstock.S3Exception):
        first.write(b"three")
    assert get(client, bucket, "log") == b"one two "


def test_an_exception_discards_buffered_bytes(client, bucket):
    with pytest.raises(KeyError), client.append_object(bucket, "log") as log:
        log.write(b"kept")
        log.flush()
        log.write(b"dropped")
        raise KeyError
    assert get(client, bucket, "log") == b"kept"


# ---- checkpoints


def test_a_distributed_checkpoint_is_saved_and_loaded(namespace, emulator, client, bucket):
    state = {"weight": torch.arange(1000.0), "step": torch.tensor(7)}
    place = {"region": "us-east-1", "s3client_config": namespace.config()}
    path = f"s3://{bucket}/checkpoints/one"
    for _ in range(2):
        dcp.save(state, storage_writer=S3StorageWriter(path=path, overwrite=True, endpoint=emulator.endpoint, **place))
    target = {"weight": torch.zeros(1000), "step": torch.tensor(0)}
    dcp.load(target, storage_reader=S3StorageReader(path=path, endpoint=emulator.endpoint, **place))
    assert torch.equal(target["weight"], state["weight"])
    assert int(target["step"]) == 7


def test_the_file_systems_rename_is_atomic(client, bucket):
    put(client, bucket, "dir/.metadata.tmp", b"m")
    S3FileSystem("us-east-1", s3_client=client).rename(f"s3://{bucket}/dir/.metadata.tmp", f"s3://{bucket}/dir/.metadata")
    assert set(keys(client, bucket)) == {"dir/.metadata"}
    assert "CopyObject" not in client.metrics()["requests"]


def test_a_forked_child_and_a_pickled_client_have_sessions_of_their_own(client, bucket):
    put(client, bucket, "key", b"content")
    again = pickle.loads(pickle.dumps(client))
    assert get(again, bucket, "key") == b"content"
    assert in_child(lambda: get(client, bucket, "key").decode()) == "content"
    assert get(client, bucket, "key") == b"content"
