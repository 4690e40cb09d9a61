"""``penstock sync``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from . import _options, _plan
from ._cp import checked_names, settings_of
from ._execution import Execution
from ._listing import OnProblem, exists, files, objects, target_files
from ._plan import Entry, Rule, Transfer
from ._transfers import Transfers
from ._urls import STDIO, Place, S3Url, Source, UsageError, parse, target_root

if TYPE_CHECKING:
    from .._client import S3Client


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="SOURCE", help="folder, s3://bucket or s3://bucket/folder")
    add("target", metavar="TARGET", help="same; source or target must be in S3")
    add("--delete", action="store_true", help="delete what the target has and the source lacks, except what a filter excludes")
    rules = parser.add_mutually_exclusive_group().add_argument
    rules("--size-only", action="store_true", help="copy only if the sizes differ")
    rules(
        "--exact-timestamps",
        action="store_true",
        help="downloads: copy if the sizes or the times differ; default: if the sizes differ or the file is newer",
    )
    rules("--checksum", action="store_true", help="copy if the sizes or the checksums differ; reads the local files")
    _options.add_symlinks(parser, default=True)
    _options.add_filters(parser)
    _options.add_attributes(parser)
    _options.add_resume(parser)
    _options.add_output(parser)
    _options.add_connection(parser)


def _rule(options: argparse.Namespace) -> Rule | None:
    """Returns the rule that selects files of the same size for a copy; None: a copy if the checksums differ."""
    if options.checksum:
        return None
    if options.size_only:
        return _plan.never_differs
    return _plan.differs_by_exact_time if options.exact_timestamps else _plan.differs_by_time


def _roots(options: argparse.Namespace) -> tuple[Place, Place]:
    """Returns the folders of the source and the target."""
    source, target = parse(options.source), parse(options.target)
    if STDIO in (source, target):
        raise UsageError("sync needs folders; - is for cp")
    source, target = target_root(source), target_root(target)
    if not isinstance(source, S3Url):
        if not isinstance(target, S3Url):
            raise UsageError(f"neither {options.source!r} nor {options.target!r} is an S3 URI; write s3://bucket/folder")
        if not os.path.isdir(source):  # noqa: PTH112
            raise UsageError(f"the folder {options.source!r} does not exist")
    elif isinstance(target, S3Url) and source.bucket == target.bucket:
        if source.key.startswith(target.key) or target.key.startswith(source.key):
            raise UsageError(f"the source {source} and the target {target} overlap; use cp --recursive, or other folders")
    elif isinstance(target, str) and os.path.lexists(target.rstrip("/") or "/") and not os.path.isdir(target):  # noqa: PTH112
        raise UsageError(f"the target {options.target!r} is not a folder")
    return source, target


class _Problems:
    """Receives the problems of the listings, and remembers whether one was incomplete."""

    def __init__(self, report: OnProblem) -> None:
        self._report = report
        self.incomplete = False

    def __call__(self, path: str, text: str, failed: bool) -> None:
        self.incomplete = self.incomplete or failed
        self._report(path, text, failed)


def run(options: argparse.Namespace) -> int:
    source, target = _roots(options)
    settings = settings_of(options)
    filters, rule = _options.filters_of(options), _rule(options)
    execution = Execution(_options.client_of(options), options)
    problems = _Problems(execution.on_problem("sync"))
    sources = _entries(execution, source, problems, follow=options.follow_symlinks)
    if isinstance(target, S3Url):
        targets = objects(execution.client, Source(target, True, target.key))
    else:
        targets = target_files(target, problems)
        operation = Transfer(Entry("", source, 0, 0), target).operation
        sources = checked_names(execution.report, operation, sources, target)
    delete: list[Entry] = []

    def transfers() -> Iterator[Transfer]:
        plan = _plan.sync(
            _plan.in_order(sources, str(source)), _plan.in_order(targets, str(target)), target, filters, rule,
            delete=options.delete,
        )  # fmt: skip
        for step in plan:
            if step.transfer is not None:
                yield step.transfer
            elif step.delete is not None:
                delete.append(step.delete)

    execution.transfer(transfers(), Transfers(execution.client, settings))
    if delete and problems.incomplete:
        execution.report.note("nothing was deleted, since the source could not be listed completely")
    elif delete:
        execution.delete(delete)
    return execution.report.finish()


def _entries(execution: Execution, root: Place, problems: _Problems, *, follow: bool) -> Iterator[Entry]:
    if isinstance(root, S3Url):
        return _objects(execution.client, root)
    return files(Source(root, True), problems, follow=follow)


def _objects(client: S3Client, root: S3Url) -> Iterator[Entry]:
    """Lists the source. An object given as a folder lists nothing; with --delete the target would be emptied.

    Raises:
        UsageError: Nothing is below `root`, and an object has its name.
    """
    empty = True
    for entry in objects(client, Source(root, True, root.key)):
        empty = False
        yield entry
    file = S3Url(root.bucket, root.key.removesuffix("/"))
    if empty and file.key and exists(client, file):
        raise UsageError(f"the source {file} is an object, and nothing is below {root}; use cp, or give a folder")
