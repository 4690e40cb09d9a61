"""What users of s3fs pass to its constructor, as a client's configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from inspect import FullArgSpec
from typing import Any
from urllib.parse import urlsplit

from .._client import S3Client
from .._config import S3ClientConfig
from .._user_agent import UserAgent

# Of s3_additional_kwargs and of keyword arguments of writes; by the name of put_object's parameter.
ATTRIBUTES = {"ContentType": "content_type", "StorageClass": "storage_class", "Metadata": "metadata"}
# Ask for something that would be missing if they were passed over.
_REFUSED = (
    "ACL",
    "acl",
    "BucketKeyEnabled",
    "CacheControl",
    "ContentDisposition",
    "ContentEncoding",
    "ContentLanguage",
    "Expires",
    "GrantFullControl",
    "GrantRead",
    "ObjectLockLegalHoldStatus",
    "ObjectLockMode",
    "ObjectLockRetainUntilDate",
    "SSECustomerAlgorithm",
    "SSECustomerKey",
    "SSEKMSKeyId",
    "ServerSideEncryption",
    "Tagging",
)


# Keyword arguments of a file system that are looked at, or are known to mean nothing to us: of this one, of fsspec, of s3fs.
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
_OF_A_CLIENT = (  # boto3's create_client's
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
    """Refuses arguments that nobody knows: who misspells ``endpoint_url`` would write to AWS.

    Args:
        named: Of the constructor.

    Raises:
        TypeError: there is one, in `given` or in `client_kwargs`.
    """
    for place, names, known in (
        ("", given, (*named.args[1:], *named.kwonlyargs, *_OURS, *_OF_FSSPEC, *_OF_S3FS)),
        ("client_kwargs", client_kwargs, _OF_A_CLIENT),
    ):
        for name in sorted(set(names) - set(known)):
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(known))}"
            raise TypeError(f"penstock.fsspec has no argument {place + repr([name]) if place else repr(name)}; {hint}")


def write_attributes(given: Mapping[str, Any]) -> dict[str, Any]:
    """Storage class, content type and metadata among `given`, by our names.

    Raises:
        ValueError: another attribute that an object can have is asked for, which we cannot give it.
    """
    refused = [name for name in _REFUSED if given.get(name)]
    if refused:
        raise ValueError(f"penstock.fsspec cannot set {', '.join(refused)}; it sets {', '.join(ATTRIBUTES)}")
    attributes: dict[str, Any] = {ours: given[name] for name, ours in ATTRIBUTES.items() if given.get(name)}
    if "metadata" in attributes:
        attributes["metadata"] = [(str(name), str(value)) for name, value in attributes["metadata"].items()]
    return attributes


def endpoint_of_environment() -> str:
    """Where requests go that name no endpoint; empty: to AWS."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


def _is_aws(endpoint: str) -> bool:
    host = urlsplit(endpoint).hostname or ""
    return host.endswith((".amazonaws.com", ".amazonaws.com.cn"))


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
    """The client that s3fs's arguments describe.

    An endpoint that is not AWS's is addressed by path, as botocore does, unless ``addressing_style`` is ``"virtual"``.

    Raises:
        ValueError: half of a key pair, or requester pays without signing.
    """
    style = (config_kwargs.get("s3") or {}).get("addressing_style")
    endpoint = endpoint_url or client_kwargs.get("endpoint_url") or None
    seen = endpoint or endpoint_of_environment()
    retries = config_kwargs.get("retries") or {}
    # botocore's max_attempts does not count the first one.
    attempts = retries.get("total_max_attempts") or (retries["max_attempts"] + 1 if "max_attempts" in retries else None)
    signature = config_kwargs.get("signature_version")
    unsigned = anon or getattr(signature, "__name__", type(signature).__name__) == "UNSIGNED"
    chosen: dict[str, Any] = {
        "unsigned": unsigned,
        "force_path_style": style == "path" or bool(seen and style != "virtual" and not _is_aws(seen)),
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
