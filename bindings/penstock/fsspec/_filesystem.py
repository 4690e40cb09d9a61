"""PenstockFileSystem: S3 for whoever asks fsspec for files."""

from __future__ import annotations

import asyncio
import errno
import inspect
import io
import os
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fsspec.asyn import AsyncFileSystem, get_loop
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.compression import compr
from fsspec.core import get_compression
from fsspec.utils import isfilelike

from ._bulk import BulkOperations
from ._directories import DirectoryOperations
from ._files import CompressedWriter, ReadFile, text_writer
from ._opening import open_file
from ._options import check_names, make_client, write_attributes
from ._ranges import read_ranges
from ._store import Entry, Store, no_file
from ._transfer import download, upload

if TYPE_CHECKING:
    from .._client import S3Client
    from .._streams import Buffer
    from ._files import WriteFile

_TEXT_OPTIONS = ("encoding", "errors", "newline")


class PenstockFileSystem(DirectoryOperations, BulkOperations, AsyncFileSystem):
    """S3 as fsspec's files and directories.

    The arguments are s3fs's; of those that are not named here s3fs's and fsspec's own do nothing, and others are refused.

    Args:
        anon: Do not sign requests.
        endpoint_url: URL of an S3-compatible service; None: ``client_kwargs``, the environment, then AWS.
        key: Access key id; None: ``client_kwargs``, the environment, then configuration files. `username` is another name.
        secret: The secret that belongs to it. `password` is another name.
        token: Session token of temporary credentials.
        client_kwargs: Of these ``region_name``, ``endpoint_url`` and ``aws_access_key_id``, ``..._secret_access_key``,
            ``..._session_token`` are looked at.
        config_kwargs: Of these ``s3["addressing_style"]``, ``retries`` and ``signature_version`` are looked at.
        requester_pays: The requester pays for every request.
        profile: Of the AWS configuration files.
        region: Before ``client_kwargs["region_name"]``.
        s3_additional_kwargs: ``ContentType``, ``StorageClass``, ``Metadata`` of every object that is written.
        remember_directories: What ``mkdir`` and ``makedirs`` made is a directory to this process though nothing is inside.
        directory_markers: They write an empty object ``name/``, which is a directory to everybody.
        create_buckets: ``mkdir("bucket/key")`` makes a bucket that is missing.
        use_listings_cache: Keep listings, for ``listings_expiry_time`` seconds (None: until something is written there by this
            file system), and answer from them. Default: every answer is S3's.
        part_size, throughput_target_gbps, max_attempts: See :class:`~penstock.S3ClientConfig`.
        asynchronous: Only coroutines will be called.
        version_aware: Must be False.
        loop, batch_size: As of fsspec's ``AsyncFileSystem``.

    `path`, and `path1`, `path2`, `rpath` and `paths` where they stand for it, is ``bucket/key``, with ``s3://`` before it or
    without; `lpath` is a local file. `refresh` asks S3, whatever the cache has.

    Raises:
        TypeError: an argument that neither s3fs nor fsspec has, also in ``client_kwargs``.
        ValueError: something is asked for that would be missing if it were passed over, such as ``version_aware``.

    Thread safety: safe from any thread, and in forked children; but fsspec's transactions are of one thread at a time.
    """

    protocol = ("penstock", "s3", "s3a")

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
        if version_aware:
            raise ValueError("penstock.fsspec reads the latest version of an object; version_aware is not offered")
        check_names(kwargs, client_kwargs or {}, inspect.getfullargspec(PenstockFileSystem.__init__))
        kwargs.setdefault("use_listings_cache", False)
        super().__init__(asynchronous=asynchronous, loop=loop, batch_size=batch_size, **kwargs)
        client = make_client(
            key=key or kwargs.get("username"), secret=secret or kwargs.get("password"), token=token, endpoint_url=endpoint_url,
            anon=anon, profile=profile, requester_pays=requester_pays, region=region, client_kwargs=client_kwargs or {},
            config_kwargs=config_kwargs or {}, more=kwargs,
        )  # fmt: skip
        self._store = Store(client, write_attributes(s3_additional_kwargs or {}), remember_directories)
        self._directory_markers = directory_markers
        self._create_buckets = create_buckets

    @property
    def client(self) -> S3Client:
        """What sends its requests."""
        return self._store.client

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        if self._pid != os.getpid():  # in a forked child fsspec has a loop of the child's
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

    # ---- listings

    def _kept_listing(self, path: str) -> list[Entry] | None:
        entries: list[Entry] | None = self.dircache[path] if path in self.dircache else None  # noqa: SIM401  (a DirCache has no get)
        return entries

    def invalidate_cache(self, path: Any = None) -> None:
        """Forgets listings: all, or those of a path, of what is inside, and of the directories above it."""
        if path is None:
            self.dircache.clear()
        else:
            path = str(self._strip_protocol(path))
            for listed in list(self.dircache):
                if listed == path or listed.startswith(path + "/") or path.startswith(listed + "/") or not listed:
                    self.dircache.pop(listed, None)
        super().invalidate_cache(path)

    def ls(self, path: str, detail: bool = True, refresh: bool = False, **kwargs: Any) -> list[Entry] | list[str]:
        """What is in a directory, by name; of a file, the file.

        Args:
            detail: Give an entry of each, as :meth:`info` does; otherwise its name. An object with keys below ``its-name/``
                has two entries, a file and a directory, and one name.

        Raises:
            FileNotFoundError: There is neither.
        """
        path = self._strip_protocol(path)
        entries = None if refresh else self._kept_listing(path)
        if entries is None:
            entries = self._store.list_directory(path)
            if entries is not None:
                self.dircache[path] = entries
            else:
                found = self._store.file(path)
                if found is None:
                    raise no_file(path)
                entries = [found]
        return [dict(entry) for entry in entries] if detail else list(dict.fromkeys(entry["name"] for entry in entries))

    def info(self, path: str, refresh: bool = False, **kwargs: Any) -> Entry:
        """``name``, ``size`` in bytes and ``type`` ("file" or "directory"), and what S3 says of an object.

        Raises:
            FileNotFoundError: There is neither.
        """
        path = self._strip_protocol(path)
        entry = None if refresh else self._listed(path)
        return self._store.info(path) if entry is None else dict(entry)

    def _listed(self, path: str) -> Entry | None:
        """From a listing that is kept. That a name is not in one means nothing: it may be new."""
        return next((entry for entry in self._kept_listing(self._parent(path)) or () if entry["name"] == path), None)

    def exists(self, path: str, **kwargs: Any) -> bool:
        """Whether there is a file or directory. Raises where that cannot be told."""
        try:
            self.info(path, **kwargs)
        except FileNotFoundError:
            return False
        return True

    def isfile(self, path: str) -> bool:
        """Whether there is an object of that name. Objects with keys below ``path/`` are directories, too (:meth:`isdir`)."""
        try:
            return bool(self.info(path)["type"] == "file")
        except FileNotFoundError:
            return False

    def isdir(self, path: str) -> bool:
        """Whether anything is inside, or this process made it; also where an object has the same name (:meth:`isfile`)."""
        path = self._strip_protocol(path)
        listed = [entry["type"] for entry in self._kept_listing(self._parent(path)) or () if entry["name"] == path]
        try:
            return "directory" in listed if listed else self._store.is_directory(path)
        except FileNotFoundError:
            return False

    def modified(self, path: str) -> datetime:
        """When the object was written last, or the newest one inside of a directory.

        Raises:
            FileNotFoundError: There is neither.
            IsADirectoryError: A directory that holds no objects.
        """
        found = self.info(path)
        if "LastModified" in found:
            modified: datetime = found["LastModified"]
            return modified
        times: list[datetime] = [entry["LastModified"] for entry in self._store.below(found["name"]) if "LastModified" in entry]
        if not times:
            raise IsADirectoryError(f"a directory without files has no time: {found['name']}")
        return max(times)

    def created(self, path: str) -> datetime:
        """When this version was written: S3 keeps no other time."""
        return self.modified(path)

    def checksum(self, path: str, refresh: bool = False) -> int:
        """A number that changes when the contents do: of the ETag."""
        found = self.info(path, refresh=refresh)
        etag = found.get("ETag", "").strip('"')
        return int(etag, 16) if etag and "-" not in etag else int(self.ukey(path), 16)

    def ukey(self, path: str) -> str:
        """Text that changes when the contents do."""
        found = self.info(path)
        return sha256(repr((found["name"], found["size"], found.get("ETag"))).encode()).hexdigest()

    # ---- contents

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        """The bytes [start, end) of an object, negative ones counted from its end; None: the object's ends."""
        return self._store.read(self._strip_protocol(path), start, end)

    def cat_ranges(
        self,
        paths: list[str],
        starts: int | list[int | None] | None,
        ends: int | list[int | None] | None,
        max_gap: int | None = None,
        on_error: str = "return",
        **kwargs: Any,
    ) -> list[Any]:
        """The bytes of each range, in its place, by as few requests as neighbours allow and many at a time.

        Args:
            paths: An object for each range.
            starts: One for each range, or one for all.
            ends: The same.
            max_gap: Bytes between two ranges of an object that are fetched in vain rather than asking twice; None: planned.
            on_error: ``"return"``: an exception takes the place of a range; otherwise the first is raised.

        Raises:
            TypeError: `paths` is no list.
            ValueError: There are more or fewer `starts` or `ends` than `paths`.
        """
        if not isinstance(paths, list):
            raise TypeError(f"paths is of type {type(paths).__name__}; it takes a list")
        begins = list(starts) if isinstance(starts, (list, tuple)) else [starts] * len(paths)
        stops = list(ends) if isinstance(ends, (list, tuple)) else [ends] * len(paths)
        if not len(paths) == len(begins) == len(stops):
            raise ValueError(f"{len(paths)} paths, {len(begins)} starts and {len(stops)} ends; there is one of each for a range")
        results = read_ranges(self._store, [self._strip_protocol(path) for path in paths], begins, stops, max_gap)
        failure = next((result for result in results if isinstance(result, Exception)), None)
        if failure is not None and on_error != "return":
            raise failure
        return results

    def pipe_file(self, path: str, value: Buffer, mode: str = "overwrite", **kwargs: Any) -> None:
        """Writes `value`, a bytes-like object. `mode` ``"create"``: FileExistsError where there is one, decided by S3."""
        path = self._strip_protocol(path)
        self._store.write(path, value, mode == "create", **write_attributes(kwargs))
        self.invalidate_cache(path)

    def get_file(self, rpath: str, lpath: Any, callback: Any = DEFAULT_CALLBACK, outfile: Any = None, **kwargs: Any) -> None:
        """Brings an object into a local file, which appears whole; of a directory, makes one.

        Args:
            callback: fsspec's, told of bytes.
            outfile: An open file that gets the bytes instead of `lpath`.

        Raises:
            IsADirectoryError: `rpath` is an object and `lpath` a local directory.
        """
        rpath = self._strip_protocol(rpath)
        if outfile is None and isfilelike(lpath):
            outfile = lpath
        if outfile is None and os.path.isdir(lpath):  # noqa: PTH112  (fsspec's paths are text)
            if self._store.file(rpath) is not None:
                reason = "the local target of the object is a directory; get the object by itself, to another name"
                raise IsADirectoryError(errno.EISDIR, reason, rpath, None, os.fspath(lpath))
            return
        download(self._store, rpath, lpath, outfile, callback)

    def put_file(self, lpath: str, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite", **kwargs: Any) -> None:
        """Brings a local file into an object; of a directory, makes one.

        Args:
            callback: fsspec's, told of bytes.
            mode: ``"create"``: FileExistsError where there is one, decided by S3.
        """
        rpath = self._strip_protocol(rpath)
        if os.path.isdir(lpath):  # noqa: PTH112
            self.makedirs(rpath, exist_ok=True)
            return
        upload(self._store, lpath, rpath, callback, mode == "create", write_attributes(kwargs))
        self.invalidate_cache(rpath)

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """Copies inside S3, whatever the size."""
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        self._store.copy(path1, path2)
        self.invalidate_cache(path2)

    def rm_file(self, path: str, **kwargs: Any) -> None:
        """Deletes an object; one that is not there is deleted already."""
        path = self._strip_protocol(path)
        self._store.delete([path])
        self.invalidate_cache(path)

    def touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        """Makes an empty object. Not `truncate`: only where there is none.

        Raises:
            NotImplementedError: There is one, and not `truncate`: S3 changes no object's time.
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
        **kwargs: Any,
    ) -> ReadFile | WriteFile:
        return open_file(self, self._store, path, mode, autocommit, kwargs, self._listed)

    def open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        cache_options: Any = None,
        compression: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """A file: rb, wb, xb, ab, and r, w, x, a for text. What is written appears when the file is closed, and only then.

        Args:
            block_size, cache_options: Bytes and settings of fsspec's caches; do nothing: what is fetched follows what is read.
            compression: fsspec's name of one, or ``"infer"``.
            **kwargs: ``encoding``, ``errors``, ``newline`` of text; ``reader``, an ``S3ReaderConstructor``'s; ``ContentType``,
                ``StorageClass``, ``Metadata`` of what is written.
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
