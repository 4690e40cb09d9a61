"""Downloads and uploads of local files."""

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


class _Progress:
    """Reports bytes to an fsspec callback: never more than `size` in total, and all of them at the end."""

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
    """Downloads an object to a local file, which appears atomically, or to an open file. Creates a directory for a directory."""
    found = store.file(path)
    if found is None:
        if outfile is not None or not store.is_directory(path):
            raise no_file(path)
        Path(target).mkdir(parents=True, exist_ok=True)
        return
    progress = _Progress(callback, found["size"])
    if outfile is not None:
        with mapped(path), store.client.get_object(*split(path)) as reader:
            while piece := reader.read(PIECE):
                outfile.write(piece)
                progress.more(len(piece))
        return
    partial = f"{os.fspath(target)}.{uuid.uuid4().hex[:12]}.partial"
    try:
        _fill(store, path, found, partial, progress)
        os.replace(partial, target)  # noqa: PTH105  (fsspec's paths are text)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    progress.all()


def _fill(store: Store, path: str, found: Entry, target: str, progress: _Progress) -> None:
    size = found["size"]
    with Path(target).open("w+b") as file:
        if size == 0:
            return
        os.posix_fallocate(file.fileno(), 0, size)  # a full disk raises an error here; writing to the mapping would raise SIGBUS
        with mmap.mmap(file.fileno(), size) as memory, mapped(path):
            store.core.read_into(*split(path), memory, 0, size, found["ETag"].strip('"'), progress=interruption(progress.more))


def upload(store: Store, source: str, path: str, callback: Any, create: bool, attributes: dict[str, Any]) -> None:
    """Uploads a local file to an object. With `create`, only if the object does not exist."""
    local = Path(source)
    progress = _Progress(callback, local.stat().st_size)
    with local.open("rb") as file, mapped(path), store.writer(path, create, **attributes) as writer:
        while piece := file.read(PIECE):
            writer.write(piece)
            progress.more(len(piece))
    progress.all()
