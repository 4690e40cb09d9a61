"""S3Checkpoint: file objects for torch.save and torch.load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _versions
from ._client import S3Client
from ._config import S3ClientConfig
from ._objects import parse_s3_uri
from .s3reader.checkpoint import CheckpointReader

if TYPE_CHECKING:
    from ._progress import ProgressCallback
    from ._versions import ObjectVersion
    from ._writer import S3Writer
    from .s3reader import S3Reader


class S3Checkpoint:
    """Makes readers and writers for checkpoints in S3.

    ``torch.save(state, writer)`` inside ``with checkpoint.writer(uri) as writer`` publishes the complete checkpoint or nothing.

    Args:
        region: AWS region of the bucket.
        endpoint: URL of an S3-compatible service; None: from the environment, else AWS.
        s3client_config: See :class:`S3ClientConfig`.

    Every method takes `s3_uri`, the location of the checkpoint's object: ``s3://bucket/key``.

    Raises:
        S3Exception: A request failed after all attempts, from any method that sends one. The subclass says what kind of failure.

    Source: ``s3torchconnector.S3Checkpoint``.
    """

    def __init__(self, region: str, endpoint: str | None = None, s3client_config: S3ClientConfig | None = None) -> None:
        self.region = region
        self.endpoint = endpoint
        self._client = S3Client(region, endpoint=endpoint, s3client_config=s3client_config)

    def reader(self, s3_uri: str, *, progress: ProgressCallback | None = None, version_id: str | None = None) -> S3Reader:
        """Returns a seekable reader for ``torch.load``. Sends no request before the first read.

        The reader fetches the file's zip directory, then prefetches the tensors in parallel, in the order in which
        ``torch.load`` reads them: at most 96 MiB at a time, copied once into their own memory. Files that ``torch.save`` did
        not write are read as by :meth:`S3ReaderConstructor.default`.

        Args:
            progress: See :meth:`S3Client.get_object`.
            version_id: A version listed by :meth:`versions`; None: the current version.

        Raises:
            ValueError: `s3_uri` is not an ``s3://`` URI, or `version_id` is given for an object in a directory bucket.
        """
        bucket, key = parse_s3_uri(s3_uri)
        return self._client.get_object(bucket, key, reader_constructor=CheckpointReader, progress=progress, version_id=version_id)

    def writer(self, s3_uri: str, *, progress: ProgressCallback | None = None) -> S3Writer:
        """Returns a writer for ``torch.save``. The checkpoint exists once ``close()`` or the ``with`` block has returned.

        Args:
            progress: See :meth:`S3Client.put_object`.

        Raises:
            ValueError: `s3_uri` is not an ``s3://`` URI.
        """
        bucket, key = parse_s3_uri(s3_uri)
        return self._client.put_object(bucket, key, progress=progress)

    # ---- versions of one checkpoint

    def versions(self, s3_uri: str) -> list[ObjectVersion]:
        """Returns all versions and delete markers of a checkpoint, newest first; an empty list if there are none.

        In a bucket without versioning, the object is listed as its only version, ``"null"``.

        Raises:
            ValueError: `s3_uri` is not an ``s3://`` URI, or names a directory bucket, which has no versions
                (S3InvalidArgumentError).
        """
        return _versions.versions_of(self._client, *parse_s3_uri(s3_uri))

    def restore(self, s3_uri: str, version_id: str) -> ObjectVersion:
        """Makes an old version current again by copying it inside S3. The replaced version is kept.

        A version of more than 5 GiB is copied in parts. Restoring the current version does nothing.

        Args:
            version_id: A version listed by :meth:`versions`.

        Returns:
            The new current version.

        Raises:
            S3NotFoundError: There is no such version; the message lists the newest ones.
            ValueError: `s3_uri` is not an ``s3://`` URI or names a directory bucket, or the version is a delete marker.
        """
        return _versions.restore(self._client, *parse_s3_uri(s3_uri), version_id)

    def undelete(self, s3_uri: str) -> int:
        """Removes the delete markers above the newest version of a checkpoint, which makes that version current again.

        Returns:
            The number of delete markers removed; 0: the checkpoint was not deleted.

        Raises:
            S3NotFoundError: No version is left. Without versioning, a deleted object is lost.
            ValueError: `s3_uri` is not an ``s3://`` URI, or names a directory bucket.
        """
        return _versions.undelete(self._client, *parse_s3_uri(s3_uri))
