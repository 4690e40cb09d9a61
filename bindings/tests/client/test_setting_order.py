"""The order of docs/reference/settings.md: argument, variable, profile, default. Presigned URLs show the chosen values."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import penstock
import pytest
from http_responses import responding
from penstock import S3ClientConfig
from penstock._config import endpoint_of_environment

CONFIG = """[default]
region = eu-profile-1
services = own
endpoint_url = http://profile.test

[profile other]
region = eu-other-1

[profile fips]
use_fips_endpoint = true

[services own]
s3 =
  endpoint_url = http://services.test
"""
CREDENTIALS = """[default]
aws_access_key_id = PROFILE
aws_secret_access_key = secret

[other]
aws_access_key_id = OTHER
aws_secret_access_key = secret
"""
KEYS = {"AWS_ACCESS_KEY_ID": "VARIABLE", "AWS_SECRET_ACCESS_KEY": "secret"}
IGNORED = {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}


@pytest.fixture
def url(tmp_path, monkeypatch):
    """Returns a function that presigns a URL with variables and arguments."""
    (tmp_path / "config").write_text(CONFIG)
    (tmp_path / "credentials").write_text(CREDENTIALS)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))

    def made(variables=None, region="", endpoint=None, **settings):
        for name, value in (variables or {}).items():
            monkeypatch.setenv(name, value)
        client = penstock.S3Client(region, endpoint=endpoint, s3client_config=S3ClientConfig(**settings))
        return urlsplit(client.presign("get", "bucket", "key").url)

    return made


def credential(url):
    """Returns access key, region and session token of a presigned URL."""
    query = parse_qs(url.query)
    key, _, region, *_ = query["X-Amz-Credential"][0].split("/")
    return key, region, query.get("X-Amz-Security-Token", [""])[0]


@pytest.mark.parametrize(
    ("variables", "argument", "expected"),
    [
        ({}, "", "eu-profile-1"),
        ({"AWS_DEFAULT_REGION": "eu-default-1"}, "", "eu-default-1"),
        ({"AWS_DEFAULT_REGION": "eu-default-1", "AWS_REGION": "eu-variable-1"}, "", "eu-variable-1"),
        ({"AWS_REGION": ""}, "", "eu-profile-1"),
        ({"AWS_REGION": "eu-variable-1"}, "eu-argument-1", "eu-argument-1"),
    ],
)
def test_the_order_of_regions(url, variables, argument, expected) -> None:
    assert credential(url(variables, argument))[1] == expected


@pytest.mark.parametrize(
    ("variables", "settings", "expected"),
    [
        ({}, {}, "PROFILE"),
        (KEYS, {}, "VARIABLE"),
        (KEYS, {"access_key_id": "ARGUMENT", "secret_access_key": "secret"}, "ARGUMENT"),
        (KEYS, {"profile": "other"}, "OTHER"),
        (KEYS | {"AWS_PROFILE": "other"}, {}, "VARIABLE"),
        ({"AWS_PROFILE": "other", "AWS_DEFAULT_PROFILE": "default"}, {}, "OTHER"),
        ({"AWS_DEFAULT_PROFILE": "other"}, {}, "OTHER"),
        ({"AWS_PROFILE": "other"}, {"profile": "default"}, "PROFILE"),
        # A token of the environment does not replace the keys of the profile.
        ({"AWS_WEB_IDENTITY_TOKEN_FILE": "/dev/null", "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/r"}, {}, "PROFILE"),
    ],
)
def test_the_order_of_access_keys(url, variables, settings, expected) -> None:
    assert credential(url(variables, **settings))[0] == expected


def test_the_newer_name_of_the_session_token_is_first(url) -> None:
    assert credential(url(KEYS | {"AWS_SECURITY_TOKEN": "older"}))[2] == "older"
    assert credential(url(KEYS | {"AWS_SECURITY_TOKEN": "older", "AWS_SESSION_TOKEN": "newer"}))[2] == "newer"


@pytest.mark.parametrize(
    ("variables", "argument", "expected"),
    [
        ({}, None, "services.test"),
        ({"AWS_ENDPOINT_URL": "http://all.test"}, None, "all.test"),
        ({"AWS_ENDPOINT_URL": "http://all.test", "AWS_ENDPOINT_URL_S3": "http://s3.test"}, None, "s3.test"),
        ({"AWS_ENDPOINT_URL_S3": "http://s3.test"}, "http://argument.test", "argument.test"),
        (IGNORED | {"AWS_ENDPOINT_URL_S3": "http://s3.test"}, None, "bucket.s3.eu-profile-1.amazonaws.com"),
        (IGNORED, "http://argument.test", "argument.test"),
    ],
)
def test_the_order_of_endpoints(url, variables, argument, expected) -> None:
    assert url(variables, endpoint=argument).hostname == expected
    ignored = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS" in variables
    assert endpoint_of_environment() == next((url for url in reversed(variables.values()) if "://" in url and not ignored), "")


@pytest.mark.parametrize(
    ("variables", "settings", "is_fips"),
    [
        ({}, {}, True),
        ({"AWS_USE_FIPS_ENDPOINT": "false"}, {}, False),
        ({"AWS_USE_FIPS_ENDPOINT": "false"}, {"use_fips_endpoint": True}, True),
    ],
)
def test_the_order_of_switches(url, variables, settings, is_fips) -> None:
    assert ("fips" in url(KEYS | {"AWS_PROFILE": "fips"} | variables, "us-east-1", **settings).hostname) == is_fips


@pytest.mark.parametrize(
    ("variables", "argument"),
    [
        ({"all_proxy": "proxy"}, None),
        ({"all_proxy": "other", "http_proxy": "proxy"}, None),
        ({"http_proxy": "other"}, "proxy"),
        ({"http_proxy": "other", "no_proxy": "server.test"}, "proxy"),
    ],
)
def test_the_order_of_proxies(monkeypatch, variables, argument) -> None:
    ok = {"ETag": '"e"'}
    with responding(200, headers=ok) as (proxy, requests), responding(200, headers=ok) as (other, others):
        endpoints = {"proxy": proxy.endpoint, "other": other.endpoint}
        for name, value in variables.items():
            monkeypatch.setenv(name, endpoints.get(value, value))
        # I/O threads of its own: others may have found a moment ago that the environment names no proxy.
        config = S3ClientConfig(unsigned=True, max_attempts=1, io_threads=7, proxy=endpoints.get(argument))
        penstock.S3Client("r", endpoint="http://server.test", s3client_config=config).head_object("bucket", "key")
        assert [len(requests), len(others)] == [1, 0]
