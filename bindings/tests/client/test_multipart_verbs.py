"""The core's calls for multipart uploads and conditional writes."""

from __future__ import annotations

import penstock
import pytest
from bucket_io import get, keys, put
from http_responses import responding
from penstock._put_stream import PutObjectStream

MIB = 1024**2


def test_a_list_of_uploads_has_all_pages(client, bucket):
    """S3 returns at most 1,000 uploads per page."""
    core = client._client
    ids = [client.create_multipart_upload(bucket, f"p/{number:04}") for number in range(1005)]
    before = client.metrics()["requests"].get("ListMultipartUploads", 0)
    assert core.list_multipart_uploads(bucket, "p/") == [(f"p/{number:04}", upload) for number, upload in enumerate(ids)]
    assert client.metrics()["requests"]["ListMultipartUploads"] == before + 2
    for number, upload in enumerate(ids):
        client.abort_multipart_upload(bucket, f"p/{number:04}", upload)


def test_a_list_of_uploads_with_repeated_markers_is_an_error():
    page = (
        b"<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker>"
        b"<NextUploadIdMarker>u</NextUploadIdMarker></ListMultipartUploadsResult>"
    )
    with responding(200, body=page) as (client, received):
        with pytest.raises(penstock.S3UnavailableError, match="repeats its markers"):
            client._client.list_multipart_uploads("bucket")
        assert len(received) == 2


def test_a_copied_part_requires_the_given_etag(client, bucket):
    put(client, bucket, "source", b"new")
    upload = client.create_multipart_upload(bucket, "joined")
    with pytest.raises(penstock.S3PreconditionFailedError):
        client.upload_part_copy(bucket, "joined", upload, 1, bucket, "source", src_range=(0, 3), src_if_match="0" * 32)
    client.abort_multipart_upload(bucket, "joined", upload)
    assert keys(client, bucket) == ["source"]


@pytest.mark.parametrize("size", [3, 6 * MIB])
def test_a_conditional_write_does_not_replace_an_object(client, bucket, size):
    """For one PUT and for an upload in parts."""

    def write(data: bytes) -> None:
        stream = PutObjectStream(client._client, bucket, "k", None, 5 * MIB, if_none_match=True)
        stream.write(data)
        stream.close()

    write(b"a" * size)
    with pytest.raises(penstock.S3PreconditionFailedError):
        write(b"b" * size)
    assert get(client, bucket, "k") == b"a" * size
    assert client._client.list_multipart_uploads(bucket) == []


def test_content_type_and_metadata_are_stored(client, bucket):
    stream = PutObjectStream(client._client, bucket, "k", None, None, content_type="text/csv", metadata=[("step", "7")])
    stream.write(b"1,2")
    stream.close()
    head = client._client.head_object(bucket, "k")
    assert (head.content_type, head.user_metadata) == ("text/csv", [("step", "7")])


def test_the_key_of_an_upload_in_parts_may_contain_a_nul(client, bucket):
    key = "a\0b"
    upload = client.create_multipart_upload(bucket, key)
    client.upload_part(bucket, key, upload, 1, b"part")
    parts = client.list_parts(bucket, key, upload).parts
    client.complete_multipart_upload(bucket, key, upload, parts)
    assert client.get(bucket, key).body == b"part"
    assert client.list_multipart_uploads(bucket).uploads == []
    with pytest.raises(penstock.S3NotFoundError, match="NoSuchUpload"):
        client.list_parts(bucket, key, "none")
