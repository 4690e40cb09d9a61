"""Observers and retry policies of S3ClientConfig."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import weakref

import penstock
import pytest
from forked import in_child
from http_responses import responding
from penstock import RequestEvent, RetryQuestion, aio, flush_events

seen_by_module: list[RequestEvent] = []


def observe_in_module(event: RequestEvent) -> None:  # can be pickled
    seen_by_module.append(event)


@pytest.fixture
def events() -> list[RequestEvent]:
    return []


@pytest.fixture
def observed(emulator, bucket, events):
    return emulator.client(penstock.S3ClientConfig(observer=events.append))


def slow_down(bucket: str, operation: str, times: int) -> dict[str, object]:
    return {"when": {"operation": operation, "bucket": bucket}, "do": {"slow_down": {}}, "limit": {"times": times}}


# ---- observers


def test_an_observer_receives_every_attempt(emulator, observed, bucket, events):
    before = time.time()
    emulator.faults().set([slow_down(bucket, "PutObject", 1)])
    observed.put(bucket, "k", b"x" * 1000)
    assert observed.get(bucket, "k").body == b"x" * 1000
    with pytest.raises(penstock.S3NotFoundError) as missing:
        observed.get(bucket, "none")
    assert flush_events()
    refused, put, got, failed = events
    assert (refused.operation, refused.attempt, refused.status, refused.code) == ("PutObject", 1, 503, "SlowDown")
    assert (put.operation, put.bucket, put.key, put.attempt, put.status, put.code) == ("PutObject", bucket, "k", 2, 200, None)
    assert (put.bytes_sent, got.bytes_received, got.operation) == (1000, 1000, "GetObject")
    assert failed.code == "NoSuchKey"
    assert failed.request_id == missing.value.request_id
    assert len({event.request_id for event in events} - {None}) == 4
    assert got.connection_reused
    for event in events:
        assert before - 1 < event.started < time.time() + 1
        assert event.first_byte_seconds is not None
        assert 0 < event.first_byte_seconds <= event.seconds < 60
    assert observed.metrics()["events_dropped"] == 0


def test_an_attempt_without_response_has_no_status(events):
    config = penstock.S3ClientConfig(unsigned=True, max_attempts=1, force_path_style=True, observer=events.append)
    client = penstock.S3Client("us-east-1", endpoint="http://127.0.0.1:9", s3client_config=config)
    with pytest.raises(penstock.S3Exception):
        client.head("bucket", "k")
    assert flush_events()
    assert [(event.status, event.request_id, event.first_byte_seconds) for event in events] == [(None, None, None)]


def test_an_observer_runs_on_one_other_thread(emulator, bucket):
    threads = set()
    client = emulator.client(penstock.S3ClientConfig(observer=lambda _: threads.add(threading.current_thread().name)))
    for _ in range(3):
        client.put(bucket, "k", b"x")
    assert flush_events()
    assert threads == {"penstock-events"}


@pytest.mark.parametrize("exception", [ValueError, KeyboardInterrupt, SystemExit, StopIteration])
def test_exceptions_of_an_observer_are_logged_and_change_nothing(emulator, bucket, caplog, exception):
    calls = []

    def fail(event: RequestEvent) -> None:
        calls.append(event)
        raise exception("planted")

    client = emulator.client(penstock.S3ClientConfig(observer=fail))
    client.put(bucket, "k", b"x")
    assert client.get(bucket, "k").body == b"x"
    assert flush_events()
    assert len(calls) == 2
    assert [record.exc_info[0] for record in caplog.records if record.name == "penstock._events"] == [exception] * 2


def test_a_slow_observer_does_not_delay_requests_and_loses_only_counted_events(emulator, bucket):
    may_continue = threading.Event()
    count = 0

    def wait(_: RequestEvent) -> None:
        nonlocal count
        may_continue.wait(60)
        count += 1

    config = emulator.config(penstock.S3ClientConfig(observer=wait))
    requests = 17_000

    async def main() -> int:
        async with aio.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=config) as client:
            await client.put(bucket, "k", b"x")
            async for _ in client.get_many(bucket, ["k"] * (requests - 1), concurrency=256):
                pass
            return client.metrics()["events_dropped"]

    dropped = asyncio.run(main())
    may_continue.set()
    assert flush_events(60)
    assert 0 < dropped < 1000
    assert count + dropped == requests


def test_flush_reports_that_the_time_was_too_short(emulator, bucket):
    may_continue = threading.Event()
    client = emulator.client(penstock.S3ClientConfig(observer=lambda _: may_continue.wait(60)))
    client.put(bucket, "k", b"x")
    assert not flush_events(0.05)
    may_continue.set()
    assert flush_events()


def test_an_observer_cannot_wait_for_itself(emulator, bucket):
    errors = []

    def flush(_: RequestEvent) -> None:
        with pytest.raises(RuntimeError, match="an observer cannot call it") as error:
            flush_events()
        errors.append(error)

    emulator.client(penstock.S3ClientConfig(observer=flush)).put(bucket, "k", b"x")
    assert flush_events()
    assert len(errors) == 1


def test_each_client_has_its_own_observer(emulator, bucket):
    lists: list[list[RequestEvent]] = [[], []]
    clients = [emulator.client(penstock.S3ClientConfig(observer=each.append)) for each in lists]
    clients[0].put(bucket, "a", b"1")
    clients[1].put(bucket, "b", b"2")
    clients[1].get(bucket, "b")
    assert flush_events()
    assert [[event.key for event in each] for each in lists] == [["a"], ["b", "b"]]


def test_callbacks_are_dropped_after_the_events_of_their_client(emulator, bucket):
    class Observer:
        calls = 0

        def __call__(self, _: RequestEvent) -> None:
            Observer.calls += 1

    observer = Observer()
    reference = weakref.ref(observer)
    client = emulator.client(penstock.S3ClientConfig(observer=observer))
    client.put(bucket, "k", b"x")
    del client, observer
    gc.collect()
    assert flush_events()
    gc.collect()
    assert Observer.calls == 1
    assert reference() is None


def test_transfers_and_readers_are_observed(emulator, observed, bucket, events, tmp_path):
    with observed.put_object(bucket, "k") as writer:
        writer.write(b"x" * 100)
    assert observed.get_object(bucket, "k").read() == b"x" * 100
    observed.download_file(bucket, "k", str(tmp_path / "k"))
    list(observed.list_objects(bucket))
    assert flush_events()
    assert {"PutObject", "GetObject", "ListObjectsV2"} <= {event.operation for event in events}


def test_an_observer_of_an_asynchronous_client(emulator, bucket, events):
    config = emulator.config(penstock.S3ClientConfig(observer=events.append))

    async def main() -> None:
        async with aio.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=config) as client:
            await asyncio.gather(*(client.put(bucket, f"{n}", b"x") for n in range(20)))
            assert await asyncio.to_thread(flush_events)

    asyncio.run(main())
    assert sorted(event.key for event in events) == sorted(str(n) for n in range(20))


def test_an_observer_is_pickled_with_its_client(emulator, bucket):
    client = emulator.client(penstock.S3ClientConfig(observer=observe_in_module))
    copy = pickle.loads(pickle.dumps(client))
    seen_by_module.clear()
    copy.put(bucket, "pickled", b"x")
    assert flush_events()
    assert [event.key for event in seen_by_module] == ["pickled"]


def test_a_forked_child_has_its_own_events(emulator, observed, bucket, events):
    observed.put(bucket, "parent", b"x")
    assert flush_events()
    assert [event.key for event in events] == ["parent"]

    def child() -> str:
        observed.put(bucket, "child", b"x")
        assert flush_events()
        return ",".join(event.key for event in events)

    assert in_child(child) == "parent,child"
    observed.put(bucket, "again", b"x")
    assert flush_events()
    assert [event.key for event in events] == ["parent", "again"]


PROGRAM = """
import atexit, threading
import penstock
from penstock.testing import Emulator

s3 = Emulator()
ending = threading.Event()

def observe(event):
    ending.wait(60)
    print(event.operation, event.status, flush=True)

client = s3.client(penstock.S3ClientConfig(observer=observe))
client.create_bucket("bkt")
for n in range(5):
    client.put("bkt", str(n), b"x")
atexit.register(ending.set)  # runs before the handler that waits for the observer
"""


def test_the_end_of_the_process_delivers_what_is_left():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["CreateBucket 200"] + ["PutObject 200"] * 5


def test_the_trace_and_an_observer_both_receive_attempts(emulator, bucket, events, monkeypatch, tmp_path):
    monkeypatch.setenv("PENSTOCK_TRACE", str(tmp_path / "trace"))
    emulator.client(penstock.S3ClientConfig(observer=events.append)).put(bucket, "k", b"x")
    assert flush_events()
    assert len(events) == 1
    assert (tmp_path / "trace").read_text().count("PutObject") == 1


# ---- retry policies


def policy_client(emulator, policy, **fields):
    return emulator.client(penstock.S3ClientConfig(retry_policy=policy, **fields))


def test_a_policy_sees_every_failure(emulator, bucket):
    asked: list[RetryQuestion] = []
    client = policy_client(emulator, asked.append)  # returns None: the default
    emulator.faults().set([slow_down(bucket, "GetObject", 2)])
    with pytest.raises(penstock.S3NotFoundError):
        client.get(bucket, "k")
    assert [(question.attempt, question.error.code, question.retried_by_default) for question in asked] == [
        (1, "SlowDown", True), (2, "SlowDown", True), (3, "NoSuchKey", False),
    ]  # fmt: skip
    assert {(question.operation, question.bucket, question.key) for question in asked} == {("GetObject", bucket, "k")}
    assert isinstance(asked[0].error, penstock.S3ThrottledError)


def test_a_policy_adds_a_retry(emulator, bucket, client):
    def written_meanwhile(question: RetryQuestion) -> bool | None:
        if question.error.code != "NoSuchKey":
            return None
        client.put(bucket, "k", b"written")
        return True

    assert policy_client(emulator, written_meanwhile).get(bucket, "k").body == b"written"


def test_max_attempts_limits_a_policy(emulator, bucket):
    with pytest.raises(penstock.S3NotFoundError) as missing:
        policy_client(emulator, lambda _: True, max_attempts=3).get(bucket, "k")
    assert missing.value.attempts == 3


def test_a_policy_stops_retries(emulator, bucket):
    emulator.faults().set([slow_down(bucket, "PutObject", 1)])
    with pytest.raises(penstock.S3ThrottledError, match="the retry policy of the client stopped it") as stopped:
        policy_client(emulator, lambda _: False).put(bucket, "k", b"x")
    assert stopped.value.attempts == 1


@pytest.mark.parametrize("decision", [1, "yes", ValueError("planted"), SystemExit(3)])
def test_a_policy_that_fails_counts_as_none(emulator, bucket, caplog, decision):
    def policy(_: RetryQuestion) -> bool | None:
        if isinstance(decision, BaseException):
            raise decision
        return decision  # type: ignore[no-any-return]

    emulator.faults().set([slow_down(bucket, "PutObject", 1)])
    policy_client(emulator, policy).put(bucket, "k", b"x")
    assert "exception in a retry policy; the retry mode decides" in caplog.text


def test_a_call_that_waits_for_a_policy_can_be_cancelled(emulator, bucket):
    asked = threading.Event()
    may_decide = threading.Event()

    def policy(_: RetryQuestion) -> None:
        asked.set()
        may_decide.wait(60)

    config = emulator.config(penstock.S3ClientConfig(retry_policy=policy))

    async def main() -> None:
        async with aio.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=config) as client:
            task = asyncio.ensure_future(client.get(bucket, "none"))
            await asyncio.to_thread(asked.wait, 60)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    try:
        asyncio.run(main())
    finally:
        may_decide.set()
    assert flush_events()


def test_a_policy_of_a_forked_child(emulator, bucket):
    client = policy_client(emulator, lambda question: question.error.code == "NoSuchKey", max_attempts=2)

    def attempts() -> str:
        with pytest.raises(penstock.S3NotFoundError) as missing:
            client.get(bucket, "none")
        return str(missing.value.attempts)

    assert attempts() == in_child(attempts) == "2"


def test_a_policy_after_the_end_of_its_thread_is_the_default():
    program = """
import atexit, penstock
def late():  # runs after the thread of callbacks has ended, as it is registered before it
    try:
        client.head("bucket", "k")
    except penstock.S3Exception as error:
        print(error.attempts)
atexit.register(late)
config = penstock.S3ClientConfig(unsigned=True, force_path_style=True, max_attempts=2, retry_policy=lambda _: False)
client = penstock.S3Client("us-east-1", endpoint="http://127.0.0.1:9", s3client_config=config)
client._client
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


def test_callbacks_must_be_callable(emulator):
    for field in ("observer", "retry_policy"):
        with pytest.raises(TypeError, match=f"S3ClientConfig.{field} must be a callable or None, not int"):
            emulator.client(penstock.S3ClientConfig(**{field: 5})).list_buckets()


def test_a_client_that_cannot_be_made_leaves_no_callbacks():
    from penstock import _events

    before = len(_events._callbacks)
    config = penstock.S3ClientConfig(observer=print, retry_mode="none")
    with pytest.raises(penstock.S3InvalidArgumentError):
        penstock.S3Client("us-east-1", s3client_config=config).list_buckets()
    assert len(_events._callbacks) == before


def test_programs_without_callbacks_have_no_thread():
    program = "import penstock, sys; penstock.S3Client('us-east-1')._client; print('penstock._events' in sys.modules)"
    environment = {**os.environ, "AWS_EC2_METADATA_DISABLED": "true"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60, check=False
    )
    assert done.stdout == "False\n", done.stderr


def test_an_observer_sees_a_server_without_request_ids(events):
    config = penstock.S3ClientConfig(unsigned=True, force_path_style=True, observer=events.append)
    with responding(200, headers={"ETag": '"e"'}, config=config) as (client, _):
        client.head("bucket", "k")
    assert flush_events()
    assert events[-1].request_id is None
