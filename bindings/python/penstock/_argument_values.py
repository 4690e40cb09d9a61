"""Sizes, durations, ages and times in options of commands and in arguments."""

from __future__ import annotations

import argparse
import re

# As base/text/quantity.h of the core, and as penstock_emulator/_sizes.py, with which this distribution shares no code.
_SIZE = re.compile(r"([0-9]{1,99})(?:\.([0-9]{1,6}))?(?: *([a-zA-Z]+))?")
_UNITS = {"": 1, "b": 1} | {f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", 1)}
_UNITS |= {f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", 1)}
_SIZE_LIMIT = 1 << 63
_LAST_SECOND = 253_402_300_799  # of the year 9999
_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_DURATION = re.compile(r"([0-9]{1,99}(?:\.[0-9]{1,6})?) *([a-zA-Z]+)")
_UPPER_BOUND_S = 1e9  # exclusive, as for the durations of S3ClientConfig


def size(text: str) -> int:
    """Parses a size such as "1048576", "64MiB", "1.5 GiB" or "10GB" and returns bytes."""
    match = _SIZE.fullmatch(text)
    factor = _UNITS.get((match[3] or "").lower()) if match else None
    decimals = (match[2] if match else None) or ""
    if match and factor is not None:
        found: int = int(match[1]) * factor + int(decimals or 0) * factor // 10 ** len(decimals)
        if found < _SIZE_LIMIT:
            return found
    raise argparse.ArgumentTypeError(
        f"invalid size '{text}': expected a number below 2^63 with an optional unit, for example 1048576, 64MiB or 1.5GB"
    )


def bandwidth(text: str) -> int:
    """Parses bytes per second. Sizes as in :func:`size`."""
    found = size(text)
    if found < 64 << 10:
        raise argparse.ArgumentTypeError(f"invalid bandwidth '{text}': expected at least 64KiB per second")
    return found


def duration(text: str) -> float:
    """Parses a duration such as "250ms", "5s", "1.5 m", "2h", or a number of seconds. Returns seconds."""
    match = _DURATION.fullmatch(text)
    factor = _UNITS_MS.get(match[2].lower()) if match else None
    try:
        seconds = float(match[1]) * factor / 1000 if match and factor else float(text)
    except ValueError:
        seconds = -1.0
    if 0 <= seconds < _UPPER_BOUND_S:
        return seconds
    raise argparse.ArgumentTypeError(
        f"invalid duration '{text}': expected less than 1e9 seconds, a number or for example 250ms, 5s, 30m, 2h or 7d"
    )


def age(text: str) -> float:
    """Parses an age such as "90s", "30m", "36h", "7d" or "2w". Returns seconds."""
    number, unit = text[:-1], text[-1:]
    try:
        seconds = float(number) * _UNITS_MS[unit] / 1000
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError(f"invalid age '{text}': expected for example 30m, 36h or 7d") from None
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"invalid age '{text}': expected for example 30m, 36h or 7d")
    return seconds


def time(text: str) -> float:
    """Parses seconds since the epoch, or an ISO 8601 time with a time zone. Returns seconds since the epoch."""
    from datetime import datetime

    try:
        seconds = float(text)
    except ValueError:
        pass
    else:
        if not 0 <= seconds <= _LAST_SECOND:
            raise argparse.ArgumentTypeError(f"invalid time '{text}': expected 1970 to 9999, 0 to {_LAST_SECOND} seconds")
        return seconds
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid time '{text}': expected for example 2026-01-31T12:00:00Z") from None
    if found.tzinfo is None:
        raise argparse.ArgumentTypeError(f"time '{text}' has no time zone; use {text}Z for UTC, or {text}+01:00")
    return found.timestamp()
