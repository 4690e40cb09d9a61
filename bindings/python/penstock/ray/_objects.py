"""The objects of a Ray dataset: their list, its division into tasks, and their bytes, read in advance. Does not need ray."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from .._listing import S3BucketIterable
from .._objects import parse_s3_uri
from .._streams import ObjectSource

if TYPE_CHECKING:
    from .._client import S3Client

MAX_OBJECTS_AHEAD = 128  # of one task, however small they are
MAX_READ_AHEAD_BYTES = 31 * 1024**2  # of one object; malloc maps blocks of 32 MiB anew each time, which is slow
REQUEST_BYTES = 256 * 1024  # a request takes about as long as this many bytes
_HEAD_THREADS = 16
_HIDDEN = (".", "_")


class Item(NamedTuple):
    """An object, and the version that is read: its size in bytes and its ETag."""

    bucket: str
    key: str
    size: int
    etag: str | None

    @property
    def path(self) -> str:
        return f"{self.bucket}/{self.key}"


def _listed(client: S3Client, bucket: str, prefix: str) -> Iterator[Item]:
    for _, key, info in S3BucketIterable(client, bucket, prefix):
        if info is not None and not key.endswith("/") and not key.removeprefix(prefix).startswith(_HIDDEN):
            yield Item(bucket, key, info.size, info.etag)


def find_items(client: S3Client, uris: Iterable[str]) -> list[Item]:
    """Returns the objects of URIs, in their order: listed below URIs that end with ``/`` or name a bucket, else found by HEAD.

    Raises:
        ValueError: A URI is not ``s3://bucket/key``, or no object was found.
        S3Exception: A listing failed, or an object does not exist.
    """
    uris = list(uris)
    places = [parse_s3_uri(uri) for uri in uris]

    def found(place: tuple[str, str]) -> list[Item]:
        bucket, key = place
        if not key or key.endswith("/"):
            return list(_listed(client, bucket, key))
        head = client.head_object(bucket, key)
        return [Item(bucket, key, head.size, head.etag)]

    with ThreadPoolExecutor(_HEAD_THREADS) as pool:
        items = [item for group in pool.map(found, places) for item in group]
    if not items:
        raise ValueError(f"found no object below {', '.join(map(repr, uris[:3]))}; check the prefix. {_RULE}")
    return items


_RULE = "Names below a prefix that start with '.' or '_' are left out, as in ray.data.read_binary_files"


def split_by_bytes(items: Sequence[Item], parts: int) -> list[list[Item]]:
    """Splits objects into at most `parts` groups that take about the same time to read, in their order and without empty ones."""
    weights = [item.size + REQUEST_BYTES for item in items]
    total = sum(weights)
    groups: list[list[Item]] = [[] for _ in range(max(1, parts))]
    begun = 0
    for item, weight in zip(items, weights, strict=True):
        groups[(begun + weight // 2) * len(groups) // total].append(item)  # the middle of an object decides
        begun += weight
    return [group for group in groups if group]


def read_items(client: S3Client, items: Iterable[Item]) -> Iterator[tuple[Item, bytes]]:
    """Yields objects with their bytes, in order. Reads the next ones in advance, within ``look_ahead_bytes``, one at least.

    Raises:
        S3PreconditionFailedError: An object was replaced since it was listed.
        S3Exception: An object cannot be read.
    """
    budget = client.s3client_config._look_ahead
    limit = min(MAX_READ_AHEAD_BYTES, budget // 2)  # the next object is read while one is used
    ahead: deque[tuple[Item, ObjectSource, int]] = deque()
    held = 0

    def take() -> tuple[Item, bytes]:
        item, source, _ = ahead.popleft()
        return item, client._reader(source, None, None).read()

    for item in items:
        count = min(item.size, limit)
        while ahead and (held + count > budget or len(ahead) == MAX_OBJECTS_AHEAD):
            held -= ahead[0][2]
            yield take()
        source = ObjectSource(item.bucket, item.key)
        source.set_version(item.size, item.etag)
        if count > 0:
            source.fetch_ahead(client, count)
        ahead.append((item, source, count))
        held += count
    while ahead:
        yield take()
