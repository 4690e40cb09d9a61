"""What processes used meanwhile: CPU time, context switches, the busiest thread, and waits for mutexes."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from harness import process_cpu_seconds, stat_cpu_seconds

TRACE_TIMEOUT_S = 30


@dataclasses.dataclass
class Thread:
    name: str
    cpu_s: float
    voluntary: int
    involuntary: int


@dataclasses.dataclass
class Sample:
    """CPU time of processes since their start, ended threads included, and each running thread."""

    cpu_s: float
    threads: dict[int, Thread]


@dataclasses.dataclass
class Used:
    """Between two samples. `busiest` is the CPU time of the busiest thread."""

    cpu_s: float
    voluntary: int
    involuntary: int
    busiest_s: float
    busiest: str


def descendants(pids: Iterable[int]) -> list[int]:
    """The processes and their children, in depth."""
    found: list[int] = []
    waiting = list(pids)
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            waiting.extend(map(int, children.read_text().split()))
    return found


def _thread(task: Path) -> Thread:
    status = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines() if ":" in line)
    switches = int(status["voluntary_ctxt_switches"]), int(status["nonvoluntary_ctxt_switches"])
    return Thread(status["Name"].strip(), stat_cpu_seconds(task / "stat"), *switches)


def sample(pids: Iterable[int]) -> Sample:
    """Samples processes and their descendants."""
    taken = Sample(0.0, {})
    for pid in descendants(pids):
        taken.cpu_s += process_cpu_seconds(pid)
        for task in Path(f"/proc/{pid}/task").iterdir():
            try:
                taken.threads[int(task.name)] = _thread(task)
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended
    return taken


def used(before: Sample, after: Sample) -> Used:
    """The difference of two samples. A thread that has ended counts in `cpu_s` only."""
    nothing = Thread("", 0.0, 0, 0)
    busiest, name, voluntary, involuntary = 0.0, "", 0, 0
    for tid, now in after.threads.items():
        was = before.threads.get(tid, nothing)
        voluntary += now.voluntary - was.voluntary
        involuntary += now.involuntary - was.involuntary
        if now.cpu_s - was.cpu_s > busiest:
            busiest, name = now.cpu_s - was.cpu_s, now.name
    return Used(after.cpu_s - before.cpu_s, voluntary, involuntary, busiest, name)


# ---- waits for mutexes

# glibc waits for a mutex by FUTEX_WAIT with the value 2 (nptl/lowlevellock.c). Condition variables, and so Python's GIL and idle
# threads, use FUTEX_WAIT_BITSET; they are not counted.
_PERF_WAIT = re.compile(
    r"^\s*[\d.]+ \(\s*(?:(?P<spent>[\d.]+) ms|)\s*\):.*/(?P<tid>\d+)"
    r" futex\(uaddr: (?P<lock>\w+), op: WAIT\|PRIVATE_FLAG, val: 2\)"
)
_PERF_REST = re.compile(r"^\s*[\d.]+ \(\s*(?P<spent>[\d.]+) ms\):.*/(?P<tid>\d+)\s+\.\.\. \[continued\]: futex\(")
_STRACE_WAIT = re.compile(
    r"^(?P<tid>\d+) +futex\((?P<lock>\w+), FUTEX_WAIT_PRIVATE, 2, [^)]*(?:\) += .*<(?P<spent>[\d.]+)>| <unfinished \.\.\.>)$"
)
_STRACE_REST = re.compile(r"^(?P<tid>\d+) +<\.\.\. futex resumed>.*<(?P<spent>[\d.]+)>$")


@dataclasses.dataclass
class LockWaits:
    """Waits for mutexes in the kernel. A wait ends also if the mutex has become free before the thread slept."""

    tool: str
    seconds: float  # of the observation
    count: int
    wait_s: float
    locks: dict[str, int]  # address -> waits


def read_perf(text: str, tids: set[int], seconds: float) -> LockWaits:
    """Counts the waits of threads in the output of `perf trace -e futex`."""
    return _read(text, tids, LockWaits("perf trace", seconds, 0, 0.0, {}), (_PERF_WAIT, _PERF_REST), 1e-3)


def read_strace(text: str, tids: set[int], seconds: float) -> LockWaits:
    """Counts the waits of threads in the output of `strace -f -T -e trace=futex`."""
    return _read(text, tids, LockWaits("strace", seconds, 0, 0.0, {}), (_STRACE_WAIT, _STRACE_REST), 1.0)


def _read(
    text: str, tids: set[int], waits: LockWaits, patterns: tuple[re.Pattern[str], re.Pattern[str]], unit_s: float
) -> LockWaits:
    """Adds to `waits`. The patterns are of a wait, and of the rest of one that was not finished in its line."""
    unfinished: set[int] = set()
    for row in text.splitlines():
        if found := patterns[0].match(row):
            tid = int(found["tid"])
            if tid in tids:
                waits.count += 1
                waits.locks[found["lock"]] = waits.locks.get(found["lock"], 0) + 1
                waits.wait_s += float(found["spent"] or 0) * unit_s
                if not found["spent"]:
                    unfinished.add(tid)
        elif (rest := patterns[1].match(row)) and int(rest["tid"]) in unfinished:
            unfinished.discard(int(rest["tid"]))
            waits.wait_s += float(rest["spent"]) * unit_s
    return waits


def lock_waits(pid: int, seconds: float) -> LockWaits | None:
    """Observes the mutexes of one process for `seconds`. None: neither perf nor strace is installed and permitted.

    The observation slows the process down, strace far more than perf, so rates are measured without it.
    """
    length = f"{seconds:g}"
    tools = [
        ("perf", read_perf, ["trace", "-e", "futex", "-p", str(pid), "-o", "{}", "--", "sleep", length]),
        ("strace", read_strace, ["-f", "-qq", "-T", "-e", "trace=futex", "-p", str(pid), "-o", "{}"]),
    ]
    for name, read, arguments in tools:
        program = shutil.which(name)
        if program is None:
            continue
        with tempfile.NamedTemporaryFile("r", prefix="penstock-scale-") as output:
            command = [program, *(output.name if each == "{}" else each for each in arguments)]
            tids = set(sample([pid]).threads)
            if name == "strace":  # it has no end of its own
                command = ["timeout", "--signal=INT", length, *command]
            done = subprocess.run(command, capture_output=True, timeout=seconds + TRACE_TIMEOUT_S, check=False)
            text = output.read()
        if text or done.returncode == 0:
            return read(text, tids | set(sample([pid]).threads), seconds)
    return None
