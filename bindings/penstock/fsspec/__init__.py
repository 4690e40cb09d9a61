"""S3 as a file system of fsspec: for pandas, Lightning, datasets, torch.distributed.checkpoint and all that take a URL.

With Penstock installed, ``penstock://bucket/key`` works wherever fsspec's URLs do. ``s3://`` stays with s3fs where that is
installed; :func:`register` takes it over. Importing this module needs fsspec, which torch brings.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

import fsspec as _fsspec

from ._errors import FileChangedError
from ._files import ReadFile, WriteFile
from ._filesystem import PenstockFileSystem

__all__ = [
    "FileChangedError",
    "PenstockFileSystem",
    "ReadFile",
    "S3FileSystem",
    "WriteFile",
    "register",
    "register_where_missing",
]


class S3FileSystem(PenstockFileSystem):
    """:class:`PenstockFileSystem` whose own URLs begin with ``s3://``: what :func:`register` registers for these."""

    protocol = ("s3", "s3a", "penstock")


def _class_for(protocol: str) -> type[PenstockFileSystem]:
    return S3FileSystem if protocol in S3FileSystem.protocol[:2] else PenstockFileSystem


def register(protocols: Iterable[str] = ("s3", "s3a")) -> None:
    """Has fsspec give these protocols' URLs to Penstock from now on, in this process, whoever had them."""
    for protocol in protocols:
        _fsspec.register_implementation(protocol, _class_for(protocol), clobber=True)


def register_where_missing(protocols: Iterable[str] = ("s3", "s3a")) -> list[str]:
    """The same for `protocols` that nobody has: none where s3fs can be imported. Returns those that are Penstock's now."""
    if importlib.util.find_spec("s3fs") is None:
        for protocol in protocols:
            if protocol not in _fsspec.registry:
                _fsspec.register_implementation(protocol, _class_for(protocol))
    return [protocol for protocol in protocols if _fsspec.registry.get(protocol) is _class_for(protocol)]


register(["penstock"])
