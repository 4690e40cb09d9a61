"""Transfers of files and directories as methods of S3Client."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from .._config import check_callable, with_numbers
from .._logs import Logger
from .._session import Session

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._progress import ProgressCallback
    from ._options import CallOptions, ObjectOptions
    from ._rare_results import DirectoryResult
    from ._results import ObjectMetadata, UploadFileResult

log = Logger(__name__)

Path: TypeAlias = "str | bytes | os.PathLike[Any]"
FileCallback: TypeAlias = Callable[[str, str, "Exception | None"], None]


def _listed_pair(listed: tuple[int, str] | None) -> tuple[int, str] | tuple[None, None]:
    if listed is None:
        return None, None
    match listed:
        case (int() as size, str() as etag) if not isinstance(size, bool):
            return size, etag
    raise TypeError("listed must be None or the size and the ETag of an object, a tuple of int and str")


class Files(Session):
    """Base class of S3Client with the transfers of files, which run in parallel and never leave a partial file or object.

    They block the calling thread, which Ctrl-C interrupts.
    """

    def upload_file(
        self,
        filename: Path,
        bucket: str,
        key: str,
        *,
        part_size: int | str | None = None,
        parallel: int | None = None,
        if_match: str | None = None,
        if_none_match: bool = False,
        progress: ProgressCallback | None = None,
        **options: Unpack[ObjectOptions],
    ) -> UploadFileResult:
        """Uploads a regular file, above 64 MiB in parts.

        Args:
            filename: Path of the file.
            part_size: Bytes per part, 5 MiB to 5 GiB, or a text such as ``"64MiB"``; None: ``S3ClientConfig.part_size``, else
                chosen by the file's size.
            parallel: Requests at a time; None: chosen by the measured rate.
            if_match: Raise S3PreconditionFailedError unless the key has an object with this ETag.
            if_none_match: Raise S3PreconditionFailedError if the key has an object.
            progress: As in :meth:`put_object`.
            options: See :class:`penstock.requests.ObjectOptions`.

        Raises:
            S3NotFoundError: The file or the bucket does not exist.
            S3DataLossError: The file changed during the upload.
        """
        check_callable("progress", progress)
        log.debug("upload %r to s3://%s/%s", filename, bucket, key)
        arguments = {
            "filename": os.fsdecode(filename), "bucket": bucket, "key": key,
            "part_size": part_size if part_size is not None else self.part_size, "parallel": parallel or self.parallel_parts,
            "if_match": if_match, "if_none_match": if_none_match, **options,
        }  # fmt: skip
        return cast("UploadFileResult", self.core.upload_file(with_numbers(arguments), progress))

    def download_file(
        self,
        bucket: str,
        key: str,
        filename: Path,
        *,
        part_size: int | str | None = None,
        parallel: int | None = None,
        version_id: str | None = None,
        if_match: str | None = None,
        listed: tuple[int, str] | None = None,
        sse_customer_key: bytes | None = None,
        sync: bool = False,
        replace: bool = True,
        progress: ProgressCallback | None = None,
        **options: Unpack[CallOptions],
    ) -> ObjectMetadata:
        """Downloads an object to a file, in parts.

        The bytes go to a temporary file in the same folder, which replaces `filename` once it is complete and verified against
        the object's checksum. After an error, an earlier file at `filename` is unchanged.

        Args:
            filename: Path of the file. Its folder must exist. A symbolic link is replaced. The new file has the permissions of a
                file that it replaces. A device, a FIFO or a socket raises S3InvalidArgumentError.
            part_size: Bytes per part, or a text such as ``"64MiB"``; None: ``S3ClientConfig.part_size``, else 8 MiB.
            parallel: Requests at a time; None: 8.
            version_id: Version; None: the current one.
            if_match: Raise S3PreconditionFailedError unless the object has this ETag.
            listed: Size and ETag of the object in a listing, as a tuple of int and str. Another version is downloaded as it is.
                If the response has this ETag and another size, raise S3DataLossError before a file is created.
            sse_customer_key: The key of an object with SSE-C.
            sync: Wait until the file is on the disk (fsync).
            replace: If false, keep what has the name `filename`, also if it appears during the download, and raise
                S3ConflictError. Needs a file system with RENAME_NOREPLACE or hard links.
            progress: As in :meth:`get_object`.
            options: See :class:`penstock.requests.CallOptions`.

        Raises:
            S3NotFoundError: The object or the folder does not exist.
            S3ConflictError: `filename` exists, and `replace` is false.
            S3DataLossError: The bytes do not match the object's checksum, or their number does not match `listed`.
        """
        check_callable("progress", progress)
        log.debug("download s3://%s/%s to %r", bucket, key, filename)
        listed_size, listed_etag = _listed_pair(listed)
        arguments = {
            "bucket": bucket, "key": key, "filename": os.fsdecode(filename),
            "part_size": part_size if part_size is not None else self.part_size, "parallel": parallel or self.parallel_parts,
            "version_id": version_id, "if_match": if_match, "listed_size": listed_size, "listed_etag": listed_etag,
            "sse_customer_key": sse_customer_key, "sync": sync, "replace": replace, **options,
        }  # fmt: skip
        return cast("ObjectMetadata", self.core.download_file(with_numbers(arguments), progress))

    def upload_directory(
        self,
        folder: Path,
        bucket: str,
        prefix: str = "",
        *,
        parallel_files: int = 16,
        max_failures: int = 1000,
        follow_symlinks: bool = False,
        on_file: FileCallback | None = None,
        **options: Unpack[ObjectOptions],
    ) -> DirectoryResult:
        """Uploads every regular file below a folder, as `prefix` and its relative path.

        A file that fails does not end the transfer; the result lists it.

        Args:
            folder: The folder.
            prefix: Beginning of the keys; a ``/`` is added if it has none at its end.
            parallel_files: Files at a time, 1 to 256. Each has a thread while it is transferred.
            max_failures: After this many failures no further file is started.
            follow_symlinks: Upload what symbolic links refer to, instead of skipping them.
            on_file: Called with path, key and error, None if the file was transferred. It runs on the calling thread, about every
                100 ms. An exception that it raises ends the transfer and propagates.
            options: See :class:`penstock.requests.ObjectOptions`.

        Raises:
            S3NotFoundError: The folder does not exist.
        """
        check_callable("on_file", on_file)
        log.debug("upload folder %r to s3://%s/%s", folder, bucket, prefix)
        arguments = {
            "folder": os.fsdecode(folder), "bucket": bucket, "prefix": prefix, "parallel_files": parallel_files,
            "max_failures": max_failures, "follow_symlinks": follow_symlinks, "part_size": self.part_size, **options,
        }  # fmt: skip
        return cast("DirectoryResult", self.core.transfer_directory(True, with_numbers(arguments), on_file))

    def download_directory(
        self,
        bucket: str,
        prefix: str,
        folder: Path,
        *,
        parallel_files: int = 16,
        max_failures: int = 1000,
        sse_customer_key: bytes | None = None,
        sync: bool = False,
        on_file: FileCallback | None = None,
        **options: Unpack[CallOptions],
    ) -> DirectoryResult:
        """Downloads every object whose key begins with `prefix`, to the rest of its key below a folder.

        A key that would leave the folder is a failure, which the result lists, as is a file that fails.

        Args:
            prefix: Beginning of the keys; a ``/`` is added if it has none at its end.
            folder: The folder. It is created with the folders in it.
            parallel_files: Files at a time, 1 to 256. Each has a thread while it is transferred.
            max_failures: After this many failures no further file is started.
            sse_customer_key: The key of objects with SSE-C.
            sync: Wait until the files are on the disk (fsync).
            on_file: As in :meth:`upload_directory`.
            options: See :class:`penstock.requests.CallOptions`.
        """
        check_callable("on_file", on_file)
        log.debug("download s3://%s/%s to folder %r", bucket, prefix, folder)
        arguments = {
            "bucket": bucket, "prefix": prefix, "folder": os.fsdecode(folder), "parallel_files": parallel_files,
            "max_failures": max_failures, "sse_customer_key": sse_customer_key, "sync": sync, "part_size": self.part_size,
            **options,
        }  # fmt: skip
        return cast("DirectoryResult", self.core.transfer_directory(False, with_numbers(arguments), on_file))
