"""Operations of the matrix: how to run them, their correct results, and the state that they must leave in the bucket."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import Any

from penstock import S3Client, S3ClientConfig
from penstock.testing import Emulator

PART = 5 << 20
BYTES = {"small": 20_000, "multipart": PART + 70_001}
BUCKET = "matrix-bucket"
DIRECTORY = "matrix--use1-az1--x-s3"  # a directory bucket; a new client creates a session


@dataclasses.dataclass
class Trial:
    """One run of an operation, with its oracle."""

    run: Callable[[], Any]
    right: Callable[[Any], bool]
    #: State afterwards, read without faults: "before", "after", or a description of another state. None for reads.
    state: Callable[[], str] | None = None
    #: S3 has a checksum of all data that is read, so wrong data can be detected.
    verified: bool = False
    #: A parser may reject wrong data before its checksum is known, with its own error.
    parsed: bool = False


@dataclasses.dataclass(frozen=True)
class Operation:
    """An operation of Penstock's client, with one or more object sizes, in a bucket."""

    name: str
    prepare: Callable[[Environment, str], Trial]
    sizes: tuple[str, ...] = ("small", "multipart")
    bucket: str = BUCKET

    def begin(self, environment: Environment, size: str) -> Trial:
        """Prepares a trial. Selects the operation's bucket in the environment."""
        environment.bucket = self.bucket
        return self.prepare(environment, size)


class Environment:
    """An emulator with a bucket of each kind, a client for preparation, and the settings of the client under test.

    A context manager. Its methods use the selected bucket.
    """

    def __init__(self, max_attempts: int, tls: tuple[str, str] | None = None) -> None:
        certificate, key = tls or (None, None)
        self.emulator = Emulator(tls_cert=certificate, tls_key=key, journal_size=4 << 20)
        # Few attempts: an object that a fault left with a wrong checksum stays wrong.
        self.clean = self.emulator.client(S3ClientConfig(max_attempts=2))
        for bucket in (BUCKET, DIRECTORY):
            self.clean.create_bucket(bucket)
        self.bucket = BUCKET
        # No hedged reads, which depend on timing: the requests must be the same in each run.
        self.config = self.emulator.config(S3ClientConfig(part_size=PART, max_attempts=max_attempts, hedge_reads=False))
        self._numbers = itertools.count()
        self._kept: dict[Any, Any] = {}

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.emulator.stop()

    @cached_property
    def region(self) -> str:
        return self.emulator.region

    @property
    def endpoint(self) -> str:
        return self.emulator.endpoint

    def client(self) -> S3Client:
        """A new client under test. It shares no retry quota, sessions or caches with others."""
        return S3Client(self.region, endpoint=self.endpoint, s3client_config=self.config)

    def content(self, size: str, number: int = 0) -> bytes:
        """Random bytes, the same in each run."""
        name = ("content", size, number)
        if name not in self._kept:
            self._kept[name] = random.Random(f"{size} {number}").randbytes(BYTES[size])
        data: bytes = self._kept[name]
        return data

    def key(self) -> str:
        """An unused key with its own prefix."""
        return f"t{next(self._numbers):06}/object"

    def bucket_name(self) -> str:
        """An unused name for a bucket of the selected kind."""
        name = f"made-{self.key()[:7]}"
        return name if self.bucket == BUCKET else DIRECTORY.replace("matrix", name)

    def buckets(self) -> list[str]:
        """Names of all buckets of the selected kind."""
        if self.bucket == BUCKET:
            return [each.name for each in self.clean.list_buckets()]
        return self.clean.list_directory_buckets()

    def once(self, name: Any, make: Callable[[], Any]) -> Any:
        """The result of `make`, cached per bucket."""
        name = (self.bucket, name)
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def stored(self, size: str, key: str = "", number: int = 0) -> str:
        """Creates an object of that size without faults, and returns its key. Shared unless `key` is given."""
        if key:
            self.put(key, self.content(size, number))
            return key
        return str(self.once(("stored", size, number), lambda: self.stored(size, f"kept/{size}-{number}", number)))

    def put(self, key: str, data: bytes) -> None:
        config = dataclasses.replace(self.config, max_attempts=10)
        with S3Client(self.region, endpoint=self.endpoint, s3client_config=config).put_object(self.bucket, key) as writer:
            writer.write(data)

    def get(self, key: str) -> bytes | None:
        """The content of an object; None if it does not exist."""
        from penstock import S3NotFoundError

        try:
            return self.clean.get_object(self.bucket, key).read()
        except S3NotFoundError:
            return None

    def keys(self, prefix: str) -> list[str]:
        return [info.key for page in self.clean.list_objects(self.bucket, prefix) for info in page.object_info]

    def overwrite(self) -> None:
        """Overwrites each object with other content of the same length and then restores it, so that each has a previous version.

        Sends no reads, so that faults of reads do not occur here.
        """
        spare = self.key()
        for page in self.clean.list_objects(self.bucket, ""):
            for key, size in [(info.key, info.size) for info in page.object_info]:
                self.clean.copy_object(self.bucket, key, self.bucket, spare)
                self.clean._client.put_object(self.bucket, key, random.Random(key).randbytes(size))
                self.clean.copy_object(self.bucket, spare, self.bucket, key)
        self.clean._client.delete_objects(self.bucket, [spare])

    def open_uploads(self) -> list[tuple[str, str]]:
        return self.clean._client.list_multipart_uploads(self.bucket)

    def clear(self) -> None:
        """Deletes the objects and uploads of trials."""
        for key, upload_id in self.open_uploads():
            self.clean._client.abort_multipart_upload(self.bucket, key, upload_id)
        if keys := self.keys("t"):
            self.clean._client.delete_objects(self.bucket, keys)


def written(environment: Environment, key: str, before: bytes | None, after: bytes | None) -> Callable[[], str]:
    """Returns a `Trial.state` for one object that an operation writes, replaces or deletes."""

    def state() -> str:
        found = environment.get(key)
        if found == after:
            return "after"
        if found == before:
            return "before"
        return f"{key}: {'no object' if found is None else f'{len(found)} bytes'}, neither the old nor the new object"

    return state
