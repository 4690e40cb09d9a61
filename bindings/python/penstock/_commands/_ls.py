"""``penstock ls``, ``penstock du`` and ``penstock find``: listings."""

from __future__ import annotations

import argparse
import fnmatch
import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _argument_values
from .._checkpoint_cli._output import many, one_line, size_text, time_text
from . import _options
from ._listing import is_directory_bucket
from ._report import json_line, write_line
from ._urls import S3Url, Source, UsageError, parse_s3, s3_source

if TYPE_CHECKING:
    from .._client import S3Client
    from .._objects import ObjectInfo
    from .._versions import ObjectVersion

_STORAGE_CLASS = "STANDARD"


def add_ls_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("url", nargs="?", metavar="S3URI", help="s3://bucket/beginning-of-keys; * and ? are wildcards; default: the buckets")
    add("--recursive", "-r", action="store_true", help="everything that begins so, instead of one level")
    add("--human-readable", "-H", action="store_true", help="sizes such as 1.5 MiB")
    add("--summarize", action="store_true", help="also print the number of objects and their size")
    add("--versions", "--all-versions", dest="versions", action="store_true", help="all versions and delete markers")
    add("--raw", action="store_true", help="take * and ? as plain characters")
    _options.add_output(parser, progress=False)
    _options.add_connection(parser)


def add_du_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("urls", nargs="+", metavar="S3URI", help="s3://bucket/beginning-of-keys; * and ? are wildcards")
    add("--human-readable", "-H", action="store_true", help="sizes such as 1.5 MiB")
    add("--group", "-g", action="store_true", help="per storage class")
    add("--versions", "--all-versions", dest="versions", action="store_true", help="all versions")
    add("--raw", action="store_true", help="take * and ? as plain characters")
    _options.add_filters(parser)
    _options.add_output(parser, progress=False)
    _options.add_connection(parser)


def add_find_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("urls", nargs="+", metavar="S3URI", help="s3://bucket/beginning-of-keys; * and ? are wildcards")
    add("--name", metavar="PATTERN", help="pattern of the text after the last slash: *, ?, [abc]")
    add("--larger-than", type=_argument_values.size, metavar="SIZE", help="for example 1MiB")
    add("--smaller-than", type=_argument_values.size, metavar="SIZE")
    add("--newer-than", type=_moment, metavar="AGE", help="age or time: 7d, 36h, 2026-01-31T12:00:00Z")
    add("--older-than", type=_moment, metavar="AGE", help="age or time")
    add("--storage-class", metavar="NAME")
    add(
        "--print0",
        "-0",
        action="store_true",
        help="end each line by a NUL instead of a newline, and escape nothing, for xargs -0",
    )
    add("--raw", action="store_true", help="take * and ? as plain characters")
    _options.add_filters(parser)
    _options.add_output(parser, progress=False)
    _options.add_connection(parser)


def _moment(text: str) -> float:
    """Parses an age or a time. Returns seconds since the epoch."""
    try:
        return time.time() - _argument_values.age(text)
    except argparse.ArgumentTypeError:
        return _argument_values.time(text)


class Item(NamedTuple):
    """An object or a version of a listing. `version_id` is empty for objects. Delete markers have no ETag."""

    key: str
    size: int
    modified: float
    etag: str
    storage_class: str
    version_id: str = ""
    is_latest: bool = True
    is_delete_marker: bool = False

    def document(self, bucket: str) -> dict[str, Any]:
        found: dict[str, Any] = {
            "key": self.key,
            "uri": str(S3Url(bucket, self.key)),
            "size": self.size,
            "modified": time_text(self.modified),
            "etag": self.etag.strip('"') or None,
            "storage_class": self.storage_class,
        }
        if self.version_id:
            found |= {"version_id": self.version_id, "latest": self.is_latest, "delete_marker": self.is_delete_marker}
        return found


def _source(url: S3Url, raw: bool) -> Source:
    """Returns what a listing selects. Unlike for other commands, a URI without wildcard is the beginning of keys."""
    if not raw and re.search("[*?]", url.key):
        return s3_source(url, recursive=True)
    return Source(S3Url(url.bucket, url.key[: url.key.rfind("/") + 1]), True, url.key)


def pages(client: S3Client, source: Source, delimiter: str, versions: bool) -> Iterator[tuple[list[str], list[Item]]]:
    """Lists common prefixes and objects or versions, page by page."""
    root = source.root
    assert isinstance(root, S3Url)
    prefix = root.key if is_directory_bucket(root.bucket) else source.prefix

    def selects(key: str) -> bool:
        return key.startswith(source.prefix) and source.selects(key[len(root.key) :])

    if versions:
        for page in client.list_object_versions(root.bucket, prefix, delimiter):
            found = [_version_item(each) for each in page.versions if selects(each.key)]
            yield [name for name in page.common_prefixes if selects(name)], found
        return
    for listed in client.list_objects(root.bucket, prefix, delimiter):
        yield (
            [name for name in listed.common_prefixes if selects(name)],
            [_item(info) for info in listed.object_info if selects(info.key)],
        )


def _item(info: ObjectInfo) -> Item:
    return Item(info.key, info.size, info.last_modified, info.etag, info.storage_class or _STORAGE_CLASS)


def _version_item(each: ObjectVersion) -> Item:
    return Item(
        each.key, each.size, each.last_modified, each.etag, each.storage_class or "", each.version_id, each.is_latest,
        each.is_delete_marker,
    )  # fmt: skip


# ---- ls


def run_ls(options: argparse.Namespace) -> int:
    client = _options.client_of(options)
    if options.url is None or options.url == "s3://":
        return _list_buckets(client, options.json)
    url = parse_s3(options.url)
    source = _source(url, options.raw)
    delimiter = "" if options.recursive or source.pattern is not None else "/"
    count = size = listed = 0
    for prefixes, items in pages(client, source, delimiter, options.versions):
        listed += len(prefixes) + len(items)
        count += len(items)
        size += sum(item.size for item in items)
        for prefix in prefixes:
            _print_prefix(url.bucket, prefix, options.json)
        for item in items:
            shown = item.key if not delimiter else item.key[len(source.root.key) :] if isinstance(source.root, S3Url) else ""
            _print_item(url.bucket, item, shown, options)
    if options.summarize:
        _print_summary(count, size, options)
    return 1 if not listed and url.key else 0


def _list_buckets(client: S3Client, as_json: bool) -> int:
    for bucket in client.list_buckets():
        if as_json:
            write_line(json_line({"bucket": bucket.name, "created": time_text(bucket.creation_date)}))
        else:
            write_line(f"{_local_time(bucket.creation_date)} {bucket.name}")
    return 0


def _local_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _print_prefix(bucket: str, prefix: str, as_json: bool) -> None:
    if as_json:
        write_line(json_line({"prefix": prefix, "uri": str(S3Url(bucket, prefix))}))
    else:
        write_line(f"{'PRE':>30} {one_line(prefix[prefix.rstrip('/').rfind('/') + 1 :])}")


def _print_item(bucket: str, item: Item, shown: str, options: argparse.Namespace) -> None:
    if options.json:
        write_line(json_line(item.document(bucket)))
        return
    size = "DELETED" if item.is_delete_marker else size_text(item.size) if options.human_readable else str(item.size)
    version = f"{item.version_id:<32} {'latest' if item.is_latest else '':<6} " if item.version_id else ""
    write_line(f"{_local_time(item.modified)} {size:>10} {version}{one_line(shown)}")


def _print_summary(count: int, size: int, options: argparse.Namespace) -> None:
    if options.json:
        write_line(json_line({"objects": count, "size": size}))
        return
    write_line(f"\nTotal Objects: {count}")
    write_line(f"   Total Size: {size_text(size) if options.human_readable else size}")


# ---- du


def run_du(options: argparse.Namespace) -> int:
    client, filters, found = _options.client_of(options), _options.filters_of(options), True
    for text in options.urls:
        url = parse_s3(text)
        source = _source(url, options.raw)
        totals: dict[str, list[int]] = {} if options.group else {"": [0, 0]}
        for item in _selected(client, source, options.versions, filters.selects):
            total = totals.setdefault(item.storage_class if options.group else "", [0, 0])
            total[0] += 1
            total[1] += item.size
        found = found and (not url.key or any(count for count, _ in totals.values()))
        for storage_class, (count, size) in sorted(totals.items()):
            _print_usage(url, storage_class, count, size, options)
    return 0 if found else 1


def _selected(client: S3Client, source: Source, versions: bool, selects: Callable[[str], bool]) -> Iterator[Item]:
    """Lists the objects that filters select by their names below the folder of the source."""
    assert isinstance(source.root, S3Url)
    begin = len(source.root.key)
    for _, items in pages(client, source, "", versions):
        yield from (item for item in items if selects(item.key[begin:]))


def _print_usage(url: S3Url, storage_class: str, count: int, size: int, options: argparse.Namespace) -> None:
    if options.json:
        write_line(json_line({"uri": str(url), "objects": count, "size": size, "storage_class": storage_class or None}))
        return
    shown = size_text(size) if options.human_readable else f"{size} bytes"
    write_line(f"{shown} in {many(count, 'object')}: {one_line(str(url))}{f' [{storage_class}]' if storage_class else ''}")


# ---- find


def run_find(options: argparse.Namespace) -> int:
    if options.print0 and options.json:
        raise UsageError("--print0 and --json exclude each other")
    import sys

    client, filters = _options.client_of(options), _options.filters_of(options)
    for text in options.urls:
        url = parse_s3(text)
        for item in _selected(client, _source(url, options.raw), False, filters.selects):
            if not _wanted(item, options):
                continue
            uri = str(S3Url(url.bucket, item.key))
            if options.print0:
                sys.stdout.buffer.write(uri.encode("utf-8", "surrogateescape") + b"\0")
            else:
                write_line(json_line(item.document(url.bucket)) if options.json else one_line(uri))
    return 0


def _wanted(item: Item, options: argparse.Namespace) -> bool:
    tests = (
        options.name is None or fnmatch.fnmatchcase(item.key.rpartition("/")[2], options.name),
        options.larger_than is None or item.size > options.larger_than,
        options.smaller_than is None or item.size < options.smaller_than,
        options.newer_than is None or item.modified > options.newer_than,
        options.older_than is None or item.modified < options.older_than,
        options.storage_class is None or item.storage_class == options.storage_class,
    )
    return all(tests)
