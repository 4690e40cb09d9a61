"""What a client can do in directory buckets only (S3 Express One Zone)."""

from __future__ import annotations

import logging
from types import NoneType

from . import _core
from ._append import DEFAULT_BUFFER_SIZE, S3AppendWriter
from ._config import check_type
from ._objects import checked_etag
from ._session import Session

log = logging.getLogger(__name__)


# The clock of the core counts nanoseconds in 64 bits.
_LATEST = (2**63 - 1) // 10**9


def _seconds(name: str, value: float | None) -> int | None:
    check_type(name, value, (int, float, NoneType))
    if value is None:
        return None
    if not 0 <= value <= _LATEST:  # nan is not within either
        raise ValueError(f"{name} is {value!r}; it takes seconds since the epoch, 0 to {_LATEST} (in the year 2262)")
    return int(value)


def _conditions(
    prefix: str, if_match: str | None, if_none_match: str | None, modified: float | None, unmodified: float | None
) -> tuple[str | None, str | None, int | None, int | None]:
    """As the core takes them; ETags with their quotes or without. `prefix`: of the parameters' names."""
    return (
        checked_etag(f"{prefix}if_match", if_match),
        checked_etag(f"{prefix}if_none_match", if_none_match),
        _seconds(f"{prefix}if_modified_since", modified),
        _seconds(f"{prefix}if_unmodified_since", unmodified),
    )


class DirectoryBuckets(Session):
    """The part of S3Client that is about directory buckets."""

    def rename_object(
        self,
        bucket: str,
        source: str,
        destination: str,
        *,
        if_match: str | None = None,
        if_none_match: str | None = None,
        if_modified_since: float | None = None,
        if_unmodified_since: float | None = None,
        source_if_match: str | None = None,
        source_if_none_match: str | None = None,
        source_if_modified_since: float | None = None,
        source_if_unmodified_since: float | None = None,
        client_token: str | None = None,
    ) -> None:
        """Gives an object of a directory bucket another key, at once and without a copy.

        An object that has that key is replaced. When an answer is lost and the request is sent again, it is still one rename.

        Args:
            destination: The new key; must not end in ``/``.
            if_match: Only over an object with this ETag. This and the next three are about what has the new key.
            if_none_match: Only where no object has this ETag; ``"*"``: only where no object has that key.
            if_modified_since: Seconds since the epoch, 0 to 9223372036, as the next; fractions are cut off.
            source_if_match: Only the version with this ETag. This and the next three are about the object to rename.
            client_token: 1 to 64 printable ASCII characters that stand for this rename; None: one of its own.

        Raises:
            ValueError: A time is out of its range.
            S3PreconditionFailedError: A condition did not hold; nothing has changed.
            S3NotFoundError: There is no source.
            S3Exception: A general purpose bucket, which knows no renames.
        """
        log.debug("RenameObject s3://%s/%s to %s", bucket, source, destination)
        self.core.rename_object(
            bucket,
            source,
            destination,
            of_source=_conditions(
                "source_", source_if_match, source_if_none_match, source_if_modified_since, source_if_unmodified_since
            ),
            of_destination=_conditions("", if_match, if_none_match, if_modified_since, if_unmodified_since),
            client_token=client_token or "",
        )

    def append_object(self, bucket: str, key: str, *, buffer_size: int = DEFAULT_BUFFER_SIZE) -> S3AppendWriter:
        """A writer that appends to an object of a directory bucket; where there is none, the first append makes it.

        One HEAD now, and one request for each `buffer_size` bytes, ``flush`` and ``close``; where an answer is lost, one or
        two more that look at the object.

        Args:
            buffer_size: Bytes that are gathered before they are appended, 1 or more.

        Raises:
            ValueError: buffer_size is below 1.
            S3Exception: A general purpose bucket, or S3 does not say what is there.
        """
        log.debug("append to s3://%s/%s", bucket, key)
        check_type("buffer_size", buffer_size, (int,))
        if buffer_size < 1:
            raise ValueError(f"buffer_size is {buffer_size}; it takes 1 byte or more")
        return S3AppendWriter(_core.AppendWriter(self.core, bucket, key), buffer_size)

    def list_directory_buckets(self) -> list[str]:
        """Names of the account's directory buckets in the client's region."""
        return [name for name, _ in self.core.list_directory_buckets()]
