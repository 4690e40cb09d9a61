"""Options that several commands share, with the names of the AWS CLI and s5cmd."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .. import _argument_values
from ._filters import Filters
from ._urls import UsageError

if TYPE_CHECKING:
    from .._client import S3Client


def add_connection(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("connection").add_argument
    add("--endpoint-url", metavar="URL", help="S3-compatible service; default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, else AWS")
    add("--region", default="", metavar="NAME", help="AWS region; default: from the environment or the profile")
    add("--profile", metavar="NAME", help="profile of the AWS configuration files")
    add("--no-sign-request", action="store_true", help="do not sign requests, for public buckets")
    add("--force-path-style", action="store_true", help="use path-style URLs: host/bucket/key")
    add("--request-payer", nargs="?", const="requester", choices=("requester",), help="pay for the requests")
    add("--ca-bundle", metavar="FILE", help="CA certificates in PEM format")
    add("--max-bandwidth", type=_argument_values.bandwidth, metavar="SIZE", help="bytes per second in each direction")


def add_output(parser: argparse.ArgumentParser, *, progress: bool = True) -> None:
    add = parser.add_argument_group("output").add_argument
    add("--json", action="store_true", help="write one JSON object per line")
    if progress:
        add("--quiet", "--only-show-errors", action="store_true", help="write errors only")
        add("--no-progress", action="store_true", help="do not show the progress, which is shown if standard error is a terminal")
        add("--dry-run", "--dryrun", action="store_true", help="print what would be done")
        add("--jobs", "--numworkers", type=_jobs, metavar="N", help="about the number of requests at a time (default: 32)")


def add_filters(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("filters, relative to the source folder; the last one that matches wins").add_argument
    add("--exclude", dest="filters", action="append", type=_excluded, metavar="PATTERN", help="leave out matching names")
    add("--include", dest="filters", action="append", type=_included, metavar="PATTERN", help="do not leave out matching names")


def add_symlinks(parser: argparse.ArgumentParser, default: bool) -> None:
    add = parser.add_mutually_exclusive_group().add_argument
    text = "follow symbolic links of the local source"
    add("--follow-symlinks", action="store_true", default=default, help=text + (" (default)" if default else ""))
    add(
        "--no-follow-symlinks", action="store_false", dest="follow_symlinks", help="skip them" + ("" if default else " (default)")
    )


def add_attributes(parser: argparse.ArgumentParser) -> None:
    """Adds the attributes of new objects."""
    add = parser.add_argument_group("attributes of the objects in S3").add_argument
    add("--storage-class", metavar="NAME", help="STANDARD, STANDARD_IA, INTELLIGENT_TIERING, GLACIER_IR, ...")
    add("--acl", metavar="NAME", help="canned ACL, for example bucket-owner-full-control")
    add("--content-type", metavar="TYPE", help="default: by the name of the file")
    add("--no-guess-mime-type", action="store_true", help="do not set the content type by the name of the file")
    add("--cache-control", metavar="TEXT")
    add("--content-disposition", metavar="TEXT")
    add("--content-encoding", metavar="TEXT")
    add("--content-language", metavar="TEXT")
    add("--expires", type=_argument_values.time, metavar="TIME", help="2026-01-31T12:00:00Z or seconds since 1970")
    add("--website-redirect", dest="website_redirect_location", metavar="TARGET")
    add(
        "--metadata",
        action="append",
        type=_pairs,
        metavar="NAME=VALUE",
        help="also NAME=VALUE,NAME=VALUE or a JSON object; copies: instead of all metadata of the source, whose headers are kept",
    )
    add("--tags", action="append", type=_pairs, metavar="NAME=VALUE", help="tags of the objects; same formats")
    add(
        "--metadata-directive", choices=("COPY", "REPLACE"), help="copies: take all headers and metadata from the source, or none"
    )
    add("--sse", nargs="?", const="AES256", choices=("AES256", "aws:kms", "aws:kms:dsse"), help="encryption (default: AES256)")
    add("--sse-kms-key-id", metavar="ID", help="key of KMS")
    add("--no-overwrite", "--no-clobber", "-n", action="store_true", help="skip files and objects that exist")
    add_customer_key(parser)
    add("--sse-c-copy-source", nargs="?", const="AES256", choices=("AES256",), help="algorithm of the next")
    add("--sse-c-copy-source-key", type=_key_file, metavar="fileb://FILE", help="key of encrypted objects that are copied")


def add_resume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--resume",
        action="store_true",
        help="files of 64 MiB or more: continue what an earlier run of this command has not finished, and keep the state of this"
        " run until it has finished (see penstock transfers)",
    )


def add_customer_key(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("encryption with a key of the customer (SSE-C)").add_argument
    add("--sse-c", nargs="?", const="AES256", choices=("AES256",), help="algorithm of the next")
    add("--sse-c-key", type=_key_file, metavar="fileb://FILE", help="file with the 32 bytes of the key")


def _jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 256:
        raise argparse.ArgumentTypeError(f"invalid number of jobs '{text}': expected 1 to 256")
    return int(text)


def _excluded(pattern: str) -> tuple[bool, str]:
    return (False, pattern)


def _included(pattern: str) -> tuple[bool, str]:
    return (True, pattern)


def _pairs(text: str) -> dict[str, str]:
    """Parses ``a=1``, ``a=1,b=2`` or ``{"a": "1"}``."""
    if text.startswith("{"):
        import json

        try:
            found = json.loads(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"invalid JSON object {text!r}: {error}") from None
        if not all(isinstance(value, str) for value in found.values()):
            raise argparse.ArgumentTypeError(f"invalid JSON object {text!r}: every value must be a string")
        return dict(found)
    pairs = {}
    for pair in text.split(","):
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise argparse.ArgumentTypeError(
                f'invalid pair {pair!r}: expected NAME=VALUE; give values with a comma as a JSON object, {{"NAME": "VALUE"}}'
            )
        pairs[name] = value
    return pairs


def _key_file(text: str) -> bytes:
    """Reads an SSE-C key. The option names a file, since other users of the machine can read arguments."""
    path = text.removeprefix("fileb://")
    if path == text:
        raise argparse.ArgumentTypeError("the key must be in a file: write fileb://FILE")
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            key = file.read(33)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"cannot read the key file {path!r}: {error.strerror}") from None
    if len(key) != 32:
        raise argparse.ArgumentTypeError(f"the key file {path!r} must have exactly 32 bytes")
    return key


def client_of(options: argparse.Namespace) -> S3Client:
    from .._client import S3Client
    from .._config import S3ClientConfig

    config = S3ClientConfig(
        profile=options.profile,
        unsigned=options.no_sign_request,
        force_path_style=options.force_path_style,
        requester_pays=options.request_payer is not None,
        ca_bundle_path=options.ca_bundle,
        max_bytes_per_second=options.max_bandwidth,
    )
    return S3Client(options.region, endpoint=options.endpoint_url, s3client_config=config)


def filters_of(options: argparse.Namespace) -> Filters:
    return Filters(options.filters or ())


_ATTRIBUTES = (
    "storage_class", "acl", "content_type", "cache_control", "content_disposition", "content_encoding", "content_language",
    "expires", "website_redirect_location", "sse_kms_key_id",
)  # fmt: skip


def attributes_of(options: argparse.Namespace) -> dict[str, Any]:
    """Returns the attributes that were given, as :class:`penstock.requests.ObjectOptions`."""
    found: dict[str, Any] = {name: value for name in _ATTRIBUTES if (value := getattr(options, name)) is not None}
    for option, name in (("metadata", "metadata"), ("tags", "tagging")):
        if given := getattr(options, option):
            found[name] = {key: value for pairs in given for key, value in pairs.items()}
    if options.sse is not None:
        found["server_side_encryption"] = options.sse
    if options.sse_kms_key_id is not None and options.sse not in ("aws:kms", "aws:kms:dsse"):
        raise UsageError("--sse-kms-key-id needs --sse aws:kms or --sse aws:kms:dsse")
    if options.sse_c_key is not None:
        if options.sse is not None:
            raise UsageError("--sse and --sse-c-key exclude each other")
        found["sse_customer_key"] = options.sse_c_key
    if options.sse_c is not None and options.sse_c_key is None:
        raise UsageError("--sse-c needs --sse-c-key fileb://FILE")
    if options.sse_c_copy_source is not None and options.sse_c_copy_source_key is None:
        raise UsageError("--sse-c-copy-source needs --sse-c-copy-source-key fileb://FILE")
    return found
