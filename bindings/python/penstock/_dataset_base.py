"""The common base class of the datasets: the source of the objects and the client that reads them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

from ._client import S3Client
from ._config import S3ClientConfig
from ._objects import S3BucketKeyData
from ._prefetcher import Prefetcher
from ._user_agent import UserAgent
from .s3reader import S3Reader, S3ReaderConstructor, S3ReaderConstructorProtocol

log = logging.getLogger(__name__)

GetDatasetObjects = Callable[[S3Client], Iterable[S3BucketKeyData]]


class S3DatasetBase:
    """Object source, transform and client of a dataset. Each process makes its own client, on its first read."""

    _kind = ""

    def __init__(
        self,
        region: str,
        get_dataset_objects: GetDatasetObjects,
        endpoint: str | None,
        transform: Callable[[S3Reader], Any],
        s3client_config: S3ClientConfig | None,
        reader_constructor: S3ReaderConstructorProtocol | None,
    ) -> None:
        self._region = region
        self._endpoint = endpoint
        self._transform = transform
        self._get_dataset_objects = get_dataset_objects
        self._s3client_config = s3client_config
        self._reader_constructor = reader_constructor or S3ReaderConstructor.default()
        self._client: S3Client | None = None

    @property
    def region(self) -> str:
        return self._region

    @property
    def endpoint(self) -> str | None:
        return self._endpoint

    def _get_client(self) -> S3Client:
        if self._client is None:
            reader_type = S3ReaderConstructor.get_reader_type_string(self._reader_constructor)
            user_agent = UserAgent([f"md/dataset#{self._kind} md/reader_type#{reader_type}"])
            self._client = S3Client(
                self._region, endpoint=self._endpoint, user_agent=user_agent, s3client_config=self._s3client_config
            )
        return self._client

    def _objects(self) -> Iterable[S3BucketKeyData]:
        return self._get_dataset_objects(self._get_client())

    def _prefetch(self, objects: Iterable[S3BucketKeyData]) -> Prefetcher:
        client = self._get_client()
        return Prefetcher(client, objects, self._reader_constructor, client.s3client_config._look_ahead)
