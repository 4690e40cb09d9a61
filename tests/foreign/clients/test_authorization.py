"""boto3 against the emulator's authorization: two accounts, unsigned requests, and what the admin API says about decisions."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

OWNER, PARTNER = "111122223333", "444455556666"
USERS = {
    "accounts": [
        {
            "account_id": account,
            "canonical_id": digit * 64,
            "access_keys": [{"access_key_id": f"ROOT{account}", "secret_access_key": "secret"}],
        }
        for account, digit in ((OWNER, "a"), (PARTNER, "b"))
    ]
}


class Emulator(NamedTuple):
    endpoint: str
    admin: str

    def client(self, account: str | None) -> Any:
        """S3 as the root of an account; None: unsigned."""
        config = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1})
        if account is None:
            config = config.merge(Config(signature_version=UNSIGNED))
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=f"ROOT{account}",
            aws_secret_access_key="secret",
            config=config,
        )

    def explain(self, query: str) -> Any:
        with urllib.request.urlopen(f"{self.admin}/_penstock/explain?{query}", timeout=30) as response:
            return json.load(response)


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    users = tmp_path_factory.mktemp("users") / "users.json"
    users.write_text(json.dumps(USERS))
    program = Path(os.environ["PENSTOCK_BUILD_DIR"]) / "emulator/server/penstock-emulator"
    process = subprocess.Popen(
        [str(program), "--port", "0", "--admin-port", "0", "--users", str(users)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    ready = json.loads(process.stdout.readline())
    yield Emulator(ready["endpoint"], ready["admin"])
    process.terminate()
    assert process.wait(30) == 0
    process.stdout.close()


@pytest.fixture
def bucket(emulator: Emulator, request: pytest.FixtureRequest) -> str:
    """A bucket of the owner that permits public access and ACLs."""
    name = f"b-{request.node.name.replace('_', '-')[:50].rstrip('-')}"
    s3 = emulator.client(OWNER)
    s3.create_bucket(Bucket=name, ObjectOwnership="ObjectWriter")
    s3.delete_public_access_block(Bucket=name)
    s3.put_object(Bucket=name, Key="home/ann/k", Body=b"body")
    return name


def set_policy(emulator: Emulator, bucket: str, *statements: dict[str, Any]) -> None:
    policy = {"Version": "2012-10-17", "Statement": statements}
    emulator.client(OWNER).put_bucket_policy(Bucket=bucket, Policy=json.dumps(policy))


def refused(call: Any, **arguments: Any) -> ClientError:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
    return caught.value


def test_public_read_object_is_read_unsigned(emulator: Emulator, bucket: str) -> None:
    emulator.client(OWNER).put_object(Bucket=bucket, Key="public", Body=b"p", ACL="public-read")
    unsigned = emulator.client(None)
    assert unsigned.get_object(Bucket=bucket, Key="public")["Body"].read() == b"p"
    assert refused(unsigned.get_object, Bucket=bucket, Key="home/ann/k").response["Error"]["Code"] == "AccessDenied"
    refused(unsigned.list_objects_v2, Bucket=bucket)
    refused(unsigned.put_object, Bucket=bucket, Key="public", Body=b"")


def test_cross_account_bucket_policy(emulator: Emulator, bucket: str) -> None:
    partner = emulator.client(PARTNER)
    refused(partner.get_object, Bucket=bucket, Key="home/ann/k")
    set_policy(
        emulator,
        bucket,
        {
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{PARTNER}:root"},
            "Action": "s3:GetObject",
            "Resource": f"arn:aws:s3:::{bucket}/home/*",
        },
    )
    assert partner.get_object(Bucket=bucket, Key="home/ann/k")["Body"].read() == b"body"
    refused(partner.put_object, Bucket=bucket, Key="home/ann/k", Body=b"")
    refused(partner.get_bucket_policy, Bucket=bucket)


def test_uploads_without_encryption_are_denied(emulator: Emulator, bucket: str) -> None:
    set_policy(
        emulator,
        bucket,
        {
            "Sid": "DenyUnencrypted",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:PutObject",
            "Resource": f"arn:aws:s3:::{bucket}/*",
            "Condition": {"StringNotEquals": {"s3:x-amz-server-side-encryption": "aws:kms"}},
        },
    )
    s3 = emulator.client(OWNER)
    error = refused(s3.put_object, Bucket=bucket, Key="n", Body=b"")
    assert error.response["Error"]["Message"] == (
        f"User: arn:aws:iam::{OWNER}:root is not authorized to perform: s3:PutObject on resource: "
        f'"arn:aws:s3:::{bucket}/n" with an explicit deny in a resource-based policy'
    )
    refused(s3.create_multipart_upload, Bucket=bucket, Key="n")
    s3.put_object(Bucket=bucket, Key="n", Body=b"", ServerSideEncryption="aws:kms")
    explained = emulator.explain(f"request_id={error.response['ResponseMetadata']['RequestId']}")
    assert explained["operation"] == "PutObject"
    assert explained["policies_consulted"]
    [decision] = explained["decisions"]
    assert decision["sid"] == "DenyUnencrypted"
    assert decision["policy"] == f"bucket/{bucket}"
    assert not decision["allowed"]


def test_lists_are_limited_to_a_prefix(emulator: Emulator, bucket: str) -> None:
    set_policy(
        emulator,
        bucket,
        {
            "Effect": "Allow",
            "Principal": {"AWS": PARTNER},
            "Action": "s3:ListBucket",
            "Resource": f"arn:aws:s3:::{bucket}",
            "Condition": {"StringLike": {"s3:prefix": "home/ann/*"}},
        },
    )
    partner = emulator.client(PARTNER)
    assert partner.list_objects_v2(Bucket=bucket, Prefix="home/ann/")["KeyCount"] == 1
    refused(partner.list_objects_v2, Bucket=bucket, Prefix="home/")
    refused(partner.list_objects_v2, Bucket=bucket)


def test_missing_keys_are_404_only_with_list_permission(emulator: Emulator, bucket: str) -> None:
    read = {
        "Effect": "Allow",
        "Principal": {"AWS": PARTNER},
        "Action": "s3:GetObject",
        "Resource": f"arn:aws:s3:::{bucket}/*",
    }
    set_policy(emulator, bucket, read)
    partner = emulator.client(PARTNER)
    refused(partner.get_object, Bucket=bucket, Key="absent")
    refused(partner.head_object, Bucket=bucket, Key="absent")
    set_policy(emulator, bucket, read, {**read, "Action": "s3:ListBucket", "Resource": f"arn:aws:s3:::{bucket}"})
    with pytest.raises(partner.exceptions.NoSuchKey):
        partner.get_object(Bucket=bucket, Key="absent")
    with pytest.raises(ClientError, match="404"):
        partner.head_object(Bucket=bucket, Key="absent")


def test_deletions_are_decided_for_each_key(emulator: Emulator, bucket: str) -> None:
    set_policy(
        emulator,
        bucket,
        {
            "Effect": "Allow",
            "Principal": {"AWS": PARTNER},
            "Action": "s3:DeleteObject",
            "Resource": f"arn:aws:s3:::{bucket}/home/*",
        },
    )
    answer = emulator.client(PARTNER).delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "home/ann/k"}, {"Key": "other"}]})
    assert [entry["Key"] for entry in answer["Deleted"]] == ["home/ann/k"]
    assert [(entry["Key"], entry["Code"]) for entry in answer["Errors"]] == [("other", "AccessDenied")]


def test_presigned_urls_are_denied_by_policy(emulator: Emulator, bucket: str) -> None:
    set_policy(
        emulator,
        bucket,
        {
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:GetObject",
            "Resource": f"arn:aws:s3:::{bucket}/*",
            "Condition": {"StringEquals": {"s3:authType": "REST-QUERY-STRING"}},
        },
    )
    s3 = emulator.client(OWNER)
    url = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "home/ann/k"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(url, timeout=30)
    assert s3.get_object(Bucket=bucket, Key="home/ann/k")["Body"].read() == b"body"


def test_described_requests_are_explained(emulator: Emulator, bucket: str) -> None:
    set_policy(
        emulator,
        bucket,
        {
            "Sid": "Network",
            "Effect": "Allow",
            "Principal": "*",
            "Action": "s3:GetObject",
            "Resource": f"arn:aws:s3:::{bucket}/*",
            "Condition": {"IpAddress": {"aws:SourceIp": "192.0.2.0/24"}},
        },
    )
    described = f"action=s3:GetObject&resource=arn:aws:s3:::{bucket}/k"
    [decision] = emulator.explain(f"{described}&aws:SourceIp=192.0.2.7")["decisions"]
    assert (decision["allowed"], decision["sid"]) == (True, "Network")
    [decision] = emulator.explain(f"{described}&aws:SourceIp=198.51.100.1")["decisions"]
    assert (decision["allowed"], decision["decided_by"]) == (False, "resource-policy")
    [decision] = emulator.explain(f"principal=ROOT{OWNER}&{described}")["decisions"]
    assert (decision["allowed"], decision["decided_by"]) == (True, "account-root")
