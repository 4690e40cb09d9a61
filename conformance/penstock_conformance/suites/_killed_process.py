"""A write that comes to no end, for it to be killed: ``python -m`` this with a job as a line of JSON on its standard input.

The job has the key to the endpoint in it, and a command line is for everybody to read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from .._bench import Access
from ..clients import find
from ._writes import pieces


def without_end(size: str) -> Iterator[bytes]:
    yield from pieces(size)
    sys.stdin.read()  # until whoever started this has gone
    raise EOFError


def main(job: dict[str, Any]) -> None:
    find(job["client"])(Access(**job["access"])).write(job["bucket"], "key", without_end(job["size"]))


if __name__ == "__main__":
    main(json.loads(sys.stdin.readline()))
