"""``penstock checkpoint restore``: a file's version, or all objects of a directory as they were when its metadata was."""

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
    """What is copied, in this order. `hide`: the metadata goes first, so that nobody loads a mixture meanwhile."""

    versions: list[ObjectVersion]
    hide: str | None = None


def choose(versions: list[ObjectVersion], version_id: str | None, as_of: float | None) -> ObjectVersion | None:
    """The version of that id, or the newest that was there at that time; None: there was none, or it was deleted."""
    for version in versions:
        if version.version_id == version_id if as_of is None else version.last_modified <= as_of:
            return None if version.is_delete_marker and as_of is not None else version
    return None


def plan(place: Place, version_id: str | None, as_of: float | None) -> Plan:
    """Which versions to copy. Reads no more than one ``.metadata``.

    Raises:
        S3NotFoundError: There was no such version, or an object that it needs is gone; names what there is.
        S3InvalidArgumentError: a directory bucket, a delete marker.
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
        raise S3NotFoundError(f"{place.uri(key)} was not there at {time_text(as_of or 0)}; {oldest}")
    if wanted.is_delete_marker:
        raise S3InvalidArgumentError(f"version {version_id!r} of {place.uri(key)} is a delete marker, which holds nothing")
    return wanted


def _directory_plan(place: Place, folder: str, version_id: str | None, as_of: float | None) -> Plan:
    key = folder + METADATA
    versions = _versions.versions_of(place.client, place.bucket, key)
    if not versions and metadata_below(place, folder):
        raise S3InvalidArgumentError(
            f"nothing was changed: {place.uri(folder)} was saved without collectives, each rank publishing a metadata of its own,"
            " and nothing tells which versions of these belong together; restore its objects one by one with --version,"
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
            f"the checkpoint of {time_text(metadata.last_modified)} cannot be restored, and nothing was changed: of"
            f" {many(len(gone), 'object')} that it needs no version is left ({some})"
        )
    current = history[key][0]
    if not chosen:
        return Plan([] if _same(metadata, current) else [metadata])
    return Plan([*chosen, metadata], None if current.is_delete_marker else key)


def _same(version: ObjectVersion, current: ObjectVersion) -> bool:
    """Whether `current` is the version, or what an earlier run made of it."""
    return version.is_latest or (not current.is_delete_marker and (version.etag, version.size) == (current.etag, current.size))


def _refuse_ambiguous(place: Place, versions: list[ObjectVersion], metadata: ObjectVersion) -> None:
    """S3's times are whole seconds: two versions of the metadata's own second may be of two saves.

    Raises:
        S3InvalidArgumentError: Nothing tells which of them belongs to the metadata.
    """
    same = [each for each in versions if each.last_modified == metadata.last_modified and not each.is_delete_marker]
    if len(same) > 1:
        raise S3InvalidArgumentError(
            f"nothing was changed: {place.uri(same[0].key)} has {len(same)} versions of {time_text(metadata.last_modified)}, the"
            " second in which the metadata was published, and S3 does not tell which of them belongs to it; restore the"
            " objects one by one with --version, the metadata last"
        )


def run(options: argparse.Namespace) -> int:
    place = place_of(options)
    found = plan(place, options.version_id, options.as_of)
    if not options.dry_run:
        _carry_out(place, found)
    if options.json:
        restored = [_document(place, each) for each in found.versions]
        print_json({"uri": place.uri(place.key), "dry_run": options.dry_run, "restored": restored})
        return 0
    if not found.versions:
        print(f"{place.uri(place.key)} is that version already")
        return 0
    rows = [
        (each.version_id, time_text(each.last_modified), size_text(each.size), place.uri(each.key)) for each in found.versions
    ]
    print(table(("VERSION", "TIME", "SIZE", "OBJECT"), rows, right="2"))
    print(f"{many(len(rows), 'object')} {'would be ' if options.dry_run else ''}restored")
    return 0


def _carry_out(place: Place, found: Plan) -> None:
    if found.hide is not None:
        place.client.delete_object(place.bucket, found.hide)
    try:
        with ThreadPoolExecutor(PARALLEL) as pool:
            list(pool.map(lambda version: _versions.copy_version(place.client, place.bucket, version), found.versions[:-1]))
        for version in found.versions[-1:]:
            _versions.copy_version(place.client, place.bucket, version)
    except BaseException:
        if found.hide is not None:
            print(f"{place.uri(found.hide)} stays hidden by a delete marker until this is run again", file=sys.stderr)
        raise


def _document(place: Place, version: ObjectVersion) -> dict[str, object]:
    return {
        "uri": place.uri(version.key),
        "version_id": version.version_id,
        "size": version.size,
        "modified": time_text(version.last_modified),
    }
