"""Downloads of small objects, one request each and many at a time, without a thread per file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._exceptions import S3ConflictError, S3DataLossError, S3PreconditionFailedError
from ._plan import Transfer
from ._resumable_common import Progress
from ._urls import S3Url

if TYPE_CHECKING:
    from .._client import S3Client
    from ._transfers import Settings

LIMIT = 8 * 1024**2  # larger objects are downloaded in parts
QUEUE = 1000  # files that are queued or whose results were not taken


class Ended(NamedTuple):
    """The result of a download.

    Attributes:
        transfer: What was to be downloaded.
        error: Why it failed; None: it is complete.
        etag: ETag of the object.
        version_id: Version of the object.
    """

    transfer: Transfer
    error: Exception | None
    etag: str
    version_id: str

    @property
    def needs_own_download(self) -> bool:
        """Whether the object or the target is not as it was when the listing was read, or the object arrived damaged.

        A service that does not know If-Match sends the new object, which is taken for damaged.
        """
        return isinstance(self.error, (S3PreconditionFailedError, S3DataLossError, S3ConflictError))

    def result(self, progress: Progress) -> dict[str, Any]:
        """Returns facts for the report, or raises the error."""
        del progress
        if self.error is not None:
            raise self.error
        return {"size": self.transfer.entry.size, "etag": self.etag, "version_id": self.version_id or None}


class SmallDownloads:
    """The small downloads of a command. For one thread.

    Args:
        client: Sends the requests.
        parallel: Requests at a time.
        settings: Of the transfers of the command.
    """

    def __init__(self, client: S3Client, parallel: int, settings: Settings) -> None:
        self._client = client
        self._parallel = parallel
        self._settings = settings
        self._limit = min(LIMIT, client.part_size or LIMIT)
        self._core: _core.BulkDownload | None = None
        self._added = 0
        self._transfers: dict[int, Transfer] = {}  # by number, until the result was taken
        self._results: list[tuple[int, Exception | None, str, str]] = []

    def takes(self, transfer: Transfer) -> bool:
        """Whether a transfer is a small download of an object as a listing has it."""
        entry = transfer.entry
        return (
            entry.size <= self._limit
            and isinstance(entry.place, S3Url)
            and isinstance(transfer.target, str)
            and transfer.compare is None
            and entry.version_id is None
            and bool(entry.etag)
            and not entry.is_marker
        )

    def add(self, transfer: Transfer) -> None:
        """Starts a download, soon. Its folder must exist."""
        if self._core is None:
            self._core = _core.BulkDownload(
                self._client.core, self._parallel, self._settings.sse_customer_key, sync=self._settings.sync,
                replace=self._settings.overwrite,
            )  # fmt: skip
        source, target, etag = transfer.entry.place, transfer.target, transfer.entry.etag
        assert isinstance(source, S3Url)
        assert isinstance(target, str)
        assert etag is not None
        self._transfers[self._added] = transfer
        self._added += 1  # the core numbers them in the same way
        self._core.add(source.bucket, source.key, transfer.entry.size, etag, target)

    @property
    def pending(self) -> int:
        """Downloads whose results were not taken."""
        return len(self._transfers)

    def set_parallel(self, parallel: int) -> None:
        """Changes the number of requests at a time."""
        if self._core is not None and parallel != self._parallel:
            self._parallel = parallel
            self._core.set_parallel(parallel)

    def take(self, *, wait: bool) -> Iterator[Ended]:
        """Yields results that were not taken yet. With `wait`, waits for some if any are pending.

        A signal handler may raise at any point: what was not yielded is yielded by a later call.
        """
        if self._core is not None:
            (self._core.take if wait and not self._results else self._core.take_ready)(self._results)
        while self._results:
            number, error, etag, version_id = self._results.pop(0)
            yield Ended(self._transfers.pop(number), error, etag, version_id)

    def close(self) -> Iterator[Ended]:
        """Cancels what is left, and waits for its end. Yields the results that were not taken."""
        if self._core is not None:
            self._core.cancel()
            while self._core.pending:
                self._core.take(self._results)
            yield from self.take(wait=False)
            self._core = None


__all__ = ["QUEUE", "Ended", "SmallDownloads"]
