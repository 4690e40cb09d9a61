"""Pauses the garbage collector while many long-lived objects are created, since repeated collections would free none of them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

MAX_DEFERRED_OBJECTS = 500_000  # about a plan for 50,000 tensors


@contextmanager
def collection_disabled() -> Iterator[None]:
    """Disables automatic collection in this process for the duration of the block."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def long_lived_objects() -> Iterator[None]:
    """Moves the objects that the block creates to the oldest generation, so that collections of younger ones skip them.

    All other objects move too. Young ones are examined before the block, so that garbage does not get there. If the program has
    disabled collection, or frozen objects, which `gc.unfreeze` would undo, no object is moved.
    """
    promotes = gc.isenabled() and gc.get_freeze_count() == 0
    if promotes:
        gc.collect(1)
    with collection_disabled():
        yield
        if promotes:
            gc.freeze()
            gc.unfreeze()


_before: tuple[int, int, int] | None = None  # the thresholds to restore


def defer_collection() -> None:
    """Defers the next automatic collection until `MAX_DEFERRED_OBJECTS` more objects exist. That collection ends the deferral.

    Use it where the caller cannot ensure cleanup, for example if torch may raise in between.
    """
    global _before  # noqa: PLW0603  (the collector is process-wide)
    if _before is None and gc.get_threshold()[0] not in (0, MAX_DEFERRED_OBJECTS):
        _before = gc.get_threshold()
        gc.callbacks.append(_at_collection)
        gc.set_threshold(MAX_DEFERRED_OBJECTS, *_before[1:])


def resume_collection() -> None:
    """Ends the deferral."""
    global _before
    before, _before = _before, None
    if before is not None:
        if gc.get_threshold()[0] == MAX_DEFERRED_OBJECTS:
            gc.set_threshold(*before)
        gc.callbacks[:] = [each for each in gc.callbacks if each is not _at_collection]


def _at_collection(phase: str, info: dict[str, Any]) -> None:
    del info
    if phase == "stop":
        resume_collection()
