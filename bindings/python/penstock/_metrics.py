"""The type of :meth:`S3Client.metrics`."""

from __future__ import annotations

from typing import TypedDict


class TimeDistribution(TypedDict):
    """A distribution of times, in seconds.

    Attributes:
        count: Number of times.
        sum: Their exact sum.
        p50: The median, accurate to 12.5 %, as the other quantiles.
        p90: The 90th percentile.
        p99: The 99th percentile.
        buckets: ``(begin, end, count)`` of each bucket that is not empty, ascending; a bucket has the times in ``[begin, end)``.
    """

    count: int
    sum: float
    p50: float
    p90: float
    p99: float
    buckets: list[tuple[float, float, int]]


class OperationMetrics(TypedDict):
    """The attempts of one S3 operation.

    Attributes:
        requests: Attempts.
        first_byte: From sending, connecting included, to the first byte of the response.
        duration: Of whole attempts, failed attempts included.
    """

    requests: int
    first_byte: TimeDistribution
    duration: TimeDistribution


class ConnectionMetrics(TypedDict):
    """Requests by connection.

    Attributes:
        opened: Requests that opened a connection.
        reused: Requests on a connection that had served another one.
    """

    opened: int
    reused: int


class CacheMetrics(TypedDict):
    """Reads through the node cache (:attr:`S3ClientConfig.cache`).

    Attributes:
        hits: Blocks that reads took from the cache.
        hit_bytes: Their bytes.
        misses: Blocks that were downloaded for the cache.
        miss_bytes: Their bytes.
    """

    hits: int
    hit_bytes: int
    misses: int
    miss_bytes: int


class MemoryMetrics(TypedDict):
    """Memory for blocks and parts in transfer, of all clients of the process.

    Attributes:
        held: Bytes in use.
        limit: The limit (:func:`set_memory_limit`).
    """

    held: int
    limit: int


class ClientMetrics(TypedDict):
    """A snapshot of :meth:`S3Client.metrics`. All counters count from the creation of the client.

    It consists of dicts, lists, texts and numbers, so that ``json.dumps`` accepts it. Later versions may add members.

    Attributes:
        requests: Attempts by S3 operation.
        operations: Attempts and times by S3 operation.
        retries: Attempts after the first of their call.
        retries_by_reason: The same by reason: ``"throttled"``, ``"server_error"``, ``"timeout"``, ``"connection"``,
            ``"data_loss"``, ``"invalid_response"``, ``"clock_skew"``, ``"credentials"``, ``"region"`` or ``"retry_policy"``
            (docs/how-to/metrics.md). Reasons that did not occur are missing.
        throttled: Attempts to which S3 responded with a throttling error, such as SlowDown.
        hedges: Reads that sent a second request because the first response was late.
        hedges_won: Hedges whose second response was first.
        failures: S3 calls that ended in an error. A read or write makes one call per range or part, so that one failed read may
            count several times.
        failures_by_type: The same by class of the exception, such as ``"S3NotFoundError"``. Classes that did not occur are
            missing.
        exceptions: Exceptions in callbacks of all clients of the process.
        bytes_sent: Bytes of request bodies.
        bytes_received: Bytes of response bodies.
        connections: Requests that opened and reused a connection.
        cache: Reads through the node cache.
        memory: Memory for transfers, of the process.
        events_dropped: Attempts that an observer did not receive, because too many waited.
    """

    requests: dict[str, int]
    operations: dict[str, OperationMetrics]
    retries: int
    retries_by_reason: dict[str, int]
    throttled: int
    hedges: int
    hedges_won: int
    failures: int
    failures_by_type: dict[str, int]
    exceptions: int
    bytes_sent: int
    bytes_received: int
    connections: ConnectionMetrics
    cache: CacheMetrics
    memory: MemoryMetrics
    events_dropped: int
