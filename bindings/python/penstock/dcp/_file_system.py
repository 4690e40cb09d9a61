"""S3FileSystem: the file system of the distributed checkpoint reader and writer."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote

import torch
from torch.distributed.checkpoint.filesystem import FileSystemBase

from .._client import S3Client
from .._exceptions import S3Exception, S3NotFoundError
from .._objects import parse_s3_uri
from .._user_agent import UserAgent
from .._versions import is_directory_bucket
from ..s3reader import S3ReaderConstructor
from ._sink import UploadSink

if TYPE_CHECKING:
    from .._config import S3ClientConfig
    from .._writer import S3Writer
    from ..s3reader import S3Reader, S3ReaderConstructorProtocol

log = logging.getLogger(__name__)

_NOT_FOUND = "Service error: The object was not found"


class S3FileSystem(FileSystemBase):
    """Implements torch's checkpoint file system interface on S3. Picklable; sends no request on construction.

    Args:
        region: AWS region of the bucket.
        s3_client: Client to use; `s3client_config` and `endpoint` are then ignored. None: creates a client.
        s3client_config: See :class:`penstock.S3ClientConfig`.
        reader_constructor: Reader type of ``create_stream(path, "rb")``; None: :meth:`S3ReaderConstructor.default`.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.

    Thread safety: all methods may be called from any thread.

    Source: ``s3torchconnector.dcp.S3FileSystem``.
    """

    def __init__(
        self,
        region: str,
        s3_client: S3Client | None = None,
        s3client_config: S3ClientConfig | None = None,
        reader_constructor: S3ReaderConstructorProtocol | None = None,
        *,
        endpoint: str | None = None,
    ) -> None:
        self._path: str | os.PathLike[str] = ""
        self._reader_constructor = reader_constructor or S3ReaderConstructor.default()
        if s3_client is None:
            reader_type = S3ReaderConstructor.get_reader_type_string(self._reader_constructor)
            user_agent = UserAgent(["dcp", torch.__version__, f"md/reader_type#{reader_type}"])
            s3_client = S3Client(region, endpoint=endpoint, user_agent=user_agent, s3client_config=s3client_config)
        self._client = s3_client

    @contextmanager
    def create_stream(self, path: str | os.PathLike[str], mode: str) -> Iterator[S3Reader | S3Writer]:
        """Returns a context manager that opens an object for reading (``"rb"``) or writing (``"wb"``).

        A written object is published atomically when the block ends. If the block raises, the previous object stays unchanged.

        Raises:
            ValueError: `mode` is neither of these, or `path` is not an ``s3://`` URI.
        """
        bucket, key = bucket_and_key(path)
        stream: S3Reader | S3Writer
        if mode == "wb":
            log.debug("create_stream writable for %s", path)
            stream = self._client.put_object(bucket, key)
        elif mode == "rb":
            log.debug("create_stream readable for %s", path)
            stream = self._client.get_object(bucket, key, reader_constructor=self._reader_constructor)
        else:
            raise ValueError(f"Invalid {mode=} mode argument: create_stream only supports rb (read mode) & wb (write mode)")
        with stream:
            yield stream

    @contextmanager
    def create_upload(self, path: str | os.PathLike[str], about_bytes: int) -> Iterator[UploadSink]:
        """Returns a context manager that opens an object for writing, as "wb", with a sink that sends memory without a copy.

        Args:
            path: ``s3://`` URI of the object.
            about_bytes: Approximate size of the object, in bytes.
        """
        bucket, key = bucket_and_key(path)
        log.debug("create_stream writable for %s", path)
        with self._client._upload(bucket, key, about_bytes) as writer:
            yield UploadSink(writer)

    def concat_path(self, path: str | os.PathLike[str], suffix: str) -> str:
        """Returns `path` and `suffix` joined with one slash."""
        log.debug("concat paths %s and %s", path, suffix)
        return os.path.join(os.fspath(path), suffix)  # noqa: PTH118  (pathlib would merge the slashes of a URI)

    def init_path(self, path: str | os.PathLike[str]) -> str | os.PathLike[str]:
        """Stores `path` and returns it unchanged."""
        log.debug("init_path for %s", path)
        self._path = path
        return path

    def rename(self, old_path: str | os.PathLike[str], new_path: str | os.PathLike[str]) -> None:
        """Copies the object at `old_path` to `new_path`, then deletes the old object. Not atomic.

        In a directory bucket, sends one atomic RenameObject request. The client retries each request as configured.

        Raises:
            ValueError: The paths are in different buckets.
            S3Exception: The copy failed and nothing has changed, or the deletion failed and both objects exist.
        """
        log.debug("rename %s to %s", old_path, new_path)
        bucket, old_key = bucket_and_key(old_path)
        new_bucket, new_key = bucket_and_key(new_path)
        if bucket != new_bucket:
            raise ValueError(
                "Source and destination buckets cannot be different (rename does not support cross-buckets operations)"
            )
        if is_directory_bucket(bucket):
            self._client.rename_object(bucket, old_key, new_key)
            log.debug("rename: s3://%s/%s successfully", bucket, old_key)
            return
        self._client.copy_object(src_bucket=bucket, src_key=old_key, dst_bucket=new_bucket, dst_key=new_key)
        log.debug("rename: copied %s to %s successfully", old_path, new_path)
        self._client.delete_object(bucket, old_key)
        log.debug("rename: s3://%s/%s successfully", bucket, old_key)

    def mkdir(self, path: str | os.PathLike[str]) -> None:
        """Does nothing: S3 has no folders."""

    def exists(self, path: str | os.PathLike[str]) -> bool:
        """Whether an object exists at `path`.

        Raises:
            S3Exception: The request failed. Without the ListBucket permission, S3 returns Forbidden for a missing object.
        """
        log.debug("exists %s", path)
        try:
            self._client.head_object(*bucket_and_key(path))
        except S3Exception as error:
            if isinstance(error, S3NotFoundError) or str(error) == _NOT_FOUND:
                return False
            raise
        return True

    def rm_file(self, path: str | os.PathLike[str]) -> None:
        """Deletes an object. Errors of S3 are logged, not raised."""
        log.debug("remove %s", path)
        bucket, key = bucket_and_key(path)
        try:
            self._client.delete_object(bucket, key)
        except S3Exception:
            log.exception("Failed to remove object from S3")

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Whether `checkpoint_id` is valid. True for every ``pathlib`` path, as in torch; using such a path raises ValueError."""
        log.debug("validate_checkpoint_id for %s", checkpoint_id)
        if isinstance(checkpoint_id, PurePath):
            return True
        try:
            bucket_and_key(checkpoint_id)
        except ValueError:
            return False
        return True

    @staticmethod
    def _escape_path(path: str) -> str:
        """Percent-encodes `path`, except slashes, as a copy source. For compatibility only: the client encodes by itself."""
        return quote(path, safe="/") if path else path


def _path_or_str_to_str(path: str | os.PathLike[str]) -> str:
    return path if isinstance(path, str) else str(path)


def etag_of(client: S3Client, path: str) -> str | None:
    """Returns the ETag of the object at `path`, or None if there is none. Sends one HeadObject request.

    Raises:
        S3Exception: The request failed.
    """
    try:
        return client.head_object(*bucket_and_key(path)).etag.strip('"')
    except S3NotFoundError:
        return None


def knows_no_conditions(error: S3Exception) -> bool:
    """Whether the service rejected a request because it does not support conditional writes."""
    return error.code == "NotImplemented" or error.status == 501


def bucket_and_folder(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Returns the bucket of a checkpoint's path and the key prefix of its objects, which is empty or ends with a slash."""
    bucket, prefix = bucket_and_key(path)
    return bucket, prefix if prefix.endswith("/") or not prefix else prefix + "/"


def bucket_and_key(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Returns the bucket and key of a checkpoint's path.

    Raises:
        ValueError: `path` is not an ``s3://`` URI.
    """
    if isinstance(path, PurePath):
        fixed = str(path).replace("s3:/", "s3://", 1) if str(path).startswith("s3:/") else "s3://bucket/key"
        raise ValueError(
            f"Only s3:// URIs are supported, not {path!r}: a Path merges the slashes of a URI; pass the string {fixed!r}"
        )
    return parse_s3_uri(_path_or_str_to_str(path))
