"""Whole credential chains against the emulator, offline: boto3, the AWS CLI, aws-c-auth (awscrt), the connector and Penstock."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import boto3
import penstock
import pytest
import s3torchconnector
from awscrt.auth import AwsCredentialsProvider
from botocore.config import Config
from botocore.session import Session
from credential_chains import ACCOUNT, CONTAINER_TOKEN, ROLE_OF, chain, users
from penstock.testing import Emulator
from s3torchconnector._s3client import S3Client

# The AWS variables of this process must not take part in a chain.
STRAY = [name for name in os.environ if name.startswith("AWS_")]
RENEWED_S = 5 * 60
SESSION_S = 6 * 3600


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator(users=users()) as instance:
        instance.client().create_bucket("shared")
        yield instance


@pytest.fixture(params=ROLE_OF)
def chained(request: pytest.FixtureRequest, emulator: Emulator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Sets the environment of a chain. Returns the beginning of the ARN that the client gets."""
    environment, role = chain(request.param, emulator.endpoint, emulator.admin_endpoint, tmp_path)
    for name in STRAY:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return f"arn:aws:sts::{ACCOUNT}:assumed-role/{role}/"


def used_key(emulator: Emulator, object_key: str) -> str:
    [entry] = [each for each in emulator.journal().entries() if each.key == object_key]
    assert entry.status == 200
    return entry.access_key


def test_boto3_gets_credentials(chained, emulator):
    s3 = boto3.Session().client("s3", config=Config(s3={"addressing_style": "path"}))
    key = f"by-boto3/{chained}"
    s3.put_object(Bucket="shared", Key=key, Body=b"x")
    assert used_key(emulator, key).startswith("ASIA")
    assert boto3.Session().client("sts").get_caller_identity()["Arn"].startswith(chained)


def test_the_aws_cli_gets_credentials(chained, emulator, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))  # the CLI keeps sessions of roles in ~/.aws/cli/cache
    command = ["aws", "sts", "get-caller-identity", "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    identity = json.loads(done.stdout)
    assert identity["Arn"].startswith(chained)
    assert identity["Account"] == ACCOUNT


def test_penstock_gets_credentials(chained, emulator):
    config = penstock.S3ClientConfig(force_path_style=True, max_attempts=2, profile=os.environ.get("AWS_PROFILE"))
    client = penstock.S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=config)
    key = f"by-penstock/{chained}"
    with client.put_object("shared", key) as writer:
        writer.write(b"x")
    assert used_key(emulator, key).startswith("ASIA")


def test_aws_c_auth_gets_credentials(chained, emulator, request):
    if request.node.callspec.params["chained"] not in ("instance", "container"):
        pytest.skip("aws-c-auth connects to STS only over TLS, to addresses of AWS; see the test below")
    found = AwsCredentialsProvider.new_default_chain().get_credentials().result(30)
    assert found.access_key_id.startswith("ASIA")
    sts = boto3.client(
        "sts", endpoint_url=emulator.endpoint, region_name="us-east-1", aws_access_key_id=found.access_key_id,
        aws_secret_access_key=found.secret_access_key, aws_session_token=found.session_token,
    )  # fmt: skip
    assert sts.get_caller_identity()["Arn"].startswith(chained)


def test_the_connector_uses_an_assumed_role(emulator, monkeypatch):
    sts = boto3.client("sts", endpoint_url=emulator.endpoint, region_name="us-east-1", aws_access_key_id="ANN",
                       aws_secret_access_key="ann-secret")  # fmt: skip
    role = f"arn:aws:iam::{ACCOUNT}:role/trainer"
    assumed = sts.assume_role(RoleArn=role, RoleSessionName="job-1")["Credentials"]
    for name in STRAY:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", assumed["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", assumed["SecretAccessKey"])
    monkeypatch.setenv("AWS_SESSION_TOKEN", assumed["SessionToken"])
    config = s3torchconnector.S3ClientConfig(force_path_style=True)
    client = S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=config)
    with client.put_object("shared", "by-the-connector") as writer:
        writer.write(b"data")
    assert client.get_object("shared", "by-the-connector").read() == b"data"
    keys = {each.access_key for each in emulator.journal().entries() if each.key == "by-the-connector"}
    assert keys == {assumed["AccessKeyId"]}


def get(url: str, headers: dict[str, str], method: str = "GET") -> tuple[int, str]:
    request = urllib.request.Request(url, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def from_instance(emulator: Emulator) -> dict[str, str]:
    root = f"{emulator.admin_endpoint}/latest/"
    _, token = get(f"{root}api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "60"}, "PUT")
    status, text = get(f"{root}meta-data/iam/security-credentials/node", {"X-aws-ec2-metadata-token": token})
    assert status == 200, text
    return json.loads(text)


def from_container(emulator: Emulator) -> dict[str, str]:
    url = f"{emulator.admin_endpoint}/_penstock/container-credentials/{ACCOUNT}/task"
    status, text = get(url, {"Authorization": CONTAINER_TOKEN})
    assert status == 200, text
    return json.loads(text)


@pytest.mark.parametrize("source", [from_instance, from_container])
def test_credentials_rotate_before_they_expire(source):
    with Emulator(users=users()) as emulator:
        clock = emulator.clock()
        clock.freeze()
        first = source(emulator)
        assert source(emulator) == first
        expires = datetime.fromisoformat(first["Expiration"].replace("Z", "+00:00"))
        assert timedelta(0) <= clock.now + timedelta(seconds=SESSION_S) - expires < timedelta(seconds=1)
        clock.advance(SESSION_S - RENEWED_S - 2)
        assert source(emulator) == first
        clock.advance(4)
        second = source(emulator)
        assert second["AccessKeyId"] != first["AccessKeyId"]
        assert second["Expiration"] > first["Expiration"]


def test_a_refreshable_client_gets_the_rotated_credentials(emulator, monkeypatch, tmp_path):
    environment, _ = chain("instance", emulator.endpoint, emulator.admin_endpoint, tmp_path)
    for name in STRAY:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    # botocore refreshes within 15 minutes of the expiry. The emulator's clock is behind, so that the expiry is in 10 minutes.
    clock = emulator.clock()
    try:
        clock.advance(600 - SESSION_S)
        credentials = Session().get_credentials()
        first = credentials.get_frozen_credentials().access_key
        assert credentials.get_frozen_credentials().access_key == first
        clock.advance(SESSION_S - RENEWED_S + 10)
        assert credentials.get_frozen_credentials().access_key != first
    finally:
        clock.restore()


def test_expired_credentials_are_refused(emulator):
    clock = emulator.clock()
    # The shortest session is as long as the allowed difference of clocks, so that the signature is still accepted.
    clock.freeze()
    clock.set(datetime.now(timezone.utc) - timedelta(seconds=1))  # dates of signatures have no fraction
    try:
        sts = boto3.client("sts", endpoint_url=emulator.endpoint, region_name="us-east-1", aws_access_key_id="ANN",
                           aws_secret_access_key="ann-secret")  # fmt: skip
        role = f"arn:aws:iam::{ACCOUNT}:role/trainer"
        given = sts.assume_role(RoleArn=role, RoleSessionName="short", DurationSeconds=900)["Credentials"]
        session = {
            "aws_access_key_id": given["AccessKeyId"],
            "aws_secret_access_key": given["SecretAccessKey"],
            "aws_session_token": given["SessionToken"],
            "endpoint_url": emulator.endpoint,
            "region_name": "us-east-1",
            "config": Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
        }
        s3 = boto3.client("s3", **session)
        s3.list_objects_v2(Bucket="shared")
        clock.advance(900)
        for call in (lambda: s3.list_objects_v2(Bucket="shared"), boto3.client("sts", **session).get_caller_identity):
            with pytest.raises(s3.exceptions.ClientError) as refused:
                call()
            assert refused.value.response["Error"]["Code"] == "ExpiredToken"
    finally:
        clock.restore()


@pytest.mark.parametrize(
    ("path", "headers", "method", "status"),
    [
        ("latest/api/token", {}, "PUT", 400),
        ("latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "21601"}, "PUT", 400),
        ("latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "60", "X-Forwarded-For": "10.0.0.1"}, "PUT", 403),
        ("latest/api/token", {}, "GET", 405),
        ("latest/meta-data/iam/security-credentials/", {}, "GET", 401),
        ("latest/meta-data/iam/security-credentials/", {"X-aws-ec2-metadata-token": "bm8="}, "GET", 401),
        ("latest/meta-data/iam/security-credentials/", {"Host": "rebound.example.com"}, "GET", 421),
        ("latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "60", "Origin": "http://page.example.com"}, "PUT", 403),
        (f"_penstock/container-credentials/{ACCOUNT}/task", {}, "GET", 401),
        (f"_penstock/container-credentials/{ACCOUNT}/task", {"Authorization": "other"}, "GET", 401),
        (f"_penstock/container-credentials/{ACCOUNT}/trainer", {}, "GET", 404),
        (f"_penstock/container-credentials/{ACCOUNT}/task", {"Authorization": CONTAINER_TOKEN}, "POST", 405),
    ],
)
def test_requests_without_a_right_get_no_credentials(emulator, path, headers, method, status):
    have, text = get(f"{emulator.admin_endpoint}/{path}", headers, method)
    assert have == status, text
    assert "SecretAccessKey" not in text


def test_a_metadata_token_expires():
    with Emulator(users=users()) as emulator:
        root = f"{emulator.admin_endpoint}/latest/"
        _, token = get(f"{root}api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "60"}, "PUT")
        header = {"X-aws-ec2-metadata-token": token}
        region = f"{root}meta-data/placement/region"
        assert get(region, header) == (200, "us-east-1")
        assert json.loads(get(f"{root}dynamic/instance-identity/document", header)[1])["region"] == "us-east-1"
        emulator.clock().advance(61)
        assert get(region, header)[0] == 401
