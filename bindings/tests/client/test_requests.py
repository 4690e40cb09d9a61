"""The requests of S3Client with the emulator. tests/foreign/servers/test_python_requests.py repeats them with moto."""

from __future__ import annotations

import base64
import hashlib
import pickle
import time
from datetime import datetime, timedelta, timezone

import penstock
import pytest
from http_responses import responding
from penstock.requests import CompletedPart, ObjectToDelete

MIB = 1024**2
KEY = bytes(range(32))


# ---- reading and writing


def test_put_and_get_return_the_bytes_and_all_attributes(client, bucket):
    expires = datetime(2030, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    put = client.put(
        bucket, "k", b"hello world", content_type="text/plain", metadata={"who": "me"}, cache_control="no-cache",
        content_encoding="identity", content_disposition="attachment", content_language="de", expires=expires,
        storage_class="STANDARD_IA", tagging={"team": "vision", "x": "y"}, server_side_encryption="AES256",
    )  # fmt: skip
    got = client.get(bucket, "k")
    assert got.body == b"hello world"
    found = got.metadata
    assert found.etag == put.etag == f'"{hashlib.md5(b"hello world").hexdigest()}"'
    assert (found.size, found.range, found.content_type, found.metadata) == (11, (0, 11), "text/plain", {"who": "me"})
    assert (found.cache_control, found.content_encoding, found.content_disposition) == ("no-cache", "identity", "attachment")
    assert (found.content_language, found.expires) == ("de", "Wed, 02 Jan 2030 03:04:05 GMT")
    assert (found.storage_class, found.encryption, found.tag_count) == ("STANDARD_IA", "AES256", 2)
    assert abs(found.last_modified - time.time()) < 3600
    assert client.head(bucket, "k").metadata == {"who": "me"}
    assert client.get_object_tagging(bucket, "k") == {"team": "vision", "x": "y"}


@pytest.mark.parametrize(
    ("wanted", "body", "part"),
    [
        ((2, 5), b"234", (2, 5)),
        ((7, None), b"789", (7, 10)),
        ((None, 3), b"012", (0, 3)),
        ((-4, None), b"6789", (6, 10)),
        ((8, 100), b"89", (8, 10)),
        (None, b"0123456789", (0, 10)),
    ],
)
@pytest.mark.parametrize("into", [False, True])
def test_ranges(client, bucket, wanted, body, part, into):
    client.put(bucket, "k", b"0123456789")
    memory = bytearray(b"." * 12)
    got = client.get(bucket, "k", range=wanted, buffer=memory) if into else client.get(bucket, "k", range=wanted)
    assert got.body == body
    assert (got.metadata.range, got.metadata.size) == (part, 10)
    if into:
        assert isinstance(got.body, memoryview)
        assert bytes(memory) == body.ljust(12, b".")


def test_an_empty_object(client, bucket):
    client.put(bucket, "k", b"")
    assert client.get(bucket, "k").body == b""
    with pytest.raises(penstock.S3InvalidArgumentError, match="InvalidRange"):
        client.get(bucket, "k", range=(5, None))


def test_a_buffer_that_is_too_small_is_an_error(client, bucket):
    client.put(bucket, "k", b"0123456789")
    with pytest.raises(penstock.S3InvalidArgumentError):
        client.get(bucket, "k", buffer=bytearray(9))
    with pytest.raises((TypeError, BufferError)):
        client.get(bucket, "k", buffer=b"read only.")


def test_conditions_of_reads(client, bucket):
    etag = client.put(bucket, "k", b"x").etag
    modified = client.head(bucket, "k").last_modified
    for read in client.get, client.head:
        read(bucket, "k", if_match=etag, if_modified_since=modified - 10)
        read(bucket, "k", if_match=etag.strip('"'), if_unmodified_since=datetime.now(timezone.utc) + timedelta(hours=1))
        with pytest.raises(penstock.S3NotModifiedError) as unchanged:
            read(bucket, "k", if_none_match=etag)
        assert dict(unchanged.value.details)["ETag"].strip('"') == etag.strip('"')
        assert pickle.loads(pickle.dumps(unchanged.value)).details == unchanged.value.details
        with pytest.raises(penstock.S3NotModifiedError):
            read(bucket, "k", if_modified_since=modified)
        with pytest.raises(penstock.S3PreconditionFailedError):
            read(bucket, "k", if_match="0" * 32)
        with pytest.raises(penstock.S3PreconditionFailedError):
            read(bucket, "k", if_unmodified_since=modified - 10)


def test_conditions_of_writes(client, bucket):
    etag = client.put(bucket, "k", b"1", if_none_match=True).etag
    with pytest.raises(penstock.S3PreconditionFailedError):
        client.put(bucket, "k", b"2", if_none_match=True)
    with pytest.raises(penstock.S3PreconditionFailedError):
        client.put(bucket, "k", b"2", if_match="0" * 32)
    client.put(bucket, "k", b"3", if_match=etag)
    with pytest.raises(penstock.S3PreconditionFailedError):
        client.delete(bucket, "k", if_match=etag)
    assert client.get(bucket, "k").body == b"3"


def test_response_overrides(client, bucket):
    client.put(bucket, "k", b"x", content_type="text/plain")
    found = client.get(bucket, "k", response_content_type="image/png", response_content_disposition="inline").metadata
    assert (found.content_type, found.content_disposition) == ("image/png", "inline")


def test_versions(client, bucket):
    assert client.get_bucket_versioning(bucket) is None
    client.put_bucket_versioning(bucket, "Enabled")
    assert client.get_bucket_versioning(bucket) == "Enabled"
    first, second = (client.put(bucket, "k", data).version_id for data in (b"1", b"2"))
    assert first and second and first != second
    assert client.get(bucket, "k", version_id=first).body == b"1"
    marker = client.delete(bucket, "k")
    assert marker.delete_marker and marker.version_id
    removed = client.delete(bucket, "k", version_id=marker.version_id)
    assert removed == type(removed)(marker.version_id, True)
    copied = client.copy(bucket, "k", bucket, "copy", src_version_id=first)
    assert copied.src_version_id == first
    assert client.get(bucket, "copy").body == b"1"


@pytest.mark.parametrize("algorithm", ["crc32c", "SHA256", "sha1", "crc32", "crc64nvme"])
def test_a_chosen_checksum_is_stored(client, bucket, emulator, algorithm):
    stored = client.put(bucket, "k", b"data", checksum_algorithm=algorithm).checksums
    assert list(stored) == [algorithm.lower()]
    if algorithm == "SHA256":
        assert stored["sha256"] == base64.b64encode(hashlib.sha256(b"data").digest()).decode()
    once = emulator.client(penstock.S3ClientConfig(max_attempts=1))
    with pytest.raises(penstock.S3DataLossError):  # the checksum of other data
        once.put(bucket, "k", b"tada", checksum_algorithm=algorithm, checksum_value=stored[algorithm.lower()])


def test_an_sse_c_key_is_needed_again_and_never_shown(client, bucket):
    client.put(bucket, "k", b"secret", sse_customer_key=KEY)
    got = client.get(bucket, "k", sse_customer_key=KEY)
    assert (got.body, got.metadata.encryption) == (b"secret", "SSE-C")
    assert got.metadata.sse_customer_key_md5 == base64.b64encode(hashlib.md5(KEY).digest()).decode()
    with pytest.raises(penstock.S3InvalidArgumentError):
        client.get(bucket, "k")
    with pytest.raises(penstock.S3Exception) as wrong:
        client.get(bucket, "k", sse_customer_key=bytes(32))
    assert base64.b64encode(bytes(32)).decode() not in str(wrong.value)
    client.copy(bucket, "k", bucket, "plain", src_sse_customer_key=KEY)
    assert client.get(bucket, "plain").body == b"secret"
    with pytest.raises(penstock.S3InvalidArgumentError, match="32 bytes") as short:
        client.put(bucket, "k", b"x", sse_customer_key=b"too short")
    assert "too short" not in str(short.value).replace("is too short", "")


def test_copy_directives(client, bucket):
    client.put(bucket, "k", b"x", content_type="text/plain", metadata={"a": "1"}, tagging={"t": "1"})
    client.copy(bucket, "k", bucket, "same")
    client.copy(
        bucket, "k", bucket, "other", metadata_directive="REPLACE", metadata={"b": "2"}, content_type="image/png",
        tagging_directive="REPLACE", tagging={"t": "2"},
    )  # fmt: skip
    same, other = client.head(bucket, "same"), client.head(bucket, "other")
    assert (same.content_type, same.metadata) == ("text/plain", {"a": "1"})
    assert (other.content_type, other.metadata) == ("image/png", {"b": "2"})
    assert (client.get_object_tagging(bucket, "same"), client.get_object_tagging(bucket, "other")) == ({"t": "1"}, {"t": "2"})
    with pytest.raises(penstock.S3InvalidArgumentError, match="COPY, REPLACE"):
        client.copy(bucket, "k", bucket, "x", metadata_directive="replace")


# ---- deletions


def test_delete_objects_sends_batches_of_1000(client, bucket):
    client.put(bucket, "k/0002", b"x")
    before = client.metrics()["requests"].get("DeleteObjects", 0)
    result = client.delete_objects(bucket, (f"k/{number:04}" for number in range(2001)))
    assert client.metrics()["requests"]["DeleteObjects"] == before + 3
    assert [each.key for each in result.deleted] == [f"k/{number:04}" for number in range(2001)]
    assert result.failures == []
    with pytest.raises(penstock.S3NotFoundError):
        client.head(bucket, "k/0002")
    assert client.delete_objects(bucket, []).deleted == []


def test_delete_objects_with_versions_and_conditions(client, bucket):
    client.put_bucket_versioning(bucket, "Enabled")
    first = client.put(bucket, "k", b"1").version_id
    etag = client.put(bucket, "k", b"2").etag
    client.put(bucket, "other", b"x")
    result = client.delete_objects(
        bucket, [ObjectToDelete("k", version_id=first), ObjectToDelete("k", if_match=etag), ObjectToDelete("other", if_match="0")]
    )
    assert [(each.key, each.version_id, each.delete_marker) for each in result.deleted] == [
        ("k", first, False),
        ("k", None, True),
    ]
    assert [(each.key, each.code) for each in result.failures] == [("other", "PreconditionFailed")]
    with pytest.raises(TypeError, match="objects must be an iterable of str or ObjectToDelete, not str"):
        client.delete_objects(bucket, "k")
    with pytest.raises(TypeError, match=r"objects\[1\] must be str or ObjectToDelete, not int"):
        client.delete_objects(bucket, ["k", 3])


# ---- multipart uploads


def test_an_upload_by_hand(client, bucket):
    data = bytes(range(256)) * (5 * MIB // 256)
    client.put(bucket, "source", data)
    upload = client.create_multipart_upload(bucket, "joined", content_type="text/plain", metadata={"a": "b"})
    parts = [
        client.upload_part_copy(bucket, "joined", upload, 1, bucket, "source", src_range=(0, 5 * MIB)),
        client.upload_part(bucket, "joined", upload, 2, memoryview(b"the end")),
    ]
    assert [(part.part_number, part.size) for part in parts] == [(1, 5 * MIB), (2, 7)]
    listed = client.list_parts(bucket, "joined", upload)
    assert [(part.part_number, part.size, part.etag) for part in listed.parts] == [
        (part.part_number, part.size, part.etag) for part in parts
    ]
    assert listed.next_part_number_marker == 0
    assert client.list_parts(bucket, "joined", upload, part_number_marker=1).parts == listed.parts[1:]
    opened = client.list_multipart_uploads(bucket, "jo").uploads
    assert [(each.key, each.upload_id) for each in opened] == [("joined", upload)]
    client.complete_multipart_upload(bucket, "joined", upload, parts)
    got = client.get(bucket, "joined")
    assert got.body == data + b"the end"
    assert (got.metadata.content_type, got.metadata.metadata) == ("text/plain", {"a": "b"})
    second = client.get(bucket, "joined", part_number=2)
    assert (second.body, second.metadata.parts_count) == (b"the end", 2)
    assert client.list_multipart_uploads(bucket).uploads == []


def test_the_object_of_an_upload_has_the_size_of_its_parts(client, bucket):
    client.put(bucket, "source", b"x" * 10)
    upload = client.create_multipart_upload(bucket, "k")
    part = client.upload_part_copy(bucket, "k", upload, 1, bucket, "source")
    with pytest.raises(penstock.S3InvalidArgumentError, match=r"parts\[0\] has no size.*object_size"):
        client.complete_multipart_upload(bucket, "k", upload, [part])
    with pytest.raises(penstock.S3InvalidArgumentError):
        client.complete_multipart_upload(bucket, "k", upload, [part], object_size=9)
    client.complete_multipart_upload(bucket, "k", upload, [part], object_size=10, if_none_match=True)
    assert client.get(bucket, "k").body == b"x" * 10


def test_an_upload_with_a_chosen_checksum(client, bucket):
    upload = client.create_multipart_upload(bucket, "k", checksum_algorithm="sha256")
    part = client.upload_part(bucket, "k", upload, 1, b"data", checksum_algorithm="sha256")
    assert (part.checksum_algorithm, part.checksum_value) == (
        "sha256", base64.b64encode(hashlib.sha256(b"data").digest()).decode(),
    )  # fmt: skip
    client.complete_multipart_upload(bucket, "k", upload, [part], checksum_algorithm="sha256")
    found = client.get_object_attributes(bucket, "k")
    assert (found.size, found.checksum_type, found.parts_count) == (4, "COMPOSITE", 1)
    assert found.parts[0].checksums == {"sha256": part.checksum_value}


def test_an_aborted_upload_is_gone(client, bucket):
    upload = client.create_multipart_upload(bucket, "k")
    client.abort_multipart_upload(bucket, "k", upload)
    with pytest.raises(penstock.S3NotFoundError):
        client.upload_part(bucket, "k", upload, 1, b"x")


# ---- tags and buckets


def test_tags(client, bucket):
    client.put(bucket, "k", b"x")
    assert client.get_object_tagging(bucket, "k") == {}
    client.put_object_tagging(bucket, "k", [("a", "1"), ("b", "")])
    assert client.get_object_tagging(bucket, "k") == {"a": "1", "b": ""}
    client.delete_object_tagging(bucket, "k")
    assert client.get_object_tagging(bucket, "k") == {}
    client.put_bucket_tagging(bucket, {"team": "vision"})
    assert client.get_bucket_tagging(bucket) == {"team": "vision"}


def test_buckets(client, bucket, emulator):
    assert client.head_bucket(bucket).region == emulator.region
    client.create_bucket(bucket)  # owned already
    assert bucket in [each.name for each in client.list_buckets()]
    created = next(each.creation_date for each in client.list_buckets() if each.name == bucket)
    assert abs(created - time.time()) < 3600
    client.put(bucket, "k", b"x")
    with pytest.raises(penstock.S3ConflictError, match="BucketNotEmpty"):
        client.delete_bucket(bucket)
    client.delete(bucket, "k")
    client.delete_bucket(bucket)
    with pytest.raises(penstock.S3NotFoundError):
        client.head_bucket(bucket)


def test_object_lock(client):
    client.create_bucket("locked", object_lock_enabled=True)
    until = datetime.now(timezone.utc) + timedelta(days=1)
    put = client.put("locked", "k", b"x", object_lock_mode="GOVERNANCE", object_lock_retain_until_date=until)
    found = client.head("locked", "k")
    assert found.object_lock_mode == "GOVERNANCE"
    assert abs(found.object_lock_retain_until_date - until.timestamp()) < 1
    with pytest.raises(penstock.S3AccessDeniedError):
        client.delete("locked", "k", version_id=put.version_id)
    client.delete("locked", "k", version_id=put.version_id, bypass_governance_retention=True)


def test_arguments_for_directory_buckets(client):
    bucket = "requests--usw2-az1--x-s3"
    client.create_bucket(bucket)
    client.put(bucket, "k", b"abc")
    assert client.put(bucket, "k", b"def", write_offset=3).object_size == 6
    with pytest.raises(penstock.S3PreconditionFailedError):
        client.delete(bucket, "k", if_match_size=5)
    modified = client.head(bucket, "k").last_modified
    result = client.delete_objects(bucket, [ObjectToDelete("k", if_match_size=5), ObjectToDelete("none")])
    assert [each.key for each in result.failures] == ["k"]
    client.delete(bucket, "k", if_match_size=6, if_match_last_modified=modified)
    with pytest.raises(penstock.S3NotFoundError):
        client.head(bucket, "k")


# ---- options of a call


def test_options_are_headers_and_parameters_of_the_request():
    config = penstock.S3ClientConfig(access_key_id="AKID", secret_access_key="SEK", force_path_style=True)
    with responding(200, headers={"ETag": '"e"'}, config=config) as (client, received):
        client.put(
            "bucket", "k", b"x", expected_bucket_owner="111122223333", requester_pays=True, extra_headers={"x-amz-new": "1"},
            extra_query=[("x-id", "Put Object")], grant_read=['id="a"', 'uri="b"'], timeout=30,
            server_side_encryption="aws:kms", sse_kms_key_id="arn:key", sse_kms_encryption_context={"a": "b"},
            bucket_key_enabled=True, website_redirect_location="/x", object_lock_legal_hold=True,
        )  # fmt: skip
        client.delete("bucket", "k", bypass_governance_retention=True)
        client.create_bucket("bucket", acl="private", object_ownership="ObjectWriter")
    headers = received[0].headers
    wanted = {
        "x-amz-expected-bucket-owner": "111122223333", "x-amz-request-payer": "requester", "x-amz-new": "1",
        "x-amz-server-side-encryption": "aws:kms", "x-amz-server-side-encryption-aws-kms-key-id": "arn:key",
        "x-amz-server-side-encryption-bucket-key-enabled": "true", "x-amz-website-redirect-location": "/x",
        "x-amz-object-lock-legal-hold": "ON",
    }  # fmt: skip
    assert {name: headers.get(name) for name in wanted} == wanted
    assert headers["x-amz-grant-read"] == 'id="a", uri="b"'
    assert base64.b64decode(headers["x-amz-server-side-encryption-context"]) == b'{"a": "b"}'
    assert "x-amz-new" in headers["authorization"]
    assert received[0].target.endswith("x-id=Put%20Object")
    assert received[1].headers["x-amz-bypass-governance-retention"] == "true"
    assert (received[2].headers["x-amz-acl"], received[2].headers["x-amz-object-ownership"]) == ("private", "ObjectWriter")


def test_a_timeout_ends_the_call(emulator):
    with responding(503, config=penstock.S3ClientConfig(unsigned=True, force_path_style=True, max_attempts=60)) as (client, _):
        with pytest.raises(penstock.S3Exception) as error:
            client.head("bucket", "k", timeout=0.3)
        assert isinstance(error.value, (penstock.S3TimeoutError, penstock.S3UnavailableError))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"content_typ": "x"}, TypeError, "put() has no argument 'content_typ'"),
        ({"metadata": {"a": 1}}, TypeError, "metadata['a'] must be str, not int"),
        ({"metadata": "ab"}, TypeError, "metadata must be a mapping of str to str, or pairs of str, not str"),
        ({"metadata": ["ab"]}, TypeError, "metadata[0] must be a pair of str, not str"),
        ({"if_none_match": "*"}, TypeError, "if_none_match must be bool, not str"),
        ({"expires": "soon"}, TypeError, "expires must be a datetime or seconds since the epoch, not str"),
        ({"expires": datetime(2030, 1, 1)}, ValueError, "expires is a datetime without a time zone"),
        ({"expires": 1e300}, ValueError, "expires must be 1970 to 2262"),
        ({"expires": 10**400}, ValueError, "expires must be 1970 to 2262"),
        ({"expires": float("nan")}, ValueError, "expires must be 1970 to 2262"),
        ({"timeout": 0}, ValueError, "timeout must be more than 0 and less than 1e9 seconds, not 0"),
        ({"timeout": b"1"}, TypeError, "not bytes"),
        ({"server_side_encryption": "kms"}, ValueError, "server_side_encryption must be AES256, aws:kms or aws:kms:dsse"),
        ({"sse_kms_key_id": "x"}, ValueError, 'need server_side_encryption="aws:kms"'),
        ({"sse_customer_key": KEY, "server_side_encryption": "AES256"}, ValueError, "give one kind of encryption"),
        ({"sse_customer_key": "k" * 32}, TypeError, "sse_customer_key must be bytes, not str"),
        ({"object_lock_mode": "GOVERNANCE"}, ValueError, "belong together"),
        ({"object_lock_mode": "governance"}, ValueError, "must be one of GOVERNANCE, COMPLIANCE"),
        ({"checksum_algorithm": "md5"}, ValueError, "md5"),
        ({"extra_headers": {"Authorization": "x"}}, ValueError, "Authorization"),
        ({"write_offset": -1}, ValueError, "write_offset is too large or negative"),
        ({"write_offset": True}, TypeError, "write_offset must be int, not bool"),
    ],
)
def test_bad_arguments_of_put(client, bucket, arguments, error, message):
    with pytest.raises(error) as raised:
        client.put(bucket, "k", b"x", **arguments)
    assert message in str(raised.value)
    assert "kkkk" not in str(raised.value)


@pytest.mark.parametrize("bad", [(5, 5), (6, 5), (-1, 5), (-(2**63), None)])
def test_bad_ranges(client, bucket, bad):
    with pytest.raises(penstock.S3InvalidArgumentError, match=r"range must be \(begin, end\)"):
        client.get(bucket, "k", range=bad)


@pytest.mark.parametrize("bad", [5, (1,), "ab", (1, 2, 3), ("a", 2)])
def test_ranges_of_other_types(client, bucket, bad):
    with pytest.raises(TypeError, match="range"):
        client.get(bucket, "k", range=bad)


def test_text_is_no_data(client, bucket):
    with pytest.raises(TypeError, match="data must be bytes or another buffer, not str"):
        client.put(bucket, "k", "text")
    with pytest.raises(TypeError, match=r"parts\[0\] must be CompletedPart, not tuple"):
        client.complete_multipart_upload(bucket, "k", "u", [(1, "e")])
    with pytest.raises(TypeError, match="unknown operation nothing"):
        client._client.call("nothing", {})


def test_keys_that_are_no_text_survive(client, bucket):
    client.put(bucket, "caf\u00e9/\U0001f600", b"x")
    assert client.delete_objects(bucket, ["caf\u00e9/\U0001f600"]).deleted[0].key == "caf\u00e9/\U0001f600"


def test_results_can_be_pickled(client, bucket):
    client.put(bucket, "k", b"x")
    got = client.get(bucket, "k")
    assert pickle.loads(pickle.dumps(got)) == got
    assert pickle.loads(pickle.dumps(CompletedPart(1, '"e"'))) == CompletedPart(1, '"e"')
