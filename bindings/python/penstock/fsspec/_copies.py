"""Copies and moves of many objects. Checks moves first, so that no object is lost."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from glob import has_magic
from typing import TYPE_CHECKING, Any

from fsspec.asyn import AsyncFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.implementations.local import LocalFileSystem, make_path_posix
from fsspec.utils import other_paths

from . import _threads
from ._listing_entries import collect, collected_entries

if TYPE_CHECKING:
    from ._store import Entry, Store

PARALLEL_FILES = 16  # downloads at a time; large files have several requests each

Paths = str | list[str]
IsDirectory = Callable[[str], Awaitable[bool]]


async def _is_local_directory(path: str) -> bool:
    return bool(LocalFileSystem().isdir(path))


def _check_inside(root: str, paths: list[str]) -> None:
    """Raises ValueError if a target is outside of `root`, because a key contains ``..``."""
    begin = os.path.join(os.path.abspath(root), "")  # noqa: PTH100, PTH118  (fsspec's paths are text)
    for path in paths:
        if not os.path.join(os.path.abspath(path), "").startswith(begin):  # noqa: PTH100, PTH118
            raise ValueError(f"the target {path!r} is outside of {root!r}; download this object separately to another name")


def _refused(reason: str, source: str, target: str) -> OSError:
    return OSError(errno.EINVAL, reason, source, None, target)


class CopyOperations(AsyncFileSystem):
    """Copies and moves of :class:`PenstockFileSystem`."""

    _store: Store

    async def _pairs(
        self, source: Paths, target: Paths, is_directory: IsDirectory, recursive: bool, maxdepth: int | None
    ) -> tuple[list[str], list[str]]:
        """Returns sources and targets by fsspec's rules (https://filesystem-spec.readthedocs.io/en/latest/copying.html).

        Unlike fsspec, a non-recursive copy includes an object that has the same name as a directory.
        """
        if isinstance(source, list) and isinstance(target, list):
            return source, target
        names: list[str] = await self._expand_path(source, recursive=recursive, maxdepth=maxdepth)
        single = isinstance(source, str)
        if single and (not recursive or maxdepth is not None):
            entries = await asyncio.gather(*[_threads.run(self._entry, name) for name in names])
            collect({entry["name"]: entry for entry in entries if entry is not None})
            names = [name for name, entry in zip(names, entries, strict=True) if entry is None or entry["type"] != "directory"]
            if not names:
                return [], []
        into = isinstance(target, str) and (target.endswith("/") or await is_directory(target))
        exists = isinstance(source, str) and (len(names) == 1 if has_magic(source) else into and not source.endswith("/"))
        return names, other_paths(names, target, exists=exists, flatten=not single)

    def _entry(self, path: str) -> Entry | None:
        try:
            found: Entry = self.info(path)
        except FileNotFoundError:
            return None
        return found

    async def _copy(
        self,
        path1: Paths,
        path2: Paths,
        recursive: bool = False,
        on_error: str | None = None,
        maxdepth: int | None = None,
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Copies inside S3."""
        sources, targets = await self._pairs(path1, path2, self._isdir, recursive, maxdepth)
        await super()._copy(sources, targets, recursive=recursive, on_error=on_error, batch_size=batch_size, **kwargs)

    async def _get(
        self,
        rpath: Paths,
        lpath: Any,
        recursive: bool = False,
        callback: Any = DEFAULT_CALLBACK,
        maxdepth: int | None = None,
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Downloads objects to local files. Each file takes one request, and one more per 8 MiB.

        A file is the version of its object that exists when its download begins, also if a listing has another one.

        Raises:
            IsADirectoryError: An object has the name of a local directory, for example because of objects below ``its-name/``.
            ValueError: A key contains ``..``, and its target would be outside of `lpath`.
        """
        local = lpath if isinstance(rpath, list) and isinstance(lpath, list) else make_path_posix(lpath)
        with collected_entries() as entries:
            sources, targets = await self._pairs(rpath, local, _is_local_directory, recursive, maxdepth)
        if isinstance(local, str):
            _check_inside(local, targets)
        files: list[tuple[str, str]] = []
        folders: set[str] = set()
        for source, path in zip(sources, targets, strict=True):
            if entries.get(source, {}).get("type") == "directory":
                folders.add(path)
            else:
                files.append((source, path))
                folders.add(os.path.dirname(path))  # noqa: PTH120  (fsspec's paths are text)
        for folder in folders - {""}:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        await self._get_files(files, entries, callback, batch_size or self.batch_size, **kwargs)

    async def _get_files(
        self, pairs: list[tuple[str, str]], entries: dict[str, Entry], callback: Any, batch_size: int | None, **kwargs: Any
    ) -> None:
        callback.set_size(len(pairs))
        lock = threading.Lock()  # callbacks need not be thread-safe

        def download(pair: tuple[str, str]) -> None:
            with lock:
                branch = callback.branched(*pair)
                child = branch.__enter__()
            try:
                self.get_file(*pair, callback=child, listed=entries.get(pair[0]), **kwargs)
            finally:
                with lock:
                    branch.__exit__(*sys.exc_info())
                    callback.relative_update(1)

        limit = PARALLEL_FILES if batch_size is None or batch_size < 1 else min(PARALLEL_FILES, batch_size)
        await _threads.run_each(download, pairs, min(limit, len(pairs)))

    async def _mv(self, path1: Paths, path2: Paths, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any) -> None:
        """Copies all objects, then deletes exactly the copied ones. See :meth:`mv`."""
        if path1 == path2:
            return
        sources, targets = await self._pairs(path1, path2, self._isdir, recursive, maxdepth)
        names = [
            (self._strip_protocol(source), self._strip_protocol(target)) for source, target in zip(sources, targets, strict=True)
        ]
        moves = [(source, target) for source, target in names if source != target]
        await self._check_moves(moves)
        copies = [_threads.run(self._store.copy, source, target) for source, target in moves]
        copied: list[str] = []
        for result in await asyncio.gather(*copies, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
            copied += result
        try:
            await _threads.run(self._store.delete, copied)
        finally:
            for source, target in moves:
                self.invalidate_cache(source)
                self.invalidate_cache(target)
        if recursive:
            for source, _ in moves:
                self._store.made.forget(source)

    async def _check_moves(self, moves: list[tuple[str, str]]) -> None:
        """Raises OSError for moves that would lose an object."""
        sources = {source for source, _ in moves}
        seen: set[str] = set()
        for source, target in moves:
            if target.startswith(source + "/") and await self._isdir(source):
                raise _refused("cannot move a directory into itself; choose a target outside of it", source, target)
            if target in seen:
                raise _refused("two sources have the same target; use a different target for each source", source, target)
            if target in sources:
                raise _refused("the target is also a source; move the objects by separate calls", source, target)
            seen.add(target)
