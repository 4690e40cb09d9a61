"""``penstock cache ls|stats|verify|prune``: the node cache of this machine."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from .. import _argument_values
from . import _options
from ._urls import UsageError


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "action",
        choices=tuple(_ACTIONS),
        help="ls: the cached objects; stats: what all processes did with the cache since it was made; verify: read every block"
        " and remove damaged ones; prune: remove the least recently used blocks",
    )
    add("--directory", metavar="DIR", help="the directory of the cache (default: PENSTOCK_CACHE_DIR)")
    add("--keep", type=_argument_values.size, metavar="SIZE", help="of prune: how much to keep at most; 0 removes everything")
    _options.add_output(parser, progress=False)


def run(options: argparse.Namespace) -> int:
    directory = options.directory or os.environ.get("PENSTOCK_CACHE_DIR")
    if not directory:
        raise UsageError("there is no cache directory; give --directory DIR, or set PENSTOCK_CACHE_DIR")
    if (options.action == "prune") != (options.keep is not None):
        raise UsageError("prune needs --keep SIZE, and the other actions do not take it")
    return _ACTIONS[options.action](os.path.abspath(directory), options)  # noqa: PTH100 -- keeps symbolic links


def _ls(directory: str, options: argparse.Namespace) -> int:
    from .. import _core
    from .._checkpoint_cli._output import size_text, table, time_text
    from ._report import json_line, write_line

    objects = _core.cache_objects(directory)
    if options.json:
        for item in objects:
            write_line(json_line(item))
        return 0
    rows = [
        [
            time_text(int(item["used"])),
            f"{size_text(item['cached_bytes'])} of {size_text(item['object_size'])}",
            f"s3://{item['bucket']}/{item['key']}",
            item["etag"],
            item["endpoint"],
        ]
        for item in objects
    ]
    write_line(table(["LAST USED", "CACHED", "OBJECT", "ETAG", "ENDPOINT"], rows))
    return 0


def _stats(directory: str, options: argparse.Namespace) -> int:
    from .. import _core

    stats = _core.cache_stats(directory)
    read = stats["hit_bytes"] + stats["miss_bytes"]
    share = "none was read" if read == 0 else f"{stats['hit_bytes'] / read:.1%} of the bytes that were read"
    _write(
        options.json,
        stats,
        [
            f"{_size(stats['stored_bytes'])} on disk",
            f"hits: {stats['hits']} blocks, {_size(stats['hit_bytes'])} ({share})",
            f"misses: {stats['misses']} blocks, {_size(stats['miss_bytes'])}",
            f"stored: {stats['stored']} blocks; evicted: {stats['evicted']}; not stored for lack of room: {stats['refused']}",
            f"damaged: {stats['damaged']} blocks; failed operations: {stats['errors']}",
        ],
    )
    return 0


def _verify(directory: str, options: argparse.Namespace) -> int:
    from .. import _core

    check = _core.cache_verify(directory)
    _write(
        options.json,
        check,
        [
            f"{check['blocks']} blocks, {_size(check['bytes'])}: undamaged",
            f"{check['damaged']} blocks, {_size(check['damaged_bytes'])}: damaged, removed",
        ],
    )
    return 1 if check["damaged"] else 0


def _prune(directory: str, options: argparse.Namespace) -> int:
    from .. import _core

    pruned = _core.cache_prune(directory, options.keep)
    removed = f"removed {pruned['removed']} blocks, {_size(pruned['removed_bytes'])}; {_size(pruned['kept_bytes'])} are left"
    _write(options.json, pruned, [removed])
    return 0


def _size(count: int) -> str:
    from .._checkpoint_cli._output import size_text

    return size_text(count)


def _write(as_json: bool, document: dict[str, int], lines: list[str]) -> None:
    from ._report import json_line, write_line

    for line in [json_line(document)] if as_json else lines:
        write_line(line)


_ACTIONS: dict[str, Callable[[str, argparse.Namespace], int]] = {"ls": _ls, "stats": _stats, "verify": _verify, "prune": _prune}
