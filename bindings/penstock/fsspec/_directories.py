"""Directories, which S3 has not, and what gets another name."""

from __future__ import annotations

from glob import has_magic
from typing import TYPE_CHECKING, Any

from .._versions import is_directory_bucket
from . import _threads
from ._copies import CopyOperations
from ._store import split

if TYPE_CHECKING:
    from ._store import Store


class DirectoryOperations(CopyOperations):
    """The part of :class:`PenstockFileSystem` that is about names."""

    _store: Store
    _create_buckets: bool
    _directory_markers: bool

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        """Makes a bucket, or remembers a directory; with `create_parents` and the class's ``create_buckets`` its bucket too."""
        path = self._strip_protocol(path)
        bucket, key = split(path)
        if not key:
            self._store.create_bucket(bucket)
        else:
            if self._create_buckets and create_parents and not self._store.is_directory(bucket):
                self._store.create_bucket(bucket)
            if self._directory_markers:
                self._store.write(path + "/", b"")
            self._store.made.add(path)
        self.invalidate_cache(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """As :meth:`mkdir`. FileExistsError where there is one, unless `exist_ok`."""
        path = self._strip_protocol(path)
        if split(path)[1]:
            if not exist_ok and self.exists(path):
                raise FileExistsError(path)
        elif self._store.is_directory(path):
            if exist_ok:
                return
            raise FileExistsError(path)
        self.mkdir(path)

    def rmdir(self, path: str) -> None:
        """Removes an empty bucket or directory."""
        path = self._strip_protocol(path)
        self._store.remove_directory(path)
        self.invalidate_cache(path)

    def mv(self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any) -> None:
        """Copies inside S3, then deletes. One file within a directory bucket is renamed instead, at once and without a copy.

        Only objects that were copied are deleted, after all copies have succeeded. An object that has its new name already
        stays as it is.

        Args:
            recursive: What is below `path1`, too.
            maxdepth: Of directories, how many levels; None: all.

        Raises:
            OSError: EINVAL: a directory would be moved into itself, two sources have the same target, or a target is another
                source. Nothing is changed.
        """
        renamed = self._renamed(path1, path2) if not recursive and isinstance(path1, str) and isinstance(path2, str) else None
        if renamed is None:
            _threads.sync(self.loop, self._mv, path1, path2, recursive=recursive, maxdepth=maxdepth, **kwargs)
            return
        self._store.rename(*renamed)
        for path in renamed:
            self.invalidate_cache(path)

    def _renamed(self, path1: str, path2: str) -> tuple[str, str] | None:
        """The old name and the new of a file that one request moves; None: there is no such file."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        bucket = split(source)[0]
        if source == target or bucket != split(target)[0] or not is_directory_bucket(bucket):
            return None
        if has_magic(path1) or not self.isfile(source):
            return None
        into = path2.endswith("/") or self.isdir(target)
        return source, f"{target}/{source.rpartition('/')[2]}" if into else target
