"""Penstock: S3 for PyTorch.

Datasets, readers, writers and checkpoints over one C++ client, with the names of the Amazon S3 Connector for PyTorch.
Importing this package does not import torch; the names that need it (the datasets) import it on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._checkpoint import S3Checkpoint
from ._client import S3Client
from ._config import S3ClientConfig
from ._core import __version__
from ._exceptions import (
    S3AccessDeniedError,
    S3ConflictError,
    S3DataLossError,
    S3Exception,
    S3InvalidArgumentError,
    S3NotFoundError,
    S3PreconditionFailedError,
    S3ThrottledError,
    S3TimeoutError,
    S3UnauthenticatedError,
    S3UnavailableError,
    S3WrongRegionError,
)
from ._objects import HeadObjectResult, ListObjectResult, ObjectInfo, S3BucketKeyData
from ._writer import S3Writer
from .s3reader import S3Reader, S3ReaderConstructor

if TYPE_CHECKING:
    from ._iterable_dataset import S3IterableDataset
    from ._map_dataset import S3MapDataset

_NEEDS_TORCH = {"S3MapDataset": "_map_dataset", "S3IterableDataset": "_iterable_dataset"}


def __getattr__(name: str) -> Any:
    module = _NEEDS_TORCH.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_NEEDS_TORCH})


__all__ = [
    "HeadObjectResult",
    "ListObjectResult",
    "ObjectInfo",
    "S3AccessDeniedError",
    "S3BucketKeyData",
    "S3Checkpoint",
    "S3Client",
    "S3ClientConfig",
    "S3ConflictError",
    "S3DataLossError",
    "S3Exception",
    "S3InvalidArgumentError",
    "S3IterableDataset",
    "S3MapDataset",
    "S3NotFoundError",
    "S3PreconditionFailedError",
    "S3Reader",
    "S3ReaderConstructor",
    "S3ThrottledError",
    "S3TimeoutError",
    "S3UnauthenticatedError",
    "S3UnavailableError",
    "S3Writer",
    "S3WrongRegionError",
    "__version__",
]
