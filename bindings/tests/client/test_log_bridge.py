"""enable_logging: the log of the core as records of Python's logging."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time

import penstock
import pytest
from forked import in_child
from penstock import _core


class Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.list: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.list.append(record)

    def named(self, event: str) -> list[logging.LogRecord]:
        return [record for record in self.list if record.event == event]


@pytest.fixture
def records():
    handler = Records()
    logger = logging.getLogger("penstock.client")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler
    penstock.enable_logging("off")
    penstock.flush_events()
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


def test_records_have_level_time_event_and_fields(emulator, client, bucket, records):
    before = time.time()
    penstock.enable_logging("debug")
    emulator.faults().set([
        {"when": {"operation": "PutObject", "bucket": bucket}, "do": {"slow_down": {}}, "limit": {"times": 1}},
    ])  # fmt: skip
    client.put(bucket, "a key", b"x")
    assert penstock.flush_events()
    (retry,) = records.named("request.throttled")
    assert (retry.name, retry.levelno, retry.fields["code"]) == ("penstock.client", logging.WARNING, "SlowDown")
    start = f'request.throttled operation=PutObject bucket={bucket} key="a key" attempt=1 status=503'
    assert retry.getMessage().startswith(start)
    assert before <= retry.created <= time.time()
    assert retry.threadName == "penstock-events"
    assert [record.levelno for record in records.named("request")] == [logging.DEBUG] * 2


def test_the_level_selects_records(client, bucket, records):
    penstock.enable_logging("warning")
    client.put(bucket, "k", b"x")
    assert penstock.flush_events()
    assert records.list == []
    with pytest.raises(penstock.S3InvalidArgumentError, match=r"level must be .*, not 'loud'"):
        penstock.enable_logging("loud")


def test_off_ends_the_delivery(client, bucket, records):
    penstock.enable_logging("debug")
    client.put(bucket, "k", b"x")
    penstock.enable_logging("off")
    assert penstock.flush_events()
    before = len(records.list)
    assert before > 0
    client.put(bucket, "k", b"x")
    assert penstock.flush_events()
    assert len(records.list) == before


def test_a_handler_that_raises_does_not_end_the_delivery(client, bucket, records, monkeypatch):
    def fail(record: logging.LogRecord) -> None:
        monkeypatch.undo()
        raise KeyError("planted")

    penstock.enable_logging("debug")
    monkeypatch.setattr(records, "emit", fail)
    client.put(bucket, "k", b"x")
    client.put(bucket, "k", b"x")
    assert penstock.flush_events()
    assert len(records.named("request")) == 1


def test_a_blocked_handler_does_not_stop_transfers_and_dropped_lines_are_counted(client, bucket, records, monkeypatch):
    """The handler waits while the client logs more lines than the queue holds."""
    go_on = threading.Event()
    emit = records.emit
    monkeypatch.setattr(records, "emit", lambda record: (go_on.wait(), emit(record)))
    client.put(bucket, "k", b"x")
    penstock.enable_logging("debug")
    try:
        sent = 0
        while not (dropped := _core.take_dropped_lines()) and sent < 100_000:
            client.put(bucket, "k", b"x")
            sent += 1
        client.put(bucket, "k", b"x")
    finally:
        go_on.set()
    assert dropped == 1
    assert penstock.flush_events(60)
    assert len(records.named("request")) == sent - 1
    (warning,) = records.named("log.dropped")
    assert (warning.levelno, warning.getMessage()) == (logging.WARNING, "log.dropped lines=1")


def test_records_contain_no_secrets(emulator, records):
    config = penstock.S3ClientConfig(access_key_id="wrong", secret_access_key="topsecretkey", force_path_style=True)
    client = penstock.S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=config)
    penstock.enable_logging("debug")
    with pytest.raises(penstock.S3Exception):
        client.head_object("no-such-bucket-here", "X-Amz-Signature=0123456789abcdef")
    assert penstock.flush_events()
    text = "\n".join(record.getMessage() + json.dumps(record.fields) for record in records.list)
    assert "request" in text
    assert "topsecretkey" not in text
    assert "0123456789abcdef" not in text


def test_a_forked_child_logs(emulator, client, bucket, records):
    penstock.enable_logging("debug")
    client.put(bucket, "k", b"x")
    assert penstock.flush_events()

    def child() -> str:
        del records.list[:]
        client.get(bucket, "k")
        assert penstock.flush_events()
        return str(len(records.named("request")))

    assert in_child(child) == "1"


def test_a_line_after_the_end_of_the_delivery_is_dropped(emulator):
    """Functions of atexit run in reverse order: the delivery ends before the last request of this program."""
    program = f"""
import atexit, logging, sys, penstock
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(message)s")
config = penstock.S3ClientConfig(access_key_id="wrong", secret_access_key="s", force_path_style=True, max_attempts=1)
client = penstock.S3Client("us-east-1", endpoint={emulator.endpoint!r}, s3client_config=config)

@atexit.register
def late(key="late"):
    try:
        client.head_object("no-such-bucket-here", key)
    except penstock.S3Exception as error:
        print(key, type(error).__name__)

penstock.enable_logging("debug")
late("early")
"""
    run = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")
    assert "request operation=HeadObject bucket=no-such-bucket-here key=early" in run.stdout
    assert "late S3AccessDeniedError" in run.stdout
    assert "key=late" not in run.stdout


def logs_of(emulator, program: str) -> subprocess.CompletedProcess[str]:
    """Runs a program with PENSTOCK_LOG=logging, after lines that write records to standard output and make `head(key)`."""
    start = f"""
import atexit, logging, sys, penstock
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(levelname)s %(message)s")
config = penstock.S3ClientConfig(access_key_id="wrong", secret_access_key="s", force_path_style=True, max_attempts=1)
client = penstock.S3Client("us-east-1", endpoint={emulator.endpoint!r}, s3client_config=config)

def head(key):
    try:
        client.head_object("no-such-bucket-here", key)
    except penstock.S3AccessDeniedError:
        pass
"""
    environment = {**os.environ, "PENSTOCK_LOG": "logging"}
    return subprocess.run(
        [sys.executable, "-c", start + program], check=False, capture_output=True, text=True, timeout=60, env=environment
    )


def test_the_variable_enables_logging_from_the_import_to_the_end(emulator):
    """The delivery ends after functions that the program registers with atexit after the import."""
    run = logs_of(emulator, "atexit.register(head, 'last')\nfor i in range(200):\n    head(f'k{i}')")
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert lines[0].startswith("INFO client.made region=us-east-1")
    keys = [line.partition("key=")[2].split()[0] for line in lines if line.startswith("ERROR request.failed")]
    assert keys == [*(f"k{i}" for i in range(200)), "last"]


def test_a_call_replaces_the_level_of_the_variable_logging(emulator):
    second = "client = penstock.S3Client('', endpoint=client.endpoint, s3client_config=config)"
    run = logs_of(emulator, f"head('one')\npenstock.enable_logging('off')\n{second}\nhead('two')")
    assert (run.returncode, run.stderr) == (0, "")
    assert "key=one" in run.stdout
    assert "key=two" not in run.stdout


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_the_last_lines_of_a_process_of_multiprocessing_are_delivered(emulator, tmp_path, method):
    """Such a process, for example a worker of a DataLoader, ends without the functions of atexit."""
    (tmp_path / "job.py").write_text(f"""
import logging, multiprocessing, sys, threading, penstock

def worker():
    handler = logging.StreamHandler(sys.stdout)
    emit = handler.emit
    logging.getLogger("penstock.client").addHandler(handler)
    ended = threading.Event()
    handler.emit = lambda record: (ended.wait(), emit(record))
    config = penstock.S3ClientConfig(access_key_id="wrong", secret_access_key="s", force_path_style=True, max_attempts=1)
    client = penstock.S3Client("us-east-1", endpoint={emulator.endpoint!r}, s3client_config=config)
    for i in range(3):
        try:
            client.head_object("no-such-bucket-here", f"k{{i}}")
        except penstock.S3AccessDeniedError:
            pass
    ended.set()

if __name__ == "__main__":
    process = multiprocessing.get_context({method!r}).Process(target=worker)
    process.start()
    process.join()
    sys.exit(process.exitcode)
""")
    environment = {**os.environ, "PENSTOCK_LOG": "logging"}
    run = subprocess.run(
        [sys.executable, "job.py"], check=False, capture_output=True, text=True, timeout=60, env=environment, cwd=tmp_path
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert [f"key=k{i}" in run.stdout for i in range(3)] == [True] * 3
