"""Sizes with units on the command line."""

from __future__ import annotations

import argparse
import re

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:([kmgt])(i?)b)?", re.IGNORECASE)
_LIMIT = 1 << 63


def size(text: str) -> int:
    """Returns the number of bytes of a size such as "1048576", "64MiB" or "10GB"."""
    found = _SIZE.fullmatch(text)
    if found:
        power = " kmgt".index((found[2] or " ").lower())
        count = float(found[1]) * (1024 if found[3] else 1000) ** power
        if count < _LIMIT:
            return int(count)
    raise argparse.ArgumentTypeError(f"invalid size '{text}': expected bytes below 2^63, such as 1048576, 64MiB or 10GB")
