"""What ``penstock checkpoint prune`` may delete. In doubt it is nothing: what somebody may load, or is writing, stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .._exceptions import S3InvalidArgumentError, S3NotFoundError
from .._objects import ObjectInfo
from . import _dcp
from ._catalog import DCP, Checkpoint, checkpoints_of, step_of
from ._names import METADATA, above, folder_of, is_claim, is_metadata
from ._place import Place

# A save without collectives says nowhere how many ranks it has. Of others than before it may be one that is still under way.
SETTLED_S = 3600


@dataclass(frozen=True)
class Upload:
    key: str
    upload_id: str
    initiated: float


@dataclass
class Plan:
    """`damaged`: checkpoints that are not whole, cannot be read or are being written, and why; they neither count nor go.
    `elsewhere`: how many files with a number lie in which folders below; they neither count nor go.
    `signs`: etag by key of the metadata and claims that this was made from."""

    keep: list[Checkpoint] = field(default_factory=list)
    delete: list[Checkpoint] = field(default_factory=list)
    damaged: list[tuple[Checkpoint, str]] = field(default_factory=list)
    orphans: list[ObjectInfo] = field(default_factory=list)
    younger_orphans: int = 0
    uploads: list[Upload] = field(default_factory=list)
    elsewhere: dict[str, int] = field(default_factory=dict)
    signs: dict[str, str] = field(default_factory=dict)

    @property
    def objects(self) -> list[ObjectInfo]:
        """In the order of their deletion: a checkpoint's metadata first, so that what is half gone is none."""
        doomed = [info for checkpoint in self.delete for info in _metadata_first(checkpoint)]
        return [*doomed, *self.orphans]


def _metadata_first(checkpoint: Checkpoint) -> list[ObjectInfo]:
    return sorted(checkpoint.objects, key=lambda info: (not is_metadata(info.key), info.key))


def is_sign(key: str) -> bool:
    """Whether it says what the objects in its folder are."""
    return is_metadata(key) or is_claim(key)


class _Survey:
    """What the metadata and claims below a place, and above it, say of the objects there.

    Args:
        oldest: Seconds since the epoch: claims from before are of saves that were killed. None: all are of saves under way.
    """

    def __init__(self, place: Place, objects: list[ObjectInfo], oldest: float | None) -> None:
        self._place = place
        self.there = {info.key: info for info in objects}
        self.used: dict[str, dict[str, int]] = {}  # by key of a metadata: the objects that it names, and their least sizes
        self._closed: dict[str, str] = {}  # folders below which nothing goes, and why
        signs = [info for info in objects if is_sign(info.key)]
        if oldest is not None:  # a shard may belong to a checkpoint in whose folder this one lies
            signs += _signs_above(place)
        for info in signs:
            folder = folder_of(info.key)
            if is_metadata(info.key):
                self._read(folder, info.key)
            elif oldest is None or info.last_modified >= oldest:
                self._closed.setdefault(folder, f"a save is under way there, says {place.uri(info.key)}")

    def _read(self, folder: str, key: str) -> None:
        try:
            read = _dcp.read_key(self._place, folder, key)
            self.used[key] = {name: 0 for name in read.empty if name in self.there} | read.ends()
        except (S3InvalidArgumentError, S3NotFoundError) as error:
            self._closed[folder] = f"nothing below it goes, since its metadata cannot be read: {error}"

    def closed(self, key: str) -> str:
        """Why nothing there may go; empty: it may."""
        return next((why for folder in [key, *above(key)] if (why := self._closed.get(folder))), "")

    def named_by(self, checkpoint: Checkpoint) -> dict[str, int]:
        ends: dict[str, int] = {}
        for info in checkpoint.metadata:
            for key, end in self.used[info.key].items():
                ends[key] = max(ends.get(key, 0), end)
        return ends

    def why_not_whole(self, checkpoint: Checkpoint) -> str:
        """Empty: everything that it needs is there."""
        if why := self.closed(checkpoint.key):
            return why
        if checkpoint.unpublished is not None:
            uri = self._place.uri(f"{checkpoint.key}__{checkpoint.unpublished}{METADATA}")
            return f"{uri} is missing: that rank has not finished its save"
        ends = self.named_by(checkpoint)
        wrong = [key for key, end in ends.items() if key not in self.there or self.there[key].size < end]
        return f"{self._place.uri(wrong[0])} is missing or too short" if wrong else ""


def _signs_above(place: Place) -> list[ObjectInfo]:
    found: list[ObjectInfo] = []
    for folder in above(place.folder):
        infos = [info for name in (METADATA, "__") for info in place.objects(folder + name)]
        found += [info for info in infos if is_sign(info.key) and folder_of(info.key) == folder]
    return found


def plan(place: Place, keep: int, older_than: float | None, now: float) -> Plan:
    """One listing, and the metadata of each directory. Files count where they lie in the folder itself and have a number.

    What lies in one folder with a number below the place, as the model and the optimizer of a step, counts as one.
    """
    objects = place.objects(place.folder)
    oldest = None if older_than is None else now - older_than
    survey = _Survey(place, objects, oldest)
    found = Plan(signs={info.key: info.etag for info in objects if is_sign(info.key)})
    checkpoints = checkpoints_of(objects)
    parts: dict[str, list[Checkpoint]] = {}
    unsure: dict[str, Checkpoint] = {}  # by unit: a part of it that is not whole
    most_ranks = 0
    signed = {folder_of(info.key) for info in objects if is_sign(info.key)}
    files_count = place.folder not in signed and not survey.closed(place.folder)
    for checkpoint in checkpoints:
        unit = _unit(place.folder, checkpoint)
        if checkpoint.kind != DCP:
            folder = folder_of(checkpoint.key)
            if checkpoint.step is not None and folder != place.folder and folder not in signed:
                found.elsewhere[folder] = found.elsewhere.get(folder, 0) + 1
            elif checkpoint.step is not None and folder == place.folder and files_count:
                parts[unit] = [*parts.pop(unit, []), checkpoint]  # the one with the newest part comes last
            continue
        why = survey.why_not_whole(checkpoint) if checkpoint.metadata else "it has no metadata"
        young = now - checkpoint.modified < (SETTLED_S if older_than is None else older_than)
        if not why and young and checkpoint.ranks not in (None, most_ranks):
            why = f"{checkpoint.ranks} ranks have published it, of those before it {most_ranks}: it may be under way"
        most_ranks = max(most_ranks, checkpoint.ranks or 0)
        if not why:
            parts[unit] = [*parts.pop(unit, []), checkpoint]
            continue
        unsure[unit] = checkpoint
        if checkpoint.metadata:
            found.damaged.append((checkpoint, why))
    for unit in [unit for unit in parts if unit in unsure]:
        why = f"{place.uri(unsure[unit].key)}, a part of the same, is not complete"
        found.damaged += [(checkpoint, why) for checkpoint in parts.pop(unit)]
    units = list(parts.values())
    found.keep = [checkpoint for unit in units[-keep:] for checkpoint in unit]
    found.delete = [checkpoint for unit in units[:-keep] for checkpoint in unit]
    _choose_objects(place, survey, checkpoints, found, oldest)
    return found


def _unit(folder: str, checkpoint: Checkpoint) -> str:
    """What counts as one below `folder`."""
    first, slash, rest = checkpoint.key[len(folder) :].partition("/")
    step = step_of(first + slash)
    if not slash:
        return f"{folder}{step}" if first and step is not None else checkpoint.key
    return folder + first + slash if rest and step is not None else checkpoint.key


def _choose_objects(place: Place, survey: _Survey, checkpoints: list[Checkpoint], found: Plan, oldest: float | None) -> None:
    """Which objects of the checkpoints to delete go, and which shards that nothing names."""
    going = {info.key for checkpoint in found.delete for info in checkpoint.metadata}
    kept = {name for key, ends in survey.used.items() if key not in going for name in ends}
    kept |= {info.key for each in (*found.keep, *(damaged for damaged, _ in found.damaged)) for info in _own(survey, each)}
    may_go: Callable[[ObjectInfo], bool] = lambda info: info.key not in kept and not survey.closed(folder_of(info.key))  # noqa: E731
    stale = {info.key: info for info in survey.there.values() if is_claim(info.key)}
    damaged = {checkpoint.key for checkpoint, _ in found.damaged}
    named = {name for ends in survey.used.values() for name in ends}
    for checkpoint in checkpoints:
        if checkpoint.kind == DCP and checkpoint.key not in damaged:
            others = [info for info in checkpoint.objects if not is_metadata(info.key) and info.key not in named]
            stale.update((info.key, info) for info in others)
    for checkpoint in found.delete:
        published = checkpoint.modified
        # Of one that goes, everything does that was there when it was published; what is newer may be a save under way.
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
    """Its metadata and what they name, as far as it is there; a file."""
    if checkpoint.kind != DCP:
        return checkpoint.objects
    names = {name: None for info in checkpoint.metadata for name in survey.used.get(info.key, ())}
    return [*checkpoint.metadata, *(survey.there[name] for name in names if name in survey.there)]


def open_uploads(place: Place) -> list[Upload]:
    """Multipart uploads below the folder that were neither completed nor given up."""
    found: list[Upload] = []
    key_marker = id_marker = ""
    while True:
        page, key_marker, id_marker = place.client.core.list_open_uploads(place.bucket, place.folder, key_marker, id_marker)
        found += [Upload(*each) for each in page]
        if not key_marker:
            return found
