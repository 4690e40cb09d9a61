"""One iteration over an S3IterableDataset: its share of the objects, and how far it has come."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ._listing import S3BucketIterable

if TYPE_CHECKING:
    from ._look_ahead import LookAhead
    from ._objects import S3BucketKeyData
    from .s3reader import S3Reader


class Share(NamedTuple):
    """Which objects of the listing are one worker's: number `first`, then every ``world_size * num_workers``-th."""

    first: int
    world_size: int
    num_workers: int


@dataclass
class Position:
    """How many items of a share were yielded."""

    share: Share
    yielded: int = 0

    def state_dict(self) -> dict[str, Any]:
        return {"yielded": self.yielded, "world_size": self.share.world_size, "num_workers": self.share.num_workers}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Raises ValueError: the state is not one of ours, or was taken with other shares."""
        try:
            yielded, taken = int(state["yielded"]), (state["world_size"], state["num_workers"])
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{state!r} is not a state of an S3IterableDataset; pass what state_dict() returned") from None
        if taken != self.share[1:]:
            raise ValueError(
                f"the state was taken with {taken[0]} ranks of {taken[1]} workers, but this iteration has"
                f" {self.share.world_size} of {self.share.num_workers}: resume with the same numbers"
            )
        if yielded < 0:
            raise ValueError(f"yielded is {yielded} in the state; it takes 0 or more")
        self.yielded = yielded


def _every(objects: Iterable[S3BucketKeyData], step: int, first: int) -> Iterator[S3BucketKeyData]:
    """Number `first` and every `step`-th after it."""
    if isinstance(objects, S3BucketIterable):
        return objects.every(step, first)
    return itertools.islice(objects, first, None, step)


class ObjectIterator(Iterator[Any]):
    """Yields the transformed readers of a share. Nothing is requested before the first item.

    Args:
        share: Which of the objects.
        list_objects: Gives every object, in order.
        open_readers: Gives the readers of objects.
        transform: Makes an item of a reader.

    Thread safety: several threads may take items; each item goes to one of them. The transform runs on that thread.
    """

    def __init__(
        self,
        share: Share,
        list_objects: Callable[[], Iterable[S3BucketKeyData]],
        open_readers: Callable[[Iterable[S3BucketKeyData]], LookAhead],
        transform: Callable[[S3Reader], Any],
    ) -> None:
        self._list_objects = list_objects
        self._open_readers = open_readers
        self._transform = transform
        self.position = Position(share)
        self._readers: LookAhead | None = None
        self._lock = threading.RLock()

    def __iter__(self) -> ObjectIterator:
        return self

    def __next__(self) -> Any:
        with self._lock:
            if self._readers is None:
                share = self.position.share
                step = share.world_size * share.num_workers
                first = share.first + self.position.yielded * step
                self._readers = self._open_readers(_every(self._list_objects(), step, first))
            reader = next(self._readers)
            self.position.yielded += 1  # also where the transform raises: that object had its turn
        return self._transform(reader)

    def state_dict(self) -> dict[str, Any]:
        """See :meth:`S3IterableDataset.state_dict`."""
        return self.position.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from there instead."""
        self.position.load_state_dict(state)
        if self._readers is not None:
            self._readers.close()
            self._readers = None
