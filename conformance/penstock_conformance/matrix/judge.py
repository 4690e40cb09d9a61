"""Runs a cell and judges it: correct data or one clear error in time, and the state of the bucket afterwards."""

from __future__ import annotations

import dataclasses
import re
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from penstock import S3Exception
from penstock.testing import Faults

from .cells import ALWAYS, CONNECTION, PLANTED, Cell, needs_tls
from .trials import Environment, Operation, Trial

DEADLINE_S = 60.0  # per cell, with a margin for busy machines
COUNTED_S = 0.1  # the emulator can count a fault at the end of a response after the client has it
LEFT_OPEN_S = 10.0  # the client may abort uploads in the background
ATTEMPTS = {"once": 5, "always": 2}

RIGHT, ERROR, UNDETECTABLE, IDLE, NOT_APPLICABLE = "right", "error", "undetectable", "idle", "not applicable"
#: Verdicts that no cell may have.
DEFECTS = ("wrong", "hang", "partial", "left open", "unclear", "broken")

_OF_S3 = re.compile(r"\([A-Z]\w+ s3://")

#: Descriptions of the verdicts, for reports.
VERDICTS = {
    RIGHT: "the data, or the state of the bucket, is the same as without faults",
    ERROR: "one error that names the operation; the bucket has the old state or the complete new one",
    UNDETECTABLE: "wrong data that S3 provides no checksum for: listings, ranges of an object, metadata",
    IDLE: "the fault did not occur",
    NOT_APPLICABLE: "the fault occurs in a TLS handshake, and the endpoint serves plain HTTP: the cell was not run",
    "wrong": "wrong data, or success without effect",
    "hang": f"did not end within {DEADLINE_S:.0f} s",
    "partial": "neither the old nor the new object exists, or a mixture of both",
    "left open": "an upload whose id the client had received stayed open",
    "unclear": "an error that does not name the failed operation",
    "broken": "the state afterwards cannot be read",
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a cell."""

    cell: str
    verdict: str
    fired: int
    requests: int
    seconds: float
    note: str = ""  # the error or the defect


def run_cell(environment: Environment, operation: Operation, cell: Cell) -> Outcome:
    """Runs a cell. Restores the state of the environment afterwards, unless the operation hangs."""
    if needs_tls(cell.action) and environment.endpoint.startswith("http://"):
        return Outcome(cell.name, NOT_APPLICABLE, fired=0, requests=0, seconds=0.0)
    environment.config = dataclasses.replace(environment.config, max_attempts=ATTEMPTS[cell.times])
    trial = operation.begin(environment, cell.size)
    journal, faults = environment.emulator.journal(), environment.emulator.faults()
    faults.set([cell.rule()])
    if cell.action.parameters.get("mode") == "stale-version":  # only versions overwritten while the rule exists are served
        environment.overwrite()
    mark = journal.last
    began = time.monotonic()
    end = within(DEADLINE_S, trial.run)
    seconds = time.monotonic() - began
    fired = _fired(faults)
    faults.clear(forget=True)
    requests = journal.count(after=mark)
    if end is None:
        return Outcome(cell.name, "hang", fired, requests, seconds)
    partial_commit = cell.action.kind == "commit_partial"
    foreign_error = (trial.parsed and cell.action.kind == "corrupt") or partial_commit or cell.action.kind == "partial_failure"
    cut_off = cell.target == CONNECTION and cell.times == ALWAYS
    verdict, note = judge(
        environment,
        trial,
        mark,
        *end,
        undetectable=may_go_undetected(cell, trial),
        partial_commit=partial_commit,
        foreign_error=foreign_error,
        cut_off=cut_off,
    )
    if not fired and verdict == RIGHT:
        verdict = IDLE
    return Outcome(cell.name, verdict, fired, requests, seconds, note)


def _fired(faults: Faults) -> int:
    """Number of times the fault occurred. Faults at the end of a response can be counted after the client has the response."""
    end = time.monotonic() + COUNTED_S
    while not (fired := faults.account().fired) and time.monotonic() < end:
        time.sleep(COUNTED_S / 10)
    return fired


def within(deadline_s: float, run: Callable[[], Any]) -> tuple[Any, BaseException | None] | None:
    """Result and exception of `run`; None if it has not ended in time."""
    ended: list[tuple[Any, BaseException | None]] = []

    def call() -> None:
        try:
            ended.append((run(), None))
        except BaseException as error:
            ended.append((None, error))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(deadline_s)
    return ended[0] if ended else None


def judge(
    environment: Environment,
    trial: Trial,
    mark: int,
    value: Any,
    error: BaseException | None,
    *,
    undetectable: bool = False,
    partial_commit: bool = False,
    foreign_error: bool = False,
    cut_off: bool = False,
) -> tuple[str, str]:
    """Judges the result of a trial and the state it left. Cleans up.

    Args:
        mark: Number of the last journal entry before the trial.
        undetectable: Wrong data is not a defect.
        partial_commit: A partial or unreadable object is not a defect either.
        foreign_error: Accept errors that do not name the operation: those of a parser, or about some of several keys.
        cut_off: The client's final requests cannot reach the service.

    Returns:
        The verdict, and a note for reports.
    """
    verdict, note = _judge_end(trial, value, error, undetectable, foreign_error)
    if verdict not in DEFECTS and trial.state is not None:
        verdict, note = _judge_state(trial, verdict, note, succeeded=error is None)
        if (verdict == "wrong" and undetectable) or (verdict in ("partial", "broken") and partial_commit):
            verdict = UNDETECTABLE
    if verdict not in DEFECTS and not cut_off and (left := left_open(environment, mark)):
        verdict, note = "left open", left
    if trial.state is not None:
        environment.clear()
    return verdict, note


def _judge_end(trial: Trial, value: Any, error: BaseException | None, undetectable: bool, foreign_error: bool) -> tuple[str, str]:
    if error is not None:
        message = _operation_error(error) or (str(error) if foreign_error else None)
        if message is None:
            return "unclear", "".join(traceback.format_exception(error))[-2000:]
        return ERROR, f"{type(error).__name__}: {message}"[:300]
    if trial.right(value):
        return RIGHT, ""
    text = f"got {value!r}"[:200]
    return (UNDETECTABLE, text) if undetectable else ("wrong", text)


def may_go_undetected(cell: Cell, trial: Trial) -> bool:
    """Whether clients cannot detect the fault: S3 has no checksums of ranges, XML documents and metadata."""
    if cell.action.kind in ("commit_partial", "delay_visibility"):  # S3 neither does nor reports this
        return True
    if cell.action.kind == "corrupt":
        of_bytes = cell.target == "GetObject" and trial.verified
        return not of_bytes or bool(cell.action.parameters.get("fix_checksum"))
    return cell.action.kind == "header_lie" and cell.target in ("HeadObject", "HeadBucket")


def _operation_error(error: BaseException) -> str | None:
    """Message of the S3Exception that the error is or was caused by; None if there is none that names its operation."""
    seen: list[BaseException] = [error]
    for one in seen:
        if isinstance(one, S3Exception):
            return str(one) if one.operation and str(one) else None
        if isinstance(one, FileNotFoundError) and one.filename:  # raised by fsspec
            return str(one)
        if found := _OF_S3.search(str(one)):  # torch wraps exceptions of storage readers as text
            return str(one)[max(0, found.start() - 200) :]
        failures = getattr(one, "failures", None)  # CheckpointException: rank to (error, summary)
        inner = [failure[0] for failure in failures.values()] if isinstance(failures, dict) else []
        seen += [cause for cause in (*inner, one.__cause__, one.__context__) if cause is not None and cause not in seen]
    return None


def _judge_state(trial: Trial, verdict: str, note: str, *, succeeded: bool) -> tuple[str, str]:
    assert trial.state is not None
    try:
        state = trial.state()
    except Exception as error:
        return "broken", "".join(traceback.format_exception(error))[-2000:]
    if state not in ("before", "after"):
        return "partial", state
    if succeeded and state == "before":
        return "wrong", "reported success without effect"
    return verdict, note


def left_open(environment: Environment, mark: int) -> str:
    """Keys of uploads that the client did not abort although it had their ids, after a wait for background aborts."""
    journal = environment.emulator.journal()
    until = time.monotonic() + LEFT_OPEN_S
    while left := environment.open_uploads():
        begun = journal.entries(after=mark, operations="CreateMultipartUpload")
        unknown_ids = sum(PLANTED in entry.faults for entry in begun)  # the response with the upload id was lost or changed
        abort_failed = any(PLANTED in entry.faults for entry in journal.entries(after=mark, operations="AbortMultipartUpload"))
        if len(left) <= unknown_ids or abort_failed:
            break
        if time.monotonic() > until:
            return ", ".join(key for key, _ in left)
        time.sleep(0.05)
    return ""
