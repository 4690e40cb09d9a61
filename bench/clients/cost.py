"""Shared by the Python benchmark programs: the cost of repeated transfers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def memory_kib(name: str) -> int:
    """VmRSS or VmHWM of this process. ru_maxrss would include the parent's memory before exec."""
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))


def cost_of(transfer: Callable[[], int], rounds: int, held_kib: int = 0) -> dict[str, float]:
    """Runs `transfer`, which returns its bytes, once without and `rounds` times with measurement.

    `peak_mib` is the peak of memory above that before the first transfer and above `held_kib`, which a transfer returns.
    """
    before = memory_kib("VmRSS")
    transfer()  # opens connections, imports modules; `before` is older, because the allocator may keep the memory that this frees
    cpu, start = time.process_time(), time.perf_counter()
    total = sum(transfer() for _ in range(rounds))
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = (memory_kib("VmHWM") - before - held_kib) / 1024
    return {"seconds": seconds, "cpu": cpu, "bytes": total, "peak_mib": peak}
