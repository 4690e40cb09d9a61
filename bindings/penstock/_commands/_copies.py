"""Copies inside S3: by one request, and large objects in parts."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from .._exceptions import S3DataLossError, S3Exception
from ._plan import Entry
from ._urls import S3Url

if TYPE_CHECKING:
    from .._client import S3Client
    from ..requests import CompletedPart, ObjectMetadata

SINGLE_COPY_LIMIT = 1024**3  # larger objects are copied in parts, at a time; S3's limit for one request is 5 GiB
PART_SIZE = 256 * 1024**2
MAX_PARTS = 10_000
PARALLEL_PARTS = 8

# Attributes that a copy with the directive REPLACE takes from its request instead of from the source.
_HEADERS = (
    "content_type", "cache_control", "content_encoding", "content_disposition", "content_language", "website_redirect_location",
)  # fmt: skip
_REPLACED = {*_HEADERS, "metadata", "expires"}


class Copied(NamedTuple):
    etag: str
    version_id: str | None


def _seconds_of(expires: str) -> float | None:
    """Parses an ``Expires`` header. Returns None if it is no date."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(expires).timestamp()
    except ValueError:
        return None


def attributes_of(head: ObjectMetadata) -> dict[str, Any]:
    """Returns the attributes of an object that a copy by CopyObject keeps, without its tags."""
    kept: dict[str, Any] = {name: value for name in _HEADERS if (value := getattr(head, name))}
    if head.metadata:
        kept["metadata"] = dict(head.metadata)
    if head.expires and (expires := _seconds_of(head.expires)) is not None:
        kept["expires"] = expires
    return kept


class Copier:
    """Copies objects inside S3. Safe from any thread.

    Args:
        attributes: Attributes of the copies: :class:`penstock.requests.ObjectOptions`.
        source_key: SSE-C key of the sources.
        directive: ``"COPY"``, ``"REPLACE"``, or None: the given attributes replace those of the source, which keeps the others.
    """

    def __init__(self, client: S3Client, attributes: dict[str, Any], source_key: bytes | None, directive: str | None) -> None:
        self._client = client
        self._attributes = attributes
        self._source_key = source_key
        self._directive = directive

    def copy(
        self, entry: Entry, target: S3Url, *, pinned: bool, new_only: bool, progress: Callable[[int, int | None], None]
    ) -> Copied:
        """Copies an object.

        Args:
            pinned: Copy only if the object still has the ETag of `entry`.
            new_only: Raise S3PreconditionFailedError if the target exists.
            progress: Called with the bytes copied.
        """
        if entry.size > SINGLE_COPY_LIMIT:
            return self._copy_parts(entry, target, new_only, progress)
        source = entry.place
        assert isinstance(source, S3Url)
        attributes, directive = self._attributes, self._directive
        if directive is None and _REPLACED & attributes.keys():
            directive = "REPLACE"
            attributes = attributes_of(self._head(entry)) | attributes
        elif directive == "COPY":
            attributes = {name: value for name, value in attributes.items() if name not in _REPLACED}
        done = self._client.copy(
            source.bucket, source.key, target.bucket, target.key, src_version_id=entry.version_id,
            src_if_match=entry.etag if pinned else None, src_sse_customer_key=self._source_key, if_none_match=new_only,
            metadata_directive=directive or "COPY", tagging_directive="REPLACE" if "tagging" in attributes else "COPY",
            **attributes,
        )  # fmt: skip
        progress(entry.size, entry.size)
        return Copied(done.etag, done.version_id)

    def _head(self, entry: Entry) -> ObjectMetadata:
        assert isinstance(entry.place, S3Url)
        return self._client.head(
            entry.place.bucket, entry.place.key, version_id=entry.version_id, sse_customer_key=self._source_key
        )

    def _copy_parts(self, entry: Entry, target: S3Url, new_only: bool, progress: Callable[[int, int | None], None]) -> Copied:
        """Copies by a multipart upload, which is aborted if it fails. All parts come from one version of the source."""
        source = entry.place
        assert isinstance(source, S3Url)
        head = self._head(entry)
        if head.size != entry.size:
            raise S3DataLossError(f"{source} was changed during the copy: it has {head.size} bytes instead of {entry.size}")
        attributes = dict(self._attributes)
        if self._directive != "REPLACE":
            kept = attributes_of(head)
            attributes = attributes | kept if self._directive == "COPY" else kept | attributes
        if head.tag_count and "tagging" not in attributes:
            attributes["tagging"] = self._client.get_object_tagging(source.bucket, source.key, version_id=entry.version_id)
        key = attributes.get("sse_customer_key")
        upload = self._client.create_multipart_upload(target.bucket, target.key, **attributes)
        try:
            parts = self._parts(entry, head.etag, target, upload, key, progress)
            done = self._client.complete_multipart_upload(
                target.bucket, target.key, upload, parts, object_size=entry.size, if_none_match=new_only, sse_customer_key=key
            )
        except BaseException:
            with contextlib.suppress(S3Exception):  # the first error is reported
                self._client.abort_multipart_upload(target.bucket, target.key, upload)
            raise
        return Copied(done.etag, done.version_id)

    def _parts(
        self,
        entry: Entry,
        etag: str,
        target: S3Url,
        upload: str,
        key: bytes | None,
        progress: Callable[[int, int | None], None],
    ) -> list[CompletedPart]:
        from concurrent.futures import ThreadPoolExecutor

        source = entry.place
        assert isinstance(source, S3Url)
        part_size = max(PART_SIZE, math.ceil(entry.size / MAX_PARTS))

        def copy(number: int) -> CompletedPart:
            begin = (number - 1) * part_size
            return self._client.upload_part_copy(
                target.bucket, target.key, upload, number, source.bucket, source.key,
                src_range=(begin, min(begin + part_size, entry.size)), src_version_id=entry.version_id, src_if_match=etag,
                src_sse_customer_key=self._source_key, sse_customer_key=key,
            )  # fmt: skip

        parts: list[CompletedPart] = []
        pool = ThreadPoolExecutor(PARALLEL_PARTS)
        try:
            for part in pool.map(copy, range(1, math.ceil(entry.size / part_size) + 1)):
                parts.append(part)
                progress(min(len(parts) * part_size, entry.size), entry.size)
        finally:
            pool.shutdown(cancel_futures=True)  # waits for the requests in progress: none creates a part after an abort
        return parts
