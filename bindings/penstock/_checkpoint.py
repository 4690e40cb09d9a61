"""S3Checkpoint: files for torch.save and torch.load."""

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
    """Readers and writers of checkpoints.

    ``torch.save(state, writer)`` inside ``with checkpoint.writer(uri) as writer`` publishes a whole checkpoint or nothing.

    Args:
        region: AWS region of the bucket.
        endpoint: URL of an S3-compatible service; None: environment, then AWS.
        s3client_config: See :class:`S3ClientConfig`.

    `s3_uri` is, in every method, where the checkpoint's file is: ``s3://bucket/key``.

    Raises:
        S3Exception: Once S3 is asked and all attempts are used up; its sub-classes say what can be done.

    Source: ``s3torchconnector.S3Checkpoint``.
    """

    def __init__(self, region: str, endpoint: str | None = None, s3client_config: S3ClientConfig | None = None) -> None:
        self.region = region
        self.endpoint = endpoint
        self._client = S3Client(region, endpoint=endpoint, s3client_config=s3client_config)

    def reader(self, s3_uri: str, *, progress: ProgressCallback | None = None, version_id: str | None = None) -> S3Reader:
        """A seekable reader for ``torch.load``. Costs no request before it is read.

        It fetches the file's directory and then the tensors, ahead and in parallel, in the order in which ``torch.load`` asks
        for them: at most 96 MiB at a time, copied once into their own memory. Other files than those of ``torch.save`` are
        read as :meth:`S3ReaderConstructor.default` does.

        Args:
            progress: See :meth:`S3Client.get_object`.
            version_id: Which version, as :meth:`versions` names them; None: the checkpoint as it is now.

        Raises:
            ValueError: not an ``s3://`` URI, or a version of an object in a directory bucket.
        """
        bucket, key = parse_s3_uri(s3_uri)
        return self._client.get_object(bucket, key, reader_constructor=CheckpointReader, progress=progress, version_id=version_id)

    def writer(self, s3_uri: str, *, progress: ProgressCallback | None = None) -> S3Writer:
        """A writer for ``torch.save``. The checkpoint exists once ``close()`` or the ``with`` block has returned.

        Args:
            progress: See :meth:`S3Client.put_object`.

        Raises:
            ValueError: not an ``s3://`` URI.
        """
        bucket, key = parse_s3_uri(s3_uri)
        return self._client.put_object(bucket, key, progress=progress)

    # ---- versions of one checkpoint file

    def versions(self, s3_uri: str) -> list[ObjectVersion]:
        """All versions and delete markers of a checkpoint, newest first; empty where there never was one.

        A bucket that keeps no versions has one, ``"null"``: the object as it is.

        Raises:
            ValueError: not an ``s3://`` URI, or a directory bucket (an S3InvalidArgumentError), where versions do not exist.
        """
        return _versions.versions_of(self._client, *parse_s3_uri(s3_uri))

    def restore(self, s3_uri: str, version_id: str) -> ObjectVersion:
        """Makes a version the current one again, by copying it inside S3; what is there now stays a version.

        One beyond 5 GiB is copied in parts. Restoring the version that is current does nothing.

        Args:
            version_id: Which one, as :meth:`versions` names it.

        Returns:
            The version that is current now.

        Raises:
            S3NotFoundError: There is no such version; names those that there are.
            ValueError: not an ``s3://`` URI, a directory bucket, or a delete marker, which holds nothing.
        """
        return _versions.restore(self._client, *parse_s3_uri(s3_uri), version_id)

    def undelete(self, s3_uri: str) -> int:
        """Removes the delete markers on top of a checkpoint, so that its newest version is current again.

        Returns:
            How many delete markers were removed; 0: the checkpoint was not deleted.

        Raises:
            S3NotFoundError: No version is left below; where the bucket keeps none, what was deleted is gone.
            ValueError: not an ``s3://`` URI, or a directory bucket.
        """
        return _versions.undelete(self._client, *parse_s3_uri(s3_uri))
