"""What observers and retry policies receive."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ._exceptions import S3Exception


class RequestEvent(NamedTuple):
    """One attempt of a request that has ended. An observer (:attr:`S3ClientConfig.observer`) receives it.

    Attributes:
        operation: S3 operation, such as ``"GetObject"``.
        bucket: Bucket name.
        key: Object key; empty if the operation has none.
        attempt: Number of the attempt of its call, from 1.
        status: HTTP status; None: no response.
        code: Error code of S3, or the kind of failure; None: the attempt succeeded.
        request_id: S3's ``x-amz-request-id``; None: no response, or a server without request ids.
        started: Time at which the attempt began, in seconds since the epoch.
        first_byte_seconds: Time to the first byte of the response; None: no byte arrived.
        seconds: Duration of the attempt.
        bytes_sent: Bytes of the request's body that were sent.
        bytes_received: Bytes of the response's body that were received.
        connection_reused: The connection had served another request before.
    """

    operation: str
    bucket: str
    key: str
    attempt: int
    status: int | None
    code: str | None
    request_id: str | None
    started: float
    first_byte_seconds: float | None
    seconds: float
    bytes_sent: int
    bytes_received: int
    connection_reused: bool


class RetryQuestion(NamedTuple):
    """A failed attempt about which a retry policy (:attr:`S3ClientConfig.retry_policy`) decides.

    Attributes:
        operation: S3 operation, such as ``"GetObject"``.
        bucket: Bucket name.
        key: Object key; empty if the operation has none.
        attempt: How often the request has been sent, from 1.
        error: The exception that the call raises if there is no further attempt.
        retried_by_default: What the retry mode decided.
    """

    operation: str
    bucket: str
    key: str
    attempt: int
    error: S3Exception
    retried_by_default: bool


Observer = Callable[[RequestEvent], object]
RetryPolicy = Callable[[RetryQuestion], bool | None]
