"""Converts the constructor arguments of s3fs to a client configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from inspect import FullArgSpec
from typing import Any

from .._client import S3Client
from .._config import S3ClientConfig
from .._user_agent import UserAgent

# Keyword arguments of the constructor that are used, or accepted and ignored: those of Penstock, of fsspec and of s3fs.
_OURS = ("max_attempts", "part_size", "throughput_target_gbps")
_OF_FSSPEC = ("add_aliases", "add_docs", "listings_expiry_time", "max_paths", "skip_instance_cache", "use_listings_cache")
_OF_S3FS = (
    "cache_regions",
    "default_block_size",
    "default_cache_type",
    "default_fill_cache",
    "fixed_upload_size",
    "local_expiry_check",
    "max_concurrency",
    "password",
    "session",
    "use_ssl",
    "username",
)
_OF_A_CLIENT = (  # of botocore's create_client
    "api_version",
    "aws_access_key_id",
    "aws_account_id",
    "aws_secret_access_key",
    "aws_session_token",
    "config",
    "endpoint_url",
    "region_name",
    "use_ssl",
    "verify",
)


def check_names(given: Iterable[str], client_kwargs: Iterable[str], named: FullArgSpec) -> None:
    """Rejects unknown arguments. With a misspelled ``endpoint_url``, for example, data would go to AWS.

    Args:
        given: Names of the keyword arguments.
        client_kwargs: Names in ``client_kwargs``.
        named: Signature of the constructor.

    Raises:
        TypeError: A name is unknown.
    """
    for place, names, known in (
        ("", given, (*named.args[1:], *named.kwonlyargs, *_OURS, *_OF_FSSPEC, *_OF_S3FS)),
        ("client_kwargs", client_kwargs, _OF_A_CLIENT),
    ):
        for name in sorted(set(names) - set(known)):
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(sorted(known))}"
            raise TypeError(f"penstock.fsspec has no argument {place + repr([name]) if place else repr(name)}; {hint}")


def make_client(
    *,
    key: str | None,
    secret: str | None,
    token: str | None,
    endpoint_url: str | None,
    anon: bool,
    profile: str | None,
    requester_pays: bool,
    region: str | None,
    client_kwargs: Mapping[str, Any],
    config_kwargs: Mapping[str, Any],
    more: Mapping[str, Any],
) -> S3Client:
    """Creates the client for the arguments of s3fs.

    Raises:
        ValueError: Only one of access key ID and secret is given, or requester pays is set for unsigned requests.
    """
    endpoint = endpoint_url or client_kwargs.get("endpoint_url") or None
    retries = config_kwargs.get("retries") or {}
    # botocore's max_attempts does not include the first attempt.
    attempts = retries.get("total_max_attempts") or (retries["max_attempts"] + 1 if "max_attempts" in retries else None)
    signature = config_kwargs.get("signature_version")
    unsigned = anon or getattr(signature, "__name__", type(signature).__name__) == "UNSIGNED"
    chosen: dict[str, Any] = {
        "unsigned": unsigned,
        "addressing_style": (config_kwargs.get("s3") or {}).get("addressing_style"),
        "profile": profile or None,
        "requester_pays": requester_pays and not unsigned,
        "access_key_id": key or client_kwargs.get("aws_access_key_id") or None,
        "secret_access_key": secret or client_kwargs.get("aws_secret_access_key") or None,
        "session_token": token or client_kwargs.get("aws_session_token") or None,
        "max_attempts": more.get("max_attempts") or attempts,
        **{name: more.get(name) for name in ("part_size", "throughput_target_gbps")},
    }
    config = S3ClientConfig(**{name: value for name, value in chosen.items() if value is not None})
    where = region or client_kwargs.get("region_name") or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return S3Client(where or "", endpoint=endpoint, user_agent=UserAgent(["fsspec"]), s3client_config=config)
