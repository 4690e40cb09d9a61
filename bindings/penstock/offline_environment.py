"""Environment variables that direct S3 clients to an emulator and hide any AWS account configured on the machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

__all__ = ["environment_set", "offline_environment"]

# Variables that would send a client elsewhere, or change its requests.
_UNSET = (
    "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS", "AWS_CA_BUNDLE",
    "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT", "AWS_RETRY_MODE",
    "AWS_MAX_ATTEMPTS", "AWS_REQUEST_CHECKSUM_CALCULATION", "AWS_RESPONSE_CHECKSUM_VALIDATION",
)  # fmt: skip


def offline_environment(access: Mapping[str, str]) -> dict[str, str | None]:
    """Returns the variables to set, or to unset if None, so that clients use an emulator.

    Args:
        access: The result of ``Emulator.environment()``.
    """
    unset: dict[str, str | None] = dict.fromkeys(_UNSET)
    hosts = [host for host in (os.environ.get("NO_PROXY"), os.environ.get("no_proxy"), "127.0.0.1") if host]
    return unset | {
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": ",".join(hosts),
        "no_proxy": ",".join(hosts),
        **access,
    }


@contextmanager
def environment_set(variables: Mapping[str, str | None]) -> Iterator[None]:
    """Sets and unsets `variables`, and restores the previous values at the end.

    At both changes, clears the clients that boto3 and s3fs cache, since these would keep using the previous credentials.
    """
    before = {name: os.environ.get(name) for name in variables}
    try:
        _apply(variables)
        _clear_client_caches()
        yield
    finally:
        _apply(before)
        _clear_client_caches()


def _apply(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _clear_client_caches() -> None:
    if boto3 := sys.modules.get("boto3"):
        boto3.DEFAULT_SESSION = None  # type: ignore[attr-defined]  # the session that boto3.client() caches
    if s3fs := sys.modules.get("s3fs"):
        s3fs.S3FileSystem.clear_instance_cache()
