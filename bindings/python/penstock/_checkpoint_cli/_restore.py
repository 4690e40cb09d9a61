"""``penstock checkpoint restore``: restores a version of a file, or a directory as of a version of its metadata."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from .. import _versions
from .._exceptions import S3InvalidArgumentError, S3NotFoundError
from .._versions import ObjectVersion
from . import _dcp
from ._names import METADATA
from ._output import many, print_json, size_text, table, time_text
from ._place import Place, metadata_below, place_of

PARALLEL = 8  # copies at a time


@dataclass
class Plan:
    """What to restore.

    Attributes:
        versions: Versions to copy, in this order; the last one after all others.
        hide: Key of the metadata to delete first, so that no load sees a mixture; None: nothing to hide.
    """

    versions: list[ObjectVersion]
    hide: str | None = None


def choose(versions: list[ObjectVersion], version_id: str | None, as_of: float | None) -> ObjectVersion | None:
    """Returns the version with this ID, or the current version at `as_of`; None if there was none, or it was deleted."""
    for version in versions:
        if version.version_id == version_id if as_of is None else version.last_modified <= as_of:
            return None if version.is_delete_marker and as_of is not None else version
    return None


def plan(place: Place, version_id: str | None, as_of: float | None) -> Plan:
    """Chooses the versions to copy. Reads at most one ``.metadata``.

    Raises:
        S3NotFoundError: There is no such version, or a version of an object that it needs is gone.
        S3InvalidArgumentError: The bucket is a directory bucket, or the version is a delete marker.
    """
    _versions.refuse_directory_bucket(place.bucket)
    key = place.key
    history = _versions.versions_of(place.client, place.bucket, key) if key and not key.endswith("/") else []
    folder = key.removesuffix(METADATA) if key.rpartition("/")[2] == METADATA else place.folder
    if history and key != folder + METADATA:
        wanted = _wanted(place, key, history, version_id, as_of)
        return Plan([] if wanted.is_latest else [wanted])
    return _directory_plan(place, folder, version_id, as_of)


def _wanted(place: Place, key: str, history: list[ObjectVersion], version_id: str | None, as_of: float | None) -> ObjectVersion:
    wanted = choose(history, version_id, as_of)
    if wanted is None and as_of is None:
        raise _versions.no_such(place.bucket, key, version_id or "", history)
    if wanted is None:
        oldest = f"its oldest version is of {time_text(history[-1].last_modified)}" if history else "there is no version of it"
        raise S3NotFoundError(f"{place.uri(key)} did not exist at {time_text(as_of or 0)}; {oldest}")
    if wanted.is_delete_marker:
        raise S3InvalidArgumentError(f"version {version_id!r} of {place.uri(key)} is a delete marker, which has no content")
    return wanted


def _directory_plan(place: Place, folder: str, version_id: str | None, as_of: float | None) -> Plan:
    key = folder + METADATA
    versions = _versions.versions_of(place.client, place.bucket, key)
    if not versions and metadata_below(place, folder):
        raise S3InvalidArgumentError(
            f"nothing was changed: {place.uri(folder)} was saved without collectives, with metadata of each rank, and it is"
            " unknown which versions of these belong together; restore the objects one by one with --version,"
            " each rank's metadata after its shards"
        )
    metadata = _wanted(place, key, versions, version_id, as_of)
    checkpoint = _dcp.read(place, folder, metadata.version_id)
    history: dict[str, list[ObjectVersion]] = {}
    for page in place.client.list_object_versions(place.bucket, folder):
        for version in page.versions:
            history.setdefault(version.key, []).append(version)
    chosen: list[ObjectVersion] = []
    gone: list[str] = []
    for name, end in sorted(checkpoint.ends().items()):
        _refuse_ambiguous(place, history.get(name, []), metadata)
        then = choose(history.get(name, []), None, metadata.last_modified)
        if then is None or then.size < end:
            gone.append(place.uri(name))
        elif not _same(then, history[name][0]):
            chosen.append(then)
    if gone:
        some = ", ".join(gone[:5]) + (", ..." if len(gone) > 5 else "")
        raise S3NotFoundError(
            f"cannot restore the checkpoint of {time_text(metadata.last_modified)}; nothing was changed:"
            f" {many(len(gone), 'object')} that it needs have no version left ({some})"
        )
    current = history[key][0]
    if not chosen:
        return Plan([] if _same(metadata, current) else [metadata])
    return Plan([*chosen, metadata], None if current.is_delete_marker else key)


def _same(version: ObjectVersion, current: ObjectVersion) -> bool:
    """Whether `current` is the version, or a copy of it that an earlier run created."""
    return version.is_latest or (not current.is_delete_marker and (version.etag, version.size) == (current.etag, current.size))


def _refuse_ambiguous(place: Place, versions: list[ObjectVersion], metadata: ObjectVersion) -> None:
    """Checks that at most one version is of the same second as the metadata. S3's times have a resolution of one second.

    Raises:
        S3InvalidArgumentError: There are several, which may belong to different saves.
    """
    same = [each for each in versions if each.last_modified == metadata.last_modified and not each.is_delete_marker]
    if len(same) > 1:
        raise S3InvalidArgumentError(
            f"nothing was changed: {place.uri(same[0].key)} has {len(same)} versions of {time_text(metadata.last_modified)}, the"
            " second in which the metadata was published, so it is unknown which of them belongs to it; restore the"
            " objects one by one with --version, the metadata last"
        )


def run(options: argparse.Namespace) -> int:
    place = place_of(options)
    found = plan(place, options.version_id, options.as_of)
    if not options.dry_run:
        _execute(place, found)
    if options.json:
        restored = [_document(place, each) for each in found.versions]
        print_json({"uri": place.uri(place.key), "dry_run": options.dry_run, "restored": restored})
        return 0
    if not found.versions:
        print(f"{place.uri(place.key)} already is this version")
        return 0
    rows = [
        (each.version_id, time_text(each.last_modified), size_text(each.size), place.uri(each.key)) for each in found.versions
    ]
    print(table(("VERSION", "TIME", "SIZE", "OBJECT"), rows, right="2"))
    print(f"{many(len(rows), 'object')} {'would be ' if options.dry_run else ''}restored")
    return 0


def _execute(place: Place, found: Plan) -> None:
    if found.hide is not None:
        place.client.delete_object(place.bucket, found.hide)
    try:
        with ThreadPoolExecutor(PARALLEL) as pool:
            list(pool.map(lambda version: _versions.copy_version(place.client, place.bucket, version), found.versions[:-1]))
        for version in found.versions[-1:]:
            _versions.copy_version(place.client, place.bucket, version)
    except BaseException:
        if found.hide is not None:
            print(f"{place.uri(found.hide)} is hidden by a delete marker; run the command again to restore it", file=sys.stderr)
        raise


def _document(place: Place, version: ObjectVersion) -> dict[str, object]:
    return {
        "uri": place.uri(version.key),
        "version_id": version.version_id,
        "size": version.size,
        "modified": time_text(version.last_modified),
    }
