"""penstock.opentelemetry with OpenTelemetry's own SDK."""

from __future__ import annotations

import subprocess
import sys

import penstock
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from penstock.opentelemetry import RequestObserver, observe_client


class Collected:
    """The values of a meter provider, read by one collection."""

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        self.provider = MeterProvider([self.reader], shutdown_on_exit=False)

    def points(self, name: str) -> dict[tuple[tuple[str, object], ...], object]:
        data = self.reader.get_metrics_data()
        found = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics if m.name == name] if data else []
        return {tuple(sorted(point.attributes.items())): point for metric in found for point in metric.data.data_points}

    def value(self, name: str, **attributes: object) -> float:
        wanted = tuple(sorted((key.replace("_", "."), value) for key, value in attributes.items()))
        return self.points(f"penstock.client.{name}")[wanted].value  # type: ignore[attr-defined]


@pytest.fixture
def collected():
    collected = Collected()
    yield collected
    collected.provider.shutdown()


def test_a_collection_reads_the_counters_of_a_client(emulator, bucket, collected):
    client = emulator.client()
    observe_client(client, collected.provider)
    client.put(bucket, "k", b"x" * 1000)
    for _ in range(3):
        client.get(bucket, "k")
    with pytest.raises(penstock.S3NotFoundError):
        client.get(bucket, "none")
    assert collected.value("requests", rpc_method="GetObject") == 4
    assert collected.value("requests", rpc_method="PutObject") == 1
    assert collected.value("io", network_io_direction="transmit") == 1000
    assert collected.value("io", network_io_direction="receive") == client.metrics()["bytes_received"] >= 3000
    assert collected.value("failures", error_type="penstock.S3NotFoundError") == 1
    assert collected.value("request.time", rpc_method="PutObject") > 0
    assert collected.value("memory.limit") == penstock.memory_limit()
    client.get(bucket, "k")
    assert collected.value("requests", rpc_method="GetObject") == 5


def test_clients_with_equal_attributes_are_added_and_others_are_not(emulator, bucket, collected):
    first, second, third = (emulator.client() for _ in range(3))
    observe_client(first, collected.provider)
    observe_client(second, collected.provider)
    observe_client(third, collected.provider, {"job": "third"})
    for client in (first, second, third):
        client.put(bucket, "k", b"x")
    assert collected.value("requests", rpc_method="PutObject") == 2
    assert collected.value("requests", rpc_method="PutObject", job="third") == 1


def test_a_collection_reads_each_client_once(emulator, bucket, collected, monkeypatch):
    """Symptom: each of twelve instruments took a snapshot with all histograms."""
    reads: list[str] = []
    clients = {name: emulator.client() for name in ("first", "second")}
    for name, client in clients.items():
        observe_client(client, collected.provider, {"job": name})
        monkeypatch.setattr(client, "metrics", lambda name=name, metrics=client.metrics: (reads.append(name), metrics())[1])
    for _ in range(2):
        collected.reader.get_metrics_data()
    assert reads == ["first", "second"] * 2
    clients["second"].put(bucket, "k", b"x")
    assert collected.value("requests", rpc_method="PutObject", job="second") == 1


def test_each_reader_of_a_provider_gets_current_values(emulator, bucket):
    readers = [InMemoryMetricReader(), InMemoryMetricReader()]
    provider = MeterProvider(readers, shutdown_on_exit=False)
    client = emulator.client()
    observe_client(client, provider)
    for count, reader in enumerate([*readers, readers[0]], 1):
        client.put(bucket, "k", b"x")
        names = {m.name: m.data for r in reader.get_metrics_data().resource_metrics for s in r.scope_metrics for m in s.metrics}
        (point,) = names["penstock.client.requests"].data_points
        assert point.value == count
    provider.shutdown()


def test_exceptions_of_the_process_are_not_added_per_client(emulator, collected, monkeypatch):
    """Each client counts those of the process since its own creation. Symptom: two clients exported twice as many."""
    for job, exceptions in (("first", 3), ("second", 1)):
        client = emulator.client()
        observe_client(client, collected.provider, {"job": job})
        monkeypatch.setattr(client, "metrics", lambda read=client.metrics, n=exceptions: read() | {"exceptions": n})
    assert [(key, point.value) for key, point in collected.points("penstock.client.exceptions").items()] == [((), 3)]


def test_retries_have_a_reason(emulator, bucket, collected):
    client = emulator.client()
    observe_client(client, collected.provider)
    emulator.faults().set([
        {"when": {"operation": "PutObject", "bucket": bucket}, "do": {"slow_down": {}}, "limit": {"times": 2}},
    ])  # fmt: skip
    client.put(bucket, "k", b"x")
    assert collected.value("retries", penstock_retry_reason="throttled") == 2


def test_a_client_is_not_counted_twice(emulator, collected):
    client = emulator.client()
    observe_client(client, collected.provider)
    with pytest.raises(penstock.S3InvalidArgumentError, match="already exported"):
        observe_client(client, collected.provider)


def test_every_counter_is_exported(emulator, bucket, collected):
    """A member of metrics() that no instrument reads would be missing silently."""
    client = emulator.client()
    observe_client(client, collected.provider)
    emulator.faults().set([
        {"when": {"operation": "PutObject", "bucket": bucket}, "do": {"slow_down": {}}, "limit": {"times": 1}},
    ])  # fmt: skip
    client.put(bucket, "k", b"x")
    with pytest.raises(penstock.S3NotFoundError):
        client.get(bucket, "none")
    names = {
        "requests", "request.time", "retries", "throttled", "hedges", "failures", "exceptions", "events_dropped", "io",
        "connections", "cache.blocks", "cache.io", "memory.used", "memory.limit",
    }  # fmt: skip
    data = collected.reader.get_metrics_data()
    exported = {m.name for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics}
    assert exported == {f"penstock.client.{name}" for name in names}


@pytest.fixture
def spans():
    return InMemorySpanExporter()


@pytest.fixture
def traced(emulator, spans, collected):
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    observer = RequestObserver(emulator.endpoint, tracer_provider=provider, meter_provider=collected.provider)
    yield emulator.client(penstock.S3ClientConfig(observer=observer))
    provider.shutdown()


def test_each_attempt_is_a_span(emulator, traced, bucket, spans):
    emulator.faults().set([
        {"when": {"operation": "PutObject", "bucket": bucket}, "do": {"slow_down": {}}, "limit": {"times": 1}},
    ])  # fmt: skip
    traced.put(bucket, "k", b"x" * 1000)
    with pytest.raises(penstock.S3NotFoundError) as missing:
        traced.get(bucket, "none")
    assert penstock.flush_events()
    refused, put, failed = spans.get_finished_spans()
    assert {span.kind for span in (refused, put, failed)} == {SpanKind.CLIENT}
    assert {span.parent for span in (refused, put, failed)} == {None}
    assert (refused.name, refused.status.status_code) == ("S3/PutObject", StatusCode.ERROR)
    assert refused.attributes["error.type"] == "SlowDown"
    assert refused.attributes["http.response.status_code"] == 503
    assert "http.request.resend_count" not in refused.attributes
    assert dict(put.attributes) == {
        "http.request.method": "PUT",
        "server.address": "127.0.0.1",
        "server.port": int(emulator.endpoint.rpartition(":")[2]),
        "http.response.status_code": 200,
        "rpc.system": "aws-api",
        "rpc.service": "S3",
        "rpc.method": "PutObject",
        "aws.s3.bucket": bucket,
        "aws.s3.key": "k",
        "aws.request_id": put.attributes["aws.request_id"],
        "http.request.resend_count": 1,
    }
    assert put.status.status_code is StatusCode.UNSET
    assert put.end_time > put.start_time >= refused.start_time
    assert failed.attributes["aws.request_id"] == missing.value.request_id


def test_the_histogram_has_every_attempt(traced, bucket, collected):
    for _ in range(3):
        traced.put(bucket, "k", b"x")
    assert penstock.flush_events()
    (point,) = collected.points("http.client.request.duration").values()
    assert point.count == 3
    assert point.sum > 0
    assert point.attributes["http.request.method"] == "PUT"


def test_an_endpoint_without_a_host_is_refused():
    with pytest.raises(penstock.S3InvalidArgumentError, match="endpoint must be a URL"):
        RequestObserver("localhost:9000")


def test_without_the_package_the_error_names_the_extra():
    program = (
        "import sys\nsys.modules['opentelemetry'] = None\n"
        "try:\n    import penstock.opentelemetry\nexcept ModuleNotFoundError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
    assert run.stdout == (
        "penstock.opentelemetry needs opentelemetry, which is not installed; run pip install 'penstock[opentelemetry]'\n"
    )
