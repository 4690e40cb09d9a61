"""Exceptions: one base class, one subclass per kind of failure, and the details as attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class S3Attempt(NamedTuple):
    """One attempt of a request that failed.

    Attributes:
        at: Time at which it was sent, in seconds since the epoch.
        seconds: Duration of the attempt.
        address: Server address, such as ``"192.0.2.1:443"``; empty if no connection was made.
        status: HTTP status; 0 if there was no response.
        code: S3's error code, else the kind of failure, such as ``"timeout"``.
        request_id: S3's ``x-amz-request-id``; empty if the response had none.
    """

    at: float
    seconds: float
    address: str
    status: int
    code: str
    request_id: str


class S3Exception(Exception):
    """An S3 operation failed.

    ``str()`` is one line with the failure, the operation, bucket and key, the HTTP status, S3's request id and the number of
    attempts. The same details are attributes, empty or 0 if unknown.

    Attributes:
        code: S3's error code, such as ``"NoSuchKey"``.
        status: HTTP status; 0 if there was no response.
        operation: S3 operation, such as ``"GetObject"``.
        bucket: Bucket name.
        key: Object key.
        request_id: S3's ``x-amz-request-id``.
        host_id: S3's ``x-amz-id-2``.
        region: The bucket's region, if the response named it.
        setting: Name of the setting that the error is about, such as ``"low_speed_limit"``: a field of
            :class:`S3ClientConfig`, or ``"memory_limit"`` (:func:`penstock.set_memory_limit`). Empty: none.
        attempts: Number of times the request was sent.
        attempt_history: The attempts as :class:`S3Attempt`, if there was more than one. A traceback shows the last of them as
            notes.

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
    """The credentials are valid, but access is denied."""


class S3UnauthenticatedError(S3Exception):
    """The credentials for S3 or a proxy are missing, wrong or expired, or the server's certificate could not be verified."""


class S3PreconditionFailedError(S3Exception):
    """A condition of the request did not hold. From a read: the object changed while it was being read."""


class S3NotModifiedError(S3Exception):
    """The object has not changed: `if_none_match` or `if_modified_since` did not hold.

    Attributes:
        details: Pairs with the ``ETag`` and ``Last-Modified`` of the object, if S3 sent them.
    """

    details: tuple[tuple[str, str], ...] = ()


class S3ConflictError(S3Exception):
    """The request conflicts with another operation, or the bucket already exists."""


class S3InvalidArgumentError(S3Exception, ValueError):
    """The request or the configuration is invalid. Also a ValueError.

    S3 rejected the request (``status`` is a 4xx status), or the client sent no request (``status`` is 0).
    """


class S3WrongRegionError(S3Exception):
    """The bucket is in another region, given by ``region``."""


class S3ThrottledError(S3Exception):
    """S3 throttled all attempts of the request."""


class S3UnavailableError(S3Exception):
    """The service or the network failed on all attempts."""


class S3TimeoutError(S3UnavailableError):
    """All attempts timed out."""


class S3DataLossError(S3Exception):
    """Bytes were missing, there were too many, or they did not match their checksum."""


_BY_KIND: dict[str, type[S3Exception]] = {
    "invalid_argument": S3InvalidArgumentError,
    "not_found": S3NotFoundError,
    "access_denied": S3AccessDeniedError,
    "unauthenticated": S3UnauthenticatedError,
    "not_modified": S3NotModifiedError,
    "precondition_failed": S3PreconditionFailedError,
    "conflict": S3ConflictError,
    "already_exists": S3ConflictError,
    "wrong_region": S3WrongRegionError,
    "throttled": S3ThrottledError,
    "unavailable": S3UnavailableError,
    "timeout": S3TimeoutError,
    "data_loss": S3DataLossError,
}


def count_by_type(by_kind: Mapping[str, int]) -> dict[str, int]:
    """Returns the counts by class of exception for counts by kind of error."""
    counts: dict[str, int] = {}
    for kind, count in by_kind.items():
        name = _BY_KIND.get(kind, S3Exception).__name__
        counts[name] = counts.get(name, 0) + count
    return counts


# Escapes control characters, which names and messages may contain, so that a message is one line of a log.
_ONE_LINE = {i: f"\\x{i:02x}" for i in (*range(0x20), *range(0x7F, 0xA0))} | {
    **{ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"},
    **{i: f"\\u{i:x}" for i in (0x2028, 0x2029)},
}

_MAX_NOTED_ATTEMPTS = 5

# C++ settings whose Python name differs.
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
    """Returns the reference connector's message for this kind of error, so that programs that match it keep working."""
    if kind == "not_found":
        if operation in ("HeadObject", "HeadBucket", "CopyObject"):
            return "Service error: The object was not found"
        return _NOT_FOUND_BY_CODE.get(code, f"Service error: {message}")
    if kind == "access_denied":
        return f"Client error: Forbidden: {message or '<no message>'}"
    if kind == "wrong_region":
        return f"Client error: Wrong region ({f'expecting {region}' if region else 'the response names none'})"
    if kind == "throttled":
        return "Client error: Request throttled"
    if kind == "invalid_argument":
        return _NO_ENDPOINT + message if message.startswith("Custom endpoint") else message
    if kind == "unauthenticated" and message.startswith("no credentials found"):
        return f"Client error: No signing credentials available: {message}"
    if kind == "cancelled":
        return "Client error: Request canceled"
    return f"Client error: {message}"


def _message_suffix(kind: str, headline: str, message: str, attempts: int) -> str:
    """Returns the core's message if the headline lacks it: it says what S3 may have executed, or why there was no retry."""
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
    details: Sequence[tuple[str, str]] = (),
) -> Exception:
    """Returns the exception for an error of the C++ core. Called only by the core."""
    place = f"s3://{bucket}/{key}" if bucket else ""
    facts = [" ".join(filter(None, (operation, place)))]
    named = code if code != str(status) else ""  # the core uses the status as code if the response has no body
    if named or status:
        facts.append(" ".join(filter(None, (named, f"HTTP {status}" if status else ""))))
    if request_id:
        facts.append(f"request id {request_id}")
    if attempts:
        facts.append("1 attempt" if attempts == 1 else f"{attempts} attempts")
    summary = ", ".join(filter(None, facts))
    setting = _SETTINGS.get(setting, setting)
    if setting not in message:
        message = f"{message} ({setting})"
    headline = _headline(kind, code, operation, region, message)
    text = (f"{headline} ({summary})" if summary else headline) + _message_suffix(kind, headline, message, attempts)
    exception = _BY_KIND.get(kind, S3Exception)(text.translate(_ONE_LINE))
    exception.code, exception.status, exception.operation = code, status, operation
    exception.bucket, exception.key, exception.region, exception.setting = bucket, key, region, setting
    exception.request_id, exception.host_id, exception.attempts = request_id, host_id, attempts
    if isinstance(exception, S3NotModifiedError):
        exception.details = tuple(details)
    if history:
        exception.attempt_history = tuple(S3Attempt(*facts[:6]) for facts in history)
        if hasattr(exception, "add_note"):  # Python 3.11
            for *_, line in history[-_MAX_NOTED_ATTEMPTS:]:
                exception.add_note(f"attempt: {line}".translate(_ONE_LINE))
    return exception
