"""S3IterableDataset: objects in listing order, shared out among ranks and workers."""

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

    With sharding, object number i goes to rank ``i % world_size`` and there to worker ``(i // world_size) % num_workers``:
    every object exactly once. Rank and world size are those of torch.distributed when the dataset is made or, where it was
    not initialised then, when iteration starts. Without sharding every worker yields every object.

    Thread safety: several threads may take items from one iterator; each item goes to one of them. A reader is for one thread
    at a time.

    Args:
        region: AWS region of the buckets.
        get_dataset_objects: Called with a client at each iteration; gives the objects.
        endpoint: URL of an S3-compatible service; None: environment, then AWS.
        transform: What becomes of a reader; the default returns it.
        s3client_config: See :class:`S3ClientConfig`.
        enable_sharding: Share the objects out.
        reader_constructor: Which reader; None: :meth:`S3ReaderConstructor.default`.

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
        # A spawned worker has no process group of its own, so the trainer's rank travels with the dataset.
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
        """A dataset of the objects of one or several URIs. They are parsed, and ValueError is raised, when iterated.

        Args:
            object_uris: ``s3://bucket/key`` of one object or of each, in the order in which they are to come.

        The others are those of the class.
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
        """A dataset of the objects below a prefix, listed anew at each iteration.

        Args:
            s3_uri: ``s3://bucket/prefix``, or ``s3://bucket`` for all that it holds.

        The others are those of the class.
        """
        log.info("Building %s from_prefix s3_uri=%r", cls.__name__, s3_uri)
        source = ObjectsFromPrefix(s3_uri)
        return cls(region, source, endpoint, transform, s3client_config, enable_sharding, reader_constructor)

    def __getstate__(self) -> dict[str, Any]:
        """Taken when DataLoader workers are spawned: the rank known by then goes along."""
        self._learn_rank()
        return self.__dict__.copy()

    def _learn_rank(self) -> None:
        rank, world_size = _rank_and_world_size()
        if world_size > 1:
            self._rank, self._world_size = rank, world_size

    def _share(self) -> Share:
        if not self._enable_sharding:
            return Share(0, 1, 1)
        self._learn_rank()
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info is not None else (0, 1)
        return Share(self._rank + worker * self._world_size, self._world_size, workers)

    def __iter__(self) -> ObjectIterator:
        resume, self._resume = self._resume, None
        iterator = ObjectIterator(self._share(), self._objects, self._look_ahead, self._transform)
        if resume is not None:
            iterator.load_state_dict(resume)
        self._position = iterator.position
        return iterator

    def state_dict(self) -> dict[str, Any]:
        """Where the latest iteration in this process stands: how many items of its share it has yielded, and the shares.

        With :meth:`load_state_dict` what torchdata's StatefulDataLoader asks of a dataset; its workers call both.
        """
        if self._resume is not None:
            return dict(self._resume)
        position = self._position or Position(self._share())
        return position.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Has the next iteration go on from there; those after it start over.

        Items are counted in the listing's order: objects that came or went meanwhile shift what is left.

        Args:
            state: What :meth:`state_dict` gave.

        Raises:
            TypeError: `state` is no mapping.
        """
        if not isinstance(state, Mapping):
            raise TypeError(f"state is of type {type(state).__name__}; it takes a mapping that state_dict returned")
        self._resume = dict(state)
