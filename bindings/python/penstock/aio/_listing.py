"""Listings, page by page, with one page fetched ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._objects import ListObjectResult
from .._versions import AdvanceCheck, ListObjectVersionsResult, next_markers, version_page
from ._loop import abandon

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import AsyncIterator

    from .._objects import ObjectInfo
    from ._session import AsyncSession

Page = TypeVar("Page", bound="tuple[Any, ...]")


class _Pages(Generic[Page]):
    """Requests the next page while the caller uses the last one.

    Attributes:
        complete: Whether the last page has been returned.
    """

    _operation: str

    def __init__(self, session: AsyncSession, bucket: str, prefix: str, delimiter: str, max_keys: int) -> None:
        self.bucket = bucket
        self.prefix = prefix
        self.complete = False
        self._session = session
        self._arguments: dict[str, Any] = {"bucket": bucket, "prefix": prefix, "delimiter": delimiter, "max_keys": max_keys}
        self._next: Future[Any] | None = None
        self._advance = AdvanceCheck(f"the listing of s3://{bucket}/{prefix}")

    def __aiter__(self) -> AsyncIterator[Page]:
        return self

    async def __anext__(self) -> Page:
        if self.complete:
            raise StopAsyncIteration
        future, self._next = self._next or self._request(), None
        page, continuation = self._convert(await future)
        last = not any(continuation.values())
        if not last:
            self._advance.check(tuple(continuation.values()), empty=not any(page))
        self._arguments.update(continuation)
        self.complete = last
        if not self.complete:
            self._next = self._request()
        return page

    def _request(self) -> Future[Any]:
        return self._session._call(self._operation, **self._arguments)

    def _convert(self, values: tuple[Any, ...]) -> tuple[Page, dict[str, str]]:
        """Returns the page, and the arguments of the request for the next one; empty values: this is the last one."""
        raise NotImplementedError

    def __del__(self) -> None:
        future = getattr(self, "_next", None)
        if future is not None:
            abandon(future)


class ObjectPages(_Pages[ListObjectResult]):
    """Asynchronous iterator over the pages of a listing. Comes from :meth:`S3Client.list_objects`."""

    _operation = "list_objects"

    async def objects(self) -> AsyncIterator[ObjectInfo]:
        """Iterates over the objects of the pages."""
        async for page in self:
            for info in page.object_info:
                yield info

    def _convert(self, values: tuple[Any, ...]) -> tuple[ListObjectResult, dict[str, str]]:
        objects, prefixes, token = values
        return ListObjectResult(objects, prefixes), {"continuation_token": token}


class VersionPages(_Pages[ListObjectVersionsResult]):
    """Asynchronous iterator over the pages of a listing of versions. Comes from :meth:`S3Client.list_object_versions`."""

    _operation = "list_object_versions"

    def _convert(self, values: tuple[Any, ...]) -> tuple[ListObjectVersionsResult, dict[str, str]]:
        versions, prefixes, *markers = values
        last = (self._arguments.get("key_marker", ""), self._arguments.get("version_id_marker", ""))
        key, version = next_markers(self.bucket, self.prefix, last, (markers[0], markers[1]))
        return version_page(versions, prefixes), {"key_marker": key, "version_id_marker": version if key else ""}
