"""``penstock checkpoint prune``: the newest complete checkpoints stay, older ones go, and what unfinished saves left."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field

from .._exceptions import S3Exception, S3InvalidArgumentError, S3NotFoundError
from .._objects import ObjectInfo
from . import _dcp, _ls
from ._catalog import DCP, Checkpoint, checkpoints_of
from ._output import many, one_line, print_json, size_text, table, time_text
from ._place import METADATA, Place, place_of

DELETED_AT_ONCE = 1000  # keys of a DeleteObjects


@dataclass(frozen=True)
class Upload:
    key: str
    upload_id: str
    initiated: float


@dataclass
class Plan:
    """`damaged`: checkpoints whose metadata refers to what is not there, and why; they neither count nor go."""

    keep: list[Checkpoint] = field(default_factory=list)
    delete: list[Checkpoint] = field(default_factory=list)
    damaged: list[tuple[Checkpoint, str]] = field(default_factory=list)
    orphans: list[ObjectInfo] = field(default_factory=list)
    younger_orphans: int = 0
    uploads: list[Upload] = field(default_factory=list)

    @property
    def objects(self) -> list[ObjectInfo]:
        """In the order of their deletion: a checkpoint's metadata first, so that what is half gone is none."""
        doomed = [info for checkpoint in self.delete for info in _metadata_first(checkpoint)]
        return [*doomed, *self.orphans]


def _metadata_first(checkpoint: Checkpoint) -> list[ObjectInfo]:
    return sorted(checkpoint.objects, key=lambda info: (not info.key.endswith(METADATA), info.key))


def plan(place: Place, keep: int, older_than: float | None, now: float) -> Plan:
    """One listing, and the metadata of each directory. Files count where they lie in the folder itself and have a number."""
    found = Plan()
    objects = place.objects(place.folder)
    complete: list[Checkpoint] = []
    there = {info.key: info for info in objects}
    orphans: list[ObjectInfo] = []
    for checkpoint in checkpoints_of(objects):
        if checkpoint.kind != DCP:
            if checkpoint.step is not None and "/" not in checkpoint.key[len(place.folder) :]:
                complete.append(checkpoint)
        elif not checkpoint.complete:
            orphans += checkpoint.objects
        else:
            _sort_out(place, checkpoint, there, found, complete, orphans)
    found.delete, found.keep = complete[:-keep], complete[-keep:]
    kept = {info.key for each in (*found.keep, *(damaged for damaged, _ in found.damaged)) for info in each.objects}
    for checkpoint in found.delete:  # where folders lie in each other one may refer to another's objects
        checkpoint.objects = [info for info in checkpoint.objects if info.key not in kept]
    doomed = {info.key for checkpoint in found.delete for info in checkpoint.objects}
    orphans.sort(key=lambda info: info.key)
    if older_than is not None:
        old = now - older_than
        found.orphans = [info for info in orphans if info.last_modified < old and info.key not in doomed]
        found.uploads = [upload for upload in open_uploads(place) if upload.initiated < old]
    found.younger_orphans = sum(info.key not in doomed for info in orphans) - len(found.orphans)
    return found


def _sort_out(
    place: Place,
    checkpoint: Checkpoint,
    there: dict[str, ObjectInfo],
    found: Plan,
    complete: list[Checkpoint],
    orphans: list[ObjectInfo],
) -> None:
    """A directory is complete when all that its metadata refers to is there; its other shards are left from other saves."""
    try:
        ends = _dcp.read(place, checkpoint.key).ends()
    except (S3InvalidArgumentError, S3NotFoundError) as error:
        found.damaged.append((checkpoint, str(error)))
        return
    wrong = [key for key, end in ends.items() if key not in there or there[key].size < end]
    if wrong:
        found.damaged.append((checkpoint, f"{place.uri(wrong[0])} is missing or too short"))
        return
    used = {checkpoint.key + METADATA, *ends}
    published = checkpoint.modified
    stale = [info for info in checkpoint.objects if info.key not in used]
    orphans += stale
    # Of one that goes, everything does that was there when it was published; what is newer may be a save under way.
    own = [there[key] for key in used if key in there]
    checkpoint.objects = own + [info for info in stale if info.last_modified <= published]
    complete.append(checkpoint)


def open_uploads(place: Place) -> list[Upload]:
    """Multipart uploads below the folder that were neither completed nor given up."""
    found: list[Upload] = []
    key_marker = id_marker = ""
    while True:
        page, key_marker, id_marker = place.client._client.list_open_uploads(place.bucket, place.folder, key_marker, id_marker)
        found += [Upload(*each) for each in page]
        if not key_marker:
            return found


def carry_out(place: Place, found: Plan) -> list[str]:
    """Deletes; returns what could not be, in words."""
    failures: list[str] = []
    core = place.client._client
    keys = [info.key for info in found.objects]
    metadata = [key for key in keys if key.endswith(METADATA)]
    others = [key for key in keys if not key.endswith(METADATA)]
    for group in (metadata, others):  # all metadata before any shard
        for begin in range(0, len(group), DELETED_AT_ONCE):
            for key, code, message in core.delete_objects(place.bucket, group[begin : begin + DELETED_AT_ONCE]):
                failures.append(f"{place.uri(key)}: {code} {message}")
        if failures:
            return failures  # the shards of a checkpoint that is still there stay
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
        print(f"not complete, so it neither counts nor goes: {one_line(place.uri(checkpoint.key))}: {one_line(why)}")
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
    """Raises ValueError where what was agreed to is no longer what would be deleted."""
    if [(info.key, info.etag) for info in shown.objects] != [(info.key, info.etag) for info in now.objects]:
        raise ValueError("the checkpoints changed while this waited for an answer, and nothing was deleted; run it again")


def run(options: argparse.Namespace) -> int:
    place = place_of(options)
    if options.json and not (options.yes or options.dry_run):
        raise ValueError("--json asks nobody before it deletes; add --yes, or --dry-run to see what it would delete")
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
        failures = carry_out(place, found)
        text = f"{many(len(failures), 'deletion')} failed; run it again" if failures else f"deleted {summary}"
    else:
        print("\nnothing was deleted")
        return 1
    if options.json:
        print_json(_document(place, found, options.dry_run, failures))
    else:
        print("\n".join([*map(one_line, failures), text]))
    return 1 if failures else 0
