"""Exceptions: one base class, sub-classes by what the caller may do, and the facts as attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class S3Attempt(NamedTuple):
    """One sending of a request that failed.

    Attributes:
        at: When it was sent, in seconds since 1970.
        seconds: How long it took.
        address: Where it went, such as ``"192.0.2.1:443"``; empty: no connection was made.
        status: HTTP status; 0 when there was no response.
        code: S3's error code, else the kind of failure, such as ``"timeout"``.
        request_id: S3's ``x-amz-request-id``, where there was one.
    """

    at: float
    seconds: float
    address: str
    status: int
    code: str
    request_id: str


class S3Exception(Exception):
    """An S3 operation failed.

    ``str()`` is one line that names the failure, the operation, bucket and key, the HTTP status, S3's request id and the
    number of attempts. The same facts are attributes, empty or 0 where unknown.

    Attributes:
        code: S3's error code, such as ``"NoSuchKey"``.
        status: HTTP status; 0 when there was no response.
        operation: S3 operation, such as ``"GetObject"``.
        bucket: Bucket name.
        key: Object key.
        request_id: S3's ``x-amz-request-id``.
        host_id: S3's ``x-amz-id-2``.
        region: The bucket's region, where S3 named it.
        setting: Name of the setting that the error is about, such as ``"low_speed_limit"``; empty: none. A field
            of :class:`S3ClientConfig`, or ``"memory_limit"`` (:func:`penstock.set_memory_limit`).
        attempts: How often the request was sent.
        attempt_history: Those attempts as :class:`S3Attempt`, where the request was sent more than once. A traceback shows
            the last of them as notes.

    Source: ``s3torchconnector.S3Exception``.
    """

    code: str = ""
    status: int = 0
    operation: str = ""
    bucket: str = ""
    key: str = ""
    request_id: str = ""
    host_id: str = ""
    region: str = ""
    setting: str = ""
    attempts: int = 0
    attempt_history: tuple[S3Attempt, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self.args, self.__dict__)


class S3NotFoundError(S3Exception):
    """The bucket, key, version or upload does not exist."""


class S3AccessDeniedError(S3Exception):
    """The identity is valid but may not do this."""


class S3UnauthenticatedError(S3Exception):
    """No, wrong or expired credentials, or a server certificate that could not be verified."""


class S3PreconditionFailedError(S3Exception):
    """A condition did not hold; reading: the object changed while it was being read."""


class S3ConflictError(S3Exception):
    """Another operation is in the way, or the bucket already exists."""


class S3InvalidArgumentError(S3Exception, ValueError):
    """The request or the configuration cannot work as it is: S3 refused it (``status`` is 400 or thereabouts), or nothing was
    sent (``status`` is 0). Also a ValueError."""


class S3WrongRegionError(S3Exception):
    """The bucket lies in another region, named by ``region``."""


class S3ThrottledError(S3Exception):
    """S3 asked to slow down until all attempts were used up."""


class S3UnavailableError(S3Exception):
    """The service or the way to it failed until all attempts were used up."""


class S3TimeoutError(S3UnavailableError):
    """No answer in time, until all attempts were used up."""


class S3DataLossError(S3Exception):
    """Bytes were missing, too many, or did not match their checksum."""


_BY_KIND: dict[str, type[S3Exception]] = {
    "invalid_argument": S3InvalidArgumentError,
    "not_found": S3NotFoundError,
    "access_denied": S3AccessDeniedError,
    "unauthenticated": S3UnauthenticatedError,
    "precondition_failed": S3PreconditionFailedError,
    "conflict": S3ConflictError,
    "already_exists": S3ConflictError,
    "wrong_region": S3WrongRegionError,
    "throttled": S3ThrottledError,
    "unavailable": S3UnavailableError,
    "timeout": S3TimeoutError,
    "data_loss": S3DataLossError,
}

# Names and messages may hold anything; a line of a log is one line.
_ONE_LINE = {i: f"\\x{i:02x}" for i in (*range(0x20), *range(0x7F, 0xA0))} | {
    **{ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"},
    **{i: f"\\u{i:x}" for i in (0x2028, 0x2029)},
}

_NOTED_ATTEMPTS = 5

# Settings whose name differs from the one in C++.
_SETTINGS = {
    "low_speed_bytes_per_second": "low_speed_limit",
    "low_speed_time": "low_speed_limit",
    "part_size_bytes": "part_size",
}

_NOT_FOUND_BY_CODE = {
    "NoSuchKey": "Service error: The key does not exist",
    "NoSuchBucket": "Service error: The bucket does not exist",
}

_NO_ENDPOINT = "Client error: Failed to construct request: Invalid S3 endpoint: endpoint could not be resolved: "


def _headline(kind: str, code: str, operation: str, region: str, message: str) -> str:
    """The reference connector's wording where it has one, so that programs that match on it keep working."""
    if kind == "not_found":
        if operation in ("HeadObject", "HeadBucket", "CopyObject"):
            return "Service error: The object was not found"
        return _NOT_FOUND_BY_CODE.get(code, f"Service error: {message}")
    if kind == "access_denied":
        return f"Client error: Forbidden: {message or '<no message>'}"
    if kind == "wrong_region":
        return f"Client error: Wrong region ({f'expecting {region}' if region else 'the answer names none'})"
    if kind == "throttled":
        return "Client error: Request throttled"
    if kind == "invalid_argument":
        return _NO_ENDPOINT + message if message.startswith("Custom endpoint") else message
    if kind == "unauthenticated" and message.startswith("no credentials found"):
        return f"Client error: No signing credentials available: {message}"
    if kind == "cancelled":
        return "Client error: Request canceled"
    return f"Client error: {message}"


def _told_behind(kind: str, headline: str, message: str, attempts: int) -> str:
    """The core's own words where the headline has none of them: what may have been carried out, or why nobody tried again."""
    if message in headline or not (attempts > 1 or kind in ("throttled", "wrong_region")):
        return ""
    return f": {message}"


def from_error(
    *,
    kind: str,
    message: str,
    code: str,
    status: int,
    request_id: str,
    host_id: str,
    operation: str,
    bucket: str,
    key: str,
    region: str,
    attempts: int,
    setting: str = "",
    history: Sequence[tuple[float, float, str, int, str, str, str]] = (),
) -> Exception:
    """The exception for an error of the C++ core. Called by it, and by nothing else."""
    place = f"s3://{bucket}/{key}" if bucket else ""
    facts = [" ".join(filter(None, (operation, place)))]
    named = code if code != str(status) else ""  # an answer without a body has only its status
    if named or status:
        facts.append(" ".join(filter(None, (named, f"HTTP {status}" if status else ""))))
    if request_id:
        facts.append(f"request id {request_id}")
    if attempts:
        facts.append("1 attempt" if attempts == 1 else f"{attempts} attempts")
    details = ", ".join(filter(None, facts))
    setting = _SETTINGS.get(setting, setting)
    if setting not in message:
        message = f"{message} ({setting})"
    headline = _headline(kind, code, operation, region, message)
    text = (f"{headline} ({details})" if details else headline) + _told_behind(kind, headline, message, attempts)
    exception = _BY_KIND.get(kind, S3Exception)(text.translate(_ONE_LINE))
    exception.code, exception.status, exception.operation = code, status, operation
    exception.bucket, exception.key, exception.region, exception.setting = bucket, key, region, setting
    exception.request_id, exception.host_id, exception.attempts = request_id, host_id, attempts
    if history:
        exception.attempt_history = tuple(S3Attempt(*facts[:6]) for facts in history)
        if hasattr(exception, "add_note"):  # Python 3.11
            for *_, line in history[-_NOTED_ATTEMPTS:]:
                exception.add_note(f"attempt: {line}".translate(_ONE_LINE))
    return exception
