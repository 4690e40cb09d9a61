"""``penstock cat``, ``penstock stat`` and ``penstock presign``: single objects."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING, Any

from .. import _argument_values
from .._checkpoint_cli._output import many, one_line, size_text, time_text
from .._exceptions import S3Exception, S3InvalidArgumentError
from . import _options, _streams
from ._report import Report, json_line, write_line
from ._urls import Place, S3Url, Source, UsageError, parse_object, parse_s3, s3_source

if TYPE_CHECKING:
    from .._client import S3Client


def add_cat_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("urls", nargs="+", metavar="S3URI", help="s3://bucket/key; * and ? are wildcards")
    add("--version-id", metavar="ID", help="version of the single object")
    add("--raw", action="store_true", help="take * and ? as plain characters")
    _options.add_customer_key(parser)
    _options.add_connection(parser)


def add_stat_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("urls", nargs="+", metavar="S3URI", help="s3://bucket or s3://bucket/key")
    add("--version-id", metavar="ID", help="version of the single object")
    _options.add_customer_key(parser)
    _options.add_output(parser, progress=False)
    _options.add_connection(parser)


def add_presign_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("url", metavar="S3URI", help="s3://bucket/key")
    add("--expires-in", type=_expiry, default=3600, metavar="TIME", help="15m, 1h, 7d, or 1 to 604800 seconds (default: 1h)")
    add("--method", choices=("get", "head", "put", "delete"), default="get", help="what the URL allows (default: get)")
    add("--version-id", metavar="ID")
    add("--content-type", metavar="TYPE", help="of put: the header that the request must have")
    _options.add_output(parser, progress=False)
    _options.add_connection(parser)


def _expiry(text: str) -> int:
    seconds = _argument_values.duration(text)
    if seconds != int(seconds) or not 1 <= seconds <= 604_800:
        raise argparse.ArgumentTypeError(f"invalid time '{text}': expected 1 to 604800 seconds, for example 900, 15m or 7d")
    return int(seconds)


def _cat_source(text: str, raw: bool) -> Source:
    url = parse_object(text)
    try:
        return s3_source(url, recursive=False, raw=raw)
    except UsageError:
        if raw:
            return Source(url, False)
        raise UsageError(f"{url} is a folder; add --raw for the object with this key, or /* for the objects in it") from None


def run_cat(options: argparse.Namespace) -> int:
    from ._listing import objects

    client = _options.client_of(options)
    sources = [_cat_source(text, options.raw) for text in options.urls]
    if options.version_id is not None and (len(sources) > 1 or sources[0].tree):
        raise UsageError("--version-id needs a single object")
    report, found = Report("cat"), True

    def write(place: Place) -> None:
        assert isinstance(place, S3Url)
        try:
            _streams.to_stdout(client, place, options.version_id, options.sse_c_key)
        except S3Exception as error:
            report.failed("cat", place, None, error)

    for source in sources:
        try:
            places = [entry.place for entry in objects(client, source)] if source.tree else [source.root]
        except S3Exception as error:
            report.failed("cat", source.wildcard or source.root, None, error)
            continue
        found = found and bool(places)
        for place in places:
            write(place)
    return 0 if found and not report.failed_count else 1


def run_stat(options: argparse.Namespace) -> int:
    client = _options.client_of(options)
    urls = [parse_s3(text) for text in options.urls]
    if options.version_id is not None and len(urls) > 1:
        raise UsageError("--version-id needs a single object")
    report = Report("stat", as_json=options.json)
    for url in urls:
        try:
            facts = _object_facts(client, url, options) if url.key else _bucket_facts(client, url)
        except S3Exception as error:
            report.failed("stat", url, None, error)
            continue
        if options.json:
            write_line(json_line(facts))
        else:
            _print_facts(facts)
    return 1 if report.failed_count else 0


def _bucket_facts(client: S3Client, url: S3Url) -> dict[str, Any]:
    facts: dict[str, Any] = {"uri": f"s3://{url.bucket}", "region": client.head_bucket(url.bucket).region}
    with contextlib.suppress(S3Exception):  # denied, or not supported
        facts["versioning"] = client.get_bucket_versioning(url.bucket)
    return facts


def _object_facts(client: S3Client, url: S3Url, options: argparse.Namespace) -> dict[str, Any]:
    """Returns the metadata of an object: those that S3 sent, in a fixed order, and its tags."""
    head = client.head(url.bucket, url.key, version_id=options.version_id, sse_customer_key=options.sse_c_key)
    facts: dict[str, Any] = {
        "uri": str(url),
        "size": head.size,
        "modified": time_text(head.last_modified),
        "etag": head.etag.strip('"'),
    }
    hidden = {"size", "etag", "last_modified", "range"}
    for name, value in vars(head).items():
        if name not in hidden and value not in (None, False) and value != {}:
            facts[name] = dict(value) if name in ("metadata", "checksums") else value
    if head.tag_count:
        with contextlib.suppress(S3Exception):  # reading tags needs a permission of its own
            facts["tags"] = client.get_object_tagging(url.bucket, url.key, version_id=options.version_id)
    return facts


def _print_facts(facts: dict[str, Any]) -> None:
    for name, value in facts.items():
        if value is None:
            continue
        if name == "size":
            text = f"{value} ({size_text(value)})" if value >= 1024 else many(value, "byte")
        elif isinstance(value, dict):
            text = ", ".join(f"{key}={inner}" for key, inner in value.items())
        else:
            text = str(value)
        write_line(f"{name + ':':<24} {one_line(text)}")


def run_presign(options: argparse.Namespace) -> int:
    url = parse_object(options.url)
    arguments: dict[str, Any] = {"version_id": options.version_id, "content_type": options.content_type}
    given = {name: value for name, value in arguments.items() if value is not None}
    if options.method == "put" and options.version_id is not None:
        raise UsageError("--version-id has no effect on put; leave it out")
    if options.method != "put" and options.content_type is not None:
        raise UsageError(f"--content-type has no effect on {options.method}; leave it out")
    try:
        signed = _options.client_of(options).presign(options.method, url.bucket, url.key, expires_in=options.expires_in, **given)
    except S3InvalidArgumentError as error:
        raise UsageError(str(error)) from None
    if options.json:
        document = {"method": signed.method, "url": signed.url, "headers": dict(signed.headers)}
        write_line(json_line(document | {"expires": time_text(signed.expires_at)}))
    else:
        write_line(signed.url)
    return 0
