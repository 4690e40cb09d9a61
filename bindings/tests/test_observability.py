"""What a client tells about itself: stats, the log, progress."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import penstock
import pytest
from bucket_io import get, put


def test_stats_tell_times_and_connections(client, bucket):
    for n in range(5):
        put(client, bucket, f"k{n}", b"x" * 1000)
        get(client, bucket, f"k{n}")
    stats = client.stats()
    assert stats["bytes_sent"] == 5000
    for name in ("PutObject", "GetObject"):
        operation = stats["operations"][name]
        assert operation["requests"] == stats["requests"][name] == 5
        for times in (operation["first_byte"], operation["duration"]):
            assert times["count"] == 5 == sum(count for _, _, count in times["buckets"])
            assert 0 < times["p50"] <= times["p90"] <= times["p99"] < 60
            assert times["buckets"] == sorted(times["buckets"])
            lower = sum(begin * count for begin, _, count in times["buckets"])
            upper = sum(end * count for _, end, count in times["buckets"])
            assert lower <= times["sum"] <= upper
    direct = stats["connections"]["direct"]
    assert direct["reused"] > direct["opened"]
    assert direct["opened"] + direct["reused"] == sum(stats["requests"].values())


def test_stats_are_plain_and_a_snapshot(client, bucket):
    before = client.stats()
    put(client, bucket, "k", b"x")
    assert json.loads(json.dumps(before))["requests"].get("PutObject", 0) == client.stats()["requests"]["PutObject"] - 1


def logged(emulator, level: str) -> list[dict]:
    program = f"""
import penstock
config = penstock.S3ClientConfig(access_key_id="wrong", secret_access_key="topsecretkey", force_path_style=True)
client = penstock.S3Client("us-east-1", endpoint={emulator.endpoint!r}, s3client_config=config)
try:
    client.head_object("no-such-bucket-here", "key")
except penstock.S3Exception:
    pass
"""
    run = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PENSTOCK_LOG": level}, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    assert "topsecretkey" not in run.stderr
    assert "Signature" not in run.stderr
    return [json.loads(line) for line in run.stderr.splitlines()]


def test_the_log_has_as_much_as_its_level(emulator):
    assert logged(emulator, "off") == []
    assert {line["level"] for line in logged(emulator, "info")} <= {"info", "warning", "error"}
    debug = logged(emulator, "debug")
    assert {line["event"] for line in debug} >= {"client.made", "request", "request.failed"}
    request = next(line for line in debug if line["event"] == "request")
    assert request["operation"] == "HeadObject"
    assert request["bucket"] == "no-such-bucket-here"
    assert {"time", "pid", "status", "ms", "connection"} <= request.keys()


def test_an_unknown_level_is_refused(emulator, monkeypatch):
    monkeypatch.setenv("PENSTOCK_LOG", "loud")
    client = penstock.S3Client("us-east-1", endpoint=emulator.endpoint)
    with pytest.raises(penstock.S3InvalidArgumentError, match="PENSTOCK_LOG is `loud`; use off, error, warn, info or debug"):
        client.stats()
