"""Maps errors of S3 to OSError and its subclasses; each has the S3Exception as its ``__cause__``."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from .._exceptions import (
    S3AccessDeniedError,
    S3ConflictError,
    S3Exception,
    S3InvalidArgumentError,
    S3NotFoundError,
    S3PreconditionFailedError,
    S3ThrottledError,
    S3UnauthenticatedError,
    S3UnavailableError,
)

# Errors of local files in transfers that the core does.
_LOCAL = re.compile(r"(?:Client error: |Service error: |Forbidden: )*cannot [a-z ]+ '(.*)': ([^':]+)$")
_NUMBERS = {os.strerror(number): number for number in errno.errorcode}
_CONFLICTS = {
    "BucketAlreadyExists": errno.EEXIST,
    "BucketAlreadyOwnedByYou": errno.EEXIST,
    "BucketNotEmpty": errno.ENOTEMPTY,
}


class FileChangedError(OSError):
    """The object was replaced while it was being read or appended to, or since it was listed."""


class FileUnavailableError(TimeoutError):
    """S3 throttled or failed all attempts of a request; a later retry may succeed.

    A subclass, because asyncio recreates a plain TimeoutError when it passes it between threads, without its ``__cause__``.
    """


def translated(error: S3Exception, path: str, in_place: bool = False) -> OSError:
    """Returns the OSError for an S3Exception.

    Args:
        error: The error of S3.
        path: Path for the OSError.
        in_place: Whether the file is being appended to. A conflict then means that another writer has changed it.

    Returns:
        FileNotFoundError, PermissionError or FileExistsError; a TimeoutError if a later retry may succeed; else OSError.
    """
    if not error.status and (local := _LOCAL.match(str(error))) and local[2] in _NUMBERS:
        return OSError(_NUMBERS[local[2]], f"{os.strerror(_NUMBERS[local[2]])} (local file)", local[1])
    if in_place and isinstance(error, (S3PreconditionFailedError, S3ConflictError)):
        return FileChangedError(errno.ESTALE, str(error), path)
    text = str(error)
    if isinstance(error, S3NotFoundError):
        return FileNotFoundError(errno.ENOENT, text, path)
    if isinstance(error, (S3AccessDeniedError, S3UnauthenticatedError)):
        return PermissionError(errno.EACCES, text, path)
    if isinstance(error, S3PreconditionFailedError):
        if error.operation in ("PutObject", "CompleteMultipartUpload"):
            return FileExistsError(errno.EEXIST, text, path)
        return FileChangedError(errno.ESTALE, text, path)
    if isinstance(error, (S3ThrottledError, S3UnavailableError)):
        return FileUnavailableError(errno.ETIMEDOUT, text, path)
    if isinstance(error, S3ConflictError):
        return OSError(_CONFLICTS.get(error.code, errno.EBUSY), text, path)
    if isinstance(error, S3InvalidArgumentError):
        return OSError(errno.EINVAL, text, path)
    return OSError(errno.EIO, text, path)


@contextmanager
def mapped(path: str, in_place: bool = False) -> Iterator[None]:
    """A context manager that converts an S3Exception by :func:`translated`."""
    try:
        yield
    except S3Exception as error:
        raise translated(error, path, in_place) from error
