"""Names of s3fs that have no meaning here, or another name."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn

from fsspec.asyn import AsyncFileSystem

from ._store import VERSION_MARK, Store, split

if TYPE_CHECKING:
    from types import TracebackType


class Session:
    """What ``set_session`` returns. Closing it does nothing: connections belong to the process, not to a file system."""

    async def close(self) -> None:
        """Does nothing."""

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        """Does nothing."""


class S3fsNames(AsyncFileSystem):
    """Names that programs use on s3fs's file system."""

    _store: Store
    version_aware: bool

    def connect(self, refresh: bool = False, kwargs: dict[str, Any] | None = None) -> Session:
        """Prepares nothing: the first request opens connections.

        Args:
            refresh: Read the credentials again, for all later requests.
            kwargs: Ignored.
        """
        if refresh:
            self._store.use(copy(self._store.client))
        return Session()

    async def set_session(self, refresh: bool = False, kwargs: dict[str, Any] | None = None) -> Session:
        """As :meth:`connect`."""
        return self.connect(refresh)

    _connect = set_session

    def split_path(self, path: str) -> tuple[str, str, str | None]:
        """Returns bucket, key and version; None: `path` names no version."""
        bucket, key = split(self._strip_protocol(path))
        if not self.version_aware:
            return bucket, key, None
        key, _, version = key.partition(VERSION_MARK)
        return bucket, key, version or None

    def invalidate_region_cache(self) -> None:
        """Does nothing: the file system keeps no regions of buckets."""

    @property
    def s3(self) -> NoReturn:
        """Not supported.

        Raises:
            AttributeError: Always.
        """
        raise AttributeError("penstock.fsspec has no botocore client; use the attribute `client`, a penstock.S3Client")

    def call_s3(self, method: str, *args: Any, **kwargs: Any) -> NoReturn:
        """Not supported.

        Args:
            method: A method of botocore's client.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(
            f"penstock.fsspec has no botocore client to call {method!r} of; use the attribute `client`, a penstock.S3Client,"
            ' for example client.head(bucket, key) for "head_object"'
        )

    async def _call_s3(self, method: str, *args: Any, **kwargs: Any) -> NoReturn:
        self.call_s3(method)

    async def get_s3(self, bucket: str | None = None) -> NoReturn:
        """Not supported.

        Args:
            bucket: A bucket.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("penstock.fsspec has no botocore client; use the attribute `client`, a penstock.S3Client")

    def get_delegated_s3pars(self, exp: int = 3600) -> NoReturn:
        """Not supported.

        Args:
            exp: Lifetime of the credentials in seconds.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(
            "penstock.fsspec does not request temporary credentials; get them from AWS STS, and pass key, secret and token"
        )
