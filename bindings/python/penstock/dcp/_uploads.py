"""Uploads several objects of one rank in parallel. If one upload fails, all others are aborted."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from .._progress import LONGEST_WAIT_S
from ._shard import Shard
from ._sink import UploadSink

Result = TypeVar("Result")


class _Aborted(Exception):
    """Another object's upload failed."""


def upload_all(
    shards: Sequence[Shard],
    thread_count: int,
    open_upload: Callable[[Shard], AbstractContextManager[UploadSink]],
    write: Callable[[Shard, UploadSink], list[Result]],
) -> list[Result]:
    """Writes each shard to its upload, with `thread_count` threads including the calling thread.

    Raises:
        BaseException: The first error of any upload. All uploads have then ended, and none is published later.
    """
    waiting: queue.SimpleQueue[tuple[int, Shard]] = queue.SimpleQueue()
    for entry in enumerate(shards):
        waiting.put(entry)
    results: dict[int, list[Result]] = {}
    failures: list[BaseException] = []
    uploads: set[UploadSink] = set()
    lock = threading.Lock()

    def fail(error: BaseException) -> None:
        with lock:
            failures.append(error)
            others = list(uploads)
        for upload in others:
            upload.abort()

    def run() -> None:
        while not failures:
            try:
                number, shard = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                with open_upload(shard) as upload:
                    with lock:
                        uploads.add(upload)
                        if failures:
                            raise _Aborted
                    try:
                        results[number] = write(shard, upload)
                    finally:
                        with lock:
                            uploads.discard(upload)
                            aborted = bool(failures)
                    if aborted:
                        raise _Aborted
            except BaseException as error:
                fail(error)

    threads = [threading.Thread(target=run, name=f"penstock-save-{i}") for i in range(1, min(thread_count, len(shards)))]
    for thread in threads:
        thread.start()
    run()
    for thread in threads:
        while thread.is_alive():
            try:
                thread.join(LONGEST_WAIT_S)
            except BaseException as error:  # Ctrl-C aborts all uploads
                fail(error)
    if failures:
        raise next((error for error in failures if not isinstance(error, _Aborted)), failures[0])
    return [result for number in sorted(results) for result in results[number]]
