"""Appends whose responses are late or lost: each record is in the object once, and errors report all that is known."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Iterator

import penstock
import pytest
from bucket_io import get, put
from penstock import S3ClientConfig
from penstock.testing import Emulator

_numbers = itertools.count()

CHANGED = "changed under this writer; open another writer"
OPEN = "may have been appended or may still arrive"


class Log:
    """An object `log` of a directory bucket, clients whose appends get no response, and a client without faults."""

    def __init__(self, emulator: Emulator) -> None:
        self.bucket = f"append-{next(_numbers)}--use1-az4--x-s3"
        self.other = emulator.client()
        self.other.create_bucket(self.bucket)
        self._emulator = emulator

    def writer(self, *, max_attempts: int = 1, attempt_timeout: float | None = None) -> penstock.S3AppendWriter:
        config = S3ClientConfig(attempt_timeout=attempt_timeout, max_attempts=max_attempts)
        return self._emulator.client(config).append_object(self.bucket, "log")

    def lose_appends(self, *, times: int = 1) -> None:
        """The next appends are not executed and get no response. A test executes them with :meth:`append`, or never."""
        self._next_appends({"do": {"reset": {}, "at": "before_commit"}, "limit": {"times": times}})

    def lose_response_and_damage_reads(self, times: int) -> None:
        """The next append is executed and gets no response. The next reads of a range return one wrong bit, always the same."""
        lost = {"when": {"operation": "PutObject", "bucket": self.bucket}, "do": {"reset": {}, "at": "after_commit"}}
        read = {"when": {"operation": "GetObject", "bucket": self.bucket, "range": True}}
        damage = {"do": {"corrupt": {"mode": "flip-bit"}, "at": "body_out@2"}}
        self._emulator.faults().set(
            [lost | {"limit": {"times": 1}}, read | damage | {"limit": {"times": times}, "must_fire": False}]
        )

    def reject_append(self, code: str) -> None:
        """The next append is rejected with an error code."""
        self._next_appends({"do": {"error": {"status": 400, "code": code}, "at": "before_commit"}, "limit": {"times": 1}})

    def stall_append(self) -> None:
        """The next append is executed after 4 s, or within 0.5 s after its client has closed the connection."""
        self._next_appends({"do": {"stall": {"ms": 4000}, "at": "before_commit"}, "limit": {"times": 1}})

    def repeat_append(self) -> None:
        """The next append is executed twice; the client gets the second response."""
        self._next_appends({"do": {"duplicate_apply": {}}, "limit": {"times": 1}})

    def report_size(self, size: int) -> None:
        """The next append is a success that reports this size of the object."""
        self._next_appends({"do": {"header_lie": {"set": {"x-amz-object-size": str(size)}}}, "limit": {"times": 1}})

    def writer_in_doubt(self) -> penstock.S3AppendWriter:
        """A writer whose flush of `RECORD|` got no response."""
        writer = self.writer()
        writer.write(b"RECORD|")
        self.lose_appends()
        with pytest.raises(penstock.S3UnavailableError, match=OPEN):
            writer.flush()
        return writer

    def _next_appends(self, rule: dict[str, object]) -> None:
        self._emulator.faults().set([rule | {"when": {"operation": "PutObject", "bucket": self.bucket}}])

    def append(self, data: bytes) -> None:
        with self.other.append_object(self.bucket, "log") as writer:
            writer.write(data)

    def wait_for(self, size: int) -> None:
        deadline = time.monotonic() + 30
        while self.other.append_object(self.bucket, "log").size < size:
            assert time.monotonic() < deadline, "the late append was not executed within 30 s"
            time.sleep(0.02)

    @property
    def content(self) -> bytes:
        return get(self.other, self.bucket, "log")


@pytest.fixture
def log(emulator: Emulator) -> Iterator[Log]:
    yield Log(emulator)
    emulator.faults().clear()


def test_an_append_that_s3_executes_late_is_found(log):
    """The next flush used to report a failed precondition; the record, written again, was in the object twice."""
    log.append(b"first|")
    # A stall checks its connection every 0.5 s: this client closes it between two checks.
    writer = log.writer(attempt_timeout=0.7)
    expected = b"first|"
    # A flush that returns late finds its record appended and succeeds. Then the next record is tried.
    for _ in range(5):
        writer.write(b"RECORD|")
        expected += b"RECORD|"
        log.stall_append()
        try:
            writer.flush()
        except penstock.S3TimeoutError as error:
            assert OPEN in str(error)
            break
    else:
        pytest.fail("no flush returned before its record was appended")
    log.wait_for(len(expected))
    writer.write(b"last")
    writer.close()
    assert log.content == expected + b"last"


def test_an_append_that_a_proxy_repeats_is_not_reported_as_absent(log):
    log.append(b"first|")
    writer = log.writer()
    writer.write(b"RECORD|")
    log.repeat_append()
    with pytest.raises(penstock.S3PreconditionFailedError, match=f"{CHANGED}.*if a proxy sent the request twice"):
        writer.flush()
    assert writer.pending == b"RECORD|"
    assert log.content == b"first|RECORD|"


def test_a_success_with_another_size_leaves_the_bytes_unsettled(log):
    log.append(b"first|")
    writer = log.writer()
    writer.write(b"RECORD|")
    log.report_size(3)
    with pytest.raises(penstock.S3DataLossError, match="it is unknown whether these bytes were appended"):
        writer.flush()
    assert (writer.pending, writer.unsettled) == (b"RECORD|", 7)
    for _ in range(2):
        with pytest.raises(penstock.S3ConflictError, match="the outcome of an earlier append is unknown"):
            writer.close()


@pytest.mark.parametrize("before", [b"", b"first|"])
@pytest.mark.parametrize("wrong_readings", [1, 100])
def test_a_wrong_bit_of_the_check_does_not_hide_an_append(log, before, wrong_readings):
    """One wrong bit made the writer report that bytes which are in the object are not in it."""
    if before:
        log.append(before)
    writer = log.writer()
    writer.write(b"RECORD|")
    log.lose_response_and_damage_reads(wrong_readings)
    writer.flush()
    assert (writer.pending, writer.unsettled) == (b"", 0)
    writer.write(b"last")
    writer.close()
    assert log.content == before + b"RECORD|last"


@pytest.mark.parametrize("more", [b"", b"and more|"])
@pytest.mark.parametrize("before", [b"", b"first|"])
def test_a_late_append_is_found_by_the_next_flush(log, before, more):
    if before:
        log.append(before)
    writer = log.writer_in_doubt()
    assert (writer.pending, writer.unsettled) == (b"RECORD|", 7)
    log.append(b"RECORD|")
    writer.write(more)
    writer.flush()
    assert (writer.pending, writer.unsettled) == (b"", 0)
    writer.write(b"last")
    writer.close()
    assert log.content == before + b"RECORD|" + more + b"last"


@pytest.mark.parametrize("before", [b"", b"first|"])
def test_several_late_attempts_append_once(log, before):
    if before:
        log.append(before)
    writer = log.writer(max_attempts=2)
    log.lose_appends(times=4)
    for record in (b"one|", b"two|"):
        writer.write(record)
        with pytest.raises(penstock.S3UnavailableError, match=OPEN):
            writer.flush()
    assert (writer.pending, writer.unsettled) == (b"one|two|", 8)
    log.append(b"one|")
    writer.write(b"three|")
    writer.close()
    assert log.content == before + b"one|two|three|"


def test_close_resolves_an_unsettled_flush(log):
    writer = log.writer_in_doubt()
    log.append(b"RECORD|")
    writer.close()
    assert log.content == b"RECORD|"


def test_a_close_that_leaves_bytes_unsettled_can_be_repeated(log):
    writer = log.writer()
    writer.write(b"RECORD|")
    log.lose_appends()
    with pytest.raises(penstock.S3UnavailableError, match=OPEN):
        writer.close()
    assert writer.closed
    log.append(b"RECORD|")
    writer.close()
    assert (writer.pending, writer.unsettled) == (b"", 0)
    writer.close()
    assert log.content == b"RECORD|"


def test_a_close_that_was_rejected_is_not_repeated(log):
    writer = log.writer()
    writer.write(b"RECORD|")
    log.append(b"other|")
    with pytest.raises(penstock.S3ConflictError, match=CHANGED):
        writer.close()
    writer.close()
    assert writer.pending == b"RECORD|"


def test_another_append_after_a_late_one_is_an_error_that_keeps_the_rest(log):
    writer = log.writer_in_doubt()
    log.append(b"RECORD|")
    log.append(b"other|")
    writer.write(b"more|")
    for _ in range(2):
        with pytest.raises(penstock.S3ConflictError, match=CHANGED):
            writer.flush()
        assert (writer.size, writer.pending, writer.unsettled) == (7, b"more|", 0)
    log.append(writer.pending)
    assert log.content == b"RECORD|other|more|"


@pytest.mark.parametrize("before", [b"", b"first|"])
@pytest.mark.parametrize("unsettled", [False, True])
def test_a_change_by_another_writer_is_an_error_that_keeps_the_bytes(log, before, unsettled):
    """The error used to be a failed precondition that the caller had not set, or a wrong offset for a new object."""
    if before:
        log.append(before)
    if unsettled:
        writer = log.writer_in_doubt()
    else:
        writer = log.writer()
        writer.write(b"RECORD|")
    put(log.other, log.bucket, "log", b"another object")
    for _ in range(2):
        with pytest.raises((penstock.S3PreconditionFailedError, penstock.S3ConflictError), match=CHANGED):
            writer.flush()
    assert (writer.pending, writer.unsettled) == (b"RECORD|", 0)
    assert log.content == b"another object"


def test_an_exception_in_the_block_logs_the_bytes_that_may_still_arrive(log, caplog):
    writer = log.writer()
    log.lose_appends()
    with caplog.at_level(logging.WARNING, "penstock"), pytest.raises(penstock.S3UnavailableError, match=OPEN), writer:
        writer.write(b"RECORD|")
        writer.flush()
    assert "7 bytes at offset 0 may have been appended or may still arrive" in caplog.text
    assert (writer.pending, writer.unsettled) == (b"", 0)
    log.append(b"RECORD|")
    writer.close()
    assert log.content == b"RECORD|"


def test_an_object_with_too_many_appends_continues_after_a_copy(log):
    """S3 rejects the 10,001st append. The writer keeps the bytes, and the copy that the error suggests works."""
    log.append(b"first|")
    writer = log.writer()
    writer.write(b"second|")
    log.reject_append("TooManyParts")
    with pytest.raises(penstock.S3InvalidArgumentError, match="10,000 appends and parts, the maximum of S3"):
        writer.flush()
    assert (writer.pending, writer.unsettled) == (b"second|", 0)
    log.other.copy_object(log.bucket, "log", log.bucket, "copy")
    log.other.rename_object(log.bucket, "copy", "log")
    log.append(writer.pending)
    writer.abort()
    assert log.content == b"first|second|"
