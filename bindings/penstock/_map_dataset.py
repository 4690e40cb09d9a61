"""S3MapDataset: objects by index."""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch.utils.data import Dataset

from . import _core
from ._config import S3ClientConfig
from ._dataset_base import GetDatasetObjects, S3DatasetBase
from ._listing import ObjectsFromPrefix, ObjectsFromUris, S3BucketIterable, identity
from ._objects import S3BucketKeyData
from .s3reader import S3Reader, S3ReaderConstructorProtocol

log = logging.getLogger(__name__)


class S3MapDataset(S3DatasetBase, Dataset[Any]):
    """A map-style dataset of S3 objects. The listing is taken at the first ``len()`` or index, and kept:
    of a prefix in 24 bytes an object and what its key does not share with the one before.

    Items are ``transform(reader)``. Negative indices count from the end; an index out of range raises IndexError.
    Picklable, for DataLoader workers of every start method.

    Args:
        region: AWS region of the buckets.
        get_dataset_objects: Called with a client; gives the objects.
        endpoint: URL of an S3-compatible service; None: environment, then AWS.
        transform: What becomes of a reader; the default returns it.
        s3client_config: See :class:`S3ClientConfig`.
        reader_constructor: Which reader; None: :meth:`S3ReaderConstructor.default`.

    Source: ``s3torchconnector.S3MapDataset``.
    """

    _kind = "map"

    def __init__(
        self,
        region: str,
        get_dataset_objects: GetDatasetObjects,
        endpoint: str | None = None,
        transform: Callable[[S3Reader], Any] = identity,
        s3client_config: S3ClientConfig | None = None,
        reader_constructor: S3ReaderConstructorProtocol | None = None,
    ) -> None:
        super().__init__(region, get_dataset_objects, endpoint, transform, s3client_config, reader_constructor)
        self._bucket_key_pairs: list[S3BucketKeyData] | _core.ObjectList | None = None

    @classmethod
    def from_objects(
        cls,
        object_uris: str | Iterable[str],
        *,
        region: str,
        endpoint: str | None = None,
        transform: Callable[[S3Reader], Any] = identity,
        s3client_config: S3ClientConfig | None = None,
        reader_constructor: S3ReaderConstructorProtocol | None = None,
    ) -> S3MapDataset:
        """A dataset of the objects of one or several URIs. They are parsed, and ValueError is raised, at first access.

        Args:
            object_uris: ``s3://bucket/key`` of one object or of each, in the order in which they are to come.

        The others are those of the class.
        """
        log.info("Building %s from_objects", cls.__name__)
        return cls(region, ObjectsFromUris(object_uris), endpoint, transform, s3client_config, reader_constructor)

    @classmethod
    def from_prefix(
        cls,
        s3_uri: str,
        *,
        region: str,
        endpoint: str | None = None,
        transform: Callable[[S3Reader], Any] = identity,
        s3client_config: S3ClientConfig | None = None,
        reader_constructor: S3ReaderConstructorProtocol | None = None,
    ) -> S3MapDataset:
        """A dataset of the objects below a prefix, listed at first access.

        Args:
            s3_uri: ``s3://bucket/prefix``, or ``s3://bucket`` for all that it holds.

        The others are those of the class.
        """
        log.info("Building %s from_prefix s3_uri=%r", cls.__name__, s3_uri)
        return cls(region, ObjectsFromPrefix(s3_uri), endpoint, transform, s3client_config, reader_constructor)

    @property
    def _dataset_bucket_key_pairs(self) -> list[S3BucketKeyData] | _core.ObjectList:
        if self._bucket_key_pairs is None:
            objects = self._objects()
            self._bucket_key_pairs = objects.as_list() if isinstance(objects, S3BucketIterable) else list(objects)
        return self._bucket_key_pairs

    def _item(self, i: int) -> S3BucketKeyData:
        pairs = self._dataset_bucket_key_pairs
        if isinstance(i, slice):  # which a list takes
            self._check_index(i)
        try:
            return pairs[i]
        except TypeError:
            self._check_index(i)
            raise

    def _check_index(self, i: object) -> None:
        try:
            number = operator.index(i)  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(f"an index is of type {type(i).__name__}; it takes int") from None
        if not -len(self) <= number < len(self):
            raise IndexError(f"the index {number} is out of range: the dataset has {len(self)} objects")

    def _get_object(self, i: int) -> S3Reader:
        item = self._item(i)
        return self._get_client().get_object(
            item.bucket, item.key, object_info=item.object_info, reader_constructor=self._reader_constructor
        )

    def __getitem__(self, i: int) -> Any:
        return self._transform(self._get_object(i))

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """The items of a batch, in order, fetched at the same time; DataLoader asks for batches this way.

        Memory is bounded by ``S3ClientConfig.look_ahead_bytes``. Errors are those of the items one by one. A subclass with
        a ``__getitem__`` of its own gets each item from there.
        """
        if type(self).__getitem__ is not S3MapDataset.__getitem__:
            return [self[i] for i in indices]
        pairs = self._dataset_bucket_key_pairs
        try:
            chosen = map(self._item, indices) if isinstance(pairs, list) else pairs.items(indices)
        except TypeError:
            for i in indices:
                self._check_index(i)
            raise
        return list(map(self._transform, self._look_ahead(chosen)))

    def __len__(self) -> int:
        return len(self._dataset_bucket_key_pairs)
