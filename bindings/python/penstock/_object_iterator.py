"""One iteration over an S3IterableDataset: its shard of the objects, and its position."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ._listing import S3BucketIterable

if TYPE_CHECKING:
    from ._objects import S3BucketKeyData
    from ._prefetcher import Prefetcher
    from .s3reader import S3Reader


class Share(NamedTuple):
    """The shard of one worker: the object at index `first`, then every ``world_size * num_workers``-th object of the listing."""

    first: int
    world_size: int
    num_workers: int


@dataclass
class Position:
    """The number of items of a shard that were yielded."""

    share: Share
    yielded: int = 0

    def state_dict(self) -> dict[str, Any]:
        return {"yielded": self.yielded, "world_size": self.share.world_size, "num_workers": self.share.num_workers}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores a saved position.

        Raises:
            ValueError: `state` did not come from state_dict(), or the number of ranks or workers has changed.
        """
        try:
            yielded, taken = int(state["yielded"]), (state["world_size"], state["num_workers"])
            if any(isinstance(state[name], bool) for name in self.state_dict()):
                raise TypeError
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{state!r} is not a state of an S3IterableDataset; pass a result of state_dict()") from None
        if taken != self.share[1:]:
            raise ValueError(
                f"the state was saved with {taken[0]} ranks of {taken[1]} workers, but this iteration has"
                f" {self.share.world_size} of {self.share.num_workers}: resume with the same numbers"
            )
        if yielded < 0:
            raise ValueError(f"yielded in the state must be 0 or more, not {yielded}")
        self.yielded = yielded


def _every(objects: Iterable[S3BucketKeyData], step: int, first: int) -> Iterator[S3BucketKeyData]:
    """Iterates over the object at index `first` and every `step`-th object after it."""
    if isinstance(objects, S3BucketIterable):
        return objects.every(step, first)
    return itertools.islice(objects, first, None, step)


class ObjectIterator(Iterator[Any]):
    """Iterator over the items of a shard: the transformed readers. Sends no request before the first item.

    Args:
        share: The shard.
        list_objects: Returns all objects, in order.
        open_readers: Returns the readers of the given objects.
        transform: Called with a reader; returns the item.

    Thread safety: several threads may take items; each item goes to one of them. The transform runs on that thread.
    """

    def __init__(
        self,
        share: Share,
        list_objects: Callable[[], Iterable[S3BucketKeyData]],
        open_readers: Callable[[Iterable[S3BucketKeyData]], Prefetcher],
        transform: Callable[[S3Reader], Any],
    ) -> None:
        self._list_objects = list_objects
        self._open_readers = open_readers
        self._transform = transform
        self.position = Position(share)
        self._readers: Prefetcher | None = None
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
            self.position.yielded += 1  # an item whose transform raises counts as yielded
        return self._transform(reader)

    def state_dict(self) -> dict[str, Any]:
        """See :meth:`S3IterableDataset.state_dict`."""
        return self.position.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a saved position. See :meth:`S3IterableDataset.load_state_dict`."""
        self.position.load_state_dict(state)
        if self._readers is not None:
            self._readers.close()
            self._readers = None
