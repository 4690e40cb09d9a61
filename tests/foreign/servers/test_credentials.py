"""Our client takes credentials from moto's STS and metadata service, and from a program."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import penstock
import pytest
from penstock.testing import Emulator

# The credentials of moto's metadata service.
INSTANCE_KEY = {"access_key_id": "test-key", "secret_access_key": "test-secret-key", "session_token": "test-session-token"}
USERS = {"accounts": [{"account_id": "123456789012", "access_keys": [INSTANCE_KEY]}]}
ROLE = "arn:aws:iam::123456789012:role/reader"


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path: Path) -> Path:
    """Removes all credentials. Returns the configuration file, which a test may write."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    config = tmp_path / "config"
    config.write_text("")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return config


def client(endpoint: str, **settings) -> penstock.S3Client:
    config = penstock.S3ClientConfig(force_path_style=True, max_attempts=2, **settings)
    return penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)


def made(client: penstock.S3Client, bucket: str) -> bool:
    """Creates a bucket and lists it."""
    client.create_bucket(bucket)
    return [info for page in client.list_objects(bucket) for info in page.object_info] == []


def test_the_role_of_an_instance_provides_credentials(moto_endpoint, monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "false")
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", moto_endpoint)
    with Emulator(users=USERS) as emulator:  # it verifies the signature and the token
        assert made(client(emulator.endpoint), "by-the-instance")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        with pytest.raises(penstock.S3Exception, match="AWS_EC2_METADATA_DISABLED is true"):
            client(emulator.endpoint).create_bucket("without-credentials")


def test_a_container_provides_credentials(moto_endpoint, monkeypatch):
    path = "/latest/meta-data/iam/security-credentials/default-role"  # moto's answer has the form that ECS gives
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", moto_endpoint + path)
    with Emulator(users=USERS) as emulator:
        assert made(client(emulator.endpoint), "by-the-container")


def test_a_web_identity_provides_credentials(moto_endpoint, monkeypatch, tmp_path):
    (tmp_path / "token").write_text("a.web.token\n")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("AWS_ROLE_ARN", ROLE)
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", moto_endpoint)
    assert made(client(moto_endpoint), "by-web-identity")


def test_a_role_is_assumed_with_a_source_profile(moto_endpoint, monkeypatch, environment):
    environment.write_text(
        f"[profile r]\nrole_arn = {ROLE}\nsource_profile = s\n[profile s]\naws_access_key_id = a\naws_secret_access_key = b\n"
    )
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", moto_endpoint)
    assert made(client(moto_endpoint, profile="r"), "by-a-role")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1")
    with pytest.raises(penstock.S3Exception, match=f"AssumeRole of {ROLE}"):
        client(moto_endpoint, profile="r").create_bucket("without-credentials")


def test_a_credential_process_provides_credentials(monkeypatch, environment, tmp_path):
    with Emulator() as emulator:
        printed = {"Version": 1, "AccessKeyId": emulator.access_key_id, "SecretAccessKey": emulator.secret_access_key}
        (tmp_path / "give.py").write_text(f"print({json.dumps(json.dumps(printed))})")
        environment.write_text(f"[default]\ncredential_process = {sys.executable} '{tmp_path}/give.py'\n")
        assert made(client(emulator.endpoint), "by-a-program")
