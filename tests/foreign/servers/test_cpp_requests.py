"""The request surface of the C++ client, with a server that shares no code with Penstock (moto) and with the emulator.

boto3 checks what the server stored. `proof` of a scenario: moto implements it, so the client is proved without the emulator; the
unit tests beside client/s3/verbs compare the same requests with botocore's. What moto lacks runs against the emulator only.
"""

from __future__ import annotations

import http.client
import itertools
import os
import subprocess
import time
import urllib.parse
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from penstock.testing import Emulator

PROGRAM = Path(os.environ.get("PENSTOCK_BUILD_DIR", Path(__file__).parents[3] / "build/dev")) / "tests/requests/cpp_requests"
_numbers = itertools.count()


@dataclass
class Server:
    name: str
    endpoint: str
    access_key: str
    secret_key: str

    def boto(self):
        return boto3.client(
            "s3", endpoint_url=self.endpoint, region_name="us-east-1",
            aws_access_key_id=self.access_key, aws_secret_access_key=self.secret_key,
            config=Config(s3={"addressing_style": "path"}, signature_version="s3v4"),
        )  # fmt: skip


@pytest.fixture(scope="module", params=["moto", "emulator"])
def server(request):
    if request.param == "moto":
        yield Server("moto", request.getfixturevalue("moto_endpoint"), "testing", "testing")
        return
    with Emulator() as emulator:
        environment = emulator.environment()
        keys = environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"]
        yield Server("emulator", emulator.endpoint, *keys)


def run(server: Server, scenario: str) -> tuple[str, dict[str, str]]:
    """Runs a scenario in a new bucket. Returns the bucket's name and what the program printed."""
    bucket = f"requests-{next(_numbers)}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment |= {"AWS_ACCESS_KEY_ID": server.access_key, "AWS_SECRET_ACCESS_KEY": server.secret_key}
    done = subprocess.run(
        [PROGRAM, scenario, server.endpoint, bucket], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return bucket, dict(line.split("=", 1) for line in done.stdout.splitlines())


def send(method: str, url: str, headers: dict[str, str] | None = None, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
    """Sends a request as given, without any S3 client."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    connection.request(method, f"{parts.path}?{parts.query}" if parts.query else parts.path, body or None, headers or {})
    response = connection.getresponse()
    found = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    connection.close()
    return found


def test_attributes(server):
    bucket, printed = run(server, "attributes")
    boto = server.boto()
    head = boto.head_object(Bucket=bucket, Key="attributes")
    expected = {
        "CacheControl": "no-cache", "ContentDisposition": "attachment", "ContentLanguage": "de",
        "ContentType": "text/plain", "WebsiteRedirectLocation": "/other", "Metadata": {"n": "v"},
    }  # fmt: skip
    assert {name: head.get(name) for name in expected} == expected
    assert head["ExpiresString"] == "Sat, 05 Jan 2030 00:00:00 GMT"
    tags = boto.get_object_tagging(Bucket=bucket, Key="attributes")["TagSet"]
    assert sorted((tag["Key"], tag["Value"]) for tag in tags) == [("a", "b c"), ("d", "")]
    assert printed["cache_control"] == "no-cache"
    assert printed["content_disposition"] == "attachment"
    assert printed["content_language"] == "de"
    assert printed["expires"] == "Sat, 05 Jan 2030 00:00:00 GMT"
    assert printed["website_redirect"] == "/other"
    assert printed["encryption"] == "s3"
    assert printed["tag_count"] == "2"
    copied = boto.head_object(Bucket=bucket, Key="copied")
    assert (copied["ContentType"], copied["CacheControl"]) == ("text/plain", "no-cache")
    replaced = boto.head_object(Bucket=bucket, Key="replaced")
    assert replaced["ContentType"] == "text/html"
    assert boto.get_object_tagging(Bucket=bucket, Key="replaced")["TagSet"] == [{"Key": "x", "Value": "y"}]


def test_conditions_and_response_info(server):
    _, printed = run(server, "conditions")
    assert printed == {
        "none_match_same": "not_modified", "none_match_other": "hello", "modified_since": "not_modified",
        "unmodified_since_1970": "precondition_failed", "match_other": "precondition_failed",
        "head_none_match_same": "not_modified",
        "info_status": "200", "info_attempts": "1",
        "info_has_id": "no" if server.name == "moto" else "yes",  # moto's server sends no request id
    }  # fmt: skip


def test_an_upload_by_hand_with_a_chosen_checksum_and_reads_of_its_parts(server):
    bucket, printed = run(server, "parts")
    if server.name == "moto":  # it ignores the part number of a GET
        assert printed["second_part"] == "data_loss"
    else:
        assert printed["second_part"] == "2" * 7
        assert printed["size"] == str(5 * 1024**2 + 7)
        assert printed["range"] == f"{5 * 1024**2}-{5 * 1024**2 + 7}"
        assert printed["parts_count"] == "2"
    head = server.boto().head_object(Bucket=bucket, Key="parts")
    assert (head["CacheControl"], head["Metadata"]) == ("no-cache", {"n": "v"})


def test_customer_keys(server):
    if server.name == "moto":
        pytest.skip("moto stores no customer keys")
    _, printed = run(server, "customer_keys")
    assert printed == {"with_key": "hello", "without_key": "invalid_argument", "copied": "hello"}


def test_customer_keys_in_transfers(server):
    if server.name == "moto":
        pytest.skip("moto stores no customer keys")
    bucket, printed = run(server, "customer_key_transfers")
    assert printed == {"downloaded": "same", "streamed": "same"}
    for key in ("secret", "written"):
        stored = server.boto().get_object(Bucket=bucket, Key=key, SSECustomerAlgorithm="AES256", SSECustomerKey="k" * 32)
        assert stored["ContentLength"] == 11 * 1024**2
        assert stored["Body"].read() == b"s" * (11 * 1024**2)


def test_versions(server):
    bucket, printed = run(server, "versions")
    assert printed == {
        "versioning": "enabled", "marker": "yes", "head_of_marker": "marker", "deleted": "3", "failures": "0",
        "current": "2", "current_is_second": "yes",
    }  # fmt: skip
    assert server.boto().get_bucket_versioning(Bucket=bucket)["Status"] == "Enabled"


def test_bucket_configurations(server):
    bucket, printed = run(server, "configurations")
    assert printed == {
        "policy_put": "ok", "lifecycle_put": "ok", "cors_put": "ok",
        "bucket_tag": "team:a+b=c", "lifecycle": "stored", "lifecycle_deleted": "NoSuchLifecycleConfiguration",
        "policy": "stored", "cors": "stored", "cors_deleted": "NoSuchCORSConfiguration", "website": "GetBucketWebsite",
    }  # fmt: skip
    boto = server.boto()
    assert boto.get_bucket_tagging(Bucket=bucket)["TagSet"] == [{"Key": "team", "Value": "a+b=c"}]
    assert "never" in boto.get_bucket_policy(Bucket=bucket)["Policy"]


def test_object_configurations(server):
    _, printed = run(server, "objects")
    assert printed == {"tag": "a:b/c @d", "tags_left": "0", "acl": "full", "size": "5"}


def test_presigned_requests(server):
    """Plain HTTP requests, without any S3 client. Only the emulator verifies the signatures."""
    bucket, printed = run(server, "presigned")
    headers = {name.removeprefix("put."): value for name, value in printed.items() if name.startswith("put.")}
    assert headers == {"Content-Type": "text/plain", "x-amz-meta-n": "v"}
    assert send("PUT", printed["put"], headers, b"hello")[0] == 200
    status, received, body = send("GET", printed["get"])
    assert (status, received["content-type"], received["x-amz-meta-n"], body) == (200, "text/plain", "v", b"hello")
    assert send("GET", printed["get_as_html"])[1]["content-type"] == "text/html"
    assert send("HEAD", printed["head"])[1]["content-length"] == "5"
    if server.name == "emulator":
        time.sleep(1.1)
        assert send("GET", printed["expired"])[0] == 403
        assert send("PUT", printed["put"], headers | {"x-amz-meta-n": "w"}, b"changed")[0] == 403
        assert send("DELETE", printed["get"])[0] == 403
    assert send("DELETE", printed["delete"])[0] == 204
    assert send("GET", printed["get"])[0] == 404

    boto = server.boto()
    etag = send("PUT", printed["part"], {}, b"part")[1]["etag"]
    parts = {"Parts": [{"PartNumber": 1, "ETag": etag}]}
    boto.complete_multipart_upload(Bucket=bucket, Key="uploaded", UploadId=printed["upload_id"], MultipartUpload=parts)
    assert boto.get_object(Bucket=bucket, Key="uploaded")["Body"].read() == b"part"


def form(fields: dict[str, str], name: str, content: bytes) -> tuple[dict[str, str], bytes]:
    """Returns the headers and the body of a multipart/form-data request (RFC 7578)."""
    lines = b""
    for field, value in fields.items():
        lines += f'--limit\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
    lines += (
        f'--limit\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
        + content
        + b"\r\n--limit--\r\n"
    )
    return {"Content-Type": "multipart/form-data; boundary=limit"}, lines


def test_browser_form(server):
    bucket, printed = run(server, "presigned")
    fields = {name.removeprefix("form."): value for name, value in printed.items() if name.startswith("form.")}
    headers, body = form({"x-amz-meta-n": "any"} | fields, "a.txt", b"hello")
    assert send("POST", printed["form"], headers, body)[0] == 201
    got = server.boto().get_object(Bucket=bucket, Key="form/a.txt")
    assert (got["Body"].read(), got["ContentType"], got["Metadata"]) == (b"hello", "text/plain", {"n": "any"})
    if server.name == "emulator":
        headers, body = form({"x-amz-meta-n": "any"} | fields, "b.txt", b"more than ten bytes")
        assert send("POST", printed["form"], headers, body)[0] == 400
        headers, body = form({"x-amz-meta-n": "any"} | fields | {"Content-Type": "text/html"}, "b.txt", b"x")
        assert send("POST", printed["form"], headers, body)[0] == 403
