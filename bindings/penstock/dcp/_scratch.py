"""Memory that what is fetched passes through where it cannot land in a tensor: a few arenas, used over and over."""

from __future__ import annotations

from typing import Any

import torch

ARENA_BYTES = 8 * 1024**2
ARENAS = 10
ALIGNMENT = 64


class Arena:
    """A block of memory that is given out from its begin on; `users` hold it."""

    __slots__ = ("address", "events", "memory", "used", "users")

    def __init__(self, size: int, pinned: bool) -> None:
        self.memory = torch.empty(size, dtype=torch.uint8, device="cpu", pin_memory=pinned)
        self.address = self.memory.data_ptr()
        self.used = 0
        self.users = 0
        self.events: list[Any] = []  # of copies to other devices that still read it

    @property
    def left(self) -> int:
        return int(self.memory.numel()) - self.used

    def take(self, size: int) -> int:
        """Where `size` bytes are, from its begin."""
        at = self.used
        self.used += size
        return at

    def align(self) -> None:
        self.used = -(-self.used // ALIGNMENT) * ALIGNMENT


class Scratch:
    """At most `ARENAS` arenas, but for one that is larger than an arena and alone.

    Attributes:
        pinned: Arenas that are made from now on can be copied to other devices asynchronously.
    """

    def __init__(self) -> None:
        self.pinned = False
        self._free: list[Arena] = []
        self._current: Arena | None = None
        self._bytes = 0  # of arenas that exist
        self._held = 0  # arenas that have users, or are current

    def arena(self, size: int) -> Arena | None:
        """An arena with so many bytes left, which the caller now uses; None: one has to be let go of first."""
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
        """Until copies to other devices have left it."""
        self._retire()
        self._drop_free()
