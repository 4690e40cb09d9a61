"""``penstock rm``, and the deletions of ``rb --force``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._exceptions import S3AccessDeniedError, S3Exception, S3NotFoundError
from . import _options
from ._execution import Execution
from ._listing import objects, one_object, refuse_ambiguous
from ._plan import Entry
from ._urls import S3Url, Source, UsageError, parse_s3, s3_source

if TYPE_CHECKING:
    from .._client import S3Client


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("urls", nargs="+", metavar="S3URI", help="s3://bucket/key; * and ? are wildcards")
    add("--recursive", "-r", action="store_true", help="everything below the folder; never the bucket itself")
    add("--raw", action="store_true", help="take * and ? as plain characters")
    add("--version-id", metavar="ID", help="delete this version of the single object permanently")
    add("--all-versions", action="store_true", help="delete all versions and delete markers permanently")
    add("--bypass-governance-retention", action="store_true", help="also delete versions retained in governance mode")
    _options.add_filters(parser)
    _options.add_output(parser)
    _options.add_connection(parser)


def versions(client: S3Client, source: Source) -> Iterator[Entry]:
    """Lists all versions and delete markers of a tree or of a single object."""
    root = source.root
    assert isinstance(root, S3Url)
    prefix = source.prefix if source.tree else root.key
    begin = root.key if source.tree else root.key[: root.key.rfind("/") + 1]
    for page in client.list_object_versions(root.bucket, prefix):
        for each in page.versions:
            name = each.key[len(begin) :]
            selected = source.selects(name) if source.tree else each.key == root.key
            if selected:
                place = S3Url(root.bucket, each.key)
                yield Entry(name, place, each.size, each.last_modified, each.etag or None, each.version_id)


def run(options: argparse.Namespace) -> int:
    sources = [s3_source(parse_s3(text), recursive=options.recursive, raw=options.raw) for text in options.urls]
    single = len(sources) == 1 and not sources[0].tree
    if options.version_id is not None and (not single or options.all_versions):
        raise UsageError("--version-id needs a single object, and excludes --all-versions")
    execution = Execution(_options.client_of(options), options)
    filters = _options.filters_of(options)
    entries = (entry for source in sources for entry in _entries(execution, source, options) if filters.selects(entry.name))
    execution.delete(entries, bypass_governance_retention=options.bypass_governance_retention)
    return execution.report.finish()


def _entries(execution: Execution, source: Source, options: argparse.Namespace) -> Iterator[Entry]:
    client = execution.client
    refuse_ambiguous(client, source)
    if options.all_versions:
        return versions(client, source)
    return objects(client, source) if source.tree else _single(execution, source, options.version_id)


def _single(execution: Execution, source: Source, version_id: str | None) -> Iterator[Entry]:
    """Yields one object or version. Reports a missing object; DeleteObject succeeds for it."""
    url = source.root
    assert isinstance(url, S3Url)
    name = url.key.rpartition("/")[2]
    if version_id is not None:
        yield Entry(name, url, 0, 0, version_id=version_id)
        return
    try:
        yield one_object(execution.client, url)
    except S3AccessDeniedError:
        yield Entry(name, url, 0, 0)  # the credentials may allow deletions only
    except S3NotFoundError as error:
        text = (
            "there is no such bucket"
            if error.code == "NoSuchBucket"
            else (f"there is no such object; add --recursive to delete the objects below {url}/")
        )
        execution.report.failed("delete", url, None, text)
    except S3Exception as error:
        execution.report.failed("delete", url, None, error)


def delete_all(execution: Execution, bucket: str, *, all_versions: bool) -> None:
    """Deletes the objects of a bucket."""
    source = Source(S3Url(bucket, ""), True)
    entries = versions(execution.client, source) if all_versions else objects(execution.client, source)
    execution.delete(entries)
