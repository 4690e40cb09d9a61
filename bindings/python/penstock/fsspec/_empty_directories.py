"""Keeps the names of created directories that are still empty, because S3 cannot store them.

All file systems of one endpoint in the process share them.
"""

from __future__ import annotations

import os
import threading

MAX_DIRECTORIES = 100_000

_lock = threading.Lock()
_made: dict[str, dict[str, None]] = {}  # by endpoint: paths, the oldest first


def _after_fork() -> None:
    global _lock  # noqa: PLW0603  (another thread of the parent may have held it)
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


class EmptyDirectories:
    """The created directories of one endpoint. Paths are ``bucket/a/b``. Keeps at most 100,000 and evicts the oldest.

    Args:
        endpoint: URL of the endpoint.
        remember: False: keeps no directory.

    Thread safety: all methods may be called from any thread.
    """

    def __init__(self, endpoint: str, remember: bool = True) -> None:
        self._remember = remember
        with _lock:
            self._paths = _made.setdefault(endpoint, {}) if remember else {}

    def add(self, path: str) -> None:
        """Adds a directory and its parent directories."""
        if not self._remember:
            return
        names = path.split("/")
        with _lock:
            for count in range(2, len(names) + 1):
                self._paths["/".join(names[:count])] = None
            while len(self._paths) > MAX_DIRECTORIES:
                del self._paths[next(iter(self._paths))]

    def __contains__(self, path: str) -> bool:
        with _lock:
            return path in self._paths

    def inside(self, path: str) -> list[str]:
        """Returns the directories directly inside a directory."""
        begin = path + "/"
        with _lock:
            return [made for made in self._paths if made.startswith(begin) and "/" not in made[len(begin) :]]

    def below(self, path: str) -> list[str]:
        """Returns the directories anywhere below a directory."""
        with _lock:
            return [made for made in self._paths if made.startswith(path + "/")]

    def forget(self, path: str) -> bool:
        """Removes a directory and all directories below it. Returns whether there was any."""
        with _lock:
            gone = [made for made in self._paths if made == path or made.startswith(path + "/")]
            for made in gone:
                del self._paths[made]
        return bool(gone)

    def clear(self) -> None:
        """Removes all directories of the endpoint."""
        with _lock:
            self._paths.clear()
