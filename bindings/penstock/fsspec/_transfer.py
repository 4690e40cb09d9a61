"""Whole files between the local disk and S3."""

from __future__ import annotations

import mmap
import os
import uuid
from pathlib import Path
from typing import Any

from ._errors import mapped
from ._store import Entry, Store, no_file, split
from ._threads import interruption

PIECE = 16 * 1024**2


class _Told:
    """A callback's count of bytes: never more than there are, and all of them at the end."""

    def __init__(self, callback: Any, size: int) -> None:
        self._callback, self._left = callback, size
        callback.set_size(size)

    def more(self, count: int) -> None:
        count = min(count, self._left)
        if count > 0:
            self._left -= count
            self._callback.relative_update(count)

    def all(self) -> None:
        self.more(self._left)


def download(store: Store, path: str, target: Any, outfile: Any, callback: Any) -> None:
    """An object into a local file, which appears whole, or into an open file; a directory becomes one."""
    found = store.file(path)
    if found is None:
        if outfile is not None or not store.is_directory(path):
            raise no_file(path)
        Path(target).mkdir(parents=True, exist_ok=True)
        return
    told = _Told(callback, found["size"])
    if outfile is not None:
        with mapped(path), store.client.get_object(*split(path)) as reader:
            while piece := reader.read(PIECE):
                outfile.write(piece)
                told.more(len(piece))
        return
    partial = f"{os.fspath(target)}.{uuid.uuid4().hex[:12]}.partial"
    try:
        _fill(store, path, found, partial, told)
        os.replace(partial, target)  # noqa: PTH105  (fsspec's paths are text)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    told.all()


def _fill(store: Store, path: str, found: Entry, target: str, told: _Told) -> None:
    size = found["size"]
    with Path(target).open("w+b") as file:
        if size == 0:
            return
        os.posix_fallocate(file.fileno(), 0, size)  # a full disk is an error here, and a signal below
        with mmap.mmap(file.fileno(), size) as memory, mapped(path):
            store.core.read_into(*split(path), memory, 0, size, found["ETag"].strip('"'), progress=interruption(told.more))


def upload(store: Store, source: str, path: str, callback: Any, create: bool, attributes: dict[str, Any]) -> None:
    """A local file into an object. `create`: only where there is none."""
    local = Path(source)
    told = _Told(callback, local.stat().st_size)
    with local.open("rb") as file, mapped(path), store.writer(path, create, **attributes) as writer:
        while piece := file.read(PIECE):
            writer.write(piece)
            told.more(len(piece))
    told.all()
