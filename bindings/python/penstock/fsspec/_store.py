"""Blocking file operations on buckets and keys. Each call sends requests to S3."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, cast

from .._config import endpoint_of_environment
from .._exceptions import S3Exception, S3InvalidArgumentError, S3NotFoundError
from .._put_stream import PutObjectStream
from .._versions import NULL_VERSION, is_directory_bucket, versions_of
from .._writer import S3Writer
from ..aio import S3Client as AsyncClient
from ..requests._parts import MAX_COPY_BYTES, merged
from ._attributes import OF_STREAMS, of_copies
from ._empty_directories import EmptyDirectories
from ._errors import mapped
from ._parts import PartsStream, copy_with_attributes
from ._threads import interruption

if TYPE_CHECKING:
    from .. import _core
    from .._client import S3Client
    from .._objects import ObjectInfo
    from .._streams import Buffer
    from .._versions import ObjectVersion
    from ..requests._parts import Attributes

Entry = dict[str, Any]

VERSION_MARK = "?versionId="
KEYS_PER_DELETE = 1000
DIRECTORY_BUCKETS_TIMEOUT_S = 5.0  # in a region without directory buckets, the host name does not exist

log = logging.getLogger(__name__)


def split(path: str) -> tuple[str, str]:
    """Splits ``bucket/key``. Either part may be empty."""
    bucket, _, key = path.partition("/")
    return bucket, key


def no_file(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def directory(path: str) -> Entry:
    return {"name": path, "Key": path, "size": 0, "Size": 0, "type": "directory", "StorageClass": "DIRECTORY"}


def _file(path: str, size: int, etag: str, last_modified: int, storage_class: str | None) -> Entry:
    return {
        "name": path,
        "Key": path,
        "size": size,
        "Size": size,
        "type": "file",
        "ETag": etag,
        "LastModified": datetime.fromtimestamp(last_modified, timezone.utc),
        "mtime": float(last_modified),
        "StorageClass": storage_class or "STANDARD",
    }


def _listed(bucket: str, found: ObjectInfo) -> Entry:
    """Returns the entry of a listed object. The console of S3 marks directories by keys that end with a slash."""
    if found.key.endswith("/"):
        return directory(f"{bucket}/{found.key[:-1]}")
    return _file(f"{bucket}/{found.key}", found.size, found.etag, found.last_modified, found.storage_class)


def _version(path: str, version: ObjectVersion) -> Entry:
    entry = _file(path, version.size, version.etag, int(version.last_modified), version.storage_class)
    if version.version_id != NULL_VERSION:
        entry["name"] += VERSION_MARK + version.version_id
    return entry | {"VersionId": version.version_id, "IsLatest": version.is_latest}


class Store:
    """The file operations on one client. Paths are ``bucket/key`` without a protocol.

    Args:
        client: Sends the requests.
        attributes: Attributes of every object that is written, as :func:`write_attributes` returns them.
        remember: Whether to remember created directories.
        mark: Whether created directories get an empty object ``name/``.
        version_aware: Whether ``?versionId=`` in a path names a version.

    Raises:
        OSError: From all methods: the error of S3, converted by :func:`translated`.

    Thread safety: all methods may be called from any thread.
    """

    def __init__(
        self,
        client: S3Client,
        attributes: Attributes,
        remember: bool = True,
        mark: bool = False,
        version_aware: bool = False,
    ) -> None:
        self.made = EmptyDirectories(client.endpoint or endpoint_of_environment(), remember)
        self.marks_directories = mark
        self.attributes = attributes
        self.version_aware = version_aware
        self._warned_of_directory_buckets = False
        self.use(client)

    def use(self, client: S3Client) -> None:
        """Sends all later requests with this client."""
        self.client = client
        self.aio = AsyncClient._sharing(client)

    @property
    def core(self) -> _core.Client:
        return self.client.core

    def target(self, path: str) -> tuple[str, str]:
        """Returns bucket and key of an object to write or delete.

        Raises:
            IsADirectoryError: `path` is a bucket.
            ValueError: `path` names a version.
        """
        bucket, key = split(path)
        if not key:
            raise IsADirectoryError(errno.EISDIR, "a bucket is not a file; use bucket/key", path)
        if self.version_aware and VERSION_MARK in key:
            raise ValueError(f"cannot write or delete a version of an object: {path!r}; leave out {VERSION_MARK}...")
        return bucket, key

    # ---- metadata and listings

    def file(self, path: str, version_id: str = "") -> Entry | None:
        """Returns the entry of an object, by HeadObject; None if it does not exist."""
        bucket, key = split(path)
        try:
            with mapped(path):
                head = self.core.head_object(bucket, key, version_id)
        except FileNotFoundError:
            return None
        entry = _file(path, head.size, f'"{head.etag}"', head.last_modified, head.storage_class)
        return entry | {
            "ContentType": head.content_type,
            "VersionId": head.version_id or None,
            "Metadata": dict(head.user_metadata),
        }

    def is_directory(self, path: str) -> bool:
        bucket, key = split(path)
        if not bucket or path in self.made:
            return True
        with mapped(path):
            if not key:
                try:
                    self.client.head_bucket(bucket)
                except S3NotFoundError:
                    return False
                return True
            page = next(self.client.list_objects(bucket, key + "/", "", 1), None)
        return page is not None and bool(page.object_info)

    def info(self, path: str, version_id: str = "") -> Entry:
        """Returns the entry of a file, else of a directory. Raises FileNotFoundError if there is neither."""
        found = self.file(path, version_id) if split(path)[1] else None
        if found is not None:
            return found
        if not version_id and self.is_directory(path):
            return directory(path)
        raise no_file(path)

    def buckets(self) -> list[Entry]:
        """Returns the entries of all buckets, by name, with the directory buckets of the client's region if S3 lists them."""
        with mapped(""):
            found = [(each.name, int(each.creation_date)) for each in self.client.list_buckets()]
        made = {name: datetime.fromtimestamp(created, timezone.utc) for name, created in found + self._directory_buckets()}
        return [directory(name) | {"CreationDate": created, "LastModified": created} for name, created in sorted(made.items())]

    def _directory_buckets(self) -> list[tuple[str, int]]:
        """Lists directory buckets: a separate request, with its own permission, which only some regions of S3 support."""
        try:
            found = self.core.list_directory_buckets(timeout=DIRECTORY_BUCKETS_TIMEOUT_S)
        except S3Exception as error:
            log.log(
                logging.DEBUG if self._warned_of_directory_buckets else logging.WARNING,
                "the listing of all buckets lacks directory buckets (--x-s3): %s", error,
            )  # fmt: skip
            self._warned_of_directory_buckets = True
            return []
        return [(name, created) for name, created in found if is_directory_bucket(name)]

    def list_directory(self, path: str, prefix: str = "") -> list[Entry] | None:
        """Returns the entries directly inside a directory, by name; None if the directory does not exist.

        An object with keys below ``its-name/`` has two entries: the file, then the directory.

        Args:
            path: The directory.
            prefix: Only names that start with this, relative to `path`.
        """
        if not path:
            return self.buckets()
        bucket, key = split(path)
        begin = key + "/" if key else ""
        entries: dict[tuple[str, str], Entry] = {}
        exists = path in self.made or not key
        with mapped(path):
            for page in self.client.list_objects(bucket, begin + prefix, "/"):
                exists = exists or bool(page.object_info or page.common_prefixes)
                for name in page.common_prefixes:
                    entry = directory(f"{bucket}/{name[:-1]}")
                    entries[entry["name"], "directory"] = entry
                for found in page.object_info:
                    if found.key != begin:  # the marker of the directory itself
                        entry = _listed(bucket, found)
                        entries[entry["name"], entry["type"]] = entry
        if not exists and not prefix:
            return None
        for made in self.made.inside(path):
            if made[len(path) + 1 :].startswith(prefix):
                entries.setdefault((made, "directory"), directory(made))
        return sorted(entries.values(), key=lambda entry: (entry["name"], entry["type"] == "directory"))

    def below(self, path: str, prefix: str = "") -> list[Entry]:
        """Returns the entries of all objects below `path`, by one listing. Markers of directories become directories."""
        bucket, key = split(path)
        begin = key + "/" if key else ""
        with mapped(path):
            pages = self.client.list_objects(bucket, begin + prefix)
            return [_listed(bucket, found) for page in pages for found in page.object_info if found.key != begin]

    def versions(self, path: str) -> list[Entry]:
        """Returns the entries of all versions of an object, newest first, without delete markers."""
        bucket, key = split(path)
        with mapped(path):
            found = versions_of(self.client, bucket, key)
        return [_version(path, version) for version in found if not version.is_delete_marker]

    def list_versions(self, path: str) -> list[Entry]:
        """Returns the entries of all versions of the objects directly inside a directory, and its directories."""
        bucket, key = split(path)
        entries: list[Entry] = []
        begin = key + "/" if key else ""
        with mapped(path):
            for page in self.client.list_object_versions(bucket, begin, "/"):
                entries += [directory(f"{bucket}/{name[:-1]}") for name in page.common_prefixes]
                kept = [version for version in page.versions if not version.is_delete_marker and version.key != begin]
                entries += [_version(f"{bucket}/{version.key}", version) for version in kept]
        return entries

    # ---- contents

    def read(
        self, path: str, start: int | None = None, end: int | None = None, version_id: str = "", etag: str | None = None
    ) -> bytes:
        """Reads the bytes [start, end). Negative values count from the end, as in a slice. With `etag`, only of that object."""
        bucket, key = split(path)
        if not key:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        size = None
        if (start or 0) < 0 or (end is not None and end < 0):
            found = self.info(path, version_id)
            size, etag = found["size"], etag or found.get("ETag", "").strip('"') or None
            start, end, _ = slice(start, end).indices(size)
        start = start or 0
        if end is not None and end <= start:
            return b""
        with mapped(path):
            data, _, _ = self.core.read(bucket, key, start, end, size, etag, progress=interruption(), version_id=version_id)
        return data

    def writer(self, path: str, create: bool = False, **attributes: Any) -> S3Writer:
        """Returns a writer whose close publishes the object.

        Args:
            path: The object.
            create: Publish only if the object does not exist.
            **attributes: As returned by :func:`write_attributes`; they override the attributes of the store.
        """
        bucket, key = self.target(path)
        chosen = {"storage_class": None, **merged(self.attributes, attributes)}
        if not OF_STREAMS.issuperset(chosen):
            return S3Writer(cast("PutObjectStream", PartsStream(self.client, bucket, key, chosen, create=create)))
        stream = PutObjectStream(
            self.core, bucket, key, progress=interruption(), part_size=self.client.part_size,
            parallel=self.client.parallel_parts, if_none_match=create, **chosen,
        )  # fmt: skip
        return S3Writer(stream)

    def write(self, path: str, data: Buffer, create: bool = False, **attributes: Any) -> None:
        with mapped(path), self.writer(path, create, **attributes) as writer:
            writer.write(data)

    def copy(self, source: str, target: str, version_id: str = "") -> list[str]:
        """Copies an object of any size inside S3. For a directory, creates the target directory and copies the marker only.

        Returns:
            The objects that were copied: `source`, the marker of the directory (``source/``), or none.
        """
        missing = no_file(source)
        if split(source)[1] and split(target)[1]:
            try:
                self._copy_object(source, target, version_id)
                return [source]
            except FileNotFoundError as error:
                if version_id or getattr(error.__cause__, "code", None) == "NoSuchBucket":
                    raise
                missing = error
        if not self.is_directory(source):
            self.target(target)  # raises for a bucket
            raise missing
        if split(target)[1]:
            return self._copy_directory(source, target)
        return []

    def _copy_directory(self, source: str, target: str) -> list[str]:
        self.made.add(target)
        if split(source)[1]:
            try:
                self._copy_object(source + "/", target + "/")
                return [source + "/"]
            except FileNotFoundError:
                pass
        if self.marks_directories:
            self.write(target + "/", b"")
        return []

    def _copy_object(self, source: str, target: str, version_id: str = "") -> None:
        begin, end, override = split(source), self.target(target), of_copies(self.attributes)
        with mapped(source):
            try:
                if override:
                    self.client.copy(*begin, *end, src_version_id=version_id or None, **override)
                else:
                    self.core.copy_object(*begin, *end, version_id)
            except S3InvalidArgumentError as error:
                # One of the reasons for this error: the object exceeds the size limit of one request.
                if error.code != "InvalidRequest" or self.core.head_object(*begin, version_id).size <= MAX_COPY_BYTES:
                    raise
                copy_with_attributes(self.client, begin, end, version_id=version_id or None, override=override)

    def rename(self, source: str, target: str) -> None:
        """Renames one object within a directory bucket, atomically."""
        with mapped(source):
            self.client.rename_object(split(source)[0], split(source)[1], split(target)[1])

    # ---- directories

    def create_bucket(self, bucket: str, **options: Any) -> None:
        """Creates a bucket. Raises FileExistsError if it exists; S3 reports that in most regions only."""
        try:
            exists = self.is_directory(bucket)
        except OSError:  # an invalid name, or the bucket of another account: CreateBucket reports the reason
            exists = False
        if exists:
            raise FileExistsError(errno.EEXIST, "the bucket already exists", bucket)
        with mapped(bucket):
            self.core.call("create_bucket", {"bucket": bucket, **options})

    def remove_directory(self, path: str) -> None:
        """Removes an empty bucket or directory. Raises OSError (ENOTEMPTY) if it is not empty."""
        bucket, key = split(path)
        if not key:
            with mapped(path):
                self.client.delete_bucket(bucket)
            return
        with mapped(path):
            inside = [found.key for found in next(self.client.list_objects(bucket, key + "/", "", 2)).object_info]
        marked = key + "/" in inside
        if len(inside) > marked or self.made.inside(path):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        if marked:
            self.delete([path + "/"])
        if not (self.made.forget(path) or marked):
            raise no_file(path)

    # ---- removal

    def delete(self, paths: Iterable[str]) -> None:
        """Deletes objects by exact name. Deleting missing objects succeeds.

        Raises:
            OSError: S3 refused to delete an object. The others have been deleted.
        """
        by_bucket: dict[str, list[str]] = {}
        for path in paths:
            bucket, key = self.target(path)
            by_bucket.setdefault(bucket, []).append(key)
        failures = []
        for bucket, keys in by_bucket.items():
            with mapped(bucket):
                if len(keys) == 1:
                    self.core.delete_object(bucket, keys[0])
                    continue
                for at in range(0, len(keys), KEYS_PER_DELETE):
                    refused = self.core.delete_objects(bucket, keys[at : at + KEYS_PER_DELETE])
                    failures += [(f"{bucket}/{key}", code, message) for key, code, message in refused]
        for path, code, message in failures:
            number = errno.EACCES if code == "AccessDenied" else errno.EIO
            text = f"{code}: {message}" + (f" (and {len(failures) - 1} more)" if len(failures) > 1 else "")
            raise OSError(number, text, path)

    def delete_tree(self, path: str) -> bool:
        """Deletes a file and all objects below a directory of that name. Returns whether there was any."""
        bucket, key = split(path)
        names = [path] if key and self.file(path) is not None else []
        begin = key + "/" if key else ""
        with mapped(path):
            for page in self.client.list_objects(bucket, begin):
                names += [f"{bucket}/{found.key}" for found in page.object_info]
        if names:
            self.delete(names)
        return self.made.forget(path) or bool(names)
