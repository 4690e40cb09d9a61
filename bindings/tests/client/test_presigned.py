"""Presigned requests, sent by a plain HTTP client to the emulator, which verifies the signatures."""

from __future__ import annotations

import http.client
import time
import urllib.parse
import uuid

import penstock
import pytest

KEY = bytes(range(32))


def send(signed, body: bytes = b"", headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    parts = urllib.parse.urlsplit(signed.url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    method = getattr(signed, "method", "POST")
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    connection.request(method, target, body or None, {**getattr(signed, "headers", {}), **(headers or {})})
    response = connection.getresponse()
    return response.status, dict(response.getheaders()), response.read()


def form(fields: dict[str, str], data: bytes) -> tuple[bytes, str]:
    """Returns the body of a multipart form, and its Content-Type."""
    boundary = uuid.uuid4().hex
    part = f"--{boundary}\r\nContent-Disposition: form-data; name="
    head = "".join(f'{part}"{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
    file = f'{part}"file"; filename="f.txt"\r\n\r\n'
    return head.encode() + file.encode() + data + f"\r\n--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def test_put_get_head_delete(client, bucket):
    put = client.presign("put", bucket, "a b/\u00e4", content_type="text/plain", metadata={"who": "me"})
    assert put.method == "PUT"
    assert put.headers["Content-Type"] == "text/plain"
    assert send(put, b"data")[0] == 200
    assert client.head(bucket, "a b/\u00e4").metadata == {"who": "me"}
    get = client.presign("get", bucket, "a b/\u00e4", response_content_disposition="attachment", expires_in=60)
    assert abs(get.expires_at - time.time() - 60) < 30
    status, headers, body = send(get)
    assert (status, body, headers["Content-Disposition"]) == (200, b"data", "attachment")
    assert send(client.presign("head", bucket, "a b/\u00e4"))[0] == 200
    assert send(client.presign("delete", bucket, "a b/\u00e4"))[0] == 204
    assert send(client.presign("get", bucket, "a b/\u00e4"))[0] == 404


def test_a_changed_url_is_refused(client, bucket):
    client.put(bucket, "k", b"x")
    signed = client.presign("get", bucket, "k")
    changed = type(signed)(signed.method, signed.url.replace("/k?", "/l?"), signed.headers, signed.expires_at)
    assert send(signed)[0] == 200
    assert send(changed)[0] == 403


def test_upload_part(client, bucket):
    upload = client.create_multipart_upload(bucket, "k")
    signed = client.presign("upload_part", bucket, "k", upload_id=upload, part_number=1)
    assert send(signed, b"part")[0] == 200
    parts = client.list_parts(bucket, "k", upload).parts
    client.complete_multipart_upload(bucket, "k", upload, parts)
    assert client.get(bucket, "k").body == b"part"


def test_a_form(client, bucket):
    signed = client.presign_post(
        bucket, "up/${filename}", fields={"Content-Type": "text/plain"}, starts_with={"x-amz-meta-who": "m"},
        content_length_range=(1, 10),
    )  # fmt: skip
    body, content_type = form({**signed.fields, "x-amz-meta-who": "me"}, b"data")
    assert send(signed, body, {"Content-Type": content_type})[0] == 204
    found = client.get(bucket, "up/f.txt")
    assert (found.body, found.metadata.content_type, found.metadata.metadata) == (b"data", "text/plain", {"who": "me"})
    body, content_type = form({**signed.fields, "x-amz-meta-who": "me"}, b"more than ten bytes")
    assert send(signed, body, {"Content-Type": content_type})[0] == 400


def test_directory_buckets(client):
    bucket = "presigned--usw2-az1--x-s3"
    client.create_bucket(bucket)
    client.put(bucket, "k", b"x")
    signed = client.presign("get", bucket, "k")
    assert "X-Amz-S3session-Token" in signed.url
    assert send(signed)[2] == b"x"


def test_a_url_of_a_directory_bucket_expires_with_its_session(client):
    """A URL for a day was reported as valid for a day, and S3 refused it after 5 minutes."""
    bucket = "presigned-expiry--usw2-az1--x-s3"
    client.create_bucket(bucket)
    assert client.presign("get", bucket, "k", expires_in=86_400).expires_at <= time.time() + 301


def test_a_header_with_a_line_break_is_refused(client, bucket):
    with pytest.raises(penstock.S3InvalidArgumentError, match="If-Match"):
        client.presign("get", bucket, "k", if_match="a\r\nX-Evil: 1")


def test_a_result_does_not_show_its_signature(client, bucket):
    signed = client.presign("put", bucket, "k", sse_customer_key=KEY)
    assert "Signature" in signed.url
    assert "Signature" not in repr(signed) and "customer" not in repr(signed)
    assert "policy" not in repr(client.presign_post(bucket, "k")).lower()


def test_bad_arguments(client, bucket):
    with pytest.raises(penstock.S3InvalidArgumentError, match=r"expires_in must be 1 to 604800 seconds \(7 days\), not 0"):
        client.presign("get", bucket, "k", expires_in=0)
    with pytest.raises(TypeError, match="operation must be 'get', 'head', 'put', 'delete' or 'upload_part', not 'post'"):
        client.presign("post", bucket, "k")
    with pytest.raises(TypeError, match=r"presign_get\(\) has no argument 'upload_id'"):
        client.presign("get", bucket, "k", upload_id="u")
    anonymous = penstock.S3Client("us-east-1", s3client_config=penstock.S3ClientConfig(unsigned=True))
    with pytest.raises(penstock.S3UnauthenticatedError):
        anonymous.presign("get", bucket, "k")
