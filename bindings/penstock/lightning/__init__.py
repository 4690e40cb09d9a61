"""Checkpoints, loggers and roots of Lightning on S3.

Importing this module lets Lightning open ``s3://`` paths by :mod:`penstock.fsspec` where s3fs cannot be imported (which would
have them): a Trainer's ``default_root_dir``, ``ModelCheckpoint``'s directory and the loggers' files are asked of fsspec. Region,
endpoint and credentials are then those of the environment and the AWS configuration files, or of fsspec's own configuration
(``FSSPEC_S3_ENDPOINT_URL``, ``FSSPEC_S3_KEY``, ``FSSPEC_S3_SECRET``).

Needs ``lightning`` or ``pytorch_lightning``.
"""

from __future__ import annotations

from ..fsspec import register_where_missing as _register_where_missing
from ._checkpoint_io import S3LightningCheckpoint
from ._model_checkpoint import S3ModelCheckpoint

__all__ = ["S3LightningCheckpoint", "S3ModelCheckpoint"]

_register_where_missing()
