"""Where many objects are made that all stay, the garbage collector looks through them again and again for nothing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

MOST_PUT_OFF = 500_000  # objects: a plan for some 50,000 tensors


@contextmanager
def without_collection() -> Iterator[None]:
    """No automatic collection in this process meanwhile."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


_before: tuple[int, int, int] | None = None  # the thresholds that were put off


def put_off_collection() -> None:
    """Has the next automatic collection come after `MOST_PUT_OFF` objects more, and those after it as before.

    For a stretch that others may leave by an exception: nothing has to be undone.
    """
    global _before  # noqa: PLW0603  (the collector is the process's)
    if _before is None and gc.get_threshold()[0] not in (0, MOST_PUT_OFF):
        _before = gc.get_threshold()
        gc.callbacks.append(_at_collection)
        gc.set_threshold(MOST_PUT_OFF, *_before[1:])


def resume_collection() -> None:
    """Ends that earlier."""
    global _before
    before, _before = _before, None
    if before is not None:
        if gc.get_threshold()[0] == MOST_PUT_OFF:
            gc.set_threshold(*before)
        gc.callbacks[:] = [each for each in gc.callbacks if each is not _at_collection]


def _at_collection(phase: str, info: dict[str, Any]) -> None:
    del info
    if phase == "stop":
        resume_collection()
