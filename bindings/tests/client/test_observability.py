"""Observability of a client: stats, the log, progress callbacks."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time

import penstock
import pytest
from bucket_io import get, put
from penstock._progress import INTERVAL, ReadProgress


def test_stats_have_times_and_connections(client, bucket):
    for n in range(5):
        put(client, bucket, f"k{n}", b"x" * 1000)
        get(client, bucket, f"k{n}")
    stats = client.metrics()
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
    connections = stats["connections"]
    assert connections["reused"] > connections["opened"]
    assert connections["opened"] + connections["reused"] == sum(stats["requests"].values())


def test_retries_have_reasons_and_failures_have_types(emulator, bucket):
    client = emulator.client()
    assert (client.metrics()["retries_by_reason"], client.metrics()["failures_by_type"]) == ({}, {})
    errors = {
        "throttled": {"slow_down": {}},
        "server_error": {"error": {"status": 500, "code": "InternalError"}},
        "connection": {"reset": {}},
    }
    for reason, fault in errors.items():
        emulator.faults().set([{"when": {"operation": "PutObject", "bucket": bucket}, "do": fault, "limit": {"times": 1}}])
        client.put(bucket, reason, b"x")
    for refused in (
        lambda: client.get(bucket, "none"),
        lambda: client.get(bucket, "none"),
        lambda: client.put(bucket, "connection", b"x", if_match="other"),
    ):
        with pytest.raises(penstock.S3Exception):
            refused()
    metrics = client.metrics()
    assert metrics["retries_by_reason"] == {"throttled": 1, "server_error": 1, "connection": 1}
    assert metrics["failures_by_type"] == {"S3NotFoundError": 2, "S3PreconditionFailedError": 1}
    assert (metrics["retries"], metrics["failures"]) == (3, 3)


def test_stats_are_a_json_serialisable_snapshot(client, bucket):
    before = client.metrics()
    put(client, bucket, "k", b"x")
    assert json.loads(json.dumps(before))["requests"].get("PutObject", 0) == client.metrics()["requests"]["PutObject"] - 1


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
        [sys.executable, "-c", program],
        check=False,
        env={**os.environ, "PENSTOCK_LOG": level},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    assert "topsecretkey" not in run.stderr
    assert "Signature" not in run.stderr
    return [json.loads(line) for line in run.stderr.splitlines()]


def test_the_log_level_selects_the_events(emulator):
    assert logged(emulator, "off") == []
    assert {line["level"] for line in logged(emulator, "info")} <= {"info", "warning", "error"}
    debug = logged(emulator, "debug")
    assert {line["event"] for line in debug} >= {"client.made", "request", "request.failed"}
    request = next(line for line in debug if line["event"] == "request")
    assert request["operation"] == "HeadObject"
    assert request["bucket"] == "no-such-bucket-here"
    assert {"time", "pid", "status", "ms", "connection"} <= request.keys()
    counts = [request[name] for name in ("pid", "status", "attempt", "bytes_sent", "bytes_received")]
    assert all(type(count) is int for count in counts)
    assert request["status"] == 403 and request["attempt"] == 1
    assert 0 < request["first_byte_ms"] <= request["ms"]


def test_an_unknown_level_is_refused(emulator, monkeypatch):
    monkeypatch.setenv("PENSTOCK_LOG", "loud")
    client = penstock.S3Client("us-east-1", endpoint=emulator.endpoint)
    with pytest.raises(penstock.S3InvalidArgumentError, match=r"PENSTOCK_LOG must be off, .*, debug or logging, not `loud`"):
        client.metrics()


def heard() -> tuple[list[tuple[int, int | None]], object]:
    calls: list[tuple[int, int | None]] = []
    return calls, lambda done, total: calls.append((done, total))


BIG = 24 << 20


@pytest.mark.parametrize("kind", ["default", "sequential", "range_based"])
def test_a_reader_reports_its_progress(client, bucket, kind):
    put(client, bucket, "k", bytes(BIG))
    calls, progress = heard()
    constructor = getattr(penstock.S3ReaderConstructor, kind)()
    begun = time.monotonic()
    with client.get_object(bucket, "k", reader_constructor=constructor, progress=progress) as reader:
        assert len(reader.read()) == BIG
    assert calls[-1] == (BIG, BIG)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert len(calls) <= (time.monotonic() - begun) / INTERVAL + 4


def test_a_whole_read_reports_the_size_from_the_first_call(client, bucket):
    """The total used to be None until the whole object was read."""
    put(client, bucket, "k", bytes(3 * BIG))
    calls, progress = heard()
    report = ReadProgress(progress).update_to_end(5)
    report(0, None)
    report(7, 3 * BIG - 5)
    assert calls == [(0, None), (7, 3 * BIG)]
    for kind in ("default", "sequential"):
        calls, progress = heard()
        constructor = getattr(penstock.S3ReaderConstructor, kind)()
        reader = client.get_object(bucket, "k", reader_constructor=constructor, progress=progress)
        assert len(reader.read()) == 3 * BIG
        assert {total for _, total in calls} == {3 * BIG}


def test_reading_in_pieces_reports_the_sum(client, bucket):
    put(client, bucket, "k", bytes(BIG))
    calls, progress = heard()
    with client.get_object(bucket, "k", progress=progress) as reader:
        while reader.read(1 << 20):
            pass
    assert calls[-1] == (BIG, BIG)


def test_a_writer_reports_its_progress(client, bucket):
    for size in (1000, BIG):
        calls, progress = heard()
        with client.put_object(bucket, "k", progress=progress) as writer:
            for _ in range(4):
                writer.write(bytes(size // 4))
        assert calls[-1] == (size, size)
        assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert len(get(client, bucket, "k")) == BIG


class Planted(Exception):
    pass


def failing(done: int, total: int | None) -> None:
    raise Planted(f"{done} of {total}")


def test_an_exception_of_a_progress_callback_is_raised_by_the_read(client, bucket):
    put(client, bucket, "k", bytes(1000))
    reader = client.get_object(bucket, "k", progress=failing)
    with pytest.raises(Planted, match="1000 of"):
        reader.read()


def test_an_exception_of_the_last_progress_callback_is_raised_after_the_upload(client, bucket):
    writer = client.put_object(bucket, "k", progress=failing)
    writer.write(bytes(1000))
    with pytest.raises(Planted, match="1000 of 1000"):
        writer.close()
    assert get(client, bucket, "k") == bytes(1000)


def test_an_exception_of_a_progress_callback_ends_a_read_in_progress():
    """The server sends slowly until the client closes the connection: only a callback during the read can end the read."""
    hung_up = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.recv(1 << 16)
            connection.sendall(b'HTTP/1.1 200 OK\r\nETag: "e"\r\nContent-Length: 1000000000\r\n\r\n')
            while True:
                connection.sendall(bytes(1 << 12))
                hung_up.wait(0.01)  # the pace of the server; set only after the client has closed the connection
        hung_up.set()

    server = threading.Thread(target=drip, daemon=True)
    server.start()
    config = penstock.S3ClientConfig(access_key_id="a", secret_access_key="b", force_path_style=True, max_attempts=1)
    client = penstock.S3Client("us-east-1", endpoint=f"http://127.0.0.1:{listener.getsockname()[1]}", s3client_config=config)
    reader = client.get_object("bucket", "key", progress=failing)
    with pytest.raises(Planted, match=r"\d+ of 1000000000"):
        reader.read()
    assert hung_up.wait(60)
    server.join()
    listener.close()
