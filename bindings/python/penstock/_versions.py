"""Versions of objects: listing, restoring and undeleting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ._exceptions import S3DataLossError, S3InvalidArgumentError, S3NotFoundError
from ._logs import Logger

if TYPE_CHECKING:
    from . import _core
    from ._session import Session
    from .requests._requests import Requests

log = Logger(__name__)

NULL_VERSION = "null"  # version id of objects written without versioning
MAX_NAMED = 5  # versions listed in an error message
MAX_EMPTY_PAGES = 10_000  # in succession. S3 may return empty pages, for example while it skips deleted keys


class ObjectVersion(NamedTuple):
    """One version of an object, or a delete marker, whose `size` is 0 and `etag` empty.

    `size` in bytes, `last_modified` in seconds since the epoch, `etag` in quotes.
    """

    key: str
    version_id: str
    is_latest: bool
    is_delete_marker: bool
    size: int
    etag: str
    last_modified: float
    storage_class: str | None = None


class ListObjectVersionsResult(NamedTuple):
    """One page of a listing of versions."""

    versions: list[ObjectVersion]
    common_prefixes: list[str]


def is_directory_bucket(bucket: str) -> bool:
    """Whether `bucket` is the name of a directory bucket (S3 Express One Zone)."""
    return isinstance(bucket, str) and bucket.endswith(("--x-s3", "--xa-s3"))


def refuse_directory_bucket(bucket: str) -> None:
    """Raises S3InvalidArgumentError, also a ValueError, if `bucket` is a directory bucket, which has no versions."""
    if is_directory_bucket(bucket):
        raise S3InvalidArgumentError(
            f"{bucket!r} is a directory bucket, where versioning does not exist; use a different key for each checkpoint,"
            " or a general purpose bucket with versioning enabled"
        )


def checked_version(bucket: str, version_id: str | None) -> str:
    """Checks a version id and returns it as the core expects it: empty for None."""
    if version_id is None:
        return ""
    if not isinstance(version_id, str):
        raise TypeError(f"version_id must be str or None, not {type(version_id).__name__}")
    if not version_id:
        raise S3InvalidArgumentError("version_id is ''; give an id from list_object_versions, or None for the current version")
    if version_id != NULL_VERSION:
        refuse_directory_bucket(bucket)
    return version_id


class AdvanceCheck:
    """Refuses a listing whose tokens repeat, and one with too many pages without entries in succession.

    For listings that Python follows page by page. C++'s ``Lister`` has the same rules.

    Args:
        listing: What is listed, for the error.
    """

    def __init__(self, listing: str) -> None:
        self._listing = listing
        self._empty = 0
        self._pages = 0
        self._last: object = None
        self._kept: object = None  # the token after 1, 2, 4, 8, ... pages: finds a cycle of any length (Brent, 1980)
        self._next_kept = 1

    def check(self, token: object, *, empty: bool) -> None:
        """Checks a page that is not the last one.

        Args:
            token: Names the next page.
            empty: Whether this page has no entries.

        Raises:
            S3DataLossError: The listing does not advance. A later call may check the same page again.
        """
        if token in (self._last, self._kept):
            shown = ", ".join(map(repr, token)) if isinstance(token, tuple) else repr(token)
            raise S3DataLossError(f"{self._listing} does not advance: the service returned the same token twice, {shown}")
        if empty and self._empty + 1 >= MAX_EMPTY_PAGES:
            raise S3DataLossError(
                f"{self._listing} does not advance: the service returned {MAX_EMPTY_PAGES} pages in succession without entries,"
                " which is the limit of this client; list longer prefixes one by one"
            )
        self._empty = self._empty + 1 if empty else 0
        self._pages += 1
        self._last = token
        if self._pages == self._next_kept:
            self._kept, self._next_kept = token, 2 * self._next_kept


class ListObjectVersionsStream:
    """Iterator over the pages of a listing of versions. Sends one request per page.

    Attributes:
        complete: Whether the last page has been returned.
    """

    def __init__(self, client: _core.Client, bucket: str, prefix: str, delimiter: str, max_keys: int) -> None:
        self.bucket = bucket
        self.prefix = prefix
        self.delimiter = delimiter
        self.max_keys = max_keys
        self.complete = False
        self._client = client
        self._markers = ("", "")
        self._advance = AdvanceCheck(f"the listing of versions of s3://{bucket}/{prefix}")

    def __iter__(self) -> Iterator[ListObjectVersionsResult]:
        return self

    def __next__(self) -> ListObjectVersionsResult:
        if self.complete:
            raise StopIteration
        versions, prefixes, *markers = self._client.list_object_versions(
            self.bucket, self.prefix, self.delimiter, self.max_keys, *self._markers
        )
        following = next_markers(self.bucket, self.prefix, self._markers, (markers[0], markers[1]))
        if markers[0]:
            self._advance.check(following, empty=not versions and not prefixes)
        self._markers = following
        self.complete = not markers[0]
        return version_page(versions, prefixes)


def version_page(versions: Iterable[tuple[Any, ...]], prefixes: list[str]) -> ListObjectVersionsResult:
    """Returns a page from the values of the core."""
    found = [
        ObjectVersion(key, version, latest, deleted, size, f'"{etag}"' if etag else "", modified, storage_class or "STANDARD")
        if not deleted
        else ObjectVersion(key, version, latest, deleted, 0, "", modified)
        for key, version, latest, deleted, size, etag, modified, storage_class in versions
    ]
    return ListObjectVersionsResult(found, prefixes)


def next_markers(bucket: str, prefix: str, last: tuple[str, str], markers: tuple[str, str]) -> tuple[str, str]:
    """Checks and returns the markers of the next page. S3 lists keys in ascending order, so key markers never decrease."""
    if markers[0] and (markers == last or _utf8(markers[0]) < _utf8(last[0])):
        raise S3DataLossError(
            f"the listing of versions of s3://{bucket}/{prefix} does not advance:"
            f" the key marker {markers[0]!r} follows {last[0]!r}"
        )
    return markers


def _utf8(key: str) -> bytes:
    """Returns the bytes of a key, by which S3 sorts."""
    return key.encode("utf-8", "surrogateescape")


def versions_of(session: Session, bucket: str, key: str) -> list[ObjectVersion]:
    """Returns all versions of one key, newest first."""
    if not key:
        raise S3InvalidArgumentError(f"s3://{bucket}/ names a bucket; versions belong to an object: write s3://{bucket}/KEY")
    found: list[ObjectVersion] = []
    log.debug("ListObjectVersions s3://%s/%s", bucket, key)
    refuse_directory_bucket(bucket)
    for page in ListObjectVersionsStream(session.core, bucket, key, "", 1000):
        found += [version for version in page.versions if version.key == key]
        if page.versions and page.versions[-1].key != key:  # `key` is the first of all keys with this prefix
            break
    return found


def no_such(bucket: str, key: str, version_id: str, versions: list[ObjectVersion]) -> S3NotFoundError:
    """Returns the error for a version that does not exist; it lists the newest existing versions."""
    place = f"s3://{bucket}/{key}"
    if not versions:
        text = f"{place} has no versions, so {version_id!r} cannot be restored; check the key"
    elif all(version.version_id == NULL_VERSION for version in versions):
        text = (
            f"{place} has no version {version_id!r}: its only version is 'null', since the bucket has no versioning;"
            " enable versioning on the bucket to keep overwritten objects"
        )
    else:
        some = [version.version_id for version in versions if not version.is_delete_marker][:MAX_NAMED]
        text = f"{place} has no version {version_id!r}; its newest versions: {', '.join(some) or 'only delete markers'}"
    error = S3NotFoundError(text)
    error.code, error.bucket, error.key = "NoSuchVersion", bucket, key
    return error


def restore(session: Requests, bucket: str, key: str, version_id: str) -> ObjectVersion:
    """See S3Checkpoint.restore."""
    refuse_directory_bucket(bucket)
    checked_version(bucket, version_id)
    versions = versions_of(session, bucket, key)
    wanted = next((version for version in versions if version.version_id == version_id), None)
    if wanted is None:
        raise no_such(bucket, key, version_id, versions)
    if wanted.is_delete_marker:
        raise S3InvalidArgumentError(
            f"version {version_id!r} of s3://{bucket}/{key} is a delete marker, which has no content to restore;"
            " undelete() removes the delete markers above the newest version"
        )
    if wanted.is_latest:
        return wanted
    copy_version(session, bucket, wanted)
    return versions_of(session, bucket, key)[0]


def copy_version(session: Requests, bucket: str, version: ObjectVersion) -> None:
    """Copies a version over the current one of its key."""
    log.info("Restoring version %s of s3://%s/%s, %d bytes", version.version_id, bucket, version.key, version.size)
    from .requests import _parts

    if version.size <= _parts.MAX_COPY_BYTES:
        session.core.copy_object(bucket, version.key, bucket, version.key, version.version_id)
        return
    place, number = (bucket, version.key), version.version_id
    head = session.head(*place, version_id=number)
    _parts.copy_in_parts(session, place, place, head, _parts.copied_attributes(session, *place, head), version_id=number)


def undelete(session: Session, bucket: str, key: str) -> int:
    """See S3Checkpoint.undelete."""
    versions = versions_of(session, bucket, key)
    on_top = 0
    while on_top < len(versions) and versions[on_top].is_delete_marker:
        on_top += 1
    if on_top == len(versions):
        error = S3NotFoundError(
            f"s3://{bucket}/{key} cannot be undeleted: no version of it is left"
            + ("" if versions else "; check the key. In a bucket without versioning, deleted objects are lost")
        )
        error.code, error.bucket, error.key = "NoSuchKey", bucket, key
        raise error
    for marker in versions[:on_top]:
        log.debug("DeleteObject s3://%s/%s, version %s", bucket, key, marker.version_id)
        session.core.delete_object(bucket, key, marker.version_id)
    return on_top
