"""S3MapDataset: a map-style dataset of S3 objects."""

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
    """A map-style dataset of S3 objects, listed once, at the first ``len()`` or index.

    Items are ``transform(reader)``. Negative indices count from the end; an index out of range raises IndexError. The listing of
    a prefix takes 24 bytes of memory per object, plus the part of its key that differs from the previous key. Picklable, for
    DataLoader workers of every start method.

    Args:
        region: AWS region of the buckets.
        get_dataset_objects: Called with a client; returns the objects.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.
        transform: Called with the reader of each object; returns the item. The default returns the reader.
        s3client_config: See :class:`S3ClientConfig`.
        reader_constructor: Makes the readers; None: :meth:`S3ReaderConstructor.default`.

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
        """Makes a dataset of the objects with the given URIs. The first access parses them; an invalid one raises ValueError.

        Args:
            object_uris: One URI ``s3://bucket/key``, or several in index order.

        The other arguments are those of the class.
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
        """Makes a dataset of the objects below a prefix, listed at the first access.

        Args:
            s3_uri: ``s3://bucket/prefix``, or ``s3://bucket`` for all objects of the bucket.

        The other arguments are those of the class.
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
        if isinstance(i, slice):  # a list would accept it
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
            raise TypeError(f"an index must be int, not {type(i).__name__}") from None
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
        """Returns the items of a batch, in order, fetched concurrently. DataLoader calls this for each batch.

        ``S3ClientConfig.look_ahead_bytes`` bounds the memory. Raises the same errors as item access. In a subclass that overrides
        ``__getitem__``, each item comes from that method.
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
        return list(map(self._transform, self._prefetch(chosen)))

    def __len__(self) -> int:
        return len(self._dataset_bucket_key_pairs)
