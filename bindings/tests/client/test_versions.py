"""Listing, reading, copying, deleting and restoring versions, and the errors of buckets without versions."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from typing import Any

import penstock
import pytest
import torch
from bucket_io import get, put
from penstock import ListObjectVersionsResult, S3Checkpoint
from penstock.requests import _parts
from penstock.testing import Emulator
from versioned_bucket import boto_client, keep_versions

MIB = 1024**2


@pytest.fixture
def versioned(emulator: Emulator, bucket: str) -> str:
    keep_versions(emulator, bucket)
    return bucket


@pytest.fixture
def checkpoint(emulator: Emulator) -> S3Checkpoint:
    return S3Checkpoint("us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config())


@contextlib.contextmanager
def failing(emulator: Emulator, rule: dict[str, Any]) -> Iterator[None]:
    emulator.faults().set([rule])
    try:
        yield
        emulator.faults().check()
    finally:
        emulator.faults().clear()


def all_versions(client: penstock.S3Client, bucket: str, prefix: str = "", max_keys: int = 1000) -> list[penstock.ObjectVersion]:
    return [version for page in client.list_object_versions(bucket, prefix, max_keys=max_keys) for version in page.versions]


def test_versions_and_delete_markers_are_listed_newest_first(client, versioned):
    put(client, versioned, "k", b"one")
    put(client, versioned, "k", b"three")
    client.delete_object(versioned, "k")
    put(client, versioned, "a b+c", b"")
    other, marker, second, first = all_versions(client, versioned)
    assert (other.key, other.size, other.is_latest) == ("a b+c", 0, True)
    assert (marker.is_delete_marker, marker.is_latest, marker.size, marker.etag) == (True, True, 0, "")
    assert (second.size, second.is_latest, second.is_delete_marker, second.storage_class) == (5, False, False, "STANDARD")
    assert (first.size, first.etag) == (3, '"f97c5d29941bfb1b2fdab0874906ab82"')  # MD5 of "one"
    assert len({version.version_id for version in (other, marker, second, first)}) == 4
    assert second.last_modified >= first.last_modified > 1.7e9


@pytest.mark.parametrize("page", [1, 2, 3, 1000])
def test_pages_continue_from_both_markers(client, versioned, page):
    for number in range(5):
        put(client, versioned, "k", b"x" * number)
    put(client, versioned, "k2", b"y")
    found = all_versions(client, versioned, max_keys=page)
    assert [(version.key, version.size) for version in found] == [*(("k", size) for size in (4, 3, 2, 1, 0)), ("k2", 1)]
    pages = list(client.list_object_versions(versioned, max_keys=page))
    assert [len(each.versions) for each in pages] == [page] * (6 // page) + ([6 % page] if 6 % page else [])
    assert isinstance(pages[0], ListObjectVersionsResult)


@pytest.mark.parametrize("page", [1, 2, 1000])
def test_common_prefixes_of_versions(client, versioned, page):
    for key in ("a/1", "a/1", "a/2", "b", "b", "c/1"):
        put(client, versioned, key, b"x")
    stream = client.list_object_versions(versioned, delimiter="/", max_keys=page)
    pages = list(stream)
    assert [prefix for each in pages for prefix in each.common_prefixes] == ["a/", "c/"]
    assert [version.key for each in pages for version in each.versions] == ["b", "b"]
    assert stream.complete
    assert list(stream) == []


def test_a_version_can_be_read_copied_and_deleted(client, versioned):
    put(client, versioned, "k", b"old")
    put(client, versioned, "k", b"newer")
    new, old = (version.version_id for version in all_versions(client, versioned))
    assert client.get_object(versioned, "k", version_id=old).read() == b"old"
    assert client.get_object(versioned, "k").read() == b"newer"
    assert client.head_object(versioned, "k", version_id=old).size == 3
    client.copy_object(versioned, "k", versioned, "copy", src_version_id=old)
    assert get(client, versioned, "copy") == b"old"
    client.delete_object(versioned, "k", version_id=new)
    assert get(client, versioned, "k") == b"old"
    with pytest.raises(penstock.S3NotFoundError) as caught:
        client.get_object(versioned, "k", version_id=new).read()
    assert caught.value.code == "NoSuchVersion"


READERS = {
    "default": penstock.S3ReaderConstructor.default,
    "sequential": penstock.S3ReaderConstructor.sequential,
    "range_based": penstock.S3ReaderConstructor.range_based,
}


@pytest.mark.parametrize("kind", READERS)
def test_every_request_of_a_reader_names_its_version(emulator, client, versioned, kind):
    """The journal has the requests of seeks, of size queries and of downloads in parts."""
    old = bytes(range(256)) * (20 * MIB // 256)
    put(client, versioned, "k", old)
    put(client, versioned, "k", b"new")
    version = all_versions(client, versioned)[1].version_id
    emulator.journal().clear()
    parts = emulator.client(penstock.S3ClientConfig(part_size=6 * MIB, throughput_target_gbps=2.0))
    reader = parts.get_object(versioned, "k", version_id=version, reader_constructor=READERS[kind]())
    reader.seek(-10, 2)
    assert reader.read() == old[-10:]
    reader.seek(7)
    assert reader.read(100) == old[7:107]
    memory = bytearray(9 * MIB)
    reader.seek(10 * MIB)
    assert reader.readinto(memory) == len(memory)
    assert memory == old[10 * MIB : 19 * MIB]
    reader.seek(0)
    assert reader.read() == old
    targets = [entry.target for entry in emulator.journal().entries() if entry.operation in ("GetObject", "HeadObject")]
    assert len(targets) > 3
    assert all(f"versionId={version}" in target for target in targets), targets


def test_torch_loads_an_old_version(client, versioned, checkpoint):
    uri = f"s3://{versioned}/model.pt"
    for number in (1, 2):
        with checkpoint.writer(uri) as writer:
            torch.save({"step": number, "w": torch.full((1000,), float(number))}, writer)
    new, old = checkpoint.versions(uri)
    assert (new.is_latest, old.is_latest) == (True, False)
    with checkpoint.reader(uri, version_id=old.version_id) as reader:
        state = torch.load(reader)
    assert state["step"] == 1
    assert state["w"].eq(1.0).all()


def test_versions_of_a_checkpoint_are_those_of_its_key(client, versioned, checkpoint):
    for key in ("k", "k", "k/below", "k2"):
        put(client, versioned, key, b"x")
    assert [version.key for version in checkpoint.versions(f"s3://{versioned}/k")] == ["k", "k"]
    assert checkpoint.versions(f"s3://{versioned}/never") == []
    with pytest.raises(ValueError, match="names a bucket"):
        checkpoint.versions(f"s3://{versioned}")


def test_restore_copies_a_version_and_keeps_the_others(client, versioned, checkpoint):
    put(client, versioned, "k", b"old")
    put(client, versioned, "k", b"newer")
    uri = f"s3://{versioned}/k"
    newer, old = checkpoint.versions(uri)
    restored = checkpoint.restore(uri, old.version_id)
    assert get(client, versioned, "k") == b"old"
    assert restored.is_latest
    assert [version.size for version in checkpoint.versions(uri)] == [3, 5, 3]
    assert checkpoint.restore(uri, restored.version_id) == restored  # the version is current: no copy
    assert len(checkpoint.versions(uri)) == 3
    assert client.get_object(versioned, "k", version_id=newer.version_id).read() == b"newer"


def test_restore_works_below_a_delete_marker(client, versioned, checkpoint):
    put(client, versioned, "k", b"old")
    client.delete_object(versioned, "k")
    marker, old = checkpoint.versions(f"s3://{versioned}/k")
    with pytest.raises(ValueError, match="is a delete marker, which has no content to restore"):
        checkpoint.restore(f"s3://{versioned}/k", marker.version_id)
    checkpoint.restore(f"s3://{versioned}/k", old.version_id)
    assert get(client, versioned, "k") == b"old"


def test_restore_copies_a_large_version_in_parts(emulator, client, versioned, checkpoint, monkeypatch):
    """On S3 for more than 5 GiB; the limits are lower here. Bytes, headers, metadata and tags are those of the version."""
    monkeypatch.setattr(_parts, "MAX_COPY_BYTES", 6 * MIB)
    monkeypatch.setattr(_parts, "COPY_PART", 6 * MIB)
    old = bytes(range(256)) * (12 * MIB // 256)
    boto_client(emulator).put_object(
        Bucket=versioned, Key="k", Body=old, ContentType="model/x", CacheControl="no-store", Metadata={"step": "7"}, Tagging="a=b"
    )
    put(client, versioned, "k", b"new")
    version = checkpoint.versions(f"s3://{versioned}/k")[1]
    emulator.journal().clear()
    checkpoint.restore(f"s3://{versioned}/k", version.version_id)
    assert emulator.journal().count(operations="UploadPartCopy") == 2
    assert get(client, versioned, "k") == old
    head = client.head(versioned, "k")
    assert (head.content_type, head.cache_control, head.metadata) == ("model/x", "no-store", {"step": "7"})
    assert client.get_object_tagging(versioned, "k") == {"a": "b"}
    assert client._client.list_multipart_uploads(versioned) == []


def test_a_copy_in_parts_that_fails_leaves_no_upload(emulator, client, versioned, checkpoint, monkeypatch):
    monkeypatch.setattr(_parts, "MAX_COPY_BYTES", 6 * MIB)
    monkeypatch.setattr(_parts, "COPY_PART", 6 * MIB)
    put(client, versioned, "k", bytes(12 * MIB))
    put(client, versioned, "k", b"new")
    version = checkpoint.versions(f"s3://{versioned}/k")[1]
    with (
        failing(emulator, {"when": {"operation": "UploadPartCopy"}, "do": {"error": {"code": "AccessDenied"}}}),
        pytest.raises(penstock.S3AccessDeniedError),
    ):
        checkpoint.restore(f"s3://{versioned}/k", version.version_id)
    assert get(client, versioned, "k") == b"new"
    assert client._client.list_multipart_uploads(versioned) == []


def test_undelete_removes_the_latest_delete_markers(client, versioned, checkpoint):
    uri = f"s3://{versioned}/k"
    put(client, versioned, "k", b"x")
    assert checkpoint.undelete(uri) == 0
    for _ in range(3):
        client.delete_object(versioned, "k")
    assert checkpoint.undelete(uri) == 3
    assert get(client, versioned, "k") == b"x"
    assert [version.is_delete_marker for version in checkpoint.versions(uri)] == [False]


def test_undelete_without_a_version_is_not_found(client, versioned, checkpoint):
    client.delete_object(versioned, "k")
    with pytest.raises(penstock.S3NotFoundError, match="no version of it is left"):
        checkpoint.undelete(f"s3://{versioned}/k")
    assert len(checkpoint.versions(f"s3://{versioned}/k")) == 1  # no delete marker was removed
    with pytest.raises(penstock.S3NotFoundError, match="In a bucket without versioning, deleted objects are lost"):
        checkpoint.undelete(f"s3://{versioned}/never")


def test_a_missing_version_is_an_error_with_the_newest_versions(client, versioned, checkpoint):
    put(client, versioned, "k", b"x")
    existing = checkpoint.versions(f"s3://{versioned}/k")[0].version_id
    with pytest.raises(penstock.S3NotFoundError, match=f"has no version 'nope'; its newest versions: {existing}"):
        checkpoint.restore(f"s3://{versioned}/k", "nope")
    with pytest.raises(penstock.S3NotFoundError, match="has no versions, so 'nope' cannot be restored"):
        checkpoint.restore(f"s3://{versioned}/never", "nope")


def test_a_missing_version_in_an_unversioned_bucket_is_reported(client, bucket, checkpoint):
    put(client, bucket, "k", b"x")
    uri = f"s3://{bucket}/k"
    (only,) = checkpoint.versions(uri)
    assert (only.version_id, only.is_latest, only.size) == ("null", True, 1)
    assert checkpoint.restore(uri, "null") == only
    assert client.get_object(bucket, "k", version_id="null").read() == b"x"
    with pytest.raises(
        penstock.S3NotFoundError, match="its only version is 'null', since the bucket has no versioning"
    ) as caught:
        checkpoint.restore(uri, "abc")
    assert caught.value.code == "NoSuchVersion"


DIRECTORY_BUCKET = "models--use1-az4--x-s3"


@pytest.mark.parametrize(
    "call",
    [
        lambda client, _: client.list_object_versions(DIRECTORY_BUCKET),
        lambda client, _: client.get_object(DIRECTORY_BUCKET, "k", version_id="v"),
        lambda client, _: client.head_object(DIRECTORY_BUCKET, "k", version_id="v"),
        lambda client, _: client.delete_object(DIRECTORY_BUCKET, "k", version_id="v"),
        lambda client, _: client.copy_object(DIRECTORY_BUCKET, "k", "b", "k", src_version_id="v"),
        lambda _, checkpoint: checkpoint.versions(f"s3://{DIRECTORY_BUCKET}/k"),
        lambda _, checkpoint: checkpoint.reader(f"s3://{DIRECTORY_BUCKET}/k", version_id="v"),
        lambda _, checkpoint: checkpoint.restore(f"s3://{DIRECTORY_BUCKET}/k", "null"),
        lambda _, checkpoint: checkpoint.undelete(f"s3://{DIRECTORY_BUCKET}/k"),
    ],
)
def test_a_directory_bucket_has_no_versions(emulator, client, checkpoint, call):
    emulator.journal().clear()
    with pytest.raises(
        ValueError, match="'models--use1-az4--x-s3' is a directory bucket, where versioning does not exist"
    ) as caught:
        call(client, checkpoint)
    assert isinstance(caught.value, penstock.S3Exception)
    assert emulator.journal().count() == 0  # nothing was sent


def test_an_empty_version_id_is_rejected(client, bucket, checkpoint):
    for call in (client.get_object, client.head_object, client.delete_object):
        with pytest.raises(ValueError, match="version_id is ''; give an id from list_object_versions"):
            call(bucket, "k", version_id="")
    with pytest.raises(TypeError, match="version_id must be str or None, not int"):
        checkpoint.reader(f"s3://{bucket}/k", version_id=7)


def test_a_version_can_be_pickled(client, versioned):
    put(client, versioned, "k", b"x")
    (version,) = all_versions(client, versioned)
    assert pickle.loads(pickle.dumps(version)) == version


def test_a_throttled_listing_of_versions_is_retried(emulator, client, versioned):
    put(client, versioned, "k", b"x")
    with failing(emulator, {"when": {"operation": "ListObjectVersions"}, "do": {"slow_down": {}}, "limit": {"times": 1}}):
        assert [version.key for version in all_versions(client, versioned)] == ["k"]
    assert client.metrics()["requests"]["ListObjectVersions"] == 2


def test_open_uploads_have_their_start_time_and_continue_at_a_marker(client, bucket):
    core = client._client
    ids = [client.create_multipart_upload(bucket, f"p/{number}") for number in range(3)]
    client.create_multipart_upload(bucket, "q")
    uploads, key_marker, id_marker = core.list_open_uploads(bucket, "p/")
    assert [(key, upload) for key, upload, _ in uploads] == list(zip(("p/0", "p/1", "p/2"), ids, strict=True))
    assert all(initiated > 1.7e9 for _, _, initiated in uploads)
    assert (key_marker, id_marker) == ("", "")
    assert [key for key, _, _ in core.list_open_uploads(bucket, "p/", "p/0")[0]] == ["p/1", "p/2"]
