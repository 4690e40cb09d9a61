"""Copies inside S3: by one request, and large objects in parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._exceptions import S3DataLossError
from ..requests._parts import HEADERS, copy_in_parts, described_attributes, tags_of
from ._plan import Entry
from ._urls import S3Url

if TYPE_CHECKING:
    from .._client import S3Client
    from ..requests import CopyResult, ObjectMetadata, PutResult

SINGLE_COPY_LIMIT = 1024**3  # larger objects are copied in parts, at a time; S3's limit for one request is 5 GiB
_REPLACED = {*HEADERS, "metadata", "expires"}


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
    ) -> CopyResult | PutResult:
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
            attributes = described_attributes(self._head(entry)) | attributes
        elif directive == "COPY":
            attributes = {name: value for name, value in attributes.items() if name not in _REPLACED}
        done = self._client.copy(
            source.bucket, source.key, target.bucket, target.key, src_version_id=entry.version_id,
            src_if_match=entry.etag if pinned else None, src_sse_customer_key=self._source_key, if_none_match=new_only,
            metadata_directive=directive or "COPY", tagging_directive="REPLACE" if "tagging" in attributes else "COPY",
            **attributes,
        )  # fmt: skip
        progress(entry.size, entry.size)
        return done

    def _head(self, entry: Entry) -> ObjectMetadata:
        assert isinstance(entry.place, S3Url)
        return self._client.head(
            entry.place.bucket, entry.place.key, version_id=entry.version_id, sse_customer_key=self._source_key
        )

    def _copy_parts(self, entry: Entry, target: S3Url, new_only: bool, progress: Callable[[int, int | None], None]) -> PutResult:
        """Copies in parts. All come from one version of the source."""
        source = entry.place
        assert isinstance(source, S3Url)
        head = self._head(entry)
        if head.size != entry.size:
            raise S3DataLossError(f"{source} was changed during the copy: it has {head.size} bytes instead of {entry.size}")
        attributes = self._attributes
        if self._directive != "REPLACE":
            kept = described_attributes(head)
            attributes = attributes | kept if self._directive == "COPY" else kept | attributes
        if "tagging" not in attributes:
            attributes = attributes | tags_of(self._client, *source, head)
        return copy_in_parts(
            self._client, source, target, head, attributes, version_id=entry.version_id, customer_key=self._source_key,
            new_only=new_only, progress=progress,
        )  # fmt: skip
