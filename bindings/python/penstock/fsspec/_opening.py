"""Opens files: chooses the reader or writer by mode."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any, cast

from fsspec import AbstractFileSystem

from .._exceptions import S3NotFoundError
from .._objects import HeadObjectResult
from .._streams import ObjectHandle
from .._versions import NULL_VERSION, is_directory_bucket
from .._writer import S3Writer
from ..requests._parts import copied_attributes, merged
from ..s3reader import S3Reader, S3ReaderConstructor
from ..s3reader.checkpoint import CheckpointReader
from ._attributes import write_attributes
from ._errors import mapped
from ._files import ReadFile, WriteFile
from ._parts import APPENDED_PART, MIN_PART, PartsStream
from ._store import Entry, Store, no_file, split

if TYPE_CHECKING:
    from .._append import S3AppendWriter
    from .._put_stream import PutObjectStream

MODES = ("rb", "wb", "xb", "ab")
CHECKPOINTS = (".ckpt", ".pt", ".pth")  # read with CheckpointReader, which prefetches for torch.load


def open_for_writing(
    fs: AbstractFileSystem, store: Store, path: str, mode: str, autocommit: bool, options: dict[str, Any]
) -> WriteFile:
    """Opens an object for writing.

    Raises:
        FileExistsError: Mode xb, and the object exists. If another writer creates it later, close raises.
        NotImplementedError: Unsupported mode.
    """
    if mode not in MODES:
        raise NotImplementedError(f"unsupported mode {mode!r}: expected one of {', '.join(MODES)}; S3 cannot modify an object")
    store.target(path)

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


def open_for_reading(
    fs: AbstractFileSystem, store: Store, path: str, version_id: str, options: dict[str, Any], listed: Entry | None
) -> ReadFile:
    """Opens one version of an object for reading.

    Args:
        fs: The file system.
        store: Sends the requests.
        path: The object.
        version_id: The version; empty: the current one.
        options: ``reader`` of :meth:`PenstockFileSystem.open`.
        listed: The object's entry in a listing that the file system keeps; None: there is none.

    Raises:
        FileNotFoundError: The object does not exist.
    """
    if not split(path)[1]:
        raise IsADirectoryError(errno.EISDIR, "a bucket is not a file; use bucket/key", path)
    details = listed or store.file(path, version_id)
    if details is None:
        raise no_file(path)
    if details["type"] != "file":
        raise IsADirectoryError(errno.EISDIR, "is a directory", path)
    if store.version_aware and details.get("VersionId") not in (None, NULL_VERSION):
        version_id = details["VersionId"]
    known = HeadObjectResult(details["ETag"], details["size"], int(details["mtime"]), details["StorageClass"])
    constructor = options.get("reader") or (CheckpointReader if path.endswith(CHECKPOINTS) else S3ReaderConstructor.default())

    def pinned(*, bucket: str, key: str, get_object_info: Any, get_stream: Any) -> S3Reader:
        if isinstance(get_stream, ObjectHandle):
            get_stream.source.etag = details["ETag"].strip('"') or None
        return cast("S3Reader", constructor(bucket=bucket, key=key, get_object_info=get_object_info, get_stream=get_stream))

    reader = store.client.get_object(*split(path), object_info=known, reader_constructor=pinned, version_id=version_id or None)
    return ReadFile(fs, path, reader, details, options, version_id or None)


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
            head = store.client.head(bucket, key)
    except FileNotFoundError as error:
        if isinstance(error.__cause__, S3NotFoundError) and error.__cause__.code == "NoSuchBucket":
            raise
        return None, 0
    with mapped(path):  # the object exists: from here on, "not found" is an error, not a reason to create it
        kept = merged(copied_attributes(store.client, bucket, key, head), attributes)
        if head.size >= MIN_PART:
            stream = PartsStream(store.client, bucket, key, kept, after=head)
            return S3Writer(cast("PutObjectStream", stream)), head.size
        before = store.core.read(bucket, key, size=head.size, etag=head.etag.strip('"'))[0] if head.size else b""
    writer = store.writer(path, **kept)
    with mapped(path):
        writer.write(before)
    return writer, 0
