"""Values of command-line options: sizes, ages and times."""

from __future__ import annotations

import argparse
import re

_UNITS = {
    "": 1,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Z]*)")
_SIZE_LIMIT = 1 << 63
_LAST_SECOND = 253_402_300_799  # of the year 9999
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def size(text: str) -> int:
    """Parses a size such as "1048576", "64MiB", "1.5 GiB" or "10GB" and returns bytes."""
    match = _SIZE.fullmatch(text)
    found = float(match[1]) * _UNITS.get(match[2].lower(), float("inf")) if match else float("inf")
    if found >= _SIZE_LIMIT:
        raise argparse.ArgumentTypeError(
            f"invalid size '{text}': expected a number with an optional unit, for example 1048576, 64MiB or 1GiB"
        )
    return int(found)


def bandwidth(text: str) -> int:
    """Parses bytes per second. Sizes as in :func:`size`."""
    found = size(text)
    if found < 64 << 10:
        raise argparse.ArgumentTypeError(f"invalid bandwidth '{text}': expected at least 64KiB per second")
    return found


def age(text: str) -> float:
    """Parses an age such as "90s", "30m", "36h", "7d" or "2w". Returns seconds."""
    number, unit = text[:-1], text[-1:]
    try:
        seconds = float(number) * _UNITS_S[unit]
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
