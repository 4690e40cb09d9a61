"""The parser of Prometheus's Python client reads the emulator's metrics."""

from __future__ import annotations

import urllib.request
from typing import Any

import penstock
import pytest
from penstock_emulator import Emulator
from prometheus_client.parser import text_string_to_metric_families


def scrape(emulator: Emulator) -> dict[str, Any]:
    with urllib.request.urlopen(f"{emulator.admin_endpoint}/_penstock/metrics", timeout=30) as response:
        assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        text = response.read().decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


def value(family: Any, suffix: str = "", **labels: str) -> float:
    """Returns the value of the only sample with that name and these labels."""
    (found,) = [s.value for s in family.samples if s.name == family.name + suffix and s.labels == labels]
    return float(found)


@pytest.fixture
def measured():
    with Emulator() as emulator:
        yield emulator


def test_prometheus_reads_every_metric(measured):
    client = measured.client()
    client.create_bucket(bucket := "measured")
    client.put(bucket, "k", b"x" * 1000)
    assert client.get(bucket, "k").body == b"x" * 1000
    with pytest.raises(penstock.S3NotFoundError):
        client.get(bucket, "none")
    families = scrape(measured)
    assert {family.type for family in families.values()} == {"counter", "gauge", "histogram"}
    assert all(family.documentation for family in families.values())
    prefix = "penstock_emulator_"
    assert all(name.startswith(prefix) for name in families)
    assert value(families[prefix + "requests"], "_total", operation="GetObject") == 2
    assert value(families[prefix + "requests"], "_total", operation="PutObject") == 1
    assert value(families[prefix + "responses"], "_total", code="404") == 1
    assert value(families[prefix + "received_bytes"], "_total") >= 1000
    assert value(families[prefix + "build_info"], version=penstock.__version__) == 1


def test_the_histogram_agrees_with_its_count(measured):
    client = measured.client()
    client.create_bucket(bucket := "measured")
    for _ in range(5):
        client.put(bucket, "k", b"x")
    durations = scrape(measured)["penstock_emulator_request_duration_seconds"]
    buckets = [s for s in durations.samples if s.name.endswith("_bucket") and s.labels["class"] == "write"]
    counts = [s.value for s in buckets]
    bounds = [float(s.labels["le"]) for s in buckets]
    assert counts == sorted(counts)
    assert bounds == sorted(bounds)
    # A client may have its response before the server counts the duration.
    assert 5 <= counts[-1] == value(durations, "_count", **{"class": "write"})
    assert value(durations, "_sum", **{"class": "write"}) > 0
