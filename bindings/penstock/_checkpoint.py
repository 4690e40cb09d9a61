"""S3Checkpoint: files for torch.save and torch.load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._client import S3Client
from ._config import S3ClientConfig
from ._objects import parse_s3_uri
from .s3reader.checkpoint import CheckpointReader

if TYPE_CHECKING:
    from ._progress import ProgressCallback
    from ._writer import S3Writer
    from .s3reader import S3Reader


class S3Checkpoint:
    """Readers and writers of checkpoints.

    ``torch.save(state, writer)`` inside ``with checkpoint.writer(uri) as writer`` publishes a whole checkpoint or nothing.

    Args:
        region: AWS region of the bucket.
        endpoint: URL of an S3-compatible service; None: environment, then AWS.
        s3client_config: See :class:`S3ClientConfig`.
    """

    def __init__(self, region: str, endpoint: str | None = None, s3client_config: S3ClientConfig | None = None) -> None:
        self.region = region
        self.endpoint = endpoint
        self._client = S3Client(region, endpoint=endpoint, s3client_config=s3client_config)

    def reader(self, s3_uri: str, *, progress: ProgressCallback | None = None) -> S3Reader:
        """A seekable reader for ``torch.load``. Costs no request before it is read.

        It fetches the file's directory and then the tensors, ahead and in parallel, in the order in which ``torch.load`` asks
        for them: at most 96 MiB at a time, copied once into their own memory. Other files than those of ``torch.save`` are
        read as :meth:`S3ReaderConstructor.default` does.

        Args:
            progress: See :meth:`S3Client.get_object`.

        Raises:
            ValueError: not an ``s3://`` URI.
        """
        bucket, key = parse_s3_uri(s3_uri)
        return self._client.get_object(bucket, key, reader_constructor=CheckpointReader, progress=progress)

    def writer(self, s3_uri: str, *, progress: ProgressCallback | None = None) -> S3Writer:
        """A writer for ``torch.save``. The checkpoint exists once ``close()`` or the ``with`` block has returned.

        Args:
            progress: See :meth:`S3Client.put_object`.

        Raises:
            ValueError: not an ``s3://`` URI.
        """
        bucket, key = parse_s3_uri(s3_uri)
        return self._client.put_object(bucket, key, progress=progress)
