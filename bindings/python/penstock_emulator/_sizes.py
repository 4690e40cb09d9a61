"""Sizes and durations with units, in arguments and on the command line."""

from __future__ import annotations

import argparse
import re

from ._checks import check_type

# As base/text/quantity.h of the program, and as penstock/_argument_values.py, with which this distribution shares no code.
_QUANTITY = re.compile(r"([0-9]{1,99})(?:\.([0-9]{1,6}))?(?: *([a-zA-Z]+))?")
_SIZES = {"": 1, "b": 1} | {f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", 1)}
_SIZES |= {f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", 1)}
_DELAYS = {"ms": 1, "s": 1000}
_DURATIONS = _DELAYS | {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_MAX_SIZE = 1 << 63
_MAX_DELAY_S = 60
_MAX_DURATION_S = 1e9  # exclusive


def _quantity(text: str, units: dict[str, int]) -> int | None:
    """Returns a number with a unit in the smallest unit, rounded down; None for other texts and for 2^63 or more."""
    found = _QUANTITY.fullmatch(text)
    factor = units.get((found[3] or "").lower()) if found else None
    if not found or factor is None:
        return None
    decimals = found[2] or ""
    value = int(found[1]) * factor + int(decimals or 0) * factor // 10 ** len(decimals)
    return value if value < _MAX_SIZE else None


def size(text: str) -> int:
    """Returns the number of bytes of a size such as "1048576", "64MiB" or "10GB"."""
    count = _quantity(text, _SIZES)
    if count is not None:
        return count
    raise argparse.ArgumentTypeError(f"invalid size '{text}': expected bytes below 2^63, such as 1048576, 64MiB or 10GB")


def duration(text: str) -> float:
    """Returns the seconds of a duration such as "250ms", "5s", "1.5m" or "2h", or of a number of seconds."""
    try:
        count = _quantity(text, _DURATIONS)
        seconds = float(text) if count is None else count / 1000
    except ValueError:
        seconds = -1.0
    if 0 <= seconds < _MAX_DURATION_S:
        return seconds
    raise argparse.ArgumentTypeError(
        f"invalid duration '{text}': expected less than 1e9 seconds, a number or for example 250ms, 5s, 30m or 2h"
    )


def size_of(name: str, value: int | str, most: int) -> int:
    """Returns the bytes of an argument that is a number or a text. Raises TypeError, or ValueError for more than `most`."""
    check_type(name, value, (int, str))
    count = _quantity(value, _SIZES) if isinstance(value, str) else value
    if count is None or not 0 <= count <= most:
        raise ValueError(f'{name} must be 0 to {most} bytes, a number or a text such as "64MiB" or "10GB"; not {value!r}')
    return count


def milliseconds_of(name: str, value: float | str) -> int:
    """Returns the milliseconds of an argument that is a number of seconds or a text. Raises TypeError or ValueError."""
    check_type(name, value, (int, float, str))
    if isinstance(value, str) and value != "0":
        count = _quantity(value, _DELAYS)
        seconds = float("inf") if count is None else count / 1000
    else:
        seconds = float(value)
    if not 0 <= seconds <= _MAX_DELAY_S:
        raise ValueError(f'{name} must be 0 to {_MAX_DELAY_S} seconds, a number or a text such as "25ms" or "1s"; not {value!r}')
    return round(seconds * 1000)
