"""Runs a cell and judges it: right bytes or one clear error in time, and what is left behind."""

from __future__ import annotations

import dataclasses
import re
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from ..._exceptions import S3Exception
from ..._faults import Faults
from .cells import ALWAYS, CONNECTION, PLANTED, Cell, needs_tls
from .trials import Operation, Trial, World

DEADLINE_S = 60.0  # of one cell, on a machine that does other things too
COUNTED_S = 0.1  # a fault at the end of an answer
LEFT_OPEN_S = 10.0  # parts may go in the background
ATTEMPTS = {"once": 5, "always": 2}

RIGHT, ERROR, UNTOLD, IDLE, NOT_APPLICABLE = "right", "error", "untold", "idle", "not applicable"
#: Verdicts that no cell may have.
DEFECTS = ("wrong", "hang", "partial", "left open", "unclear", "broken")

_OF_S3 = re.compile(r"\([A-Z]\w+ s3://")

#: What the verdicts say, for reports.
VERDICTS = {
    RIGHT: "the bytes, or the state of the bucket, that a service without faults gives",
    ERROR: "one error that names the operation; what was there before, or all of what was written, is there",
    UNTOLD: "what S3 says without a checksum is taken for true: listings, ranges of an object, metadata",
    IDLE: "the fault found nothing to happen to",
    NOT_APPLICABLE: "the fault happens in a TLS handshake, and the endpoint serves plain HTTP: the cell was not run",
    "wrong": "wrong bytes, or success of what has not happened",
    "hang": f"no end within {DEADLINE_S:.0f} s",
    "partial": "neither the old nor the new object is there, or a mixture",
    "left open": "an upload stayed open whose name the client had heard",
    "unclear": "an error that does not say what failed",
    "broken": "what is there afterwards cannot be read",
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a cell."""

    cell: str
    verdict: str
    fired: int
    requests: int
    seconds: float
    note: str = ""  # the error, or what is wrong


def run_cell(world: World, operation: Operation, cell: Cell) -> Outcome:
    """Runs a cell. The world is as before afterwards, but for a hung one."""
    if needs_tls(cell.action) and world.endpoint.startswith("http://"):
        return Outcome(cell.name, NOT_APPLICABLE, fired=0, requests=0, seconds=0.0)
    world.config = dataclasses.replace(world.config, max_attempts=ATTEMPTS[cell.times])
    trial = operation.begin(world, cell.size)
    journal, faults = world.emulator.journal(), world.emulator.faults()
    faults.set([cell.rule()])
    if cell.action.parameters.get("mode") == "stale-version":  # of what was overwritten while there is such a rule
        world.overwrite()
    mark = journal.last
    began = time.monotonic()
    end = within(DEADLINE_S, trial.run)
    seconds = time.monotonic() - began
    fired = _fired(faults)
    faults.clear(forget=True)
    requests = journal.count(after=mark)
    if end is None:
        return Outcome(cell.name, "hang", fired, requests, seconds)
    torn = cell.action.kind == "commit_partial"
    refused = (trial.parsed and cell.action.kind == "corrupt") or torn or cell.action.kind == "partial_failure"
    cut_off = cell.target == CONNECTION and cell.times == ALWAYS
    verdict, note = judge(
        world, trial, mark, *end, untold=may_go_untold(cell, trial), torn=torn, refused=refused, cut_off=cut_off
    )
    if not fired and verdict == RIGHT:
        verdict = IDLE
    return Outcome(cell.name, verdict, fired, requests, seconds, note)


def _fired(faults: Faults) -> int:
    """How often the fault happened: what happens at an answer's end may be counted only when the client has its answer."""
    end = time.monotonic() + COUNTED_S
    while not (fired := faults.account().fired) and time.monotonic() < end:
        time.sleep(COUNTED_S / 10)
    return fired


def within(deadline_s: float, run: Callable[[], Any]) -> tuple[Any, BaseException | None] | None:
    """What it returned or raised; None: it has not ended."""
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
    world: World,
    trial: Trial,
    mark: int,
    value: Any,
    error: BaseException | None,
    *,
    untold: bool = False,
    torn: bool = False,
    refused: bool = False,
    cut_off: bool = False,
) -> tuple[str, str]:
    """The verdict on what a trial returned or raised and left behind, and words for it; what it left is removed.

    Args:
        mark: The journal's last entry before it ran.
        untold: Wrong bytes are nobody's fault.
        torn: What is there in part, or cannot be read, is nobody's fault either.
        refused: An error may be one of who reads the bytes, or of some of many keys.
        cut_off: Nothing that the client said at the end could reach the service.
    """
    verdict, note = _judge_end(trial, value, error, untold, refused)
    if verdict not in DEFECTS and trial.state is not None:
        verdict, note = _judge_state(trial, verdict, note, succeeded=error is None)
        if (verdict == "wrong" and untold) or (verdict in ("partial", "broken") and torn):
            verdict = UNTOLD
    if verdict not in DEFECTS and not cut_off and (left := left_open(world, mark)):
        verdict, note = "left open", left
    if trial.state is not None:
        world.clear()
    return verdict, note


def _judge_end(trial: Trial, value: Any, error: BaseException | None, untold: bool, refused: bool) -> tuple[str, str]:
    if error is not None:
        told = _told_by(error) or (str(error) if refused else None)
        if told is None:
            return "unclear", "".join(traceback.format_exception(error))[-2000:]
        return ERROR, f"{type(error).__name__}: {told}"[:300]
    if trial.right(value):
        return RIGHT, ""
    text = f"got {value!r}"[:200]
    return (UNTOLD, text) if untold else ("wrong", text)


def may_go_untold(cell: Cell, trial: Trial) -> bool:
    """Whether S3 gives a client nothing to see this fault by: no checksum of ranges and documents, no second word on metadata."""
    if cell.action.kind in ("commit_partial", "delay_visibility"):  # no S3 does it, and none tells of it
        return True
    if cell.action.kind == "corrupt":
        of_bytes = cell.target == "GetObject" and trial.verified
        return not of_bytes or bool(cell.action.parameters.get("fix_checksum"))
    return cell.action.kind == "header_lie" and cell.target in ("HeadObject", "HeadBucket")


def _told_by(error: BaseException) -> str | None:
    """The words of the S3Exception that an error is or came of; None: there is none that names its operation."""
    seen: list[BaseException] = [error]
    for one in seen:
        if isinstance(one, S3Exception):
            return str(one) if one.operation and str(one) else None
        if isinstance(one, FileNotFoundError) and one.filename:  # of fsspec
            return str(one)
        if found := _OF_S3.search(str(one)):  # torch makes errors of its own of what a storage reader raised
            return str(one)[max(0, found.start() - 200) :]
        failures = getattr(one, "failures", None)  # of a distributed checkpoint: rank to (error, summary)
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
        return "wrong", "it said that it was done, and nothing was"
    return verdict, note


def left_open(world: World, mark: int) -> str:
    """Uploads that nobody gave up though their names were known; they may go in the background."""
    journal = world.emulator.journal()
    until = time.monotonic() + LEFT_OPEN_S
    while left := world.open_uploads():
        begun = journal.entries(after=mark, operations="CreateMultipartUpload")
        unheard = sum(PLANTED in entry.faults for entry in begun)  # the answer with the name was lost, or is wrong
        refused = any(PLANTED in entry.faults for entry in journal.entries(after=mark, operations="AbortMultipartUpload"))
        if len(left) <= unheard or refused:
            break
        if time.monotonic() > until:
            return ", ".join(key for key, _ in left)
        time.sleep(0.05)
    return ""
