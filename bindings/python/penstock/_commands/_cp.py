"""``penstock cp`` and ``penstock mv``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator

from .. import _argument_values
from .._exceptions import S3Exception
from . import _options, _streams
from ._execution import Execution
from ._listing import files, objects, one_object, refuse_ambiguous
from ._plan import CaseConflicts, Entry, FileFolderConflicts, Transfer
from ._report import Report
from ._transfers import Settings, Transfers
from ._urls import (
    STDIO,
    Place,
    S3Url,
    Source,
    UsageError,
    below,
    local_source,
    name_problem,
    parse,
    s3_source,
    single_target,
    target_root,
)


def add_options(parser: argparse.ArgumentParser) -> None:
    move = parser.prog.endswith("mv")
    add = parser.add_argument
    add("places", nargs="+", metavar="SOURCE", help="local path or s3://bucket/key; * and ? are wildcards; - is standard input")
    add(
        "target",
        metavar="TARGET",
        help="local path or s3://bucket/key; a folder if there are several sources; - is standard output",
    )
    add("--recursive", "-r", action="store_true", help="everything below the folder")
    add("--raw", action="store_true", help="take * and ? in sources as plain characters")
    if not move:
        add("--version-id", metavar="ID", help="version of the single source")
        add(
            "--expected-size",
            type=_argument_values.size,
            metavar="SIZE",
            help="size of standard input, if it has more than 50 GB",
        )
    _options.add_symlinks(parser, default=not move)
    _options.add_filters(parser)
    _options.add_attributes(parser)
    _options.add_resume(parser)
    _options.add_output(parser)
    _options.add_connection(parser)


def settings_of(options: argparse.Namespace) -> Settings:
    return Settings(
        _options.attributes_of(options),
        guess_type=not options.no_guess_mime_type,
        overwrite=not options.no_overwrite,
        sse_customer_key=options.sse_c_key,
        source_sse_customer_key=options.sse_c_copy_source_key,
        metadata_directive=options.metadata_directive,
        resume=options.resume,
        sync=options.command == "mv",
    )


def run(options: argparse.Namespace) -> int:
    sources, target = [parse(text) for text in options.places], parse(options.target)
    settings = settings_of(options)
    if STDIO in (*sources, target):
        return _run_stream(options, sources, target, settings)
    if not isinstance(target, S3Url) and not all(isinstance(source, S3Url) for source in sources):
        raise UsageError(f"neither {options.places[0]!r} nor {options.target!r} is an S3 URI; write s3://bucket/key")
    move = options.command == "mv"
    found = [_source(place, options) for place in sources]
    single = len(found) == 1 and not found[0].tree
    version_id = getattr(options, "version_id", None)
    if version_id is not None and not (single and isinstance(found[0].root, S3Url)):
        raise UsageError("--version-id needs a single object as source")
    if len(found) > 1:
        target = target_root(target)
    for source in found:
        _refuse_overlap(source, target, move)
    execution = Execution(_options.client_of(options), options)
    planner = _Planner(execution, options, move)
    plan: Iterator[Transfer] = (transfer for source in found for transfer in planner.transfers(source, target))
    if len(found) > 1:
        plan = planner.without_twins(plan)
    execution.transfer(plan, Transfers(execution.client, settings), single=single and not settings.resume)
    return execution.report.finish()


def _source(place: Place, options: argparse.Namespace) -> Source:
    if isinstance(place, S3Url):
        return s3_source(place, recursive=options.recursive, raw=options.raw)
    return local_source(place, recursive=options.recursive, raw=options.raw)


def _refuse_overlap(source: Source, target: Place, move: bool) -> None:
    """Raises UsageError for a move of a folder into itself: it would move its own copies."""
    root = source.root
    if not (move and source.tree and isinstance(root, S3Url) and isinstance(target, S3Url) and root.bucket == target.bucket):
        return
    if target_root(target) == root:
        raise UsageError(f"source and target of mv are both {root}")
    if target.folder.key.startswith(root.key) and source.pattern is None:
        raise UsageError(f"cannot move {root} to {target.folder}, which is inside of it")


class _Planner:
    """Lists sources and names their targets."""

    def __init__(self, execution: Execution, options: argparse.Namespace, move: bool) -> None:
        self._execution = execution
        self._filters = _options.filters_of(options)
        self._follow: bool = options.follow_symlinks
        self._version_id: str | None = getattr(options, "version_id", None)
        self._source_key: bytes | None = options.sse_c_copy_source_key
        self._target_key: bytes | None = options.sse_c_key
        self._move = move

    def transfers(self, source: Source, target: Place) -> Iterator[Transfer]:
        if not source.tree:
            try:
                entry = self._one(source, target)
            except (S3Exception, OSError) as error:
                self._execution.report.failed(self._operation(source, target), source.root, target, error)
                return
            if self._filters.selects(entry.name):
                yield self._single(entry, target)
            return
        root = target_root(target)
        entries = self._entries(source, target)
        if not isinstance(root, S3Url):
            for entry in checked_names(self._execution.report, self._operation(source, target), entries, root):
                yield Transfer(entry, below(root, entry.name), root, self._move)
            return
        if isinstance(source.root, S3Url) and source.root.bucket == root.bucket:
            entries = self._without_chains(list(entries), root)  # the copies could appear in the rest of the listing
        for entry in entries:
            yield Transfer(entry, below(root, entry.name), move=self._move)

    def without_twins(self, plan: Iterable[Transfer]) -> Iterator[Transfer]:
        """Passes on transfers, and reports those whose target an earlier one has."""
        seen: set[Place] = set()
        for transfer in plan:
            if transfer.target in seen:
                source, target = transfer.entry.place, transfer.target
                self._execution.report.failed(transfer.operation, source, target, "another source has the same target")
            else:
                seen.add(transfer.target)
                yield transfer

    def _without_chains(self, entries: list[Entry], root: S3Url) -> Iterator[Entry]:
        """Passes on entries, and reports those that a move would put over an object that is to be moved itself."""
        sources = {entry.place for entry in entries} if self._move else set()
        for entry in entries:
            target = below(root, entry.name)
            if target in sources:
                text = "the target is an object that is moved too; move it separately"
                self._execution.report.failed("move", entry.place, target, text)
            else:
                yield entry

    def _one(self, source: Source, target: Place) -> Entry:
        if isinstance(source.root, S3Url):
            key = self._source_key if isinstance(target, S3Url) else self._target_key
            return one_object(self._execution.client, source.root, self._version_id, key)
        return next(files(source, lambda *_: None, follow=True))

    def _single(self, entry: Entry, target: Place) -> Transfer:
        place = single_target(entry.place, target)
        if not isinstance(place, S3Url) and place != target:  # the name comes from the key
            root = target_root(target)
            assert isinstance(root, str)
            problem = name_problem(entry.name)
            if problem:
                raise UsageError(f"{entry.place}: {problem}; give the name of the file as target")
        return Transfer(entry, place, move=self._move)

    def _operation(self, source: Source, target: Place) -> str:
        return Transfer(Entry("", source.root, 0, 0), target, move=self._move).operation

    def _entries(self, source: Source, target: Place) -> Iterator[Entry]:
        """Lists a tree. If nothing was found, even without the filters, that is a failure."""
        operation = self._operation(source, target)
        if isinstance(source.root, S3Url):
            if self._move:
                refuse_ambiguous(self._execution.client, source)
            entries = objects(self._execution.client, source)
        else:
            entries = files(source, self._execution.on_problem(operation), follow=self._follow)
        found = False
        for entry in entries:
            found = True
            if self._filters.selects(entry.name):
                yield entry
        if not found and (isinstance(source.root, S3Url) or source.pattern is not None):
            what = f"no {'object' if isinstance(source.root, S3Url) else 'file'} matches"
            self._execution.report.failed(operation, source.root, target, what)


def checked_names(report: Report, operation: str, entries: Iterator[Entry], root: str) -> Iterator[Entry]:
    """Passes on the entries of a download whose targets do not exclude each other; reports the others as failures."""
    conflicts, cases = FileFolderConflicts(), CaseConflicts() if ignores_case(root) else None
    for entry in entries:
        name = entry.name.removesuffix("/")
        above = None if entry.is_marker else conflicts.file_above(entry.name)
        twin = cases.earlier(entry.name) if cases is not None and not entry.is_marker else None
        if above is not None:
            text = f"the object {above!r} of the same download is a file, so it cannot be a folder"
            report.failed(operation, entry.place, root + name, text)
        elif twin is not None:
            text = f"the file system has one name for it and {twin!r}, which differs only in case"
            report.failed(operation, entry.place, root + name, text)
        else:
            yield entry


def ignores_case(folder: str) -> bool:
    """Whether the file system of a folder takes names that differ only in case as one name. False if it cannot be found out."""
    path = os.path.abspath(folder)  # noqa: PTH100
    while not os.path.exists(path):  # noqa: PTH110
        path = os.path.dirname(path)  # noqa: PTH120
    name = os.path.basename(path)  # noqa: PTH119
    if name.swapcase() == name:
        return False
    try:
        return os.path.samefile(path, os.path.join(os.path.dirname(path), name.swapcase()))  # noqa: PTH118, PTH120, PTH121
    except OSError:
        return False


def _run_stream(options: argparse.Namespace, sources: list[Place], target: Place, settings: Settings) -> int:
    if options.command == "mv" or len(sources) != 1 or options.recursive:
        raise UsageError("- is the single source or the target of cp, without --recursive")
    if options.resume:
        raise UsageError("--resume needs files; the bytes of - cannot be read again")
    [source] = sources
    client = _options.client_of(options)
    if target == STDIO:
        if not isinstance(source, S3Url) or source.is_folder:
            raise UsageError(f"{options.places[0]!r} is not the S3 URI of an object; write s3://bucket/key")
        if not options.dry_run:
            _streams.to_stdout(client, source, options.version_id, settings.sse_customer_key)
        return 0
    if not isinstance(target, S3Url) or target.is_folder:
        raise UsageError(f"{options.target!r} is not the S3 URI of an object; write s3://bucket/key")
    execution = Execution(client, options)
    size = None if options.dry_run else _streams.from_stdin(client, target, settings, options.expected_size)
    execution.report.done("upload", STDIO, target, size=size)
    return execution.report.finish()
