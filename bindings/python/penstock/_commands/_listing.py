"""Listings of folders and buckets, ascending by name."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .._exceptions import S3AccessDeniedError, S3NotFoundError
from ._plan import Entry
from ._urls import S3Url, Source, UsageError, base_name, is_partial, key_problem

if TYPE_CHECKING:
    from .._client import S3Client

# Called with a path, what is wrong with it, and whether that is a failure (False: it is skipped on purpose).
OnProblem = Callable[[str, str, bool], None]


def is_directory_bucket(bucket: str) -> bool:
    from .._versions import is_directory_bucket

    return is_directory_bucket(bucket)


def objects(client: S3Client, source: Source) -> Iterator[Entry]:
    """Lists the objects of a tree, ascending by their names, also in directory buckets."""
    from .._listing import S3BucketIterable

    root = source.root
    assert isinstance(root, S3Url)
    # Directory buckets list only prefixes that end in a slash.
    prefix = root.key if is_directory_bucket(root.bucket) else source.prefix
    for item in S3BucketIterable(client, root.bucket, prefix):
        info = item.object_info
        name = item.key[len(root.key) :]
        if info is not None and item.key.startswith(source.prefix) and source.selects(name):
            yield Entry(name, S3Url(root.bucket, item.key), info.size, info.last_modified, info.etag)


def one_object(client: S3Client, url: S3Url, version_id: str | None = None, sse_customer_key: bytes | None = None) -> Entry:
    """Returns an object by a HEAD request.

    Raises:
        S3NotFoundError: It does not exist.
    """
    head = client.head(url.bucket, url.key, version_id=version_id, sse_customer_key=sse_customer_key)
    return Entry(base_name(url), url, head.size, head.last_modified, head.etag, version_id)


def refuse_ambiguous(client: S3Client, source: Source) -> None:
    """Raises UsageError if the text of a wildcard is the key of an object, before a command deletes everything that matches."""
    if source.wildcard is None:
        return
    with contextlib.suppress(S3AccessDeniedError):
        if exists(client, source.wildcard):
            raise UsageError(
                f"{source.wildcard} is an object and a wildcard; add --raw for the object, or use --recursive with --include"
            )


def exists(client: S3Client, url: S3Url) -> bool:
    """Whether an object exists, by a HEAD request."""
    try:
        client.head(url.bucket, url.key)
    except S3NotFoundError as error:
        if error.code == "NoSuchBucket":
            raise
        return False
    return True


def files(source: Source, on_problem: OnProblem, *, follow: bool) -> Iterator[Entry]:
    """Lists the regular files of a tree or the single file.

    Args:
        follow: Follow symbolic links, to files and to folders. False: they are skipped.
        on_problem: Receives what cannot be listed: folders that cannot be read, links without a target or in a loop, names that
            are not UTF-8; and what is skipped: devices, sockets, FIFOs, and links if `follow` is false.
    """
    assert isinstance(source.root, str)
    if not source.tree:
        status = os.stat(source.root)  # noqa: PTH116
        yield Entry(base_name(source.root), source.root, status.st_size, status.st_mtime)
        return
    for entry in _Walk(source.root, on_problem, follow).walk("", ()):
        if source.selects(entry.name):
            yield entry


class _Walk:
    """Walks a folder in the order of the bytes of the paths below it, which is the order of S3's listings.

    It leaves out the partial files of resumable downloads.
    """

    def __init__(self, root: str, on_problem: OnProblem, follow: bool) -> None:
        self._root = root
        self._on_problem = on_problem
        self._follow = follow

    def walk(self, folder: str, open_folders: tuple[tuple[int, int], ...]) -> Iterator[Entry]:
        """Yields the files below a folder, given by its name relative to the root, with a slash at its end."""
        path = self._root + folder
        try:
            with os.scandir(path) as scan:
                visible = (entry for entry in scan if not is_partial(entry.name))
                found = [(entry, status) for entry in visible if (status := self._status(entry)) is not None]
            here = os.stat(path)  # noqa: PTH116
        except OSError as error:
            self._on_problem(path, f"cannot read the folder: {error.strerror}", True)
            return
        identity = (here.st_dev, here.st_ino)
        if identity in open_folders:
            self._on_problem(path, "the folder is a loop of symbolic links", True)
            return
        names = {entry.name + ("/" if stat.S_ISDIR(status.st_mode) else ""): status for entry, status in found}
        for name in sorted(names, key=os.fsencode):
            problem = key_problem(name)
            if problem:
                self._report_name(path + name, problem)
            elif name.endswith("/"):
                yield from self.walk(folder + name, (*open_folders, identity))
            else:
                status = names[name]
                yield Entry(folder + name, path + name, status.st_size, status.st_mtime)

    def _report_name(self, path: str, problem: str) -> None:
        self._on_problem(path, problem, True)

    def _status(self, entry: os.DirEntry[str]) -> os.stat_result | None:
        """Returns the status of a file or folder to visit; None: it is skipped, or its problem was reported."""
        try:
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                if not self._follow:
                    self._on_problem(entry.path, "skipped: it is a symbolic link", False)
                    return None
                status = entry.stat()
        except OSError as error:
            self._on_problem(entry.path, f"cannot read it: {error.strerror}", True)
            return None
        if stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode):
            return status
        self._on_problem(entry.path, "skipped: it is a device, a socket or a FIFO", False)
        return None


def target_files(root: str, on_problem: OnProblem) -> Iterator[Entry]:
    """Lists the files below the target folder of a sync: those that a download replaces and ``--delete`` deletes.

    A link to a file is an entry with the size and time of the file; deleting it deletes the link. Links to folders and special
    files are neither listed nor deleted.
    """
    if os.path.isdir(root):  # noqa: PTH112
        yield from _TargetWalk(root, on_problem, follow=True).walk("", ())


class _TargetWalk(_Walk):
    def _report_name(self, path: str, problem: str) -> None:
        """Ignores a name that no key can have: it is neither compared nor deleted."""

    def _status(self, entry: os.DirEntry[str]) -> os.stat_result | None:
        try:
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                followed = entry.stat()
                return followed if stat.S_ISREG(followed.st_mode) else None
        except FileNotFoundError:
            return None  # a link without a target, or a file that was just deleted
        except OSError as error:
            self._on_problem(entry.path, f"cannot read it: {error.strerror}", True)
            return None
        return status if stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode) else None
