"""Checkpoints, log files and root directories of Lightning on S3.

Lightning uses fsspec for the ``default_root_dir`` of a Trainer, the directory of ``ModelCheckpoint`` and log files. Importing
this module makes :mod:`penstock.fsspec` handle their ``s3://`` paths, unless s3fs is installed, which then handles them. Region,
endpoint and credentials come from the environment and the AWS configuration files, or from fsspec's configuration
(``FSSPEC_S3_ENDPOINT_URL``, ``FSSPEC_S3_KEY``, ``FSSPEC_S3_SECRET``).

Requires ``lightning`` or ``pytorch_lightning``.
"""

from __future__ import annotations

from .._extras import required as _required

with _required("penstock.lightning", "lightning", "lightning", "torch", "fsspec"):
    from ..fsspec import register_where_missing as _register_where_missing
    from ._checkpoint_io import S3LightningCheckpoint
    from ._model_checkpoint import S3ModelCheckpoint

__all__ = ["S3LightningCheckpoint", "S3ModelCheckpoint"]

_register_where_missing()
