"""The description of the machine that is measured, and the arguments that it permits."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import doc

MAX_N = 64
PARTS = 4  # of the available memory; one of them may be used by objects and their copies


def memory_bytes(name: str = "MemAvailable") -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{name}:"))


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def gpu() -> str:
    """The name of the first GPU; empty: none."""
    import torch

    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""


def description() -> str:
    gpu_text = gpu() or "no GPU"
    gib = memory_bytes("MemTotal") / (1 << 30)
    return f"{doc.cpu_model()}, {cores()} cores, {gib:.0f} GiB, {gpu_text}, Linux {platform.release()}"


def default_values() -> list[int]:
    """1, 2, 4, 8, and 16 on machines with 8 cores or more."""
    return [1, 2, 4, 8] + ([16] if cores() >= 8 else [])


def parse_values(text: str) -> list[int]:
    """Raises ValueError for anything but ascending numbers from 1 to MAX_N."""
    example = f"expected ascending numbers from 1 to {MAX_N}, for example 1,2,4,8"
    try:
        values = [int(each) for each in text.split(",")]
    except ValueError:
        raise ValueError(f"invalid values {text!r}: {example}") from None
    wrong = next((value for value in values if not 1 <= value <= MAX_N), None)
    if wrong is not None:
        raise ValueError(f"invalid value {wrong} in {text!r}: {example}")
    if values != sorted(set(values)):
        raise ValueError(f"the values {text!r} do not ascend: {example}")
    return values


def check_memory(mib: int, most: int) -> None:
    """Raises ValueError if objects of `mib` MiB in `most` threads or processes need too much of the available memory."""
    needed, allowed = (mib << 20) * (most + 1), memory_bytes() // PARTS
    if mib < 1:
        raise ValueError(f"--mib must be 1 or more, not {mib}")
    if needed > allowed:
        raise ValueError(
            f"--mib {mib} with {most} threads or processes needs {needed >> 20:,} MiB, and the limit is {allowed >> 20:,} MiB, a"
            f" quarter of the available memory: use at most --mib {max(1, (allowed >> 20) // (most + 1))}, or smaller --values"
        )
