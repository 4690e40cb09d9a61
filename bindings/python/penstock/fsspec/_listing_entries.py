"""Keeps the entries of the listings that fsspec's expansion of paths discards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._store import Entry

_entries: ContextVar[dict[str, Entry] | None] = ContextVar("entries of listings", default=None)


@contextmanager
def collected_entries() -> Iterator[dict[str, Entry]]:
    """Returns a context manager with a dict that receives the entries of all listings in the block."""
    entries: dict[str, Entry] = {}
    token = _entries.set(entries)
    try:
        yield entries
    finally:
        _entries.reset(token)


def collect(found: Mapping[str, Entry]) -> None:
    """Adds entries to the dict of the surrounding :func:`collected_entries`, if there is one."""
    entries = _entries.get()
    if entries is not None:
        entries.update(found)
