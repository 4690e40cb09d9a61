"""OpenTelemetry: metrics of clients, and a span for each attempt of a request.

Needs the package ``opentelemetry-api`` (``pip install 'penstock[opentelemetry]'``). The program installs and configures an SDK.

Attributes have the names of OpenTelemetry's semantic conventions for HTTP clients
(https://opentelemetry.io/docs/specs/semconv/http/http-spans/) and for AWS SDKs
(https://opentelemetry.io/docs/specs/semconv/cloud-providers/aws-sdk/).
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ._config import check_type
from ._core import __version__
from ._exceptions import S3InvalidArgumentError
from ._extras import required

with required(__name__, "opentelemetry", "opentelemetry"):
    from opentelemetry import metrics, trace

if TYPE_CHECKING:
    from ._client import S3Client
    from ._event_types import RequestEvent
    from ._metrics import ClientMetrics

__all__ = ["RequestObserver", "observe_client"]

Attributes = Mapping[str, str | bool | int | float]
_Samples = Iterable[tuple[float, Mapping[str, str]]]
_Read = tuple["ClientMetrics", Attributes]  # the metrics of a client, and its attributes

_SCOPE = "penstock"


def observe_client(
    client: S3Client, meter_provider: metrics.MeterProvider | None = None, attributes: Attributes | None = None
) -> None:
    """Exports the metrics of a client. Each collection reads :meth:`S3Client.metrics` once; requests are not affected.

    The provider keeps the client until its own end. Counters of clients with equal attributes are added. Values of the process
    (memory, exceptions) have no attributes.

    Args:
        client: Its counters are exported as ``penstock.client.*`` (docs/how-to/metrics.md has the list).
        meter_provider: Receives the instruments; None: the global one.
        attributes: Attributes of every value, for example ``{"penstock.client.name": "training"}``.

    Raises:
        S3InvalidArgumentError: The client is already exported to that provider. Also a ValueError.

    Thread safety: safe from any thread.
    """
    provider = meter_provider or metrics.get_meter_provider()
    with _providers.lock:
        exported = _providers.exported.get(provider)
        if exported is None:
            exported = _providers.exported[provider] = _Exported()
            exported.create_instruments(provider)
        exported.add(client, dict(attributes or {}))


class _Exported:
    """The clients of one meter provider, and the instruments that read them."""

    def __init__(self) -> None:
        self._clients: tuple[tuple[S3Client, Attributes], ...] = ()  # replaced, not changed
        self._snapshot: list[_Read] = []
        self._readers: set[str] | None = None  # instruments that have read the snapshot; None: there is none
        self.lock = threading.Lock()

    def add(self, client: S3Client, attributes: Attributes) -> None:
        if any(client is known for known, _ in self._clients):
            raise S3InvalidArgumentError("the client is already exported to this meter provider; call observe_client once")
        self._clients += ((client, attributes),)

    def create_instruments(self, provider: metrics.MeterProvider) -> None:
        meter = provider.get_meter(_SCOPE, __version__)
        for name, unit, description, samples in _COUNTERS:
            meter.create_observable_counter(f"penstock.client.{name}", [self._sums(name, samples)], unit, description)
        meter.create_observable_counter(
            "penstock.client.exceptions", [self._of_process("exceptions", _exceptions)], "{exception}", "Exceptions in callbacks."
        )
        for name, member in (("used", "held"), ("limit", "limit")):
            meter.create_observable_gauge(
                f"penstock.client.memory.{name}",
                [self._of_process(member, _memory(member))],
                "By",
                f"Memory for transfers of all clients of the process: {name}.",
            )

    def _read(self, instrument: str) -> list[_Read]:
        """Returns the metrics of all clients, read once per collection: a collection calls each instrument once."""
        with self.lock:
            if self._readers is None or instrument in self._readers:
                self._snapshot = [(client.metrics(), attributes) for client, attributes in self._clients]
                self._readers = set()
            self._readers.add(instrument)
            return self._snapshot

    def _sums(self, name: str, samples: Callable[[ClientMetrics], _Samples]) -> Callable[..., Iterable[metrics.Observation]]:
        def observe(_: metrics.CallbackOptions) -> Iterable[metrics.Observation]:
            sums: dict[tuple[tuple[str, object], ...], float] = {}
            by_key: dict[tuple[tuple[str, object], ...], Attributes] = {}
            for read, attributes in self._read(name):
                for value, labels in samples(read):
                    both = {**attributes, **labels}
                    key = tuple(sorted(both.items()))
                    sums[key] = sums.get(key, 0) + value
                    by_key[key] = both
            return [metrics.Observation(value, by_key[key]) for key, value in sums.items()]

        return observe

    def _of_process(self, name: str, value: Callable[[list[_Read]], float]) -> Callable[..., Iterable[metrics.Observation]]:
        def observe(_: metrics.CallbackOptions) -> Iterable[metrics.Observation]:
            read = self._read(name)
            return [metrics.Observation(value(read))] if read else []

        return observe


def _memory(member: str) -> Callable[[list[_Read]], int]:
    return lambda read: int(str(read[-1][0]["memory"][member]))  # type: ignore[literal-required]


def _exceptions(read: list[_Read]) -> int:
    """Each client counts the exceptions of the process since its creation: the first client has the most."""
    return max(of_client["exceptions"] for of_client, _ in read)


class _Providers:
    """The meter providers of the process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.exported: weakref.WeakKeyDictionary[metrics.MeterProvider, _Exported] = weakref.WeakKeyDictionary()

    def after_fork(self) -> None:
        """Another thread of the parent may have held a lock."""
        self.lock = threading.Lock()
        for exported in self.exported.values():
            exported.lock = threading.Lock()


_providers = _Providers()
os.register_at_fork(after_in_child=_providers.after_fork)


def _one(member: str) -> Callable[[ClientMetrics], _Samples]:
    return lambda m: [(int(str(m[member])), {})]  # type: ignore[literal-required]


# Name, unit, description, and the values with their attributes.
_COUNTERS: tuple[tuple[str, str, str, Callable[[ClientMetrics], _Samples]], ...] = (
    (
        "requests", "{request}", "Attempts by S3 operation.",
        lambda m: [(count, {"rpc.method": name}) for name, count in m["requests"].items()],
    ),
    (
        "request.time", "s", "Sum of the durations of attempts, by S3 operation.",
        lambda m: [(operation["duration"]["sum"], {"rpc.method": name}) for name, operation in m["operations"].items()],
    ),
    (
        "retries", "{request}", "Attempts after the first of their call, by reason.",
        lambda m: [(count, {"penstock.retry.reason": reason}) for reason, count in m["retries_by_reason"].items()],
    ),
    ("throttled", "{request}", "Attempts that S3 throttled.", _one("throttled")),
    ("hedges", "{request}", "Second requests because the first response was late.", _one("hedges")),
    (
        "failures", "{call}", "S3 calls that ended in an error, by class of the exception.",
        lambda m: [(count, {"error.type": f"penstock.{name}"}) for name, count in m["failures_by_type"].items()],
    ),
    ("events_dropped", "{event}", "Attempts that an observer did not receive.", _one("events_dropped")),
    (
        "io", "By", "Bytes of request and response bodies.",
        lambda m: [
            (m["bytes_sent"], {"network.io.direction": "transmit"}),
            (m["bytes_received"], {"network.io.direction": "receive"}),
        ],
    ),
    (
        "connections", "{request}", "Requests that opened or reused a connection.",
        lambda m: [(m["connections"][use], {"penstock.connection": use}) for use in ("opened", "reused")],
    ),
    (
        "cache.blocks", "{block}", "Blocks of reads through the node cache.",
        lambda m: [(m["cache"]["hits"], {"penstock.cache": "hit"}), (m["cache"]["misses"], {"penstock.cache": "miss"})],
    ),
    (
        "cache.io", "By", "Bytes of reads through the node cache.",
        lambda m: [(m["cache"]["hit_bytes"], {"penstock.cache": "hit"}), (m["cache"]["miss_bytes"], {"penstock.cache": "miss"})],
    ),
)  # fmt: skip


class RequestObserver:
    """Records a span, and a value of the histogram ``http.client.request.duration``, for each attempt of a request.

    It is an observer of a client: ``S3ClientConfig(observer=RequestObserver())``. It runs on the thread that calls observers, so
    that requests do not wait for it. Spans therefore have no parent. They have the times of the attempts.

    Args:
        endpoint: URL of the service, for the attributes ``server.address`` and ``server.port``; None: without them.
        tracer_provider: Receives the spans; None: the global one.
        meter_provider: Receives the histogram; None: the global one.

    Raises:
        S3InvalidArgumentError: `endpoint` has no host. Also a ValueError.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
    ) -> None:
        check_type("endpoint", endpoint, (str, type(None)))
        self._server: dict[str, str | int] = {}
        if endpoint is not None:
            url = urlsplit(endpoint)
            if not url.hostname:
                raise S3InvalidArgumentError('endpoint must be a URL such as "https://s3.us-east-1.amazonaws.com"')
            self._server["server.address"] = url.hostname
            self._server["server.port"] = url.port or (80 if url.scheme == "http" else 443)
        self._tracer = (tracer_provider or trace.get_tracer_provider()).get_tracer(_SCOPE, __version__)
        meter = (meter_provider or metrics.get_meter_provider()).get_meter(_SCOPE, __version__)
        self._duration = meter.create_histogram("http.client.request.duration", "s", "Duration of HTTP client requests.")

    def __call__(self, event: RequestEvent) -> None:
        http = self._http(event)
        self._duration.record(event.seconds, http)
        begin = round(event.started * 1e9)
        span = self._tracer.start_span(
            f"S3/{event.operation}", kind=trace.SpanKind.CLIENT, start_time=begin, attributes={**http, **_of_s3(event)}
        )
        if event.code is not None:
            span.set_status(trace.StatusCode.ERROR)
        span.end(begin + round(event.seconds * 1e9))

    def _http(self, event: RequestEvent) -> dict[str, str | int]:
        http: dict[str, str | int] = {"http.request.method": _method(event.operation), **self._server}
        if event.status is not None:
            http["http.response.status_code"] = event.status
        if event.code is not None:
            http["error.type"] = event.code
        return http


def _of_s3(event: RequestEvent) -> dict[str, str | int]:
    of_s3: dict[str, str | int] = {"rpc.system": "aws-api", "rpc.service": "S3", "rpc.method": event.operation}
    if event.bucket:
        of_s3["aws.s3.bucket"] = event.bucket
    if event.key:
        of_s3["aws.s3.key"] = event.key
    if event.request_id is not None:
        of_s3["aws.request_id"] = event.request_id
    if event.attempt > 1:
        of_s3["http.request.resend_count"] = event.attempt - 1
    return of_s3


# The others follow from the first word of the name.
_POST = ("DeleteObjects", "CreateMultipartUpload", "CompleteMultipartUpload", "RestoreObject", "SelectObjectContent")


def _method(operation: str) -> str:
    if operation in _POST:
        return "POST"
    if operation.startswith(("Get", "List")) or operation == "CreateSession":
        return "GET"
    if operation.startswith("Head"):
        return "HEAD"
    return "DELETE" if operation.startswith(("Delete", "Abort")) else "PUT"
