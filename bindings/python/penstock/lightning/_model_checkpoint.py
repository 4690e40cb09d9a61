"""S3ModelCheckpoint: ModelCheckpoint with fixes for remote paths."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from fsspec.core import url_to_fs

from . import _packages

_ModelCheckpoint: Any = _packages.inside("callbacks").ModelCheckpoint


def _is_remote(path: object) -> bool:
    return "://" in str(path)


def _plain(path: object) -> str:
    """Normalizes a remote path: without redundant slashes, and with "s3" for "s3a"."""
    scheme, _, rest = str(path).partition("://")
    return f"{'s3' if scheme == 's3a' else scheme}://{re.sub('/+', '/', rest).rstrip('/')}"


class S3ModelCheckpoint(_ModelCheckpoint):
    """Lightning's ``ModelCheckpoint`` with two fixes for remote paths. Takes the same arguments.

    - It keeps the checkpoint that the Trainer resumed from, and checkpoints of earlier runs in other directories, as Lightning
      does on local disks. ``ModelCheckpoint`` deletes them.
    - It supports ``ckpt_path="last"``, by ``last.ckpt`` (``save_last=True``) in the directory of the checkpoints.
      ``ModelCheckpoint`` never finds it. Set `dirpath`: otherwise each run with a logger has its own directory (``version_0``,
      ``version_1``), as on local disks.
    """

    @property
    def state_key(self) -> str:
        """The key of ModelCheckpoint, so that each class can restore the state that the other saved."""
        return str(super().state_key).replace("S3ModelCheckpoint", "ModelCheckpoint", 1)

    def _should_remove_checkpoint(self, trainer: Any, previous: str, current: str) -> bool:
        if not _is_remote(previous):
            return bool(super()._should_remove_checkpoint(trainer, previous, current))
        resumed = trainer.ckpt_path
        if _plain(previous) in (_plain(current), _plain(resumed) if resumed is not None else None):
            return False
        return _plain(previous).startswith(_plain(self.dirpath) + "/")

    def _find_last_checkpoints(self, trainer: Any) -> set[str]:
        directory = str(self._ModelCheckpoint__resolve_ckpt_dir(trainer))
        if not _is_remote(directory):
            found: set[str] = super()._find_last_checkpoints(trainer)
            return found
        fs, path = url_to_fs(directory)
        names = fs.ls(path, detail=False) if fs.exists(path) else []
        scheme = directory.partition("://")[0]
        return {f"{scheme}://{name}" for name in names if self._is_last(PurePosixPath(name))}

    def _is_last(self, path: PurePosixPath) -> bool:
        return path.suffix == self.FILE_EXTENSION and path.name.startswith(self.CHECKPOINT_NAME_LAST)
