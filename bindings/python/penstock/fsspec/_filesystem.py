"""PenstockFileSystem: the fsspec file system for S3."""

from __future__ import annotations

import asyncio
import inspect
import io
import os
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fsspec.asyn import AsyncFileSystem, get_loop
from fsspec.compression import compr
from fsspec.core import get_compression

from ._async_files import AsyncReadFile, AsyncWriteFile, open_async
from ._attributes import write_attributes
from ._bulk import BulkOperations
from ._directories import DirectoryOperations
from ._files import CompressedWriter, ReadFile, text_writer
from ._object_operations import ObjectOperations
from ._opening import open_for_reading, open_for_writing
from ._options import check_names, make_client
from ._ranges import read_ranges
from ._s3fs_names import S3fsNames
from ._store import VERSION_MARK, Entry, Store, no_file
from ._transfer import TransferOperations

if TYPE_CHECKING:
    from .._client import S3Client
    from ._files import WriteFile

_TEXT_OPTIONS = ("encoding", "errors", "newline")


class PenstockFileSystem(DirectoryOperations, BulkOperations, TransferOperations, ObjectOperations, S3fsNames, AsyncFileSystem):
    """An fsspec file system for S3.

    Accepts the arguments of s3fs. Arguments of s3fs and fsspec that are not listed here are ignored; others are rejected.

    Args:
        anon: Do not sign requests.
        endpoint_url: URL of an S3-compatible service; None: from ``client_kwargs``, else from the environment, else AWS.
        key: Access key ID; None: from ``client_kwargs``, else from the environment, else from configuration files. Alias:
            `username`.
        secret: Secret access key. Alias: `password`.
        token: Session token of temporary credentials.
        client_kwargs: Uses ``region_name``, ``endpoint_url``, ``aws_access_key_id``, ``aws_secret_access_key`` and
            ``aws_session_token``.
        config_kwargs: Uses ``s3["addressing_style"]``, ``retries`` and ``signature_version``.
        requester_pays: The requester pays for every request.
        profile: Profile of the AWS configuration files.
        region: AWS region; has priority over ``client_kwargs["region_name"]``.
        s3_additional_kwargs: Attributes of every object that is written, by botocore's names: ``ContentType``, ``StorageClass``,
            ``Metadata``, ``ServerSideEncryption``, ``SSEKMSKeyId``, ``ACL``, ``Tagging`` and others. Copies inside S3 have the
            storage class, the ACL and the encryption of them.
        remember_directories: Whether this process treats directories created by ``mkdir`` and ``makedirs`` as existing while
            they are empty.
        directory_markers: Whether ``mkdir`` and ``makedirs`` write an empty object ``name/``, a directory for all clients.
        create_buckets: Whether ``mkdir("bucket/key")`` creates a missing bucket.
        use_listings_cache: Whether to cache listings, for ``listings_expiry_time`` seconds (None: until this file system writes
            there). Default: False.
        part_size, throughput_target_gbps, max_attempts: See :class:`~penstock.S3ClientConfig`.
        asynchronous: Only coroutines will be called.
        version_aware: Whether ``?versionId=`` in a path, and the argument `version_id`, name a version of an object, and open
            files keep reading the version that they opened.
        loop, batch_size: As in fsspec's ``AsyncFileSystem``.

    The arguments `path`, `paths`, `path1`, `path2` and `rpath` of methods have the form ``bucket/key``, with or without
    ``s3://``; `lpath` is a local file. `refresh` bypasses the cache. `version_id` is a version of the object; None: the one in
    `path`, else the current one.

    Raises:
        TypeError: An argument is unknown to s3fs and fsspec, also in ``client_kwargs``.
        ValueError: An unsupported argument must not be ignored, such as a key for SSE-C.

    Thread safety: all methods may be called from any thread, also in forked children. Only one thread may use fsspec's
    transactions at a time.
    """

    protocol = ("penstock", "s3", "s3a")
    default_block_size = 50 * 1024**2  # not used: the reader chooses the ranges to fetch

    def __init__(
        self,
        anon: bool = False,
        endpoint_url: str | None = None,
        key: str | None = None,
        secret: str | None = None,
        token: str | None = None,
        *,
        client_kwargs: Mapping[str, Any] | None = None,
        config_kwargs: Mapping[str, Any] | None = None,
        requester_pays: bool = False,
        profile: str | None = None,
        region: str | None = None,
        s3_additional_kwargs: Mapping[str, Any] | None = None,
        remember_directories: bool = True,
        directory_markers: bool = False,
        create_buckets: bool = False,
        version_aware: bool = False,
        asynchronous: bool = False,
        loop: asyncio.AbstractEventLoop | None = None,
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        check_names(kwargs, client_kwargs or {}, inspect.getfullargspec(PenstockFileSystem.__init__))
        kwargs.setdefault("use_listings_cache", False)
        super().__init__(asynchronous=asynchronous, loop=loop, batch_size=batch_size, **kwargs)
        client = make_client(
            key=key or kwargs.get("username"), secret=secret or kwargs.get("password"), token=token, endpoint_url=endpoint_url,
            anon=anon, profile=profile, requester_pays=requester_pays, region=region, client_kwargs=client_kwargs or {},
            config_kwargs=config_kwargs or {}, more=kwargs,
        )  # fmt: skip
        attributes = write_attributes(s3_additional_kwargs or {})
        self._store = Store(client, attributes, remember_directories, directory_markers, version_aware)
        self._create_buckets = create_buckets
        self.version_aware = version_aware
        self.default_block_size = kwargs.get("default_block_size") or self.default_block_size
        self.anon, self.key, self.secret, self.token, self.endpoint_url = anon, key, secret, token, endpoint_url
        self.client_kwargs, self.config_kwargs = dict(client_kwargs or {}), dict(config_kwargs or {})
        self.s3_additional_kwargs = dict(s3_additional_kwargs or {})

    @property
    def client(self) -> S3Client:
        """The client that sends the requests."""
        return self._store.client

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        if self._pid != os.getpid():  # a forked child needs a new loop
            self._pid: int = os.getpid()
            self._loop: asyncio.AbstractEventLoop | None = None if self.asynchronous else get_loop()
        return self._loop

    @property
    def fsid(self) -> str:
        return f"s3_{self._store.client.endpoint or 'aws'}"

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        stripped = super()._strip_protocol(path)
        return stripped if isinstance(stripped, list) else stripped.lstrip("/")

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, Any]:
        return {"version_aware": True} if VERSION_MARK in path else {}

    def _object(self, path: str, version_id: str | None = None) -> tuple[str, str]:
        """Returns the path of an object and the version that `path` or `version_id` names; empty: the current one."""
        path = self._strip_protocol(path)
        if not self.version_aware:
            if version_id is not None:
                raise ValueError("version_id needs a file system with version_aware=True")
            return path, ""
        name, _, named = path.partition(VERSION_MARK)
        if named and version_id and named != version_id:
            raise ValueError(f"two versions of {name!r}: {named!r} in the path, and version_id={version_id!r}; name one")
        return name, version_id or named

    # ---- listings

    def _kept_listing(self, path: str) -> list[Entry] | None:
        entries: list[Entry] | None = self.dircache[path] if path in self.dircache else None  # noqa: SIM401  (a DirCache has no get)
        return entries

    def invalidate_cache(self, path: Any = None) -> None:
        """Removes listings from the cache: all, or those of a path, its children and its parent directories.

        Without `path`, also forgets the empty directories that this process has created at this endpoint.
        """
        if path is None:
            self.dircache.clear()
            self._store.made.clear()
        else:
            path = str(self._strip_protocol(path))
            for listed in list(self.dircache):
                if listed == path or listed.startswith(path + "/") or path.startswith(listed + "/") or not listed:
                    self.dircache.pop(listed, None)
        super().invalidate_cache(path)

    def ls(
        self, path: str, detail: bool = True, refresh: bool = False, versions: bool = False, **kwargs: Any
    ) -> list[Entry] | list[str]:
        """Lists a directory, sorted by name. For a file, returns the file.

        Args:
            detail: Return entries, as :meth:`info` does, instead of names. An object with keys below ``its-name/`` has two
                entries, a file and a directory, but only one name.
            versions: List all versions of each object, with names that end in ``?versionId=``; needs ``version_aware``.

        Raises:
            FileNotFoundError: Neither a file nor a directory exists.
            ValueError: `versions` without ``version_aware``.
        """
        path = self._strip_protocol(path)
        entries = None if refresh or versions else self._kept_listing(path)
        if versions:
            if not self.version_aware:
                raise ValueError("versions=True needs a file system with version_aware=True")
            entries = self._store.list_versions(path) or self._store.versions(path)
            if not entries:
                raise no_file(path)
        elif entries is None:
            entries = self._store.list_directory(path)
            if entries is not None:
                self.dircache[path] = entries
            else:
                found = self._store.file(path)
                if found is None:
                    raise no_file(path)
                entries = [found]
        return [dict(entry) for entry in entries] if detail else list(dict.fromkeys(entry["name"] for entry in entries))

    def info(self, path: str, refresh: bool = False, version_id: str | None = None, **kwargs: Any) -> Entry:
        """Returns ``name``, ``size`` in bytes, ``type`` ("file" or "directory") and the properties of an object.

        Raises:
            FileNotFoundError: Neither a file nor a directory exists.
        """
        path, version = self._object(path, version_id)
        entry = None if refresh or version else self._listed(path)
        return self._store.info(path, version) if entry is None else dict(entry)

    def _listed(self, path: str) -> Entry | None:
        """Returns the entry from a cached listing; None if there is none, which does not mean that the object is missing."""
        return next((entry for entry in self._kept_listing(self._parent(path)) or () if entry["name"] == path), None)

    def exists(self, path: str, **kwargs: Any) -> bool:
        """Whether a file or directory exists. Raises OSError if the request fails."""
        try:
            self.info(path, **kwargs)
        except FileNotFoundError:
            return False
        return True

    def isfile(self, path: str) -> bool:
        """Whether an object of that name exists. It is also a directory if there are keys below ``path/`` (:meth:`isdir`)."""
        try:
            return bool(self.info(path)["type"] == "file")
        except FileNotFoundError:
            return False

    def isdir(self, path: str) -> bool:
        """Whether there are keys below ``path/``, or this process created the directory. May also be a file (:meth:`isfile`)."""
        path = self._strip_protocol(path)
        listed = [entry["type"] for entry in self._kept_listing(self._parent(path)) or () if entry["name"] == path]
        try:
            return "directory" in listed if listed else self._store.is_directory(path)
        except FileNotFoundError:
            return False

    def modified(self, path: str, version_id: str | None = None, refresh: bool = False) -> datetime:
        """Returns the modification time of an object, or of the newest object in a directory.

        Raises:
            FileNotFoundError: Neither a file nor a directory exists.
            IsADirectoryError: The directory contains no objects.
        """
        found = self.info(path, refresh, version_id)
        if "LastModified" in found:
            modified: datetime = found["LastModified"]
            return modified
        times: list[datetime] = [entry["LastModified"] for entry in self._store.below(found["name"]) if "LastModified" in entry]
        if not times:
            raise IsADirectoryError(f"a directory without files has no modification time: {found['name']}")
        return max(times)

    def created(self, path: str) -> datetime:
        """Returns :meth:`modified`: S3 has no other time."""
        return self.modified(path)

    def checksum(self, path: str, refresh: bool = False) -> int:
        """Returns a number that changes with the content: the MD5 in the ETag, if there is one."""
        found = self.info(path, refresh=refresh)
        try:
            return int(found.get("ETag", "").strip('"').partition("-")[0], 16)
        except ValueError:
            return int(self.ukey(path), 16)

    def ukey(self, path: str) -> str:
        """Returns a string that changes with the content."""
        found = self.info(path)
        return sha256(repr((found["name"], found["size"], found.get("ETag"))).encode()).hexdigest()

    # ---- contents

    def cat_ranges(
        self,
        paths: list[str],
        starts: int | list[int | None] | None,
        ends: int | list[int | None] | None,
        max_gap: int | None = None,
        on_error: str = "return",
        **kwargs: Any,
    ) -> list[Any]:
        """Returns the bytes of each range, in order. Coalesces close ranges and sends requests in parallel.

        Args:
            paths: The object of each range.
            starts: The start of each range, or one for all.
            ends: The end of each range, or one for all.
            max_gap: Maximum number of unneeded bytes between two ranges that one request reads; None: chosen automatically.
            on_error: ``"return"``: the result of a failed range is its exception. Otherwise the first exception is raised.

        Raises:
            TypeError: `paths` is not a list.
            ValueError: `starts` or `ends` and `paths` differ in length.
        """
        if not isinstance(paths, list):
            raise TypeError(f"paths must be a list, not {type(paths).__name__}")
        begins = list(starts) if isinstance(starts, (list, tuple)) else [starts] * len(paths)
        stops = list(ends) if isinstance(ends, (list, tuple)) else [ends] * len(paths)
        if not len(paths) == len(begins) == len(stops):
            raise ValueError(f"got {len(paths)} paths, {len(begins)} starts and {len(stops)} ends; expected equal numbers")
        results = read_ranges(self._store, [self._strip_protocol(path) for path in paths], begins, stops, max_gap)
        failure = next((result for result in results if isinstance(result, Exception)), None)
        if failure is not None and on_error != "return":
            raise failure
        return results

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """Copies an object of any size inside S3. In a versioned bucket, `path1` may name a version."""
        path1, version = self._object(path1)
        path2 = self._strip_protocol(path2)
        self._store.copy(path1, path2, version)
        self.invalidate_cache(path2)

    def rm_file(self, path: str, **kwargs: Any) -> None:
        """Deletes an object. Deleting a missing object succeeds."""
        path = self._strip_protocol(path)
        self._store.delete([path])
        self.invalidate_cache(path)

    def touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        """Creates an empty object. Without `truncate`, only if it does not exist.

        Raises:
            NotImplementedError: The object exists, and `truncate` is False: S3 cannot change only the time of an object.
        """
        if truncate:
            self.pipe_file(path, b"", **kwargs)
            return
        try:
            self.pipe_file(path, b"", mode="create", **kwargs)
        except FileExistsError:
            raise NotImplementedError("S3 cannot change an object's time without writing it; use truncate=True") from None

    # ---- files

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: Any = None,
        version_id: str | None = None,
        **kwargs: Any,
    ) -> ReadFile | WriteFile:
        if mode != "rb":
            return open_for_writing(self, self._store, path, mode, autocommit, kwargs)
        path, version = self._object(path, version_id)
        listed = None if version or self.version_aware else self._listed(path)
        return open_for_reading(self, self._store, path, version, kwargs, listed)

    async def open_async(
        self, path: str, mode: str = "rb", version_id: str | None = None, **kwargs: Any
    ) -> AsyncReadFile | AsyncWriteFile:
        """Returns an open file whose ``read``, ``write`` and ``close`` are awaited, without a thread.

        Args:
            mode: ``"rb"``: reads in order. ``"wb"``, ``"xb"``: ``close`` publishes the object.
            **kwargs: Attributes of a written object, as in ``s3_additional_kwargs``.

        Raises:
            ValueError: Another mode, or a compression.
        """
        if mode not in ("rb", "wb", "xb") or kwargs.get("compression"):
            raise ValueError(f"open_async supports the modes rb, wb and xb without a compression, not {mode!r}; use open")
        path, version = self._object(path, version_id)
        return open_async(self, self._store, path, mode, version, kwargs)

    def open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        cache_options: Any = None,
        compression: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Returns an open file: modes rb, wb, xb, ab, and r, w, x, a for text. A written file is published when it is closed.

        Args:
            block_size, cache_options: Ignored: the reader chooses the ranges to fetch.
            compression: fsspec's name of a compression, or ``"infer"``.
            **kwargs: ``encoding``, ``errors``, ``newline`` of text; ``reader``, from ``S3ReaderConstructor``; ``version_id`` of
                an object to read; attributes of a written object, as in ``s3_additional_kwargs``.
        """
        if "b" not in mode:
            text = {name: kwargs.pop(name) for name in _TEXT_OPTIONS if name in kwargs}
            binary = self.open(path, mode.replace("t", "") + "b", block_size, cache_options, compression, **kwargs)
            return (io.TextIOWrapper if "r" in mode else text_writer)(binary, **text)
        file = super().open(path, mode, block_size, cache_options, None, **kwargs)
        codec = get_compression(path, compression)
        if codec is None:
            return file
        packed = compr[codec](file, mode=mode[0])
        return packed if "r" in mode else CompressedWriter(packed, file)
