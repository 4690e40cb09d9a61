"""Sizes and durations with units, in arguments and on the command line."""

from __future__ import annotations

import argparse
import re

from ._checks import check_type

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:([kmgt]?)(i?)b)?", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s)", re.IGNORECASE)
_MAX_SIZE = 1 << 63
_MAX_DELAY_S = 60


def _bytes(text: str) -> float:
    """Returns the number of bytes of a size; infinity if it is not one."""
    found = _SIZE.fullmatch(text)
    if not found or (found[3] and not found[2]):
        return float("inf")
    power = " kmgt".index((found[2] or " ").lower())
    return float(float(found[1]) * (1024 if found[3] else 1000) ** power)


def size(text: str) -> int:
    """Returns the number of bytes of a size such as "1048576", "64MiB" or "10GB"."""
    count = _bytes(text)
    if count < _MAX_SIZE:
        return int(count)
    raise argparse.ArgumentTypeError(f"invalid size '{text}': expected bytes below 2^63, such as 1048576, 64MiB or 10GB")


def size_of(name: str, value: int | str, most: int) -> int:
    """Returns the bytes of an argument that is a number or a text. Raises TypeError, or ValueError for more than `most`."""
    check_type(name, value, (int, str))
    count = _bytes(value) if isinstance(value, str) else value
    if not 0 <= count <= most:
        raise ValueError(f'{name} must be 0 to {most} bytes, a number or a text such as "64MiB" or "10GB"; not {value!r}')
    return int(count)


def milliseconds_of(name: str, value: float | str) -> int:
    """Returns the milliseconds of an argument that is a number of seconds or a text. Raises TypeError or ValueError."""
    check_type(name, value, (int, float, str))
    seconds = float("inf")
    if not isinstance(value, str):
        seconds = float(value)
    elif found := _DURATION.fullmatch(value):
        seconds = float(found[1]) / (1000 if found[2].lower() == "ms" else 1)
    if not 0 <= seconds <= _MAX_DELAY_S:
        raise ValueError(f'{name} must be 0 to {_MAX_DELAY_S} seconds, a number or a text such as "25ms" or "1s"; not {value!r}')
    return round(seconds * 1000)
