"""Reads objects in threads of one process while its main thread holds the GIL or only sleeps.

    python_gil.py PORT BULK_READS SMALL_READS SECONDS held|free

BULK_READS threads read one endless object each into existing memory. SMALL_READS threads read one object of unknown size each,
which needs new Python memory. After a line on standard input the main thread sleeps for SECONDS: with `held` in a C call that
holds the GIL, with `free` without the GIL. It writes `h` to standard output before the sleep, and after it one JSON line with
the start and the end of the sleep in time.monotonic() seconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import sys
import threading
import time

from penstock import _core

BULK_BYTES = 1 << 36  # more than the server can send in the time
WINDOW_BYTES = 64 << 20  # of physical memory, mapped repeatedly
MAP_FIXED = 0x10


def endless_memory() -> memoryview:
    """BULK_BYTES of addresses that share WINDOW_BYTES of physical memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    file = os.memfd_create("window")
    os.ftruncate(file, WINDOW_BYTES)
    access = mmap.PROT_READ | mmap.PROT_WRITE
    begin = libc.mmap(None, BULK_BYTES, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    for offset in range(0, BULK_BYTES, WINDOW_BYTES):
        mapped = libc.mmap(begin + offset, WINDOW_BYTES, access, mmap.MAP_SHARED | MAP_FIXED, file, 0)
        if mapped != begin + offset:
            raise OSError(ctypes.get_errno(), "mmap")
    return memoryview((ctypes.c_ubyte * BULK_BYTES).from_address(begin)).cast("B")


def main() -> None:
    port, bulk_reads, small_reads = map(int, sys.argv[1:4])
    seconds, held = float(sys.argv[4]), sys.argv[5] == "held"
    client = _core.Client(
        region="us-east-1",
        endpoint=f"http://127.0.0.1:{port}",
        force_path_style=True,
        unsigned=True,
        flags={"hedge_reads": False},
    )
    memory = endless_memory()

    def bulk(index: int) -> None:
        with contextlib.suppress(Exception):  # the server closes the connection
            client.read_into("bkt", f"bulk-{index}", memory, size=BULK_BYTES, etag="e", part_size=1 << 40, parallel=1)

    def small(index: int) -> None:
        with contextlib.suppress(Exception):
            client.read("bkt", f"small-{index}")

    for index in range(bulk_reads):
        threading.Thread(target=bulk, args=(index,), daemon=True).start()
    for index in range(small_reads):
        threading.Thread(target=small, args=(index,), daemon=True).start()
    sys.stdin.readline()
    libc = (ctypes.PyDLL if held else ctypes.CDLL)(None)  # PyDLL holds the GIL during a call
    libc.write(1, b"h", 1)
    begin = time.monotonic()
    libc.usleep(int(seconds * 1e6))
    end = time.monotonic()
    os.write(1, json.dumps({"begin": begin, "end": end}).encode() + b"\n")
    os._exit(0)


main()
