"""S3ModelCheckpoint: ModelCheckpoint with its mistakes about remote paths mended."""

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
    """Without slashes that mean nothing, and with one name for a scheme."""
    scheme, _, rest = str(path).partition("://")
    return f"{'s3' if scheme == 's3a' else scheme}://{re.sub('/+', '/', rest).rstrip('/')}"


class S3ModelCheckpoint(_ModelCheckpoint):
    """Lightning's ``ModelCheckpoint``, which on remote paths

    - removes the checkpoint that the Trainer resumed from, and those of earlier runs in other directories: this one keeps them,
      as Lightning does on local disks;
    - never finds ``ckpt_path="last"``: this one does, by ``last.ckpt`` (``save_last=True``) in the checkpoints' directory. Give
      that as `dirpath`: without it each run with a logger has one of its own (``version_0``, ``version_1``), here as locally.

    Takes the same arguments.
    """

    @property
    def state_key(self) -> str:
        """That of a ModelCheckpoint: either goes on with the state that the other saved."""
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
