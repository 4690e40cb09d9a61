"""Directories that were made and have nothing in them yet: S3 has no place for them, this process remembers them.

Shared by all file systems of one endpoint in the process, so that a directory that one made is one to another.
"""

from __future__ import annotations

import os
import threading

MOST_REMEMBERED = 100_000

_lock = threading.Lock()
_made: dict[str, dict[str, None]] = {}  # by endpoint: paths, the oldest first


def _after_fork() -> None:
    global _lock  # noqa: PLW0603  (another thread of the parent may have held it)
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


class MadeDirectories:
    """Those of one endpoint. Paths are ``bucket/a/b``. Of more than 100,000 the oldest are forgotten.

    Thread safety: safe from any thread.
    """

    def __init__(self, endpoint: str, remember: bool = True) -> None:
        """Not `remember`: there are never any."""
        self._remember = remember
        with _lock:
            self._paths = _made.setdefault(endpoint, {}) if remember else {}

    def add(self, path: str) -> None:
        """Remembers a directory and those above it."""
        if not self._remember:
            return
        names = path.split("/")
        with _lock:
            for count in range(2, len(names) + 1):
                self._paths["/".join(names[:count])] = None
            while len(self._paths) > MOST_REMEMBERED:
                del self._paths[next(iter(self._paths))]

    def __contains__(self, path: str) -> bool:
        with _lock:
            return path in self._paths

    def inside(self, path: str) -> list[str]:
        """Those directly inside of one."""
        begin = path + "/"
        with _lock:
            return [made for made in self._paths if made.startswith(begin) and "/" not in made[len(begin) :]]

    def below(self, path: str) -> list[str]:
        """Those anywhere inside of one."""
        with _lock:
            return [made for made in self._paths if made.startswith(path + "/")]

    def forget(self, path: str) -> bool:
        """Forgets a directory and all inside of it. Whether there was any."""
        with _lock:
            gone = [made for made in self._paths if made == path or made.startswith(path + "/")]
            for made in gone:
                del self._paths[made]
        return bool(gone)
