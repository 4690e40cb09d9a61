"""Types of the C++ core. tests/test_stubs.py holds the names against the built module."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from typing_extensions import Buffer

from ._objects import ObjectInfo, S3BucketKeyData

__version__: str

def memory_usage() -> dict[str, int]: ...

class ObjectMetadata:
    @property
    def size(self) -> int: ...
    @property
    def etag(self) -> str: ...
    @property
    def last_modified(self) -> int: ...
    @property
    def content_type(self) -> str: ...
    @property
    def storage_class(self) -> str: ...
    @property
    def version_id(self) -> str: ...
    @property
    def restore(self) -> str: ...
    @property
    def checksums(self) -> list[tuple[str, str]]: ...
    @property
    def user_metadata(self) -> list[tuple[str, str]]: ...

class Client:
    def __init__(
        self,
        *,
        region: str = "",
        endpoint: str = "",
        force_path_style: bool = False,
        unsigned: bool = False,
        profile: str = "",
        max_attempts: int = 10,
        requester_pays: bool = False,
        user_agent: str = "",
        access_key_id: str = "",
        secret_access_key: str = "",
        session_token: str = "",
        memory_limit: int | None = None,
    ) -> None: ...
    def read(
        self,
        bucket: str,
        key: str,
        start: int = 0,
        end: int | None = None,
        size: int | None = None,
        etag: str | None = None,
        part_size: int | None = None,
        parallel: int | None = None,
        head: bytes = b"",
        progress: Callable[[int, int | None], None] | None = None,
    ) -> tuple[bytes, ObjectMetadata]: ...
    def read_into(
        self,
        bucket: str,
        key: str,
        buffer: Buffer,
        start: int = 0,
        size: int | None = None,
        etag: str | None = None,
        part_size: int | None = None,
        parallel: int | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> tuple[int, ObjectMetadata]: ...
    def head_object(self, bucket: str, key: str) -> ObjectMetadata: ...
    def delete_object(self, bucket: str, key: str) -> None: ...
    def delete_objects(self, bucket: str, keys: list[str]) -> list[tuple[str, str, str]]: ...
    def copy_object(self, src_bucket: str, src_key: str, dst_bucket: str, dst_key: str) -> str: ...
    def list_multipart_uploads(self, bucket: str, prefix: str = "") -> list[tuple[str, str]]: ...
    def abort_multipart_upload(self, bucket: str, key: str, upload_id: str) -> None: ...
    def create_bucket(self, bucket: str) -> None: ...
    def delete_bucket(self, bucket: str) -> None: ...
    def head_bucket(self, bucket: str) -> str: ...
    def list_buckets(self) -> list[tuple[str, int]]: ...
    def stats(self) -> dict[str, Any]: ...

class Fetch:
    def __init__(
        self,
        client: Client,
        bucket: str,
        key: str,
        limit: int,
        size: int | None = None,
        etag: str | None = None,
        part_size: int | None = None,
        parallel: int | None = None,
    ) -> None: ...
    def take(self) -> tuple[bytes, int, str]: ...
    def cancel(self) -> None: ...
    @property
    def landed(self) -> bool: ...

class ObjectItems:
    def __init__(self, client: Client, bucket: str, prefix: str, step: int = 1, first: int = 0, max_keys: int = 1000) -> None: ...
    def __iter__(self) -> Iterator[S3BucketKeyData]: ...
    def __next__(self) -> S3BucketKeyData: ...

Arrival = tuple[str, str, ObjectInfo | None, bytes | None, int | None, str | None, Exception | None, int]

class LookAhead:
    def __init__(
        self,
        client: Client,
        objects: Iterable[S3BucketKeyData],
        budget: int,
        object_limit: int,
        most: int,
        part_size: int | None = None,
        parallel: int | None = None,
    ) -> None: ...
    def next(self, fetch: bool, guess: int) -> list[Arrival]: ...
    def cancel(self) -> None: ...
    @property
    def coming(self) -> int: ...
    @property
    def coming_bytes(self) -> int: ...

class Stream:
    def __init__(
        self,
        client: Client,
        bucket: str,
        key: str,
        start: int = 0,
        end: int | None = None,
        size: int | None = None,
        etag: str | None = None,
        part_size: int = ...,
        read_ahead: int = 4,
        first_part: int | None = None,
        ranges: list[tuple[int, int]] = [],
    ) -> None: ...
    def __iter__(self) -> Iterator[bytes]: ...
    def __next__(self) -> bytes: ...
    def read_into(self, position: int, buffer: Buffer) -> int: ...
    def tell(self) -> int: ...
    @property
    def metadata(self) -> ObjectMetadata | None: ...

class Writer:
    def __init__(
        self,
        client: Client,
        bucket: str,
        key: str,
        storage_class: str = "",
        content_type: str = "",
        metadata: list[tuple[str, str]] = [],
        part_size: int | None = None,
        parallel: int | None = None,
    ) -> None: ...
    def write(self, data: Buffer, progress: Callable[[int, int | None], None] | None = None) -> int: ...
    def finish(self, progress: Callable[[int, int | None], None] | None = None) -> str: ...
    def abort(self) -> None: ...
    @property
    def bytes_written(self) -> int: ...

class Lister:
    def __init__(
        self,
        client: Client,
        bucket: str,
        prefix: str = "",
        delimiter: str = "",
        max_keys: int = 1000,
        continuation_token: str = "",
        start_after: str = "",
    ) -> None: ...
    def __iter__(self) -> Iterator[tuple[list[tuple[str, str, int, int, str]], list[str], str]]: ...
    def __next__(self) -> tuple[list[tuple[str, str, int, int, str]], list[str], str]: ...

class Emulator:
    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        admin_port: int = 0,
        admin_token: str = "",
        data_directory: str = "",
        strict_durability: bool = False,
        auth: str = "verify",
        access_keys: list[tuple[str, str]] = [],
        users_path: str = "",
        users_json: str = "",
        region: str = "us-east-1",
        fail_rate: float = 0.0,
        fail_seed: int = 1,
        tls_certificate: str = "",
        tls_key: str = "",
        log_path: str = "",
    ) -> None: ...
    @property
    def endpoint(self) -> str: ...
    @property
    def admin_endpoint(self) -> str: ...
    @property
    def notices(self) -> list[str]: ...
    def stats(self) -> dict[str, Any]: ...
    def reset(self) -> None: ...
    def stop(self) -> None: ...
    def namespaces(self) -> list[str]: ...
    def create_namespace(self, name: str) -> tuple[str, str]: ...
    def delete_namespace(self, name: str) -> None: ...
    def reset_namespace(self, name: str) -> None: ...
    def clock(self, namespace: str) -> dict[str, Any]: ...
    def change_clock(
        self, namespace: str, *, now_ns: int | None = None, advance_ns: int = 0, frozen: bool | None = None
    ) -> dict[str, Any]: ...
    def restore_clock(self, namespace: str) -> dict[str, Any]: ...
    def seed(self, *, bucket: str, directory: str, prefix: str = "", namespace: str = "default") -> dict[str, int]: ...
    def add_users(self, users_json: str) -> None: ...
    def users(self) -> str: ...
