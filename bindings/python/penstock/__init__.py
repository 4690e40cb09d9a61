"""Penstock: S3 for PyTorch.

Datasets, readers, writers and checkpoints on top of one C++ client, with the API of the Amazon S3 Connector for PyTorch.
Importing this package is cheap: each public name is imported on first use, together with its dependencies (the native
library; torch, for the datasets). Without torch, everything works but the names that need it.
"""

from __future__ import annotations

from os import environ as _environ

TYPE_CHECKING = False  # type checkers treat it as True; importing `typing` would cost more than the rest of this module
if TYPE_CHECKING:
    from ._append import S3AppendWriter
    from ._checkpoint import S3Checkpoint
    from ._client import S3Client
    from ._config import S3ClientConfig
    from ._core import __version__
    from ._event_types import RequestEvent, RetryQuestion
    from ._events import flush_events
    from ._exceptions import (
        S3AccessDeniedError,
        S3Attempt,
        S3ConflictError,
        S3DataLossError,
        S3Exception,
        S3InvalidArgumentError,
        S3NotFoundError,
        S3NotModifiedError,
        S3PreconditionFailedError,
        S3ThrottledError,
        S3TimeoutError,
        S3UnauthenticatedError,
        S3UnavailableError,
        S3WrongRegionError,
    )
    from ._iterable_dataset import S3IterableDataset
    from ._log_bridge import enable_logging
    from ._map_dataset import S3MapDataset
    from ._memory import memory_limit, set_memory_limit
    from ._metrics import ClientMetrics
    from ._objects import HeadObjectResult, ListObjectResult, ObjectInfo, S3BucketKeyData
    from ._versions import ListObjectVersionsResult, ObjectVersion
    from ._writer import S3Writer
    from .s3reader import S3Reader, S3ReaderConstructor

__all__ = [
    "ClientMetrics",
    "HeadObjectResult",
    "ListObjectResult",
    "ListObjectVersionsResult",
    "ObjectInfo",
    "ObjectVersion",
    "RequestEvent",
    "RetryQuestion",
    "S3AccessDeniedError",
    "S3AppendWriter",
    "S3Attempt",
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
    "S3NotModifiedError",
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
    "enable_logging",
    "flush_events",
    "memory_limit",
    "set_memory_limit",
]

# The public names that each module defines. __getattr__ imports the module on first use.
_MODULES = {
    "_append": ("S3AppendWriter",),
    "_checkpoint": ("S3Checkpoint",),
    "_client": ("S3Client",),
    "_config": ("S3ClientConfig",),
    "_core": ("__version__",),
    "_event_types": ("RequestEvent", "RetryQuestion"),
    "_events": ("flush_events",),
    "_iterable_dataset": ("S3IterableDataset",),
    "_log_bridge": ("enable_logging",),
    "_map_dataset": ("S3MapDataset",),
    "_memory": ("memory_limit", "set_memory_limit"),
    "_metrics": ("ClientMetrics",),
    "_objects": ("HeadObjectResult", "ListObjectResult", "ObjectInfo", "S3BucketKeyData"),
    "_versions": ("ListObjectVersionsResult", "ObjectVersion"),
    "_writer": ("S3Writer",),
    "s3reader": ("S3Reader", "S3ReaderConstructor"),
}
_SUBMODULES = ("aio", "data", "dcp", "fsspec", "lightning", "opentelemetry", "ray", "requests", "s3reader", "testing")
_ORIGIN = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    module = name if name in _SUBMODULES else _ORIGIN.get(name, "_exceptions" if name in __all__ else None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    from ._extras import required

    with required(f"{__name__}.{name}", "torch", "torch"):
        found = importlib.import_module(f".{module}", __name__)
    value: object = found if module == name else getattr(found, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if _environ.get("PENSTOCK_LOG", "").lower() == "logging":
    from ._log_bridge import enable_logging

    enable_logging()
