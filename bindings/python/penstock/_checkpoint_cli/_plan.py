"""Decides what ``penstock checkpoint prune`` may delete. In doubt, an object is kept: it may be in use or being written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .._exceptions import S3InvalidArgumentError, S3NotFoundError
from .._objects import ObjectInfo
from . import _dcp
from ._catalog import DCP, Checkpoint, checkpoints_of, step_of
from ._names import METADATA, above, folder_of, is_metadata, is_save_lock
from ._place import Place

# Seconds. A save without collectives does not record its number of ranks. A younger checkpoint with a different number of ranks
# than the previous one may be incomplete.
SETTLED_S = 3600


@dataclass(frozen=True)
class Upload:
    key: str
    upload_id: str
    initiated: float


@dataclass
class Plan:
    """What to keep and what to delete.

    Attributes:
        keep: Checkpoints to keep, oldest first.
        delete: Checkpoints to delete, oldest first.
        damaged: Checkpoints that are incomplete, unreadable or being written, with the reason. Neither counted nor deleted.
        orphans: Shards that no checkpoint refers to, and save locks of killed saves, to delete.
        younger_orphans: Number of such objects that are kept.
        uploads: Multipart uploads to abort.
        elsewhere: Number of checkpoint files by subfolder. Neither counted nor deleted.
        markers: ETags by key of the metadata and save locks that this plan is based on.
    """

    keep: list[Checkpoint] = field(default_factory=list)
    delete: list[Checkpoint] = field(default_factory=list)
    damaged: list[tuple[Checkpoint, str]] = field(default_factory=list)
    orphans: list[ObjectInfo] = field(default_factory=list)
    younger_orphans: int = 0
    uploads: list[Upload] = field(default_factory=list)
    elsewhere: dict[str, int] = field(default_factory=dict)
    markers: dict[str, str] = field(default_factory=dict)

    @property
    def objects(self) -> list[ObjectInfo]:
        """The objects to delete, in order: metadata first, so that a partly deleted checkpoint cannot be loaded."""
        doomed = [info for checkpoint in self.delete for info in _metadata_first(checkpoint)]
        return [*doomed, *self.orphans]


def _metadata_first(checkpoint: Checkpoint) -> list[ObjectInfo]:
    return sorted(checkpoint.objects, key=lambda info: (not is_metadata(info.key), info.key))


def is_marker(key: str) -> bool:
    """Whether `key` is metadata or a save lock, which determine the use of the objects in its folder."""
    return is_metadata(key) or is_save_lock(key)


class _Survey:
    """The use of the objects below a place, according to the metadata and save locks below and above it.

    Args:
        oldest: Seconds since the epoch. Older save locks are those of killed saves. None: all belong to running saves.
    """

    def __init__(self, place: Place, objects: list[ObjectInfo], oldest: float | None) -> None:
        self._place = place
        self.there = {info.key: info for info in objects}
        self.used: dict[str, dict[str, int]] = {}  # by metadata key: minimum sizes of the objects that it refers to, by key
        self._closed: dict[str, str] = {}  # folders below which nothing may be deleted, with the reason
        markers = [info for info in objects if is_marker(info.key)]
        if oldest is not None:  # a shard may belong to a checkpoint in a parent folder
            markers += _markers_above(place)
        for info in markers:
            folder = folder_of(info.key)
            if is_metadata(info.key):
                self._read(folder, info.key)
            elif oldest is None or info.last_modified >= oldest:
                self._closed.setdefault(folder, f"a save is running there according to {place.uri(info.key)}")

    def _read(self, folder: str, key: str) -> None:
        try:
            read = _dcp.read_key(self._place, folder, key)
            self.used[key] = {name: 0 for name in read.empty if name in self.there} | read.ends()
        except (S3InvalidArgumentError, S3NotFoundError) as error:
            self._closed[folder] = f"nothing below it is deleted, because its metadata cannot be read: {error}"

    def closed(self, key: str) -> str:
        """Returns the reason why nothing in a folder may be deleted, or ""."""
        return next((why for folder in [key, *above(key)] if (why := self._closed.get(folder))), "")

    def named_by(self, checkpoint: Checkpoint) -> dict[str, int]:
        ends: dict[str, int] = {}
        for info in checkpoint.metadata:
            for key, end in self.used[info.key].items():
                ends[key] = max(ends.get(key, 0), end)
        return ends

    def why_not_whole(self, checkpoint: Checkpoint) -> str:
        """Returns the reason why a checkpoint is not complete, or ""."""
        if why := self.closed(checkpoint.key):
            return why
        if checkpoint.unpublished is not None:
            uri = self._place.uri(f"{checkpoint.key}__{checkpoint.unpublished}{METADATA}")
            return f"{uri} is missing: this rank has not finished its save"
        ends = self.named_by(checkpoint)
        wrong = [key for key, end in ends.items() if key not in self.there or self.there[key].size < end]
        return f"{self._place.uri(wrong[0])} is missing or too short" if wrong else ""


def _markers_above(place: Place) -> list[ObjectInfo]:
    found: list[ObjectInfo] = []
    for folder in above(place.folder):
        infos = [info for name in (METADATA, "__") for info in place.objects(folder + name)]
        found += [info for info in infos if is_marker(info.key) and folder_of(info.key) == folder]
    return found


def plan(place: Place, keep: int, older_than: float | None, now: float) -> Plan:
    """Plans the deletion from one listing and the metadata of each folder.

    Files count only if they are directly in the place's folder and have a step number. Checkpoints in one numbered subfolder,
    such as the model and the optimizer of a step, count as one.

    Args:
        place: The run.
        keep: Number of newest complete checkpoints to keep.
        older_than: Minimum age in seconds of orphaned shards and open uploads to delete; None: keeps all of them.
        now: Seconds since the epoch.
    """
    objects = place.objects(place.folder)
    oldest = None if older_than is None else now - older_than
    survey = _Survey(place, objects, oldest)
    found = Plan(markers={info.key: info.etag for info in objects if is_marker(info.key)})
    checkpoints = checkpoints_of(objects)
    parts: dict[str, list[Checkpoint]] = {}
    unsure: dict[str, Checkpoint] = {}  # by unit: a part of it that is not complete
    most_ranks = 0
    marked = {folder_of(info.key) for info in objects if is_marker(info.key)}
    files_count = place.folder not in marked and not survey.closed(place.folder)
    for checkpoint in checkpoints:
        unit = _unit(place.folder, checkpoint)
        if checkpoint.kind != DCP:
            folder = folder_of(checkpoint.key)
            if checkpoint.step is not None and folder != place.folder and folder not in marked:
                found.elsewhere[folder] = found.elsewhere.get(folder, 0) + 1
            elif checkpoint.step is not None and folder == place.folder and files_count:
                parts[unit] = [*parts.pop(unit, []), checkpoint]  # keeps units sorted by their newest part
            continue
        why = survey.why_not_whole(checkpoint) if checkpoint.metadata else "it has no metadata"
        young = now - checkpoint.modified < (SETTLED_S if older_than is None else older_than)
        if not why and young and checkpoint.ranks not in (None, most_ranks):
            why = f"{checkpoint.ranks} ranks have published it, but {most_ranks} published earlier ones: the save may be running"
        most_ranks = max(most_ranks, checkpoint.ranks or 0)
        if not why:
            parts[unit] = [*parts.pop(unit, []), checkpoint]
            continue
        unsure[unit] = checkpoint
        if checkpoint.metadata:
            found.damaged.append((checkpoint, why))
    for unit in [unit for unit in parts if unit in unsure]:
        why = f"{place.uri(unsure[unit].key)}, which belongs to the same step, is not complete"
        found.damaged += [(checkpoint, why) for checkpoint in parts.pop(unit)]
    units = list(parts.values())
    found.keep = [checkpoint for unit in units[-keep:] for checkpoint in unit]
    found.delete = [checkpoint for unit in units[:-keep] for checkpoint in unit]
    _choose_objects(place, survey, checkpoints, found, oldest)
    return found


def _unit(folder: str, checkpoint: Checkpoint) -> str:
    """Returns the key of the unit that a checkpoint belongs to. All checkpoints of a unit are kept or deleted together."""
    first, slash, rest = checkpoint.key[len(folder) :].partition("/")
    step = step_of(first + slash)
    if not slash:
        return f"{folder}{step}" if first and step is not None else checkpoint.key
    return folder + first + slash if rest and step is not None else checkpoint.key


def _choose_objects(place: Place, survey: _Survey, checkpoints: list[Checkpoint], found: Plan, oldest: float | None) -> None:
    """Chooses the objects to delete: those of the checkpoints to delete, and orphaned shards."""
    going = {info.key for checkpoint in found.delete for info in checkpoint.metadata}
    kept = {name for key, ends in survey.used.items() if key not in going for name in ends}
    kept |= {info.key for each in (*found.keep, *(damaged for damaged, _ in found.damaged)) for info in _own(survey, each)}
    may_go: Callable[[ObjectInfo], bool] = lambda info: info.key not in kept and not survey.closed(folder_of(info.key))  # noqa: E731
    stale = {info.key: info for info in survey.there.values() if is_save_lock(info.key)}
    damaged = {checkpoint.key for checkpoint, _ in found.damaged}
    named = {name for ends in survey.used.values() for name in ends}
    for checkpoint in checkpoints:
        if checkpoint.kind == DCP and checkpoint.key not in damaged:
            others = [info for info in checkpoint.objects if not is_metadata(info.key) and info.key not in named]
            stale.update((info.key, info) for info in others)
    for checkpoint in found.delete:
        published = checkpoint.modified
        # Delete all objects that existed when the checkpoint was published. Newer ones may belong to a running save.
        left = [info for info in checkpoint.objects if info.key in stale and info.last_modified <= published]
        checkpoint.objects = [info for info in [*_own(survey, checkpoint), *left] if may_go(info)]
    doomed = {info.key for checkpoint in found.delete for info in checkpoint.objects}
    orphans = [stale[key] for key in sorted(stale) if key not in doomed and key not in kept]
    if oldest is not None:
        found.orphans = [info for info in orphans if info.last_modified < oldest and may_go(info)]
        uploads = [upload for upload in open_uploads(place) if upload.initiated < oldest]
        found.uploads = [upload for upload in uploads if not survey.closed(folder_of(upload.key))]
    found.younger_orphans = len(orphans) - len(found.orphans)


def _own(survey: _Survey, checkpoint: Checkpoint) -> list[ObjectInfo]:
    """Returns the existing objects of a checkpoint: its metadata and the objects that these refer to, or its file."""
    if checkpoint.kind != DCP:
        return checkpoint.objects
    names = {name: None for info in checkpoint.metadata for name in survey.used.get(info.key, ())}
    return [*checkpoint.metadata, *(survey.there[name] for name in names if name in survey.there)]


def open_uploads(place: Place) -> list[Upload]:
    """Lists the open multipart uploads below the folder."""
    found: list[Upload] = []
    key_marker = id_marker = ""
    while True:
        page, key_marker, id_marker = place.client.core.list_open_uploads(place.bucket, place.folder, key_marker, id_marker)
        found += [Upload(*each) for each in page]
        if not key_marker:
            return found
