"""Operations on many paths, and the asynchronous variant of each operation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from glob import has_magic
from typing import TYPE_CHECKING, Any

from . import _threads
from ._listing_entries import collect
from ._store import Entry, directory, no_file, split

if TYPE_CHECKING:
    from ._store import Store


def _on_thread(name: str) -> Any:
    """Returns a coroutine function that runs the blocking method `name` on a thread."""

    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await _threads.run(getattr(self, name), *args, **kwargs)

    call.__name__ = call.__qualname__ = f"_{name}"
    return call


def _blocking(name: str) -> Any:
    """Returns a blocking method that waits for the coroutine method of `name`. Ctrl-C ends the wait."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _threads.sync(self.loop, getattr(self, f"_{name}"), *args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def _directories_of(names: list[str], path: str) -> set[str]:
    """Returns the directories between `path` and each of `names`, which are below `path`."""
    found: set[str] = set()
    for name in names:
        parent = name.rpartition("/")[0]
        while len(parent) > len(path) and parent not in found:
            found.add(parent)
            parent = parent.rpartition("/")[0]
    return found


class BulkOperations:
    """A mixin of the file system. Must precede fsspec's ``AsyncFileSystem`` in the list of base classes."""

    _store: Store
    _strip_protocol: Callable[[str], str]
    invalidate_cache: Callable[[str], None]

    # Operations with one request. The blocking method does the work, on the calling thread, so that Ctrl-C ends it.
    _ls = _on_thread("ls")
    _info = _on_thread("info")
    _exists = _on_thread("exists")
    _isfile = _on_thread("isfile")
    _isdir = _on_thread("isdir")
    _cat_ranges = _on_thread("cat_ranges")
    _cp_file = _on_thread("cp_file")
    _rm_file = _on_thread("rm_file")
    _touch = _on_thread("touch")
    _mkdir = _on_thread("mkdir")
    _makedirs = _on_thread("makedirs")
    _rmdir = _on_thread("rmdir")
    _modified = _on_thread("modified")
    _created = _on_thread("created")
    _checksum = _on_thread("checksum")
    _url = _on_thread("url")
    _metadata = _on_thread("metadata")
    _getxattr = _on_thread("getxattr")
    _setxattr = _on_thread("setxattr")
    _object_version_info = _on_thread("object_version_info")
    _is_bucket_versioned = _on_thread("is_bucket_versioned")
    _make_bucket_versioned = _on_thread("make_bucket_versioned")
    _list_multipart_uploads = _on_thread("list_multipart_uploads")
    _abort_mpu = _on_thread("abort_mpu")
    _merge = _on_thread("merge")
    _chmod = _on_thread("chmod")

    # Operations with many concurrent requests. The coroutine does the work.
    find = _blocking("find")
    glob = _blocking("glob")
    du = _blocking("du")
    expand_path = _blocking("expand_path")
    get = _blocking("get")
    put = _blocking("put")
    cat = _blocking("cat")
    copy = _blocking("copy")
    rm = _blocking("rm")

    def pipe(self, path: str | dict[str, Any], value: Any = None, **kwargs: Any) -> None:
        """Writes one object, or several if `path` is a dict of values by path."""
        if isinstance(path, str):
            self.pipe_file(path, value, **kwargs)  # type: ignore[attr-defined]
        else:
            _threads.sync(self.loop, self._pipe, path, **kwargs)  # type: ignore[attr-defined]

    async def _find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, prefix: str | None = "", **kwargs: Any
    ) -> dict[str, Entry] | list[str]:
        """Returns all files below `path`, by name. Sends one listing if `maxdepth` is None, else one for each directory.

        Args:
            withdirs: Include directories, and `path` itself.
            prefix: Include only names that start with this, relative to `path`.
            detail: Return a dict of entries, as :meth:`info` returns them, instead of names.
        """
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth must be at least 1")
        path, prefix = self._strip_protocol(path), prefix or ""
        if maxdepth is not None:
            entries = await self._walk_levels(path, maxdepth, prefix)
        else:
            entries = await _threads.run(self._everything, path, prefix)
        found = {entry["name"]: entry for entry in entries if withdirs and entry["type"] == "directory"}
        found |= {entry["name"]: entry for entry in entries if entry["type"] == "file"}
        if withdirs and path and (entries or path in self._store.made):
            found[path] = directory(path)
        if not found and split(path)[1]:
            alone = await _threads.run(self._store.file, path)
            found = {path: alone} if alone is not None else {}
        collect(found)
        names = sorted(found)
        return {name: found[name] for name in names} if kwargs.get("detail") else names

    def _everything(self, path: str, prefix: str) -> list[Entry]:
        if not path:
            raise ValueError("cannot search all buckets; specify a bucket or maxdepth")
        entries = self._store.below(path, prefix)
        files = [entry for entry in entries if entry["type"] == "file"]
        marks = {entry["name"] for entry in entries if entry["type"] != "file"}
        made = {name for name in self._store.made.below(path) if name[len(path) + 1 :].startswith(prefix)}
        return files + [directory(name) for name in _directories_of([entry["name"] for entry in entries], path) | marks | made]

    async def _walk_levels(self, path: str, depth: int, prefix: str) -> list[Entry]:
        entries: list[Entry] = []
        level = [path]
        for _ in range(depth):
            listings = await asyncio.gather(*[_threads.run(self._store.list_directory, name, prefix) for name in level])
            inside = [entry for listing in listings for entry in listing or ()]
            entries += inside
            level = [entry["name"] for entry in inside if entry["type"] == "directory"]
            prefix = ""
            if not level:
                break
        return entries

    async def _du(
        self, path: str, total: bool = True, maxdepth: int | None = None, withdirs: bool = False, **kwargs: Any
    ) -> int | dict[str, int]:
        """Returns the size of all files below `path` in bytes, from listings: the sum, or a dict by name."""
        found = await self._find(path, maxdepth=maxdepth, withdirs=withdirs, detail=True)
        assert isinstance(found, dict)
        sizes = {name: int(entry["size"]) for name, entry in found.items()}
        return sum(sizes.values()) if total else sizes

    async def _rm(
        self,
        path: str | list[str],
        recursive: bool = False,
        batch_size: int | None = None,
        maxdepth: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Deletes objects, up to 1,000 per request. With `recursive`, deletes directories with their content, also buckets.

        Without `recursive`, deletes a bucket only if it is empty. A pattern such as ``bucket/**`` does not delete the bucket.

        Raises:
            FileNotFoundError: A bucket does not exist. With `recursive` or a pattern: nothing was found. Deleting a missing
                object succeeds.
            OSError: S3 refused to delete an object, or a bucket is not empty.
        """
        given = [self._strip_protocol(name) for name in ([path] if isinstance(path, str) else path)]
        patterns = [name for name in given if has_magic(name)]
        paths = [name for name in given if not has_magic(name)]
        if patterns or (recursive and maxdepth is not None):
            chosen = patterns if maxdepth is None else given
            expanded = await self._expand_path(chosen, recursive=recursive, maxdepth=maxdepth)  # type: ignore[attr-defined]
            # "bucket/**" also matches the bucket, which a pattern for names in it does not delete.
            buckets = {split(name)[0] for name in chosen}
            paths = (paths if maxdepth is None else []) + [name for name in expanded if name not in buckets]
        try:
            if recursive and maxdepth is None:
                found = await asyncio.gather(*[_threads.run(self._delete_tree, name) for name in paths])
                if not any(found):
                    raise no_file(given[0] if given else "")
            else:
                await _threads.run(self._store.delete, [name for name in paths if split(name)[1]])
                for name in paths:
                    if not split(name)[1]:
                        await _threads.run(self._store.remove_directory, name)
        finally:
            for name in given if not patterns else [split(each)[0] for each in given]:
                self.invalidate_cache(name)

    def _delete_tree(self, path: str) -> bool:
        bucket, key = split(path)
        found = self._store.delete_tree(path)
        if not key:
            self._store.remove_directory(bucket)
            return True
        return found
