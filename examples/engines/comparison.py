"""Runs the same work with Penstock and with another client, and prints the times. Also imports `common` of examples/python."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
from penstock.fsspec import S3FileSystem

# Last, because examples/python has a datasets.py, the name of a package of Hugging Face.
sys.path.append(str(Path(__file__).parents[1] / "python"))
import common

__all__ = ["common", "compare", "file_systems"]


def file_systems() -> dict[str, fsspec.AbstractFileSystem]:
    """Returns Penstock's file system and s3fs's, with the endpoint of the environment. Both have already sent a request."""
    import s3fs

    systems = {"penstock": S3FileSystem(), "s3fs": s3fs.S3FileSystem()}
    for system in systems.values():
        system.exists(common.uri())
    return systems


def compare(what: str, work: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """Does the work of each client once, prints the times in one line, and returns the results."""
    results, times = {}, []
    for client, function in work.items():
        start = time.perf_counter()
        results[client] = function()
        times.append(f"{client} {time.perf_counter() - start:.2f} s")
    print(f"{what}: {', '.join(times)}", flush=True)
    return results
