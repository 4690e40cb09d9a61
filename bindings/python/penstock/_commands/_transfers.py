"""Transfers of single files and objects, by the engine of S3Client."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._exceptions import S3ConflictError, S3DataLossError, S3Exception, S3NotFoundError, S3PreconditionFailedError
from . import _copies, _resumable
from ._listing import exists, is_directory_bucket
from ._plan import Transfer
from ._resumable import Done, Progress, Resumer
from ._state_files import sync_folder
from ._urls import Place, S3Url, name_problem, temporary_name

if TYPE_CHECKING:
    from .._client import S3Client
    from ..requests import ObjectMetadata, UploadFileResult


class Skipped(Exception):
    """The transfer was not made, and need not be: its text says why."""


class Settings(NamedTuple):
    """Options of all transfers of a command.

    Attributes:
        attributes: Attributes of new objects: :class:`penstock.requests.ObjectOptions`.
        guess_type: Set ``Content-Type`` by the name of the file.
        overwrite: Replace existing files and objects.
        sse_customer_key: SSE-C key of objects that are downloaded, or of the copies.
        source_sse_customer_key: SSE-C key of objects that are copied.
        metadata_directive: ``"COPY"`` or ``"REPLACE"``; None: the attributes that are given replace those of the source.
        resume: Continue interrupted transfers of large files, and keep what is needed to continue these.
        sync: Wait until downloaded files and their folders are on the disk, since their sources are deleted then.
    """

    attributes: dict[str, Any]
    guess_type: bool = True
    overwrite: bool = True
    sse_customer_key: bytes | None = None
    source_sse_customer_key: bytes | None = None
    metadata_directive: str | None = None
    resume: bool = False
    sync: bool = False


def content_type_of(path: str) -> str | None:
    """Returns the MIME type of a file's name; None: unknown."""
    import mimetypes

    return mimetypes.guess_type(path)[0]


class Folders:
    """Creates the folders of downloads. Below a root it follows no symbolic link, which could lead out of it."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._on_disk: set[str] = set()  # with all folders above
        self._lock = threading.Lock()

    def sync(self, folder: str) -> None:
        """Waits until the names of a folder and of all folders above it are on the disk."""
        path, names = os.path.realpath(folder), []
        while path != "/" and path not in self._on_disk:
            names.append(path)
            path = os.path.dirname(path)  # noqa: PTH120
            sync_folder(path)
        with self._lock:
            self._on_disk.update(names)

    def make(self, root: str | None, folder: str) -> None:
        """Creates a folder.

        Args:
            root: Follow links up to here, and none below; ends in a slash. None: follow all.

        Raises:
            OSError: A component is a file, a link below `root`, or cannot be created.
        """
        if not folder or folder in self._known:
            return
        if root is None:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        else:
            os.makedirs(root, exist_ok=True)  # noqa: PTH103
            path = root.rstrip("/") or "/"
            for component in folder[len(root) :].strip("/").split("/") if len(folder) > len(root) else ():
                path = f"{path.rstrip('/')}/{component}"
                self._make_one(path)
        with self._lock:
            self._known.add(folder)

    @staticmethod
    def _make_one(path: str) -> None:
        try:
            os.mkdir(path)  # noqa: PTH102
        except FileExistsError:
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                raise OSError(
                    f"{path!r} is a symbolic link, which downloads do not follow; give the folder that it refers to as target"
                ) from None
            if not stat.S_ISDIR(mode):
                raise OSError(f"{path!r} is a file, but the key needs a folder there") from None


def _is_folder(path: str) -> bool:
    """Whether there is a folder at `path`, and not a link to one."""
    return os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114


class Transfers:
    """Makes transfers. Safe from any thread.

    No partial file or object is ever visible under its final name. A move deletes its source only if the copy is complete and
    the source is still the one that was copied.
    """

    def __init__(self, client: S3Client, settings: Settings) -> None:
        self.settings = settings
        self._client = client
        self._folders = Folders()
        self._resumer = Resumer(client) if settings.resume else None
        self._copier = _copies.Copier(client, settings.attributes, settings.source_sse_customer_key, settings.metadata_directive)

    def run(self, transfer: Transfer, progress: Progress) -> dict[str, Any]:
        """Makes a transfer. Returns facts for the report.

        Args:
            progress: Called with the bytes done; an exception that it raises ends the transfer.

        Raises:
            Skipped: There was nothing to do.
            S3Exception, OSError: It failed. Source and target are as before.
        """
        source, target = transfer.entry.place, transfer.target
        self._compare(transfer)
        if not isinstance(source, S3Url):
            assert isinstance(target, S3Url)
            return self._upload(transfer, source, target, progress)
        if isinstance(target, S3Url):
            return self._copy(transfer, source, target, progress)
        return self._download(transfer, source, target, progress)

    def asks_before(self, transfer: Transfer) -> bool:
        """Whether :meth:`preview` sends a request."""
        return transfer.compare is not None or (not self.settings.overwrite and isinstance(transfer.target, S3Url))

    def must_end(self, transfer: Transfer) -> bool:
        """Whether a transfer in progress may have a multipart upload that it must abort when it ends."""
        if not isinstance(transfer.target, S3Url):
            return False
        if resumer := self._resumer_of(transfer):
            return resumer.busy
        return isinstance(transfer.entry.place, str) or transfer.entry.size > _copies.SINGLE_COPY_LIMIT

    def _resumer_of(self, transfer: Transfer) -> Resumer | None:
        inside_s3 = isinstance(transfer.entry.place, S3Url) and isinstance(transfer.target, S3Url)
        return None if inside_s3 or transfer.entry.size < _resumable.LIMIT else self._resumer

    def preview(self, transfer: Transfer, progress: Progress) -> dict[str, Any]:
        """Compares the contents as :meth:`run` does, with its result and exceptions, but changes nothing."""
        del progress
        self._compare(transfer)
        if not transfer.entry.is_marker:
            self._skip_existing(transfer.target)
        if transfer.entry.is_marker and isinstance(transfer.target, str) and os.path.isdir(transfer.target):  # noqa: PTH112
            raise Skipped("")
        return {"size": transfer.entry.size}

    def _compare(self, transfer: Transfer) -> None:
        """Raises Skipped if the contents must be compared and are equal."""
        from ._contents import same_content

        if transfer.compare is not None and same_content(
            self._client, transfer.entry.place, transfer.compare.place, self.settings.sse_customer_key
        ):
            raise Skipped("the contents are equal")

    # ---- uploads

    def _upload(self, transfer: Transfer, path: str, target: S3Url, progress: Progress) -> dict[str, Any]:
        self._skip_existing(target)
        attributes = dict(self.settings.attributes)
        if self.settings.guess_type and "content_type" not in attributes:
            attributes["content_type"] = content_type_of(path)
        before = os.stat(path) if transfer.move else None  # noqa: PTH116
        try:
            if resumer := self._resumer_of(transfer):
                done: UploadFileResult | Done = resumer.upload(
                    path, target, attributes, new_only=not self.settings.overwrite, progress=progress
                )
            else:
                done = self._client.upload_file(
                    path, target.bucket, target.key, if_none_match=not self.settings.overwrite, progress=progress, **attributes
                )
        except S3PreconditionFailedError:
            self._skip_existing(target)
            raise
        if before is not None:
            _remove_unchanged(path, before)
        return {"size": done.size, "etag": done.etag, "resumed": getattr(done, "resumed", None)}

    def _skip_existing(self, target: Place) -> None:
        """Raises Skipped if existing targets are kept and there is one. Not every service knows the condition of the write."""
        if self.settings.overwrite:
            return
        if isinstance(target, S3Url):
            if exists(self._client, target):
                raise Skipped("the object exists")
        elif os.path.lexists(target) and not _is_folder(target):  # a folder is a failure of the download
            raise Skipped("the file exists")

    # ---- downloads

    def prepare_download(self, transfer: Transfer) -> None:
        """Checks the name of a file to be downloaded, and creates its folder.

        Raises:
            Skipped: The file exists, and existing files are kept.
            OSError: There can be no such file.
        """
        path = transfer.target
        assert isinstance(path, str)
        if transfer.root is not None:
            name = path[len(transfer.root) :].removesuffix("/")
            problem = name_problem(name) if name else ""
            if problem:
                raise OSError(problem)
        if not transfer.entry.is_marker:
            self._skip_existing(path)
            self._folders.make(transfer.root, path[: path.rfind("/") + 1])
            if _is_folder(path):
                raise OSError(f"{path!r} is a folder, but the key needs a file there")

    def end_move(self, transfer: Transfer, facts: dict[str, Any]) -> dict[str, Any]:
        """Deletes the source of a move after its download, once the target is on the disk. Returns the facts."""
        source, path = transfer.entry.place, transfer.target
        assert isinstance(source, S3Url)
        assert isinstance(path, str)
        self._folders.sync(os.path.dirname(path))  # noqa: PTH120
        self._delete_source(source, facts["etag"])
        return facts

    def _download(self, transfer: Transfer, source: S3Url, path: str, progress: Progress) -> dict[str, Any]:
        self.prepare_download(transfer)
        if transfer.entry.is_marker:
            return self._make_folder(transfer, source, path)
        done = self._download_file(transfer, source, path, progress)
        facts = {"size": done.size, "etag": done.etag, "version_id": done.version_id, "resumed": getattr(done, "resumed", None)}
        return self.end_move(transfer, facts) if transfer.move else facts

    def _download_file(self, transfer: Transfer, source: S3Url, path: str, progress: Progress) -> ObjectMetadata | Done:
        version_id, key = transfer.entry.version_id, self.settings.sse_customer_key
        listed = None if transfer.entry.etag is None else (transfer.entry.size, transfer.entry.etag)
        replace = self.settings.overwrite
        try:
            if resumer := self._resumer_of(transfer):
                done = resumer.download(
                    source, path, version_id=version_id, listed=listed, sse_customer_key=key, replace=replace,
                    progress=progress,
                )  # fmt: skip
                if done is not None:
                    return done
            found = self._client.download_file(
                source.bucket, source.key, path, version_id=version_id, listed=listed, sse_customer_key=key,
                sync=self.settings.sync, replace=replace, progress=progress,
            )  # fmt: skip
        except S3ConflictError:
            self._skip_existing(path)
            raise
        os.utime(path, (found.last_modified, found.last_modified))
        return found

    def _make_folder(self, transfer: Transfer, source: S3Url, path: str) -> dict[str, Any]:
        if transfer.entry.size:
            raise OSError(
                f"the key ends in '/' and the object has {transfer.entry.size} bytes, which no folder can hold;"
                f" write it to a file with penstock cat --raw {str(source)!r}"
            )
        folder = path if path.endswith("/") else path + "/"
        existed = os.path.isdir(folder)  # noqa: PTH112
        self._folders.make(transfer.root, folder)
        if transfer.move:
            self._folders.sync(folder)
            self._delete_source(source, transfer.entry.etag)
        elif existed:
            raise Skipped("")
        return {"size": 0}

    # ---- copies

    def _copy(self, transfer: Transfer, source: S3Url, target: S3Url, progress: Progress) -> dict[str, Any]:
        if source == target and not transfer.entry.version_id and (transfer.move or not self.settings.attributes):
            raise OSError("source and target are the same object")
        self._skip_existing(target)
        entry = transfer.entry
        same_bucket = source.bucket == target.bucket
        if transfer.move and same_bucket and is_directory_bucket(source.bucket) and not self.settings.attributes:
            return self._rename(transfer, source, target)
        try:
            copied = self._copier.copy(
                entry, target, pinned=transfer.move, new_only=not self.settings.overwrite, progress=progress
            )
        except S3PreconditionFailedError:
            self._skip_existing(target)
            raise
        if transfer.move:
            self._check_copy(entry.size, target)
            self._delete_source(source, entry.etag)
        return {"size": entry.size, "etag": copied.etag, "version_id": copied.version_id}

    def _rename(self, transfer: Transfer, source: S3Url, target: S3Url) -> dict[str, Any]:
        try:
            self._client.rename_object(
                source.bucket, source.key, target.key, source_if_match=transfer.entry.etag,
                if_none_match=None if self.settings.overwrite else "*",
            )  # fmt: skip
        except S3PreconditionFailedError:
            self._skip_existing(target)
            raise
        return {"size": transfer.entry.size}

    def _delete_source(self, source: S3Url, etag: str | None) -> None:
        """Deletes an object that was copied, unless another version has replaced it.

        An object that is gone already needs no deletion: an attempt whose response was lost has deleted it, or another program.
        """
        with contextlib.suppress(S3NotFoundError):
            self._client.delete(source.bucket, source.key, if_match=etag)

    def _check_copy(self, size: int, target: S3Url) -> None:
        """Checks by a HEAD request that a copy is complete, before its source is deleted."""
        head = self._client.head(target.bucket, target.key, sse_customer_key=self.settings.sse_customer_key)
        if head.size != size:
            raise S3DataLossError(f"the copy has {head.size} bytes instead of {size}; the source was not deleted")


def remove_partial_files(path: str) -> None:
    """Removes the temporary files of this process's downloads to a path (penstock/files.h has their names)."""
    folder, name = os.path.split(path)
    beginning = temporary_name(name, _core.temporary_files_of_process())
    with contextlib.suppress(OSError):
        for found in os.listdir(folder or "."):  # noqa: PTH208
            if found.startswith(beginning) and len(found) == len(beginning) + 8:
                os.unlink(os.path.join(folder, found))  # noqa: PTH108, PTH118


def _remove_unchanged(path: str, before: os.stat_result) -> None:
    """Removes a file or link that was uploaded, unless it has changed since `before`.

    A program can set the modification time back, but not the time of the last change of the inode. The removal of another
    hard link changes the latter too.
    """
    after = os.stat(path)  # noqa: PTH116
    same_inode = after.st_ctime_ns == before.st_ctime_ns or after.st_nlink != before.st_nlink
    if not same_inode or (after.st_dev, after.st_ino, after.st_size, after.st_mtime_ns) != (
        before.st_dev, before.st_ino, before.st_size, before.st_mtime_ns,
    ):  # fmt: skip
        raise OSError("the file changed during the upload; the object was written, and the file was not removed")
    os.unlink(path)  # noqa: PTH108


__all__ = ["Folders", "S3Exception", "Settings", "Skipped", "Transfers"]
