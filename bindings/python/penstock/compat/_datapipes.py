"""``torchdata.datapipes.iter`` where torchdata has no DataPipes: the S3 DataPipes, and those of torch."""

from __future__ import annotations

import torch.utils.data.datapipes.iter as _of_torch
from torch.utils.data.datapipes.datapipe import IterDataPipe

from ..datapipes.iter import LineReader
from ._torchdata import S3FileListerIterDataPipe as S3FileLister
from ._torchdata import S3FileLoaderIterDataPipe as S3FileLoader

__all__ = ["IterDataPipe", "LineReader", "S3FileLister", "S3FileLoader"]
__all__ += _of_torch.__all__
__path__: list[str] = []  # a package: torchdata.datapipes.iter.load is below it


def __getattr__(name: str) -> object:
    if name in _of_torch.__all__:
        return getattr(_of_torch, name)
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise ImportError(
        f"cannot import {name!r} from torchdata.datapipes.iter: the installed torchdata has no DataPipes, and penstock.compat"
        " replaces only those of S3 and LineReader: pip install torchdata==0.9.0"
    )
