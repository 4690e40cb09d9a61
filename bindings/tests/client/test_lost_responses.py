"""A response is lost and every retry is throttled: the result is found, or the error reports that it may have happened."""

from __future__ import annotations

from collections.abc import Iterator

import penstock
import pytest
from bucket_io import get, keys, put
from penstock import S3ClientConfig
from penstock.testing import Emulator

MIB = 1024**2
ZONAL = "lost--use1-az4--x-s3"


@pytest.fixture
def own_emulator() -> Iterator[Emulator]:
    with Emulator() as emulator:
        emulator.client().create_bucket(ZONAL)
        emulator.client().create_bucket("lost")
        yield emulator


@pytest.fixture
def lossy(own_emulator) -> penstock.S3Client:
    return own_emulator.client(S3ClientConfig(max_attempts=3))


def lose(emulator: Emulator, operation: str, at: str = "after_commit") -> None:
    """Drops the response of the first request of an operation; throttles all later ones before they are executed."""
    when = {"operation": operation}
    emulator.faults().set(
        [
            {"do": {"reset": {}, "at": at}, "when": when, "limit": {"times": 1}},
            {"do": {"error": {"status": 503, "code": "SlowDown"}, "at": "headers"}, "when": when},
        ]
    )


@pytest.mark.parametrize("bucket", ["lost", ZONAL])
def test_a_conditional_upload_whose_response_was_lost_is_found(own_emulator, bucket):
    client = own_emulator.client(S3ClientConfig(max_attempts=3))
    lose(own_emulator, "PutObject")
    with client.put_object(bucket, "small", if_none_match=True) as writer:
        writer.write(b"mine")
    own_emulator.faults().check()
    own_emulator.faults().clear()
    assert get(client, bucket, "small") == b"mine"


def test_failures_of_a_deletion_mention_its_lost_response(own_emulator, lossy):
    etag = lossy.put("lost", "k", b"x").etag
    lost = {"do": {"reset": {}, "at": "after_commit"}, "when": {"operation": "DeleteObjects"}, "limit": {"times": 1}}
    own_emulator.faults().set([lost])
    result = lossy.delete_objects("lost", [penstock.requests.ObjectToDelete("k", if_match=etag)])
    assert [failure.code for failure in result.failures] == ["NoSuchKey"]
    assert "may have been carried out" in result.failures[0].message
    own_emulator.faults().check()


def test_a_conditional_upload_that_did_not_arrive_is_not_found(own_emulator, lossy):
    lose(own_emulator, "PutObject", "before_commit")
    with (
        pytest.raises(penstock.S3ThrottledError, match="may have been carried out"),
        lossy.put_object("lost", "never", if_none_match=True) as writer,
    ):
        writer.write(b"mine")
    own_emulator.faults().check()
    own_emulator.faults().clear()
    assert "never" not in keys(lossy, "lost")


@pytest.mark.parametrize("bucket", ["lost", ZONAL])
def test_a_multipart_upload_whose_response_was_lost_is_found(own_emulator, bucket):
    client = own_emulator.client(S3ClientConfig(max_attempts=3, part_size=5 * MIB))
    lose(own_emulator, "CompleteMultipartUpload")
    with client.put_object(bucket, "large", if_none_match=True) as writer:
        writer.write(b"m" * 20 * MIB)
    own_emulator.faults().check()
    own_emulator.faults().clear()
    assert client.head_object(bucket, "large").size == 20 * MIB


def test_an_append_whose_response_was_lost_is_found(own_emulator, lossy):
    put(lossy, ZONAL, "log", b"begin")
    lose(own_emulator, "PutObject")
    with lossy.append_object(ZONAL, "log") as writer:
        writer.write(b" end")
    own_emulator.faults().check()
    own_emulator.faults().clear()
    assert get(lossy, ZONAL, "log") == b"begin end"


def test_a_rename_whose_response_was_lost_may_have_been_carried_out(own_emulator, lossy):
    """The error used to mention throttling only, although the object had its new name."""
    put(lossy, ZONAL, "old", b"text")
    lose(own_emulator, "RenameObject")
    with pytest.raises(penstock.S3ThrottledError, match="may have been carried out"):
        lossy.rename_object(ZONAL, "old", "new")
    own_emulator.faults().check()
    own_emulator.faults().clear()
    assert get(lossy, ZONAL, "new") == b"text"


def test_a_throttled_upload_is_not_reported_as_possibly_carried_out(own_emulator, lossy):
    own_emulator.faults().set(
        [{"do": {"error": {"status": 503, "code": "SlowDown"}, "at": "headers"}, "when": {"operation": "PutObject"}}]
    )
    with pytest.raises(penstock.S3ThrottledError) as caught, lossy.put_object("lost", "k", if_none_match=True) as writer:
        writer.write(b"mine")
    assert "may have been carried out" not in str(caught.value)
