"""The environment in which S3 clients find an emulator and nothing else: no AWS account of whoever runs the tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

# Whatever would lead a client elsewhere, or change how it asks.
_UNSET = (
    "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS", "AWS_CA_BUNDLE",
    "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT", "AWS_RETRY_MODE",
    "AWS_MAX_ATTEMPTS", "AWS_REQUEST_CHECKSUM_CALCULATION", "AWS_RESPONSE_CHECKSUM_VALIDATION",
)  # fmt: skip


def offline_environment(access: Mapping[str, str]) -> dict[str, str | None]:
    """Variables to set, and, where None, to unset, so that clients use `access`: an emulator's ``environment()``."""
    nothing: dict[str, str | None] = dict.fromkeys(_UNSET)
    hosts = [host for host in (os.environ.get("NO_PROXY"), os.environ.get("no_proxy"), "127.0.0.1") if host]
    return nothing | {
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": ",".join(hosts),
        "no_proxy": ",".join(hosts),
        **access,
    }


@contextmanager
def environment_set(variables: Mapping[str, str | None]) -> Iterator[None]:
    """Sets and unsets `variables`, and puts back what there was.

    Clients that a library keeps for the process are forgotten on both sides: they would go on with the other credentials.
    """
    before = {name: os.environ.get(name) for name in variables}
    try:
        _apply(variables)
        _forget_kept_clients()
        yield
    finally:
        _apply(before)
        _forget_kept_clients()


def _apply(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _forget_kept_clients() -> None:
    if boto3 := sys.modules.get("boto3"):
        boto3.DEFAULT_SESSION = None  # type: ignore[attr-defined]  # what boto3.client() makes once and for all
    if s3fs := sys.modules.get("s3fs"):
        s3fs.S3FileSystem.clear_instance_cache()
