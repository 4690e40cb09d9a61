"""Contents of objects: reads and writes of bytes and of local files.

The coroutines transfer small objects on the event loop, without a thread, and pass the others to the core on a thread.
"""

from __future__ import annotations

import errno
import mimetypes
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsspec.asyn import AsyncFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.utils import isfilelike

from ..requests._parts import merged
from . import _threads
from ._attributes import write_attributes
from ._errors import mapped
from ._store import Entry, Store, no_file, split
from ._threads import interruption

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._streams import Buffer

MIB = 1024**2
PIECE = 16 * MIB
SMALL_FILE = MIB  # files up to this size are transferred on the event loop; fsspec transfers up to 128 at a time
SMALL_VALUE = 8 * MIB  # the same for values that the caller holds in memory


class _Progress:
    """Reports bytes to an fsspec callback: never more than the size in total, and all of them at the end."""

    def __init__(self, callback: Any) -> None:
        self._callback = callback
        self._left: int | None = None

    def more(self, count: int, size: int | None) -> None:
        """Reports `count` more bytes of an object of `size` bytes. Without a size, :meth:`end` reports them."""
        if size is None:
            return
        if self._left is None:
            self._left = size
            self._callback.set_size(size)
        count = min(count, self._left)
        if count > 0:
            self._left -= count
            self._callback.relative_update(count)

    def end(self, size: int) -> None:
        self.more(size, size)


def _small_file(path: Any) -> bytes | None:
    """Returns the bytes of a small regular file; None: it is another one, or it changes."""
    status = os.stat(path)  # noqa: PTH116  (fsspec's paths are text)
    if not stat.S_ISREG(status.st_mode) or status.st_size > SMALL_FILE:
        return None
    with open(path, "rb") as file:  # noqa: PTH123
        data = file.read(status.st_size + 1)
    return data if len(data) == status.st_size else None


def _download(store: Store, path: str, target: str, callback: Any, version_id: str, entry: Entry | None) -> None:
    """Downloads an object to a local file, which appears atomically. Creates a directory for a directory.

    Args:
        entry: The object in a listing. A response with its ETag must have its size.
    """
    folder = os.path.dirname(target)  # noqa: PTH120
    if folder and not os.path.isdir(folder):  # noqa: PTH112
        raise FileNotFoundError(errno.ENOENT, "the folder of the local target does not exist; create it first", folder)
    progress = _Progress(callback)
    bucket, key = split(path)
    listed = (entry["size"], entry["ETag"]) if entry is not None and "ETag" in entry else None
    try:
        if not key:
            raise no_file(path)
        with mapped(path):
            found = store.client.download_file(
                bucket, key, target, version_id=version_id or None, listed=listed, progress=interruption(progress.more)
            )
    except FileNotFoundError:
        if version_id or not store.is_directory(path):
            raise
        Path(target).mkdir(parents=True, exist_ok=True)
    else:
        progress.end(found.size)


def _copy_to_file(store: Store, path: str, file: Any, callback: Any, version_id: str) -> None:
    """Writes the bytes of an object to an open file."""
    found = store.file(path, version_id)
    if found is None:
        raise no_file(path)
    progress = _Progress(callback)
    with mapped(path), store.client.get_object(*split(path), version_id=version_id or None) as reader:
        while piece := reader.read(PIECE):
            file.write(piece)
            progress.more(len(piece), found["size"])
    progress.end(found["size"])


def _upload(store: Store, source: str, path: str, callback: Any, create: bool, attributes: dict[str, Any]) -> None:
    """Uploads a local file to an object. With `create`, only if the object does not exist."""
    status = os.stat(source)  # noqa: PTH116
    progress = _Progress(callback)
    if stat.S_ISREG(status.st_mode):
        bucket, key = store.target(path)
        with mapped(path):
            store.client.upload_file(
                source, bucket, key, if_none_match=create,
                progress=interruption(lambda count, _: progress.more(count, status.st_size)),
                **merged(store.attributes, attributes),
            )  # fmt: skip
    else:  # a pipe or a device, whose size is unknown
        with open(source, "rb") as file, mapped(path), store.writer(path, create, **attributes) as writer:  # noqa: PTH123
            while piece := file.read(PIECE):
                writer.write(piece)
    progress.end(status.st_size)


class TransferOperations(AsyncFileSystem):
    """Reads and writes of whole objects of :class:`PenstockFileSystem`."""

    _store: Store
    _object: Callable[..., tuple[str, str]]
    _listed: Callable[[str], Entry | None]

    # ---- bytes

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, version_id: str | None = None, **kwargs: Any
    ) -> bytes:
        """Returns the bytes [start, end) of an object. Negative values count from the end, as in a slice."""
        path, version = self._object(path, version_id)
        return self._store.read(path, start, end, version)

    async def _cat_file(
        self, path: str, start: int | None = None, end: int | None = None, version_id: str | None = None, **kwargs: Any
    ) -> bytes:
        name, version = self._object(path, version_id)
        bucket, key = split(name)
        if not key or (start or 0) < 0 or (end is not None and end <= (start or 0)):
            return await _threads.run(self.cat_file, path, start, end, version_id)
        with mapped(name):
            data: bytes = (await self._store.aio._read(bucket, key, start or 0, end, version_id=version))[0]
        return data

    def pipe_file(self, path: str, value: Buffer, mode: str = "overwrite", **kwargs: Any) -> None:
        """Writes `value`, a bytes-like object. With `mode` ``"create"``, raises FileExistsError if the object exists."""
        path = self._strip_protocol(path)
        self._store.write(path, value, mode == "create", **write_attributes(kwargs))
        self.invalidate_cache(path)

    async def _pipe_file(self, path: str, value: Buffer, mode: str = "overwrite", **kwargs: Any) -> None:
        if memoryview(value).nbytes > min(SMALL_VALUE, self._store.client.part_size or SMALL_VALUE):
            await _threads.run(self.pipe_file, path, value, mode, **kwargs)
        else:
            await self._put_bytes(path, value, mode == "create", write_attributes(kwargs))

    async def _put_bytes(self, path: str, data: Buffer, create: bool, attributes: dict[str, Any]) -> None:
        path = self._strip_protocol(path)
        bucket, key = self._store.target(path)
        with mapped(path):
            await self._store.aio.put(bucket, key, data, if_none_match=create, **merged(self._store.attributes, attributes))
        self.invalidate_cache(path)

    # ---- local files

    def get_file(
        self,
        rpath: str,
        lpath: Any,
        callback: Any = DEFAULT_CALLBACK,
        outfile: Any = None,
        version_id: str | None = None,
        listed: Entry | None = None,
        **kwargs: Any,
    ) -> None:
        """Downloads an object to a local file, which appears atomically. Creates a local directory for a directory.

        Args:
            callback: fsspec callback; receives the number of bytes.
            outfile: An open file that receives the bytes instead of `lpath`.
            listed: The entry of the object, as :meth:`ls` returns it; None: the one of a cached listing, if there is one.

        Raises:
            IsADirectoryError: `rpath` is an object and `lpath` is a local directory.
            OSError: The response has the ETag of `listed` and another size. Nothing is written.
        """
        rpath, version = self._object(rpath, version_id)
        if outfile is None and isfilelike(lpath):
            outfile = lpath
        if outfile is not None:
            _copy_to_file(self._store, rpath, outfile, callback, version)
        elif not os.path.isdir(lpath):  # noqa: PTH112
            entry = None if version else listed or self._listed(rpath)
            _download(self._store, rpath, os.fspath(lpath), callback, version, entry)
        elif self._store.file(rpath, version) is not None:
            reason = "the local target of the object is a directory; download the object separately to another name"
            raise IsADirectoryError(errno.EISDIR, reason, rpath, None, os.fspath(lpath))

    async def _get_file(self, rpath: str, lpath: Any, **kwargs: Any) -> None:
        await _threads.run(self.get_file, rpath, lpath, **kwargs)

    def put_file(self, lpath: str, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite", **kwargs: Any) -> None:
        """Uploads a local file to an object. Creates a directory for a directory.

        Args:
            callback: fsspec callback; receives the number of bytes.
            mode: ``"create"``: raises FileExistsError if the object exists, which S3 decides atomically.
            **kwargs: Attributes of the object, such as ``ContentType``, whose default is the type that Python's ``mimetypes``
                has for the name of the local file.
        """
        rpath = self._strip_protocol(rpath)
        if os.path.isdir(lpath):  # noqa: PTH112
            self.makedirs(rpath, exist_ok=True)
            return
        _upload(self._store, lpath, rpath, callback, mode == "create", self._file_attributes(lpath, kwargs))
        self.invalidate_cache(rpath)

    async def _put_file(
        self, lpath: str, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite", **kwargs: Any
    ) -> None:
        data = _small_file(lpath)
        if data is None:
            await _threads.run(self.put_file, lpath, rpath, callback, mode, **kwargs)
            return
        await self._put_bytes(rpath, data, mode == "create", self._file_attributes(lpath, kwargs))
        _Progress(callback).end(len(data))

    def _file_attributes(self, path: str, given: dict[str, Any]) -> dict[str, Any]:
        attributes = write_attributes(given)
        guessed = mimetypes.guess_type(os.fspath(path))[0]
        if guessed is not None and "content_type" not in (attributes.keys() | self._store.attributes.keys()):
            attributes["content_type"] = guessed
        return attributes
