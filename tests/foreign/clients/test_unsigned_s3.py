"""S3 without a signature on the admin port, compared with boto3 on the S3 port of the same emulator."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError
from penstock_emulator import Emulator

NAMESPACE = {"s3": "http://s3.amazonaws.com/doc/2006-03-01/"}
KEYS = ["plain", "a b+c", "/first", "a//b", "%2F", "ü/漢", "?&=#;", "a/b/../c", "x" * 1024]


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator() as running:
        yield running


@pytest.fixture(scope="module")
def boto(emulator: Emulator) -> Any:
    client = boto3.client(
        "s3", endpoint_url=emulator.endpoint, region_name="us-east-1", aws_access_key_id=emulator.access_key_id,
        aws_secret_access_key=emulator.secret_access_key, config=Config(s3={"addressing_style": "path"}),
    )  # fmt: skip
    client.create_bucket(Bucket="bucket")
    return client


def ask(
    emulator: Emulator, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(urlsplit(emulator.admin_endpoint).netloc, timeout=30)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, f"/_penstock/s3/default{path}", body, named)
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


@pytest.mark.parametrize("key", KEYS)
def test_both_ports_have_the_same_objects(emulator: Emulator, boto: Any, key: str) -> None:
    path = f"/bucket/{quote(key)}"
    status, headers, _ = ask(emulator, "PUT", path, b"one", Content_Type="text/plain", x_amz_meta_color="red")
    assert status == 200
    read = boto.get_object(Bucket="bucket", Key=key)
    assert (read["Body"].read(), read["ContentType"], read["Metadata"]) == (b"one", "text/plain", {"color": "red"})
    assert headers["ETag"] == read["ETag"]
    boto.put_object(Bucket="bucket", Key=key, Body=b"two", Tagging="a=b")
    assert ask(emulator, "GET", path)[2] == b"two"
    by_query = ask(emulator, "GET", f"/bucket?penstock-key={quote(key, safe='')}")
    assert by_query[2] == b"two"
    assert b"<Key>a</Key>" in ask(emulator, "GET", f"/bucket?tagging&penstock-key={quote(key, safe='')}")[2]
    assert key in [found["Key"] for found in boto.list_objects_v2(Bucket="bucket")["Contents"]]
    assert ask(emulator, "DELETE", path)[0] == 204
    with pytest.raises(ClientError, match="NoSuchKey"):
        boto.get_object(Bucket="bucket", Key=key)


def test_errors_and_listings_are_the_same_documents(emulator: Emulator, boto: Any) -> None:
    for key in ("list/a", "list/b/c"):
        boto.put_object(Bucket="bucket", Key=key, Body=b"")
    page = boto.list_objects_v2(Bucket="bucket", Prefix="list/", Delimiter="/")
    root = ET.fromstring(ask(emulator, "GET", "/bucket?list-type=2&prefix=list/&delimiter=/")[2])
    assert [each.text for each in root.findall("s3:Contents/s3:Key", NAMESPACE)] == [each["Key"] for each in page["Contents"]]
    found = root.findall("s3:CommonPrefixes/s3:Prefix", NAMESPACE)
    assert [each.text for each in found] == [each["Prefix"] for each in page["CommonPrefixes"]]
    with pytest.raises(ClientError) as error:
        boto.get_object(Bucket="bucket", Key="none")
    status, _, document = ask(emulator, "GET", "/bucket/none")
    assert status == error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 404
    assert ET.fromstring(document).findtext("Code") == error.value.response["Error"]["Code"]


def test_an_upload_may_change_ports(emulator: Emulator, boto: Any) -> None:
    upload = boto.create_multipart_upload(Bucket="bucket", Key="parts")["UploadId"]
    first, second = os.urandom(5 << 20), os.urandom(9 << 20)
    query = f"uploadId={upload}"
    etags = [ask(emulator, "PUT", f"/bucket/parts?partNumber=1&{query}", first)[1]["ETag"]]
    etags.append(boto.upload_part(Bucket="bucket", Key="parts", PartNumber=2, UploadId=upload, Body=second)["ETag"])
    parts = "".join(f"<Part><PartNumber>{i}</PartNumber><ETag>{etag}</ETag></Part>" for i, etag in enumerate(etags, 1))
    document = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
    assert ask(emulator, "POST", f"/bucket/parts?{query}", document)[0] == 200
    assert boto.get_object(Bucket="bucket", Key="parts")["Body"].read() == first + second
    status, headers, body = ask(emulator, "GET", "/bucket/parts", Range=f"bytes={(5 << 20) - 2}-{(5 << 20) + 1}")
    assert (status, body, headers["Content-Range"]) == (206, first[-2:] + second[:2], f"bytes 5242878-5242881/{14 << 20}")


def test_versions_and_conditions(emulator: Emulator, boto: Any) -> None:
    boto.create_bucket(Bucket="versioned")
    configuration = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
    digest = base64.b64encode(hashlib.md5(configuration).digest()).decode()  # S3 requires one with documents
    assert ask(emulator, "PUT", "/versioned?versioning", configuration, Content_MD5=digest)[0] == 200
    ids = [ask(emulator, "PUT", "/versioned/k", body)[1]["x-amz-version-id"] for body in (b"1", b"2")]
    assert [each["VersionId"] for each in boto.list_object_versions(Bucket="versioned")["Versions"]] == ids[::-1]
    assert ask(emulator, "GET", f"/versioned/k?versionId={ids[0]}")[2] == b"1"
    assert ask(emulator, "PUT", "/versioned/k", b"3", If_None_Match="*")[0] == 412
    etag = boto.head_object(Bucket="versioned", Key="k")["ETag"]
    assert ask(emulator, "GET", "/versioned/k", If_None_Match=etag)[0] == 304
    status, headers, body = ask(emulator, "HEAD", "/versioned/k")
    assert (status, headers["Content-Length"], body) == (200, "1", b"")


def test_clients_of_s3_cannot_use_the_path(emulator: Emulator, boto: Any) -> None:
    """Neither with a signature, nor on the S3 port."""
    for endpoint in (f"{emulator.admin_endpoint}/_penstock/s3/default", f"{emulator.endpoint}/_penstock/s3/default"):
        for config in (Config(retries={"max_attempts": 1}), Config(signature_version=UNSIGNED, retries={"max_attempts": 1})):
            if endpoint.startswith(emulator.admin_endpoint) and config.signature_version is UNSIGNED:
                continue  # this is a request as any other
            client = boto3.client(
                "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id=emulator.access_key_id,
                aws_secret_access_key=emulator.secret_access_key, config=config.merge(Config(s3={"addressing_style": "path"})),
            )  # fmt: skip
            with pytest.raises(ClientError):
                client.list_objects_v2(Bucket="bucket")
            with pytest.raises(ClientError):
                client.put_object(Bucket="bucket", Key="intruder", Body=b"x")
    with pytest.raises(ClientError, match="404"):
        boto.head_object(Bucket="bucket", Key="intruder")


@pytest.mark.parametrize("key", KEYS)
def test_presigned_urls_need_no_client(emulator: Emulator, boto: Any, key: str) -> None:
    def url_of(method: str) -> str:
        body = json.dumps({"bucket": "bucket", "key": key, "method": method}).encode()
        with urllib.request.urlopen(f"{emulator.admin_endpoint}/_penstock/presign", body, timeout=10) as response:
            return str(json.load(response)["url"])

    assert url_of("PUT").startswith(f"{emulator.endpoint}/bucket/{quote(key)}?X-Amz-Algorithm=")
    with urllib.request.urlopen(urllib.request.Request(url_of("PUT"), b"text", method="PUT"), timeout=10) as response:
        assert response.status == 200
    assert boto.get_object(Bucket="bucket", Key=key)["Body"].read() == b"text"
    with urllib.request.urlopen(url_of("GET"), timeout=10) as response:
        assert response.read() == b"text"
