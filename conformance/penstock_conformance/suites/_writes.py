"""Writes that are left, killed or conditional: an object appears whole, or not at all, and only where it may."""

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
from .._suite import Failed, Suite, Trial
from ._endpoint import needs

suite = Suite(
    "writes",
    "Writes, whole or not at all",
    "What is published by a write that its caller ends or whose process is killed, and by one whose condition does not hold.",
)

MIB = 1 << 20
PIECE = {"small": 1000, "large": 6 * MIB}  # bytes; three of the large ones are an upload in parts for every client
PIECES = 3
OLD = b"what was there before"
PUBLISHING = ("PutObject", "CompleteMultipartUpload")
GIVEN_UP_S = 10.0  # for uploads that are given up in the background
SENT_S = 10.0  # for a part to be there
STARTED_S = 120.0  # for a process to have sent a part


class Left(Exception):
    """What ends a write from within."""


def pieces(size: str) -> Iterator[bytes]:
    """Of an object of such a size, each other bytes."""
    for i in range(PIECES):
        yield bytes([65 + i]) * PIECE[size]


def _then_left(trial: Trial, size: str) -> Iterator[bytes]:
    """Left when there is something that could be published by mistake: a part is there, where the client sends parts."""
    yield from pieces(size)
    if size == "large":
        _wait(lambda: any(_taken(record) for record in trial.records.of("UploadPart")), SENT_S)
    raise Left("the caller's own")


def _write_and_leave(trial: Trial, bucket: str, size: str) -> str:
    return _raised(lambda: trial.client.write(bucket, "key", _then_left(trial, size)))


@suite.check("whole", "what is written in pieces is what is read, small or in parts")
def whole(trial: Trial) -> None:
    needs(trial, "objects", "parts")
    bucket = trial.bucket()
    for size in PIECE:
        with trial.case(size):
            trial.client.write(bucket, size, pieces(size))
            trial.expect(trial.store.get(bucket, size) == b"".join(pieces(size)), "other bytes than were written")


@suite.check("left", "a write that an exception of its caller ends publishes nothing, and leaves no upload open")
def left(trial: Trial) -> None:
    needs(trial, "objects", "parts")
    for size, before in itertools.product(PIECE, (None, OLD)):
        with trial.case(f"{size}, {'over an object' if before else 'of a new object'}"):
            bucket = _bucket(trial, before)
            told = _write_and_leave(trial, bucket, size)
            gc.collect()  # a writer that was only dropped does at the latest now what it does
            trial.expect(told, "the caller's exception went no further: the write seemed to be done")
            _expect_as_before(trial, bucket, before)
            trial.expect_equal(_open_uploads(trial), 0, "uploads that were begun and neither completed nor given up")


@suite.check("killed", "a process that is killed in the middle of a write has published nothing")
def killed(trial: Trial) -> None:
    needs(trial, "objects", "parts")
    trial.client.write(trial.bucket(), "key", [OLD])  # a client that has no such way says so at once
    bucket = _bucket(trial, OLD)
    _write_and_die(trial, bucket, "large")
    trial.expect(trial.records, "the process ended before it had asked for anything")
    _expect_as_before(trial, bucket, OLD)


@suite.check("only-if-absent", "a write under If-None-Match is refused where the object is there, and its caller is told so")
def only_if_absent(trial: Trial) -> None:
    needs(trial, "objects", "parts", "if-none-match")
    for size in PIECE:
        with trial.case(size):
            data = b"".join(pieces(size))
            bucket = _bucket(trial, None)
            trial.client.put_if(bucket, "key", data, etag=None)
            trial.expect(trial.store.get(bucket, "key") == data, "where no object was: other bytes than were written")
            _expect_condition(trial, "if-none-match")
            _expect_refused(trial, None, data)


@suite.check("only-if-unchanged", "a write under If-Match is refused where the object is another one, and its caller is told so")
def only_if_unchanged(trial: Trial) -> None:
    needs(trial, "objects", "if-match")
    bucket = _bucket(trial, OLD)
    etag = trial.store.etag(bucket, "key")
    trial.client.put_if(bucket, "key", b"new", etag=etag)
    trial.expect_equal(trial.store.get(bucket, "key"), b"new", "what is there after a write under the object's own ETag")
    _expect_condition(trial, "if-match")
    _expect_refused(trial, trial.store.etag(bucket, "key"), b"newer")


def _bucket(trial: Trial, before: bytes | None) -> str:
    """With or without an object ``key``; what was asked until then is forgotten."""
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
        trial.expect_equal(trial.store.keys(bucket), [], "what is there")
    else:
        trial.expect(trial.store.get(bucket, "key") == before, "the object that was there is another one")


def _open_uploads(trial: Trial) -> int:
    """Uploads that the client began and nobody ended; it may end them in the background."""

    def left_open() -> int:
        begun = [record for record in trial.records.of("CreateMultipartUpload") if _taken(record)]
        ending = trial.records.of("AbortMultipartUpload", "CompleteMultipartUpload")
        return max(0, len(begun) - len({record.query["uploadId"] for record in ending if _taken(record)}))

    _wait(lambda: left_open() == 0, GIVEN_UP_S)
    return left_open()


def _taken(record: Record) -> bool:
    return 200 <= record.status < 300 and not record.error_code


def _publishing(trial: Trial) -> Iterable[Record]:
    return trial.records.of(*PUBLISHING, key="key")


def _expect_condition(trial: Trial, header: str) -> None:
    """A client that looks first and then writes without a condition replaces what came in between."""
    without = [str(record) for record in _publishing(trial) if header not in record.headers]
    trial.expect(not without, f"published without {header}: {', '.join(without)}")


def _expect_refused(trial: Trial, etag: str | None, data: bytes) -> None:
    """Over another object than the condition asks for."""
    bucket = _bucket(trial, OLD)
    told = _raised(lambda: trial.client.put_if(bucket, "key", data, etag=etag))
    trial.expect(told, "the caller was told that it was written, over another object")
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
        _wait(lambda: process.poll() is not None or len(trial.records.of("UploadPart")) > 0, STARTED_S)
        ended = process.poll()
    finally:
        process.kill()
        with contextlib.suppress(BrokenPipeError):
            process.communicate()
    if ended is not None:
        raise Failed(f"the writing process ended by itself, with status {ended}")
    _wait(lambda: all(record.ended_s for record in trial.records), GIVEN_UP_S)  # what it had sent is done or refused


def _wait(until: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        time.sleep(0.02)
