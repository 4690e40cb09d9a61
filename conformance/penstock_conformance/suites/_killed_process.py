"""A write that blocks until its process is killed: run with ``python -m``; reads a job as a line of JSON from standard input.

The job contains credentials and is therefore not on the command line, which other users of the machine can read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from .._access import Access
from ..clients import find
from ._writes import pieces


def endless(size: str) -> Iterator[bytes]:
    yield from pieces(size)
    sys.stdin.read()  # blocks until the parent process closes the pipe
    raise EOFError


def main(job: dict[str, Any]) -> None:
    find(job["client"])(Access(**job["access"])).write(job["bucket"], "key", endless(job["size"]))


if __name__ == "__main__":
    main(json.loads(sys.stdin.readline()))
