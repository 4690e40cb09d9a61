"""Client operations that exist only in directory buckets (S3 Express One Zone)."""

from __future__ import annotations

from types import NoneType

from . import _core
from ._append import DEFAULT_BUFFER_SIZE, S3AppendWriter
from ._config import check_type, size_of
from ._logs import Logger
from ._objects import checked_etag
from ._session import Session

log = Logger(__name__)


# The core keeps times as nanoseconds in 64 bits.
_MAX_TIME_S = (2**63 - 1) // 10**9


def _seconds(name: str, value: float | None) -> int | None:
    check_type(name, value, (int, float, NoneType))
    if value is None:
        return None
    if not 0 <= value <= _MAX_TIME_S:  # also true for nan
        raise ValueError(f"{name} must be seconds since the epoch, 0 to {_MAX_TIME_S} (in the year 2262), not {value!r}")
    return int(value)


def _conditions(
    prefix: str, if_match: str | None, if_none_match: str | None, modified: float | None, unmodified: float | None
) -> tuple[str | None, str | None, int | None, int | None]:
    """Checks conditions and converts them for the core. ETags may be quoted. Errors add `prefix` to the parameter names."""
    return (
        checked_etag(f"{prefix}if_match", if_match),
        checked_etag(f"{prefix}if_none_match", if_none_match),
        _seconds(f"{prefix}if_modified_since", modified),
        _seconds(f"{prefix}if_unmodified_since", unmodified),
    )


class DirectoryBuckets(Session):
    """Base class of S3Client with the operations on directory buckets."""

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
        """Renames an object of a directory bucket atomically, without copying it.

        An existing object with the new key is replaced. A retry after a lost response does not rename twice.

        Args:
            source: The key of the object to rename.
            destination: The new key; must not end in ``/``.
            if_match: Rename only if the object at `destination` has this ETag.
            if_none_match: Rename only if no object at `destination` has this ETag; ``"*"``: only if there is no object.
            if_modified_since: Rename only if the object at `destination` was modified after this time. All times are seconds
                since the epoch, 0 to 9223372036; fractions are cut off.
            if_unmodified_since: Rename only if the object at `destination` was not modified after this time, in seconds.
            source_if_match: As `if_match`, for the object at `source`.
            source_if_none_match: As `if_none_match`, for the object at `source`.
            source_if_modified_since: As `if_modified_since`, for the object at `source`.
            source_if_unmodified_since: As `if_unmodified_since`, for the object at `source`.
            client_token: 1 to 64 printable ASCII characters that identify this rename; None: a generated token.

        Raises:
            ValueError: A time is out of range.
            S3PreconditionFailedError: A condition did not hold. Nothing was changed.
            S3NotFoundError: There is no object at `source`.
            S3Exception: `bucket` is a general purpose bucket, which does not support renames.
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

    def append_object(self, bucket: str, key: str, *, buffer_size: int | str = DEFAULT_BUFFER_SIZE) -> S3AppendWriter:
        """Returns a writer that appends to an object of a directory bucket. The first append creates a missing object.

        Sends one HEAD request now. The writer then sends one request for each `buffer_size` bytes, ``flush`` and ``close``, and
        after a lost response one or two more to check the object.

        Args:
            buffer_size: Bytes to buffer before each append, 1 or more, or a text such as ``"1MiB"``.

        Raises:
            ValueError: `buffer_size` is less than 1.
            S3Exception: `bucket` is a general purpose bucket, or the HEAD request failed.
        """
        log.debug("append to s3://%s/%s", bucket, key)
        check_type("buffer_size", buffer_size, (int, str))
        size = size_of("buffer_size", buffer_size)
        if size < 1:
            raise ValueError(f"buffer_size must be 1 byte or more, not {buffer_size}")
        return S3AppendWriter(_core.AppendWriter(self.core, bucket, key), size)

    def list_directory_buckets(self) -> list[str]:
        """Returns the names of the account's directory buckets in the client's region."""
        return [name for name, _ in self.core.list_directory_buckets()]
