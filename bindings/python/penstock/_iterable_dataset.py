"""S3IterableDataset: objects in listing order, optionally sharded over ranks and workers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch.distributed
from torch.utils.data import IterableDataset, get_worker_info

from ._config import S3ClientConfig
from ._dataset_base import GetDatasetObjects, S3DatasetBase
from ._listing import ObjectsFromPrefix, ObjectsFromUris, identity
from ._object_iterator import ObjectIterator, Position, Share
from .s3reader import S3Reader, S3ReaderConstructorProtocol

log = logging.getLogger(__name__)


def _rank_and_world_size() -> tuple[int, int]:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return 0, 1


class S3IterableDataset(S3DatasetBase, IterableDataset[Any]):
    """An iterable-style dataset of S3 objects, in listing order.

    With sharding, the object at index i goes to rank ``i % world_size`` and there to worker
    ``(i // world_size) % num_workers``, so that each object is yielded exactly once. Rank and world size come from
    torch.distributed when the dataset is made, or when iteration starts if torch.distributed was not initialized before.
    Without sharding, every worker yields every object.

    Thread safety: several threads may take items from one iterator; each item goes to one of them. Use a reader from one thread
    at a time.

    Args:
        region: AWS region of the buckets.
        get_dataset_objects: Called with a client at each iteration; returns the objects.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.
        transform: Called with the reader of each object; returns the item. The default returns the reader.
        s3client_config: See :class:`S3ClientConfig`.
        enable_sharding: Shard the objects over ranks and workers.
        reader_constructor: Makes the readers; None: :meth:`S3ReaderConstructor.default`.

    Source: ``s3torchconnector.S3IterableDataset``.
    """

    _kind = "iterable"

    def __init__(
        self,
        region: str,
        get_dataset_objects: GetDatasetObjects,
        endpoint: str | None = None,
        transform: Callable[[S3Reader], Any] = identity,
        s3client_config: S3ClientConfig | None = None,
        enable_sharding: bool = False,
        reader_constructor: S3ReaderConstructorProtocol | None = None,
    ) -> None:
        super().__init__(region, get_dataset_objects, endpoint, transform, s3client_config, reader_constructor)
        self._enable_sharding = enable_sharding
        # A spawned worker has no process group, so the dataset carries the trainer's rank into it.
        self._rank, self._world_size = _rank_and_world_size()
        self._position: Position | None = None
        self._resume: dict[str, Any] | None = None

    @classmethod
    def from_objects(
        cls,
        object_uris: str | Iterable[str],
        *,
        region: str,
        endpoint: str | None = None,
        transform: Callable[[S3Reader], Any] = identity,
        s3client_config: S3ClientConfig | None = None,
        enable_sharding: bool = False,
        reader_constructor: S3ReaderConstructorProtocol | None = None,
    ) -> S3IterableDataset:
        """Makes a dataset of the objects with the given URIs. Iteration parses them, and raises ValueError for an invalid one.

        Args:
            object_uris: One URI ``s3://bucket/key``, or several in the order of iteration.

        The other arguments are those of the class.
        """
        log.info("Building %s from_objects", cls.__name__)
        source = ObjectsFromUris(object_uris)
        return cls(region, source, endpoint, transform, s3client_config, enable_sharding, reader_constructor)

    @classmethod
    def from_prefix(
        cls,
        s3_uri: str,
        *,
        region: str,
        endpoint: str | None = None,
        transform: Callable[[S3Reader], Any] = identity,
        s3client_config: S3ClientConfig | None = None,
        enable_sharding: bool = False,
        reader_constructor: S3ReaderConstructorProtocol | None = None,
    ) -> S3IterableDataset:
        """Makes a dataset of the objects below a prefix. Each iteration lists them again.

        Args:
            s3_uri: ``s3://bucket/prefix``, or ``s3://bucket`` for all objects of the bucket.

        The other arguments are those of the class.
        """
        log.info("Building %s from_prefix s3_uri=%r", cls.__name__, s3_uri)
        source = ObjectsFromPrefix(s3_uri)
        return cls(region, source, endpoint, transform, s3client_config, enable_sharding, reader_constructor)

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state for spawned DataLoader workers, with the rank known at this time."""
        self._update_rank()
        return self.__dict__.copy()

    def _update_rank(self) -> None:
        rank, world_size = _rank_and_world_size()
        if world_size > 1:
            self._rank, self._world_size = rank, world_size

    def _share(self) -> Share:
        if not self._enable_sharding:
            return Share(0, 1, 1)
        self._update_rank()
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info is not None else (0, 1)
        return Share(self._rank + worker * self._world_size, self._world_size, workers)

    def __iter__(self) -> ObjectIterator:
        resume, self._resume = self._resume, None
        iterator = ObjectIterator(self._share(), self._objects, self._prefetch, self._transform)
        if resume is not None:
            iterator.load_state_dict(resume)
        self._position = iterator.position
        return iterator

    def state_dict(self) -> dict[str, Any]:
        """Returns the position of the latest iteration in this process: the items of its shard yielded so far, and the sharding.

        Together with :meth:`load_state_dict`, this is the interface that torchdata's StatefulDataLoader expects of a dataset.
        Its workers call both.
        """
        if self._resume is not None:
            return dict(self._resume)
        position = self._position or Position(self._share())
        return position.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resumes the next iteration at a saved position. Later iterations start from the beginning.

        The position is a number of items in listing order: if objects were added or removed in between, the remaining items
        shift.

        Args:
            state: A value returned by :meth:`state_dict`.

        Raises:
            TypeError: `state` is not a mapping.
        """
        if not isinstance(state, Mapping):
            raise TypeError(f"state must be a mapping that state_dict returned, not {type(state).__name__}")
        self._resume = dict(state)
