"""Opens files: chooses the reader or writer by mode."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from fsspec import AbstractFileSystem

from .._exceptions import S3NotFoundError
from .._objects import HeadObjectResult
from .._versions import is_directory_bucket
from .._writer import S3Writer
from ..s3reader.checkpoint import CheckpointReader
from ._errors import mapped
from ._files import ReadFile, WriteFile
from ._options import write_attributes
from ._parts import APPENDED_PART, MIN_PART, AppendStream
from ._store import Entry, Store, no_file, split

if TYPE_CHECKING:
    from .. import _core
    from .._append import S3AppendWriter
    from .._put_stream import PutObjectStream

MODES = ("rb", "wb", "xb", "ab")
CHECKPOINTS = (".ckpt", ".pt", ".pth")  # read with CheckpointReader, which prefetches for torch.load


def open_file(
    fs: AbstractFileSystem,
    store: Store,
    path: str,
    mode: str,
    autocommit: bool,
    options: dict[str, Any],
    listed: Callable[[str], Entry | None],
) -> ReadFile | WriteFile:
    """Opens an object.

    Args:
        listed: Gives the entry of a path in a listing that the file system keeps; None: no kept listing has it.

    Raises:
        FileNotFoundError: Mode rb, and the object does not exist.
        FileExistsError: Mode xb, and the object exists. If another writer creates it later, close raises.
        NotImplementedError: Unsupported mode.
    """
    if mode not in MODES:
        raise NotImplementedError(f"unsupported mode {mode!r}: expected one of {', '.join(MODES)}; S3 cannot modify an object")
    if not split(path)[1]:
        raise IsADirectoryError(errno.EISDIR, "a bucket is not a file; use bucket/key", path)
    if mode == "rb":
        return _open_for_reading(fs, store, path, options, listed(path))

    def published() -> None:
        fs.invalidate_cache(path)

    if mode == "xb" and store.file(path) is not None:
        raise FileExistsError(errno.EEXIST, "the object already exists", path)
    writer: S3Writer | S3AppendWriter | None = None
    base = 0
    if mode == "ab":
        attributes = write_attributes(options)
        if is_directory_bucket(split(path)[0]) and autocommit and not attributes:
            writer = _appending_in_place(store, path)
        else:
            writer, base = _appending(store, path, attributes)
    if writer is None:  # modes xb and ab create the object only if it does not exist
        writer = store.writer(path, mode != "wb", **write_attributes(options))
    return WriteFile(fs, path, mode, writer, base=base, autocommit=autocommit, published=published)


def _open_for_reading(fs: AbstractFileSystem, store: Store, path: str, options: dict[str, Any], listed: Entry | None) -> ReadFile:
    details = listed or store.file(path)
    if details is None:
        raise no_file(path)
    if details["type"] != "file":
        raise IsADirectoryError(errno.EISDIR, "is a directory", path)
    known = HeadObjectResult(details["ETag"], details["size"], int(details["mtime"]), details["StorageClass"])
    constructor = options.get("reader") or (CheckpointReader if path.endswith(CHECKPOINTS) else None)
    reader = store.client.get_object(*split(path), object_info=known, reader_constructor=constructor)
    return ReadFile(fs, path, reader, details, options)


def _appending_in_place(store: Store, path: str) -> S3AppendWriter | None:
    """Returns a writer that sends only the appended bytes; None if the object does not exist."""
    with mapped(path):
        writer = store.client.append_object(*split(path), buffer_size=APPENDED_PART)
    return writer if writer.etag is not None else None


def _appending(store: Store, path: str, attributes: dict[str, Any]) -> tuple[S3Writer | None, int]:
    """Returns a writer that appends to an object; None if the object does not exist.

    The second value is the number of existing bytes that the writer's position does not include.
    """
    bucket, key = split(path)
    try:
        with mapped(path):
            head = store.core.head_object(bucket, key)
    except FileNotFoundError as error:
        if isinstance(error.__cause__, S3NotFoundError) and error.__cause__.code == "NoSuchBucket":
            raise
        return None, 0
    with mapped(path):  # the object exists: from here on, "not found" is an error, not a reason to create it
        if head.size >= MIN_PART:
            stream = AppendStream(store.client, bucket, key, head)
            return S3Writer(cast("PutObjectStream", stream)), head.size
        before = store.core.read(bucket, key, size=head.size, etag=head.etag)[0] if head.size else b""
    writer = store.writer(path, **{**_attributes_of(head), **attributes})
    with mapped(path):
        writer.write(before)
    return writer, 0


def _attributes_of(head: _core.ObjectMetadata) -> dict[str, Any]:
    return {"storage_class": head.storage_class or None, "content_type": head.content_type, "metadata": head.user_metadata}
