"""What an operation of the client is to the matrix: how to run it, what is right, and what it must leave in the bucket."""

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
DIRECTORY = "matrix--use1-az1--x-s3"  # a directory bucket: a client without a session of its own asks for one


@dataclasses.dataclass
class Trial:
    """One run of an operation, and its oracle."""

    run: Callable[[], Any]
    right: Callable[[Any], bool]
    #: What a client without faults finds afterwards: "before", "after", or words for what is neither. None: it only reads.
    state: Callable[[], str] | None = None
    #: S3 gives a checksum of all bytes that it reads, so that wrong ones can be told.
    verified: bool = False
    #: What reads its bytes may refuse wrong ones before their checksum is known, in words of its own.
    parsed: bool = False


@dataclasses.dataclass(frozen=True)
class Operation:
    """An operation of our client, at one or more sizes of objects, in a bucket."""

    name: str
    prepare: Callable[[World, str], Trial]
    sizes: tuple[str, ...] = ("small", "multipart")
    bucket: str = BUCKET

    def begin(self, world: World, size: str) -> Trial:
        """A trial of it; the world is about its bucket from now on."""
        world.bucket = self.bucket
        return self.prepare(world, size)


class World:
    """An emulator with a bucket of each kind, a client without faults and the settings of the one that meets them.

    A context manager. Whatever it does is about one of the buckets at a time.
    """

    def __init__(self, max_attempts: int, tls: tuple[str, str] | None = None) -> None:
        self.emulator = Emulator(tls=tls, journal_bytes=4 << 20)
        # Without faults nothing is worth ten attempts, least of all what a fault has left behind with another checksum.
        self.clean = self.emulator.client(S3ClientConfig(max_attempts=2))
        for bucket in (BUCKET, DIRECTORY):
            self.clean.create_bucket(bucket)
        self.bucket = BUCKET
        # Without second requests for what is late, which is chance: a fault meets the same requests in every run.
        self.config = self.emulator.config(S3ClientConfig(part_size=PART, max_attempts=max_attempts, hedge_reads=False))
        self._numbers = itertools.count()
        self._kept: dict[Any, Any] = {}

    def __enter__(self) -> World:
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
        """A new one, which meets the faults: quotas, sessions and what it learned of the service are its own."""
        return S3Client(self.region, endpoint=self.endpoint, s3client_config=self.config)

    def content(self, size: str, number: int = 0) -> bytes:
        """Bytes that differ everywhere, the same in every run."""
        name = ("content", size, number)
        if name not in self._kept:
            self._kept[name] = random.Random(f"{size} {number}").randbytes(BYTES[size])
        data: bytes = self._kept[name]
        return data

    def key(self) -> str:
        """One that nobody has used, below a prefix of its own."""
        return f"t{next(self._numbers):06}/object"

    def bucket_name(self) -> str:
        """One for another bucket of this one's kind, that nobody has used."""
        name = f"made-{self.key()[:7]}"
        return name if self.bucket == BUCKET else DIRECTORY.replace("matrix", name)

    def buckets(self) -> list[str]:
        """The names of those of this one's kind."""
        if self.bucket == BUCKET:
            return [name for name, _ in self.clean._client.list_buckets()]
        return self.clean.list_directory_buckets()

    def once(self, name: Any, make: Callable[[], Any]) -> Any:
        """What `make` makes, once in this bucket."""
        name = (self.bucket, name)
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def stored(self, size: str, key: str = "", number: int = 0) -> str:
        """The key of an object of that size, put there by a client without faults."""
        if key:
            self.put(key, self.content(size, number))
            return key
        return str(self.once(("stored", size, number), lambda: self.stored(size, f"kept/{size}-{number}", number)))

    def put(self, key: str, data: bytes) -> None:
        config = dataclasses.replace(self.config, max_attempts=10)
        with S3Client(self.region, endpoint=self.endpoint, s3client_config=config).put_object(self.bucket, key) as writer:
            writer.write(data)

    def get(self, key: str) -> bytes | None:
        """What is there; None: nothing."""
        from penstock import S3NotFoundError

        try:
            return self.clean.get_object(self.bucket, key).read()
        except S3NotFoundError:
            return None

    def keys(self, prefix: str) -> list[str]:
        return [info.key for page in self.clean.list_objects(self.bucket, prefix) for info in page.object_info]

    def overwrite(self) -> None:
        """Puts other bytes in every object's place, and then what was there: all have a version before, of the same length.

        Reads nothing, so that a fault of reads does not meet it.
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
        """Removes what trials wrote."""
        for key, upload_id in self.open_uploads():
            self.clean._client.abort_multipart_upload(self.bucket, key, upload_id)
        if keys := self.keys("t"):
            self.clean._client.delete_objects(self.bucket, keys)


def written(world: World, key: str, before: bytes | None, after: bytes | None) -> Callable[[], str]:
    """The state of one object that an operation writes, replaces or deletes."""

    def state() -> str:
        found = world.get(key)
        if found == after:
            return "after"
        if found == before:
            return "before"
        return f"{key}: {'nothing' if found is None else f'{len(found)} bytes'} that are neither the old nor the new object"

    return state
