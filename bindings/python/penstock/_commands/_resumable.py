"""Transfers of large files that an interruption does not lose: ``--resume``."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._resumable_common import MIB, Done, Progress, Service
from ._resumable_download import Download
from ._resumable_upload import Upload
from ._state_files import State
from ._urls import S3Url

if TYPE_CHECKING:
    from .._client import S3Client

LIMIT = 64 * MIB  # smaller files and objects start again


__all__ = ["LIMIT", "Done", "Progress", "Resumer"]


class Resumer:
    """Makes resumable transfers. Safe from any thread.

    Args:
        client: Sends the requests.
    """

    def __init__(self, client: S3Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._creating = 0

    @property
    def busy(self) -> bool:
        """Whether the process must not end now: an upload is being created whose id is not in a state file yet."""
        return self._creating > 0

    def upload(self, path: str, target: S3Url, attributes: dict[str, Any], *, new_only: bool, progress: Progress) -> Done:
        """Uploads a file in parts. Parts of an earlier run are used if they are parts of this file.

        Args:
            attributes: Attributes of the object.
            new_only: Raise S3PreconditionFailedError if the target exists.
            progress: Called with the bytes done; an exception that it raises ends the transfer.

        Raises:
            Busy: Another process makes the same transfer.
            S3Exception, OSError: It failed. The next call continues, unless the upload cannot succeed any more.
        """
        path = os.path.realpath(path)
        with (
            open(path, "rb", buffering=0) as file,  # noqa: PTH123
            State.of("upload", *Service.of(self._client), *target, path) as state,
        ):
            upload = Upload(self._client, state, file.fileno(), path, target, attributes)
            if done := upload.published_before():
                return done
            if upload.is_new:
                with self._creation():
                    upload.create()
            return upload.run(new_only, progress)

    @contextlib.contextmanager
    def _creation(self) -> Iterator[None]:
        with self._lock:
            self._creating += 1
        try:
            yield
        finally:
            with self._lock:
                self._creating -= 1

    def download(
        self,
        source: S3Url,
        path: str,
        *,
        version_id: str | None,
        listed: tuple[int, str] | None,
        sse_customer_key: bytes | None,
        replace: bool,
        progress: Progress,
    ) -> Done | None:
        """Downloads an object in parts of one version. Bytes of an earlier run are used if they are of this version.

        Args:
            path: The target. Only the complete file appears there.
            version_id: Version of the object; None: the current one.
            listed: As in :meth:`S3Client.download_file`.
            sse_customer_key: The key of an object with SSE-C.
            replace: As in :meth:`S3Client.download_file`.
            progress: As in :meth:`upload`.

        Returns:
            None: the service sends no ETag, which would distinguish the bytes of one version from those of another, or a size
                that contradicts the listing.

        Raises:
            Busy: Another process makes the same transfer.
            S3ConflictError: The target exists, and `replace` is false. Nothing is kept for a next call.
            S3Exception, OSError: It failed. The next call continues, unless the bytes do not match the object's checksum.
        """
        head = self._client.head(*source, version_id=version_id, sse_customer_key=sse_customer_key)
        if not head.etag.strip('"') or (listed is not None and head.etag == listed[1] and head.size != listed[0]):
            return None
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder)
        with State.of("download", *Service.of(self._client), *source, version_id, f"{folder}/{name}") as state:
            return Download(self._client, state, source, head, folder, name, version_id, sse_customer_key).run(
                progress, replace=replace
            )
