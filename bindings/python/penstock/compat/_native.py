"""``s3torchconnectorclient._mountpoint_s3_client``: the interface of s3torchconnector's native module."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core
from .._client import S3Client
from .._config import S3ClientConfig, check_type
from .._exceptions import S3Exception
from .._listing import ListObjectStream as _ListObjectStream
from .._objects import HeadObjectResult, ListObjectResult, ObjectInfo, RestoreStatus
from .._put_stream import PutObjectStream
from .._streams import GetObjectStream, ObjectSource
from .._user_agent import UserAgent
from ._names import REFERENCE_VERSION

if TYPE_CHECKING:
    from ..testing import Namespace

__all__ = [
    "GetObjectStream",
    "HeadObjectResult",
    "ListObjectResult",
    "ListObjectStream",
    "MockMountpointS3Client",
    "MountpointS3Client",
    "ObjectInfo",
    "PutObjectStream",
    "RestoreStatus",
    "S3Exception",
    "__version__",
    "join_all_managed_threads",
]


__version__ = REFERENCE_VERSION


class ListObjectStream(_ListObjectStream):
    """Iterator over the pages of a listing that can start at a continuation token."""

    @staticmethod
    def _from_state(
        client: MountpointS3Client,
        bucket: str,
        prefix: str,
        delimiter: str,
        max_keys: int,
        continuation_token: str | None,
        complete: bool,
    ) -> ListObjectStream:
        stream = ListObjectStream(client._s3.core, bucket, prefix, delimiter, max_keys)
        stream.continuation_token = continuation_token
        stream.complete = complete
        stream._lister = _core.Lister(client._s3.core, bucket, prefix, delimiter, max_keys, continuation_token or "")
        return stream


class _FixedUserAgent(UserAgent):
    """A user agent with a fixed text."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix


class MountpointS3Client:
    """The interface of s3torchconnector's native client. Its arguments are read-only attributes. Picklable."""

    _ARGUMENTS = (
        "region", "user_agent_prefix", "throughput_target_gbps", "part_size", "profile", "unsigned", "endpoint",
        "force_path_style", "max_attempts", "requester_pays",
    )  # fmt: skip

    def __init__(
        self,
        region: str,
        user_agent_prefix: str = "",
        throughput_target_gbps: float | None = None,
        part_size: int | None = None,
        profile: str | None = None,
        unsigned: bool = False,
        endpoint: str | None = None,
        force_path_style: bool = False,
        max_attempts: int | None = None,
        requester_pays: bool = False,
    ) -> None:
        given = locals()
        for name in ("region", "user_agent_prefix"):
            check_type(name, given[name], (str,))
        object.__setattr__(self, "_arguments", {name: given[name] for name in self._ARGUMENTS})
        object.__setattr__(self, "_lock", threading.Lock())
        object.__setattr__(self, "_cached_client", None)

    if TYPE_CHECKING:
        _arguments: dict[str, Any]
        _lock: threading.Lock
        _cached_client: S3Client | None

    def __getattr__(self, name: str) -> Any:
        if name in MountpointS3Client._ARGUMENTS:
            return self._arguments[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"attribute {name!r} of a {type(self).__name__} cannot be set")

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self._arguments[name] for name in self._ARGUMENTS)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.__getnewargs__()

    @property
    def _s3(self) -> S3Client:
        with self._lock:
            if self._cached_client is None:
                object.__setattr__(self, "_cached_client", self._make())
            assert self._cached_client is not None
            return self._cached_client

    def _make(self) -> S3Client:
        arguments = self._arguments
        not_config = ("region", "user_agent_prefix", "endpoint")
        config = S3ClientConfig(**{name: value for name, value in arguments.items() if name not in not_config})
        agent = _FixedUserAgent(arguments["user_agent_prefix"]) if arguments["user_agent_prefix"] else None
        return S3Client(arguments["region"], endpoint=arguments["endpoint"] or None, user_agent=agent, s3client_config=config)

    def get_object(self, bucket: str, key: str, start: int | None = None, end: int | None = None) -> GetObjectStream:
        """Returns an iterator over the bytes [start, end) of an object; without `start`, over the whole object."""
        check_type("bucket", bucket, (str,))
        check_type("key", key, (str,))
        return self._s3._get_object_stream(bucket, key, start, end)

    def put_object(self, bucket: str, key: str, storage_class: str | None = None) -> PutObjectStream:
        s3 = self._s3
        return PutObjectStream(s3.core, bucket, key, storage_class, s3.part_size, None, s3.parallel_parts)

    def list_objects(self, bucket: str, prefix: str = "", delimiter: str = "", max_keys: int = 1000) -> ListObjectStream:
        return ListObjectStream(self._s3.core, bucket, prefix, delimiter, max_keys)

    def head_object(self, bucket: str, key: str) -> HeadObjectResult:
        return self._s3.head_object(bucket, key)

    def delete_object(self, bucket: str, key: str) -> None:
        self._s3.delete_object(bucket, key)

    def copy_object(self, src_bucket: str, src_key: str, dst_bucket: str, dst_key: str) -> None:
        self._s3.copy_object(src_bucket, src_key, dst_bucket, dst_key)


class _MockedClient(MountpointS3Client):
    """A client of an emulator in this process, with blocks of any size."""

    def __init__(self, make: Callable[[], S3Client], *arguments: Any) -> None:
        super().__init__(*arguments)
        object.__setattr__(self, "_make", make)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a mocked client belongs to this process and cannot be pickled")

    def get_object(self, bucket: str, key: str, start: int | None = None, end: int | None = None) -> GetObjectStream:
        return GetObjectStream(self._s3.core, ObjectSource(bucket, key), start, end, self._arguments["part_size"], 1)


class MockMountpointS3Client:
    """A bucket of an emulator in this process, in memory, and a factory of clients for it."""

    def __init__(
        self,
        region: str,
        bucket: str,
        throughput_target_gbps: float | None = None,
        part_size: int | None = None,
        user_agent_prefix: str = "mock_client",
        unsigned: bool = False,
        force_path_style: bool = False,
        max_attempts: int | None = None,
        requester_pays: bool = False,
    ) -> None:
        from ._mock import new_namespace

        self.region = region
        self.bucket = bucket
        self.throughput_target_gbps = throughput_target_gbps
        self.part_size = part_size
        self.user_agent_prefix = user_agent_prefix
        self.unsigned = unsigned
        self.force_path_style = force_path_style
        self.max_attempts = max_attempts
        self.requester_pays = requester_pays
        self._namespace: Namespace = new_namespace(region)
        self._s3 = self._namespace.client()
        self._s3.create_bucket(bucket)

    def create_mocked_client(self) -> MountpointS3Client:
        return _MockedClient(
            self._namespace.client, self.region, self.user_agent_prefix, self.throughput_target_gbps, self.part_size, None,
            self.unsigned, self._namespace.endpoint, self.force_path_style, self.max_attempts, self.requester_pays,
        )  # fmt: skip

    def add_object(self, key: str, data: bytes) -> None:
        from ._mock import put

        put(self._s3, self.bucket, key, data)

    def remove_object(self, key: str) -> None:
        self._s3.delete_object(self.bucket, key)


def join_all_managed_threads(timeout_secs: float) -> None:
    """Does nothing: Penstock's threads end with the process, and need not end before a fork.

    Raises:
        TypeError: `timeout_secs` is not a number.
    """
    check_type("timeout_secs", timeout_secs, (int, float))
