"""Directories, which the file system emulates on S3, and moves."""

from __future__ import annotations

import errno
from glob import has_magic
from typing import TYPE_CHECKING, Any

from .._versions import is_directory_bucket
from . import _threads
from ._copies import CopyOperations
from ._store import no_file, split

if TYPE_CHECKING:
    from ._store import Store


class DirectoryOperations(CopyOperations):
    """Directory operations and moves of :class:`PenstockFileSystem`."""

    _store: Store
    _create_buckets: bool

    def mkdir(self, path: str, create_parents: bool = True, *, acl: str | bool = False, **kwargs: Any) -> None:
        """Creates a bucket, or records a directory. With `create_parents` and ``create_buckets``, creates a missing bucket.

        Args:
            acl: Canned ACL of the bucket, for example ``"private"``; False: S3's default.

        Raises:
            FileExistsError: `path` is a bucket that exists. Recording a directory again succeeds.
            FileNotFoundError: The bucket does not exist, and `create_parents` is False.
        """
        path = self._strip_protocol(path)
        bucket, key = split(path)
        if not key:
            self._store.create_bucket(bucket, **({"acl": acl} if isinstance(acl, str) and acl else {}))
        else:
            if (self._create_buckets or not create_parents) and not self._store.is_directory(bucket):
                if not create_parents:
                    raise no_file(bucket)
                self._store.create_bucket(bucket)
            if self._store.marks_directories:
                self._store.write(path + "/", b"")
            self._store.made.add(path)
        self.invalidate_cache(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Creates a directory, as :meth:`mkdir`. Raises FileExistsError if it exists, unless `exist_ok`."""
        path = self._strip_protocol(path)
        if not exist_ok and split(path)[1] and self.exists(path):
            raise FileExistsError(errno.EEXIST, "the directory already exists", path)
        try:
            self.mkdir(path)
        except FileExistsError:
            if not exist_ok:
                raise

    def rmdir(self, path: str) -> None:
        """Removes an empty bucket or directory."""
        path = self._strip_protocol(path)
        self._store.remove_directory(path)
        self.invalidate_cache(path)

    def mv(self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any) -> None:
        """Copies objects inside S3, then deletes the sources. Renames a single file within a directory bucket atomically.

        Deletes only objects that were copied, and only after all copies have succeeded. Leaves an object unchanged if its old
        and new name are equal.

        Args:
            recursive: Also move all objects below `path1`.
            maxdepth: Number of directory levels; None: all.

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
        """Returns the old and the new name of a file that one request can move; None if it cannot."""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        bucket = split(source)[0]
        if source == target or bucket != split(target)[0] or not is_directory_bucket(bucket):
            return None
        if has_magic(path1) or not self.isfile(source):
            return None
        into = path2.endswith("/") or self.isdir(target)
        return source, f"{target}/{source.rpartition('/')[2]}" if into else target
