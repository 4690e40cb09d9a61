"""Scratch memory for data that cannot be fetched directly into its target: a bounded pool of reused arenas."""

from __future__ import annotations

from typing import Any

import torch

ARENA_BYTES = 8 * 1024**2
ARENAS = 10
ALIGNMENT = 64


class Arena:
    """A block of memory that is allocated from start to end, and is reused when it has no users."""

    __slots__ = ("address", "events", "memory", "used", "users")

    def __init__(self, size: int, pinned: bool) -> None:
        self.memory = torch.empty(size, dtype=torch.uint8, device="cpu", pin_memory=pinned)
        self.address = self.memory.data_ptr()
        self.used = 0
        self.users = 0
        self.events: list[Any] = []  # recorded after copies to other devices, which read this memory

    @property
    def left(self) -> int:
        return int(self.memory.numel()) - self.used

    def take(self, size: int) -> int:
        """Allocates `size` bytes. Returns their offset."""
        at = self.used
        self.used += size
        return at

    def align(self) -> None:
        self.used = -(-self.used // ALIGNMENT) * ALIGNMENT


class Scratch:
    """A pool of at most `ARENAS` arenas. A request larger than the whole pool gets an arena of its own when no other is in use.

    Attributes:
        pinned: New arenas use pinned memory, which can be copied to other devices asynchronously.
    """

    def __init__(self) -> None:
        self.pinned = False
        self._free: list[Arena] = []
        self._current: Arena | None = None
        self._bytes = 0  # size of all arenas
        self._held = 0  # number of arenas that have users or are current

    def arena(self, size: int) -> Arena | None:
        """Returns an arena with `size` bytes left, with the caller as a user; None if an arena must be released first."""
        size += ALIGNMENT
        if self._current is not None and self._current.left >= size:
            self._current.users += 1
            return self._current
        if self._current is not None:
            self._retire()
        found = self._free.pop() if self._free and size <= ARENA_BYTES else None
        if found is None:
            if self._bytes + max(size, ARENA_BYTES) > ARENAS * ARENA_BYTES and self._held > 0:
                return None
            if size > ARENA_BYTES:
                self._drop_free()
            found = Arena(max(size, ARENA_BYTES), self.pinned)
            self._bytes += int(found.memory.numel())
        for event in found.events:
            event.synchronize()
        found.events.clear()
        self._held += 1
        self._current = found
        found.used = 0
        found.users = 1
        return found

    def release(self, arena: Arena) -> None:
        arena.users -= 1
        if arena.users == 0 and arena is not self._current:
            self._put_back(arena)

    def _retire(self) -> None:
        arena, self._current = self._current, None
        if arena is not None and arena.users == 0:
            self._put_back(arena)

    def _put_back(self, arena: Arena) -> None:
        self._held -= 1
        if arena.memory.numel() == ARENA_BYTES:
            self._free.append(arena)
        else:
            for event in arena.events:
                event.synchronize()
            self._bytes -= int(arena.memory.numel())

    def _drop_free(self) -> None:
        for arena in self._free:
            for event in arena.events:
                event.synchronize()
        self._bytes -= ARENA_BYTES * len(self._free)
        self._free = []

    def wait(self) -> None:
        """Waits until all copies to other devices have completed, and frees the arenas."""
        self._retire()
        self._drop_free()
