"""An fsspec file system for S3, for libraries such as pandas, Lightning, datasets and torch.distributed.checkpoint.

With Penstock installed, ``penstock://bucket/key`` works wherever fsspec URLs do. :func:`register` makes Penstock also handle
``s3://``, which s3fs handles by default if it is installed. This module requires fsspec, a dependency of torch.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

from .._extras import required as _required

with _required("penstock.fsspec", "fsspec", "fsspec"):
    import fsspec as _fsspec

    from ._async_files import AsyncReadFile, AsyncWriteFile
    from ._errors import FileChangedError
    from ._files import ReadFile, WriteFile
    from ._filesystem import PenstockFileSystem

__all__ = [
    "AsyncReadFile",
    "AsyncWriteFile",
    "FileChangedError",
    "PenstockFileSystem",
    "ReadFile",
    "S3FileSystem",
    "WriteFile",
    "register",
    "register_where_missing",
]


class S3FileSystem(PenstockFileSystem):
    """A :class:`PenstockFileSystem` whose URLs start with ``s3://``. :func:`register` registers it for ``s3`` and ``s3a``."""

    protocol = ("s3", "s3a", "penstock")


def _class_for(protocol: str) -> type[PenstockFileSystem]:
    return S3FileSystem if protocol in S3FileSystem.protocol[:2] else PenstockFileSystem


def register(protocols: Iterable[str] = ("s3", "s3a")) -> None:
    """Makes Penstock handle URLs of these protocols in this process. Replaces earlier registrations."""
    for protocol in protocols:
        _fsspec.register_implementation(protocol, _class_for(protocol), clobber=True)


def register_where_missing(protocols: Iterable[str] = ("s3", "s3a")) -> list[str]:
    """Registers the `protocols` that have no handler yet, and none if s3fs is installed.

    Returns:
        The protocols that Penstock handles now.
    """
    if importlib.util.find_spec("s3fs") is None:
        for protocol in protocols:
            if protocol not in _fsspec.registry:
                _fsspec.register_implementation(protocol, _class_for(protocol))
    return [protocol for protocol in protocols if _fsspec.registry.get(protocol) is _class_for(protocol)]


register(["penstock"])
