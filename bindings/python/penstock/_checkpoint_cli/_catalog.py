"""Finds the checkpoints below a prefix from one listing, without reading objects."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .._objects import ObjectInfo
from ._names import folder_of, is_metadata, is_shard, rank_of_metadata, rank_of_shard
from ._place import Place

DCP, TORCH, LIGHTNING = "dcp", "torch file", "lightning"
_TORCH_SUFFIXES = (".pt", ".pth", ".pth.tar")
_LIGHTNING_SUFFIX = ".ckpt"
_STEP = re.compile(r"(?:step|iter|iteration|global_step)[-_=]?(\d+)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


@dataclass
class Checkpoint:
    """A checkpoint.

    Attributes:
        key: Key of a file, or of a folder with a trailing slash.
        kind: `DCP`, `TORCH` or `LIGHTNING`.
        objects: Its objects.
        complete: False if there are shards without metadata, judged by the names.
    """

    key: str
    kind: str
    objects: list[ObjectInfo] = field(default_factory=list)
    complete: bool = True

    @property
    def step(self) -> int | None:
        return step_of(self.key)

    @property
    def size(self) -> int:
        return sum(info.size for info in self.objects)

    @property
    def metadata(self) -> list[ObjectInfo]:
        """``.metadata``, or one object for each rank: ``__0.metadata``, ... Two saves to one folder may leave both."""
        return [info for info in self.objects if is_metadata(info.key) and folder_of(info.key) == self.key]

    @property
    def ranks(self) -> int | None:
        """The number of ranks that published their own metadata; None if there is one metadata for all ranks."""
        found = [rank_of_metadata(info.key) for info in self.metadata]
        return None if not found or None in found else len(found)

    @property
    def unpublished(self) -> int | None:
        """The first rank that, judged by the names, has not published its metadata; None if there is no such rank."""
        ranks = {rank_of_metadata(info.key) for info in self.metadata}
        if not ranks or None in ranks:
            return None
        of_shards = {rank_of_shard(info.key) for info in self.objects if is_shard(info.key)} - {None}
        gap = next(rank for rank in range(len(ranks) + 1) if rank not in ranks)
        missing = [rank for rank in of_shards - ranks if rank is not None]
        return min([*missing, gap] if gap < len(ranks) else missing, default=None)

    @property
    def modified(self) -> int:
        """The time of publication, in seconds since the epoch: that of the newest metadata, else of the newest object."""
        published = [info.last_modified for info in self.metadata]
        return max(published or (info.last_modified for info in self.objects), default=0)


def step_of(key: str) -> int | None:
    """Returns the step number in a checkpoint's name: the number after "step", else the last number."""
    name = key.rstrip("/").rpartition("/")[2]
    named = _STEP.findall(name)
    numbers = named or _NUMBER.findall(name.rpartition(".")[0] if "." in name and not key.endswith("/") else name)
    return int(numbers[-1]) if numbers else None


def _owner(key: str, folders: set[str]) -> str | None:
    """Returns the nearest folder above a key that has metadata; None if there is none."""
    folder = folder_of(key)
    while folder not in folders:
        if not folder:
            return None
        folder = folder_of(folder[:-1])
    return folder


def checkpoints_of(objects: Iterable[ObjectInfo]) -> list[Checkpoint]:
    """Returns the checkpoints of a listing, oldest first.

    A shard belongs to the nearest folder above it that has metadata, else to the folder that contains it.
    """
    objects = list(objects)
    folders = {folder_of(info.key) for info in objects if is_metadata(info.key)}
    found: dict[str, Checkpoint] = {folder: Checkpoint(folder, DCP) for folder in folders}
    for info in objects:
        name = info.key.rpartition("/")[2]
        if is_metadata(name):
            found[folder_of(info.key)].objects.append(info)
        elif is_shard(info.key):
            owner = _owner(info.key, folders)
            if owner is None:
                owner = folder_of(info.key)
                found.setdefault(owner, Checkpoint(owner, DCP, complete=False))
            found[owner].objects.append(info)
        elif name.endswith(_LIGHTNING_SUFFIX):
            found[info.key] = Checkpoint(info.key, LIGHTNING, [info])
        elif name.endswith(_TORCH_SUFFIXES):
            found[info.key] = Checkpoint(info.key, TORCH, [info])
    for checkpoint in found.values():
        checkpoint.complete = checkpoint.complete and checkpoint.unpublished is None
    return sorted(found.values(), key=lambda each: (each.modified, -1 if each.step is None else each.step, each.key))


def catalog(place: Place) -> list[Checkpoint]:
    """Returns the checkpoints below a place, or the checkpoint file at the place."""
    below = checkpoints_of(place.objects(place.folder))
    if below or not place.folder or place.key.endswith("/"):
        return below
    info = place.info(place.key)
    return checkpoints_of([info]) if info is not None else []
