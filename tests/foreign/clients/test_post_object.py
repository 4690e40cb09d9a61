"""Browser uploads: forms signed by boto3 and posted by urllib3 and curl, and malformed forms from a socket."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import re
import socket
import ssl
import subprocess
from urllib.parse import urlsplit

import boto3
import pytest
import urllib3
from botocore.config import Config

_numbers = itertools.count()


def post(s3, url: str, fields: dict[str, str], content: bytes, name: str = "f.txt") -> urllib3.HTTPResponse:
    pool = urllib3.PoolManager(ca_certs=s3.ca) if s3.ca else urllib3.PoolManager()
    return pool.request("POST", url, fields={**fields, "file": (name, content)}, redirect=False, timeout=60)


def message(response: urllib3.HTTPResponse) -> tuple[int, str, str]:
    text = response.data.decode().replace("&quot;", '"')
    code, said = (re.search(f"<{element}>(.*?)</{element}>", text, re.DOTALL) for element in ("Code", "Message"))
    return response.status, code.group(1), said.group(1)


@pytest.fixture
def key() -> str:
    return f"user/{next(_numbers)}/${{filename}}"


def test_a_form_that_boto3_signed(s3, boto, bucket, key):
    content = os.urandom(3 << 20)
    form = boto.generate_presigned_post(bucket, key)
    response = post(s3, form["url"], form["fields"], content, "photo.jpg")
    assert (response.status, response.data) == (204, b"")
    stored = boto.get_object(Bucket=bucket, Key=key.replace("${filename}", "photo.jpg"))
    assert stored["Body"].read() == content
    assert stored["ETag"] == response.headers["ETag"] == f'"{hashlib.md5(content).hexdigest()}"'


def test_fields_become_the_objects_headers(s3, boto, bucket):
    tags = "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>"
    fields = {"Content-Type": "text/plain", "x-amz-meta-Who": "me", "x-amz-storage-class": "STANDARD_IA", "tagging": tags}
    fields |= {"success_action_status": "201", "x-amz-server-side-encryption": "aws:kms"}
    conditions = [{name: value} for name, value in fields.items()]
    form = boto.generate_presigned_post(bucket, "a/b", Fields=fields, Conditions=conditions)
    response = post(s3, form["url"], form["fields"], b"body")
    assert response.status == 201
    text = response.data.decode()
    assert f"<Location>{s3.endpoint}/{bucket}/a%2Fb</Location><Bucket>{bucket}</Bucket><Key>a/b</Key><ETag>" in text
    head = boto.head_object(Bucket=bucket, Key="a/b")
    assert (head["ContentType"], head["Metadata"], head["StorageClass"]) == ("text/plain", {"who": "me"}, "STANDARD_IA")
    assert head["ServerSideEncryption"] == "aws:kms"
    assert boto.get_object_tagging(Bucket=bucket, Key="a/b")["TagSet"] == [{"Key": "a", "Value": "b"}]


def test_a_redirect(s3, boto, bucket):
    to = {"success_action_redirect": "http://example.test/done?a=b"}
    form = boto.generate_presigned_post(bucket, "a/b", Fields=to, Conditions=[["starts-with", "$success_action_redirect", ""]])
    response = post(s3, form["url"], form["fields"], b"body")
    etag = hashlib.md5(b"body").hexdigest()
    assert response.status == 303
    assert response.headers["Location"] == f"http://example.test/done?a=b&bucket={bucket}&key=a%2Fb&etag=%22{etag}%22"


def test_forms_that_violate_the_policy_are_rejected(s3, boto, bucket):
    form = boto.generate_presigned_post(bucket, "k", Conditions=[["content-length-range", 5, 10]])
    assert message(post(s3, form["url"], form["fields"], b"x" * 11))[:2] == (400, "EntityTooLarge")
    assert message(post(s3, form["url"], form["fields"], b"x"))[:2] == (400, "EntityTooSmall")
    denied = 403, "AccessDenied"
    extra = post(s3, form["url"], {**form["fields"], "acl": "private"}, b"123456")
    assert message(extra) == (*denied, "Invalid according to Policy: Extra input fields: acl")
    other = post(s3, form["url"], {**form["fields"], "key": "other"}, b"123456")
    assert message(other) == (*denied, 'Invalid according to Policy: Policy Condition failed: ["eq", "$key", "k"]')
    expired = boto.generate_presigned_post(bucket, "k", ExpiresIn=-1)
    assert message(post(s3, expired["url"], expired["fields"], b"x")) == (*denied, "Invalid according to Policy: Policy expired.")
    assert "Contents" not in boto.list_objects_v2(Bucket=bucket)


def test_forms_without_a_valid_signature_are_rejected(s3, boto, bucket):
    form = boto.generate_presigned_post(bucket, "k")
    url, fields = form["url"], form["fields"]
    forged = json.loads(base64.b64decode(fields["policy"])) | {"expiration": "2099-01-01T00:00:00Z"}
    policy = base64.b64encode(json.dumps(forged).encode()).decode()
    assert message(post(s3, url, {**fields, "policy": policy}, b"x"))[1] == "SignatureDoesNotMatch"
    assert message(post(s3, url, {"key": "k"}, b"x")) == (403, "AccessDenied", "Access Denied")
    missing = {name: value for name, value in fields.items() if name != "x-amz-signature"}
    assert message(post(s3, url, missing, b"x"))[1] == "InvalidArgument"
    stranger = {**s3.credentials, "aws_access_key_id": "AKIDSTRANGER"}
    theirs = boto3.client("s3", endpoint_url=s3.endpoint, verify=s3.ca, **stranger).generate_presigned_post(bucket, "k")
    assert message(post(s3, url, theirs["fields"], b"x"))[1] == "InvalidAccessKeyId"


def test_signature_version_two(s3, boto, bucket):
    config = Config(signature_version="s3", s3={"addressing_style": "path"})
    old = boto3.client("s3", endpoint_url=s3.endpoint, verify=s3.ca, config=config, **s3.credentials)
    form = old.generate_presigned_post(bucket, "k")
    assert set(form["fields"]) == {"key", "AWSAccessKeyId", "policy", "signature"}
    assert post(s3, form["url"], form["fields"], b"body").status == 204
    assert message(post(s3, form["url"], {**form["fields"], "signature": "AAAA"}, b"x"))[1] == "SignatureDoesNotMatch"


def test_curl(s3, boto, bucket, tmp_path):
    file = tmp_path / "up load.bin"
    file.write_bytes(os.urandom(2 << 20))
    form = boto.generate_presigned_post(bucket, "curl/${filename}")
    command = ["curl", "--silent", "--show-error", "--output", "/dev/null", "--write-out", "%{http_code}"]
    command += ["--cacert", s3.ca] if s3.ca else []
    command += [argument for name, value in form["fields"].items() for argument in ("--form-string", f"{name}={value}")]
    done = subprocess.run([*command, "-F", f"file=@{file}", form["url"]], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "204"
    assert boto.get_object(Bucket=bucket, Key="curl/up load.bin")["Body"].read() == file.read_bytes()


def exchange(s3, head: str, body: bytes) -> bytes:
    """The response to these bytes, read until the connection closes."""
    address = urlsplit(s3.endpoint)
    with socket.create_connection((address.hostname, address.port), timeout=60) as bare:
        connection = ssl.create_default_context(cafile=s3.ca).wrap_socket(bare, server_hostname="localhost") if s3.ca else bare
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\nConnection: close\r\n\r\n" + body)
        response = b""
        while piece := connection.recv(65536):
            response += piece
    return response


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"--b", b"400", b"MalformedPOSTRequest"),
        (b"", b"400", b"MalformedPOSTRequest"),
        (b"--b\nContent-Disposition: form-data\n\n", b"400", b"MalformedPOSTRequest"),
        (b"--b--\r\n", b"400", b"InvalidArgument"),
        (b"x" * 30_000, b"400", b"MaxPostPreDataLengthExceeded"),
        (b"--b\r\n" + b"A: b\r\n" * 5_000, b"400", b"MalformedPOSTRequest"),
        (b"--b\r\nContent-Disposition: form-data; name=k\r\n\r\n" + b"\r\n--" * 9_000, b"400", b"MaxPostPreDataLengthExceeded"),
    ],
)
def test_hostile_forms(s3, bucket, body, status, code):
    head = f"POST /{bucket} HTTP/1.1\nHost: h\nContent-Type: multipart/form-data; boundary=b\nContent-Length: {len(body)}"
    response = exchange(s3, head, body)
    assert response.startswith(b"HTTP/1.1 " + status), response
    assert b"<Code>" + code + b"</Code>" in response
