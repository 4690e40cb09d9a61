"""``s3torchconnector._s3client._mock_s3client``: a client of an emulator in this process."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

from .. import _core
from .._client import S3Client
from .._config import S3ClientConfig
from .._put_stream import PutObjectStream

if TYPE_CHECKING:
    from .._user_agent import UserAgent
    from ..testing import Emulator, Namespace

__all__ = ["MockS3Client"]

_lock = threading.Lock()
_emulators: dict[str, Emulator] = {}  # by region; they run until the process ends
_numbers = itertools.count()


def new_namespace(region: str) -> Namespace:
    """Returns a new namespace on an emulator in this process."""
    from ..testing import Emulator

    with _lock:
        if region not in _emulators:
            _emulators[region] = Emulator(region=region, relaxed_bucket_names=True)
        return _emulators[region].create_namespace(f"mock-{next(_numbers)}")


def put(client: S3Client, bucket: str, key: str, data: bytes) -> None:
    stream = PutObjectStream(client.core, bucket, key, None, None)
    stream.write(data)
    stream.close()


class MockS3Client(S3Client):
    """A client of an emulator in memory, with one bucket.

    Args:
        region: Any region.
        bucket: The name of the bucket, which the constructor creates.
    """

    def __init__(
        self, region: str, bucket: str, user_agent: UserAgent | None = None, s3client_config: S3ClientConfig | None = None
    ) -> None:
        super().__init__(region, user_agent=user_agent, s3client_config=s3client_config)
        self._bucket = bucket
        self._namespace = new_namespace(region)
        self._s3 = self._namespace.client()
        self._s3.create_bucket(bucket)

    def _client_builder(self) -> _core.Client:
        self._s3client_config.validate()
        return self._s3.core

    def add_object(self, key: str, data: bytes) -> None:
        put(self._s3, self._bucket, key, data)

    def remove_object(self, key: str) -> None:
        self._s3.delete_object(self._bucket, key)
