"""Configurations of buckets and objects as documents. tests/foreign/servers/test_python_requests.py repeats them with moto."""

from __future__ import annotations

import asyncio
import json
import typing
from xml.etree import ElementTree

import penstock
import pytest
from http_responses import responding
from penstock import aio
from penstock.requests._configurations import BucketConfigurationKind

S3 = "{http://s3.amazonaws.com/doc/2006-03-01/}"
LIFECYCLE = (
    '<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Rule><ID>old</ID><Filter><Prefix>tmp/</Prefix></Filter>'
    "<Status>Enabled</Status><Expiration><Days>{days}</Days></Expiration></Rule></LifecycleConfiguration>"
)
ONE_REQUEST = penstock.S3ClientConfig(access_key_id="AKID", secret_access_key="SEK", force_path_style=True, max_attempts=1)


def days(document: bytes) -> str | None:
    return ElementTree.fromstring(document).findtext(f"{S3}Rule/{S3}Expiration/{S3}Days")


@pytest.mark.parametrize("as_type", [str, str.encode, lambda text: bytearray(text.encode())])
def test_a_lifecycle_is_set_read_and_deleted(client, bucket, as_type):
    with pytest.raises(penstock.S3NotFoundError, match="NoSuchLifecycleConfiguration"):
        client.get_bucket_configuration(bucket, "lifecycle")
    client.put_bucket_configuration(bucket, "lifecycle", as_type(LIFECYCLE.format(days=7)))
    found = client.get_bucket_configuration(bucket, "lifecycle")
    assert isinstance(found, bytes)
    assert days(found) == "7"
    client.delete_bucket_configuration(bucket, "lifecycle")
    with pytest.raises(penstock.S3NotFoundError):
        client.get_bucket_configuration(bucket, "lifecycle")


def test_a_policy_is_json(client, bucket):
    statement = {"Effect": "Deny", "Principal": "*", "Action": "s3:DeleteObject", "Resource": f"arn:aws:s3:::{bucket}/*"}
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    client.put_bucket_configuration(bucket, "policy", json.dumps(policy))
    assert json.loads(client.get_bucket_configuration(bucket, "policy")) == policy
    client.delete_bucket_configuration(bucket, "policy")


def test_configurations_with_an_id(client, bucket):
    document = '<MetricsConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Id>all</Id></MetricsConfiguration>'
    client.put_bucket_configuration(bucket, "metrics", document, id="all")
    assert b"<Id>all</Id>" in client.get_bucket_configuration(bucket, "metrics", id="all")
    client.delete_bucket_configuration(bucket, "metrics", id="all")
    with pytest.raises(penstock.S3InvalidArgumentError, match="needs an id"):
        client.get_bucket_configuration(bucket, "metrics")


def test_each_kind_is_the_sub_resource_of_its_name():
    kinds = typing.get_args(BucketConfigurationKind)
    with_id = {"analytics", "intelligent_tiering", "inventory", "metrics"}
    with responding(404, config=ONE_REQUEST) as (client, received):
        for kind in kinds:
            with pytest.raises(penstock.S3NotFoundError):
                client.get_bucket_configuration("bucket", kind, id="x" if kind in with_id else None)
    sub_resources = [request.target.split("?")[1].split("&")[0].rstrip("=").lower() for request in received]
    names = {name.replace("_", ""): name for name in kinds}
    assert [names[each.replace("-", "")] for each in sub_resources] == list(kinds)
    assert len(kinds) == 22


def test_the_document_arrives_unchanged_with_its_digest():
    document = b"<A>\xc3\xa4</A>\n"
    with responding(200, config=ONE_REQUEST) as (client, received):
        client.put_bucket_configuration("bucket", "cors", document, expected_bucket_owner="111122223333")
    assert received[0].body == document
    assert received[0].headers["x-amz-expected-bucket-owner"] == "111122223333"
    assert any(name.startswith("x-amz-checksum-") or name == "content-md5" for name in received[0].headers)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda client: client.get_bucket_configuration("b", "life"), ValueError, "kind must be one of accelerate"),
        (lambda client: client.put_bucket_configuration("b", "cors", 5), TypeError, "document must be str or bytes, not int"),
        (lambda client: client.put_bucket_configuration("b", "cors", ""), ValueError, "the document of the configuration is"),
        (lambda client: client.delete_bucket_configuration("b", "versioning"), ValueError, "S3 cannot delete"),
        (lambda client: client.get_object_configuration("b", "k", "cors"), ValueError, "one of acl, legal_hold, retention"),
        (lambda client: client.delete_bucket_configuration("b", None), TypeError, "kind must be str, not NoneType"),
        (lambda client: client.put_object_configuration("b", "k", None, "<a/>"), TypeError, "kind must be str, not NoneType"),
        (lambda client: client.put_bucket_versioning("b", None), TypeError, "status must be str, not NoneType"),
        (lambda client: client.put_object_tagging("b", "k", None), TypeError, "tags must be a mapping of str to str, or pairs"),
        (lambda client: client.put_bucket_tagging("b", None), TypeError, "tags must be a mapping of str to str, or pairs"),
    ],
)
def test_bad_arguments_of_configurations(client, call, error, message):
    with pytest.raises(error) as raised:
        call(client)
    assert message in str(raised.value)


def test_configurations_of_an_object(client):
    client.create_bucket("lockable", object_lock_enabled=True)
    client.put("lockable", "k", b"x")
    hold = '<LegalHold xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>{}</Status></LegalHold>'
    client.put_object_configuration("lockable", "k", "legal_hold", hold.format("ON"))
    assert b"<Status>ON</Status>" in client.get_object_configuration("lockable", "k", "legal_hold")
    assert client.head("lockable", "k").object_lock_legal_hold is True
    client.put_object_configuration("lockable", "k", "legal_hold", hold.format("OFF"))
    client.create_bucket("with-acls", object_ownership="ObjectWriter")
    client.delete_bucket_configuration("with-acls", "public_access_block")
    client.put("with-acls", "k", b"x")
    client.put_object_configuration("with-acls", "k", "acl", acl="public-read")
    assert b"AllUsers" in client.get_object_configuration("with-acls", "k", "acl")


def test_configurations_on_an_event_loop(emulator, bucket):
    async def main() -> None:
        async with aio.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=emulator.config()) as client:
            await client.put_bucket_configuration(bucket, "lifecycle", LIFECYCLE.format(days=3))
            assert days(await client.get_bucket_configuration(bucket, "lifecycle")) == "3"
            await client.delete_bucket_configuration(bucket, "lifecycle")
            with pytest.raises(penstock.S3NotFoundError):
                await client.get_bucket_configuration(bucket, "lifecycle")
            await client.put(bucket, "k", b"x")
            assert b"FULL_CONTROL" in await client.get_object_configuration(bucket, "k", "acl")

    asyncio.run(main())
