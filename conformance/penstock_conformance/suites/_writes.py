"""Aborted, killed and conditional writes: an object is published completely or not at all, and only if its condition holds."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator

from .._records import Record
from .._suite import Suite, Trial
from .._verdict import Failed
from ._endpoint import needs

suite = Suite(
    "writes",
    "Atomic writes",
    "What is published by writes that an exception aborts, whose process is killed, or whose condition does not hold.",
)

MIB = 1 << 20
PIECE = {"small": 1000, "large": 6 * MIB}  # bytes; three large pieces are a multipart upload for every client
PIECES = 3
OLD = b"content before the write"
PUBLISHING = ("PutObject", "CompleteMultipartUpload")
ABORT_TIMEOUT_S = 10.0  # for uploads that the client aborts in the background
PART_TIMEOUT_S = 10.0  # for a part to be stored
START_TIMEOUT_S = 120.0  # for a process to send its first part


class Aborted(Exception):
    """The caller's exception that aborts a write."""


def pieces(size: str) -> Iterator[bytes]:
    """The pieces of an object, each with different content."""
    for i in range(PIECES):
        yield bytes([65 + i]) * PIECE[size]


def _aborted_pieces(trial: Trial, size: str) -> Iterator[bytes]:
    """The pieces, then an exception. If the client sends parts, the exception follows the first stored part."""
    yield from pieces(size)
    if size == "large":
        _wait(lambda: any(_succeeded(record) for record in trial.records.of("UploadPart")), PART_TIMEOUT_S)
    raise Aborted("raised by the caller")


def _write_and_abort(trial: Trial, bucket: str, size: str) -> str:
    return _raised(lambda: trial.client.write(bucket, "key", _aborted_pieces(trial, size)))


@suite.check("whole", "an object written in pieces reads back unchanged, small or in parts")
def whole(trial: Trial) -> None:
    needs(trial, "objects", "parts")
    bucket = trial.bucket()
    for size in PIECE:
        with trial.case(size):
            trial.client.write(bucket, size, pieces(size))
            trial.expect(trial.store.get(bucket, size) == b"".join(pieces(size)), "content differs from what was written")


@suite.check("left", "a write that an exception of the caller aborts publishes nothing and leaves no upload open")
def left(trial: Trial) -> None:
    needs(trial, "objects", "parts")
    for size, before in itertools.product(PIECE, (None, OLD)):
        with trial.case(f"{size}, {'existing object' if before else 'new object'}"):
            bucket = _bucket(trial, before)
            error = _write_and_abort(trial, bucket, size)
            gc.collect()  # runs the finalizer of a writer that was not closed
            trial.expect(error, "the caller's exception was swallowed: the write seemed to succeed")
            _expect_as_before(trial, bucket, before)
            trial.expect_equal(_open_uploads(trial), 0, "uploads neither completed nor aborted")


@suite.check("killed", "a process that is killed during a write publishes nothing")
def killed(trial: Trial) -> None:
    needs(trial, "objects", "parts")
    trial.client.write(trial.bucket(), "key", [OLD])  # raises NotRun if the client has no streaming writes
    bucket = _bucket(trial, OLD)
    _write_and_die(trial, bucket, "large")
    trial.expect(trial.records, "the process ended before its first request")
    _expect_as_before(trial, bucket, OLD)


@suite.check("only-if-absent", "a write with If-None-Match fails if the object exists, with an error for the caller")
def only_if_absent(trial: Trial) -> None:
    needs(trial, "objects", "parts", "if-none-match")
    for size in PIECE:
        with trial.case(size):
            data = b"".join(pieces(size))
            bucket = _bucket(trial, None)
            trial.client.put_if(bucket, "key", data, etag=None)
            trial.expect(trial.store.get(bucket, "key") == data, "new object: content differs from what was written")
            _expect_condition(trial, "if-none-match")
            _expect_refused(trial, None, data)


@suite.check("only-if-unchanged", "a write with If-Match fails if the object has changed, with an error for the caller")
def only_if_unchanged(trial: Trial) -> None:
    needs(trial, "objects", "if-match")
    bucket = _bucket(trial, OLD)
    etag = trial.store.etag(bucket, "key")
    trial.client.put_if(bucket, "key", b"new", etag=etag)
    trial.expect_equal(trial.store.get(bucket, "key"), b"new", "content after a write with the matching ETag")
    _expect_condition(trial, "if-match")
    _expect_refused(trial, trial.store.etag(bucket, "key"), b"newer")


def _bucket(trial: Trial, before: bytes | None) -> str:
    """A new bucket, with an object ``key`` if `before` is given. Clears the records."""
    bucket = trial.bucket()
    if before is not None:
        trial.store.put(bucket, "key", before)
    trial.forget()
    return bucket


def _raised(write: Callable[[], None]) -> str:
    try:
        write()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _expect_as_before(trial: Trial, bucket: str, before: bytes | None) -> None:
    if before is None:
        trial.expect_equal(trial.store.keys(bucket), [], "keys in the bucket")
    else:
        trial.expect(trial.store.get(bucket, "key") == before, "the existing object was changed")


def _open_uploads(trial: Trial) -> int:
    """Number of uploads that the client created and neither completed nor aborted, after a wait for background aborts."""

    def left_open() -> int:
        begun = [record for record in trial.records.of("CreateMultipartUpload") if _succeeded(record)]
        ending = trial.records.of("AbortMultipartUpload", "CompleteMultipartUpload")
        return max(0, len(begun) - len({record.query["uploadId"] for record in ending if _succeeded(record)}))

    _wait(lambda: left_open() == 0, ABORT_TIMEOUT_S)
    return left_open()


def _succeeded(record: Record) -> bool:
    return 200 <= record.status < 300 and not record.error_code


def _publishing(trial: Trial) -> Iterable[Record]:
    return trial.records.of(*PUBLISHING, key="key")


def _expect_condition(trial: Trial, header: str) -> None:
    """Expects the condition in the request: a check by the client before the write would be a race."""
    without = [str(record) for record in _publishing(trial) if header not in record.headers]
    trial.expect(not without, f"published without {header}: {', '.join(without)}")


def _expect_refused(trial: Trial, etag: str | None, data: bytes) -> None:
    """Expects an error for a write over an object that does not satisfy the condition."""
    bucket = _bucket(trial, OLD)
    error = _raised(lambda: trial.client.put_if(bucket, "key", data, etag=etag))
    trial.expect(error, "success was reported to the caller, although the condition does not hold")
    _expect_as_before(trial, bucket, OLD)


def _write_and_die(trial: Trial, bucket: str, size: str) -> None:
    client = type(trial.client)
    job = {
        "client": f"{client.__module__}:{client.__qualname__}",
        "access": dataclasses.asdict(trial.client.access),
        "bucket": bucket,
        "size": size,
    }
    command = [sys.executable, "-m", f"{__package__}._killed_process"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    assert process.stdin is not None
    try:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
        _wait(lambda: process.poll() is not None or len(trial.records.of("UploadPart")) > 0, START_TIMEOUT_S)
        ended = process.poll()
    finally:
        process.kill()
        with contextlib.suppress(BrokenPipeError):
            process.communicate()
    if ended is not None:
        raise Failed(f"the writing process exited with status {ended}")
    _wait(lambda: all(record.ended_s for record in trial.records), ABORT_TIMEOUT_S)  # all its requests have a response


def _wait(until: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        time.sleep(0.02)
