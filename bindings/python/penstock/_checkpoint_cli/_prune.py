"""``penstock checkpoint prune``: deletes all but the newest complete checkpoints, and the remains of unfinished saves."""

from __future__ import annotations

import argparse
import sys
import time

from .._exceptions import S3Exception, S3NotFoundError, S3PreconditionFailedError
from .._objects import ObjectInfo
from . import _ls
from ._catalog import DCP
from ._names import above, folder_of, is_metadata, save_lock_of
from ._output import many, one_line, print_json, size_text, table, time_text
from ._place import Place, place_of
from ._plan import Plan, is_marker, plan

KEYS_PER_DELETE = 1000  # keys of one DeleteObjects request


def _unchanged(place: Place, found: Plan, objects: list[ObjectInfo]) -> list[ObjectInfo]:
    """Returns the objects that are unchanged since the plan, in folders where no save has started or ended. Lists again."""
    now = {info.key: info for info in place.objects(place.folder)}
    changed = {folder_of(key) for key, info in now.items() if is_marker(key) and found.markers.get(key) != info.etag}
    same = {info.key for info in objects if info.key in now and now[info.key] == info}
    return [info for info in objects if info.key in same and changed.isdisjoint([folder_of(info.key), *above(info.key)])]


def _is_as_planned(place: Place, found: Plan, info: ObjectInfo) -> bool:
    """Whether an object is unchanged since the plan and no save of its checkpoint has started. Called right before deletion."""
    if is_metadata(info.key):
        lock = place.info(save_lock_of(info.key))
        if lock is not None and found.markers.get(lock.key) != lock.etag:
            return False
    now = place.info(info.key)
    return now is None or (now.etag, int(now.last_modified)) == (info.etag, int(info.last_modified))


def _deleted(place: Place, info: ObjectInfo) -> bool:
    """Deletes an object if its ETag is unchanged. Returns False if it changed; a server may ignore the condition."""
    try:
        place.client.delete_object(place.bucket, info.key, if_match=info.etag)
    except S3PreconditionFailedError:
        return False
    except S3NotFoundError as error:
        if error.code == "NoSuchBucket":
            raise
    return True


def _delete_roots(place: Place, found: Plan, roots: list[ObjectInfo]) -> tuple[list[str], set[str]]:
    """Deletes metadata and files one by one, each after a check. Returns failure messages, and the folders of kept metadata."""
    failures: list[str] = []
    kept: set[str] = set()
    for at, info in enumerate(roots):
        try:
            if _is_as_planned(place, found, info) and _deleted(place, info):
                continue
        except S3Exception as error:
            failures.append(f"{place.uri(info.key)} and the following {len(roots) - at - 1} objects are kept: {error}")
            kept |= {folder_of(info.key) for info in roots[at:] if is_metadata(info.key)}
            break
        failures.append(_stays(place, info.key))
        if is_metadata(info.key):
            kept.add(folder_of(info.key))
    return failures, kept


def _stays(place: Place, key: str) -> str:
    return f"{place.uri(key)}: changed during this run, kept"


def execute(place: Place, found: Plan) -> list[str]:
    """Executes the plan. Returns messages about failed deletions. Keeps the shards of a checkpoint whose metadata is kept.

    Raises:
        S3PreconditionFailedError: An object has changed since the plan. Nothing was deleted.
    """
    core = place.client.core
    files = {info.key for checkpoint in found.delete if checkpoint.kind != DCP for info in checkpoint.objects}
    roots = [info for info in found.objects if is_metadata(info.key) or info.key in files]
    others = [info for info in found.objects if not is_metadata(info.key) and info.key not in files]
    if len(_unchanged(place, found, found.objects)) < len(found.objects):
        raise S3PreconditionFailedError("the checkpoints changed during this run; nothing was deleted; run the command again")
    failures, kept = _delete_roots(place, found, roots)  # all metadata before any shard
    if roots and others:
        still = [info for info in _unchanged(place, found, others) if kept.isdisjoint([folder_of(info.key), *above(info.key)])]
        failures += [_stays(place, key) for key in sorted({info.key for info in others} - {info.key for info in still})]
        others = still
    for begin in range(0, len(others), KEYS_PER_DELETE):
        keys = [info.key for info in others[begin : begin + KEYS_PER_DELETE]]
        failures += [f"{place.uri(key)}: {code} {message}" for key, code, message in core.delete_objects(place.bucket, keys)]
    for upload in found.uploads:
        try:
            core.abort_multipart_upload(place.bucket, upload.key, upload.upload_id)
        except S3Exception as error:
            failures.append(f"{place.uri(upload.key)}: {error}")
    return failures


def _print_plan(place: Place, found: Plan) -> None:
    for title, checkpoints in (("to keep", found.keep), ("to delete", found.delete)):
        if checkpoints:
            print(f"{many(len(checkpoints), 'checkpoint')} {title}:")
            print(_ls.rows(place, checkpoints))
    for checkpoint, why in found.damaged:
        print(f"not complete, neither counted nor deleted: {one_line(place.uri(checkpoint.key))}: {one_line(why)}")
    for folder, files in sorted(found.elsewhere.items()):
        uri = one_line(place.uri(folder))
        print(f"{many(files, 'file')} in {uri}: neither counted nor deleted, because they are in a subfolder")
    if found.orphans:
        print(f"{many(len(found.orphans), 'shard')} that no checkpoint refers to:")
        rows = [(size_text(info.size), time_text(info.last_modified), place.uri(info.key)) for info in found.orphans]
        print(table(("SIZE", "TIME", "URI"), rows, right="0"))
    if found.younger_orphans:
        print(f"{many(found.younger_orphans, 'shard')} that no checkpoint refers to: kept; --older-than AGE deletes older ones")
    if found.uploads:
        print(f"{many(len(found.uploads), 'open upload')}:")
        rows = [("-", time_text(upload.initiated), place.uri(upload.key)) for upload in found.uploads]
        print(table(("SIZE", "TIME", "URI"), rows))


def _document(place: Place, found: Plan, dry_run: bool, failures: list[str]) -> dict[str, object]:
    return {
        "uri": place.uri(place.folder),
        "dry_run": dry_run,
        "kept": [_ls.document(place, each) for each in found.keep],
        "deleted": [_ls.document(place, each) for each in found.delete],
        "incomplete": [{"uri": place.uri(each.key), "why": why} for each, why in found.damaged],
        "elsewhere": [{"uri": place.uri(folder), "files": files} for folder, files in sorted(found.elsewhere.items())],
        "orphans": [place.uri(info.key) for info in found.orphans],
        "kept_orphans": found.younger_orphans,
        "uploads": [{"uri": place.uri(each.key), "initiated": time_text(each.initiated)} for each in found.uploads],
        "objects": [place.uri(info.key) for info in found.objects],
        "bytes": sum(info.size for info in found.objects),
        "failures": failures,
    }


def _agreed(summary: str) -> bool:
    print(f"{summary} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _check_unchanged(shown: Plan, now: Plan) -> None:
    """Raises S3PreconditionFailedError if the objects to delete have changed since the user confirmed them."""
    if [(info.key, info.etag) for info in shown.objects] != [(info.key, info.etag) for info in now.objects]:
        raise S3PreconditionFailedError("the checkpoints changed during confirmation; nothing was deleted; run the command again")


def run(options: argparse.Namespace) -> int:
    place = place_of(options)
    if options.json and not (options.yes or options.dry_run):
        raise ValueError("--json does not ask for confirmation; add --yes to delete, or --dry-run to print what would be deleted")
    now = time.time()
    found = plan(place, options.keep, options.older_than, now)
    if not options.json:
        _print_plan(place, found)
    nothing = not (found.objects or found.uploads)
    summary = f"{many(len(found.objects), 'object')}, {size_text(sum(info.size for info in found.objects))}"
    summary += f", and {many(len(found.uploads), 'open upload')}" if found.uploads else ""
    failures: list[str] = []
    if nothing or options.dry_run:
        text = "nothing to delete" if nothing else f"would delete {summary}"
    elif options.yes or _agreed(f"Delete {summary}?"):
        if not options.yes:
            _check_unchanged(found, plan(place, options.keep, options.older_than, now))
        failures = execute(place, found)
        text = f"{many(len(failures), 'deletion')} failed; run the command again" if failures else f"deleted {summary}"
    else:
        print("\nnothing was deleted")
        return 1
    if options.json:
        print_json(_document(place, found, options.dry_run, failures))
    else:
        print("\n".join([*map(one_line, failures), text]))
    return 1 if failures else 0
