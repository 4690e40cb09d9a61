"""``torchdata.datapipes.iter.load.s3io``: the S3 DataPipes of torchdata 0.9."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable

from ..datapipes.iter import S3FileLister, S3FileLoader, register

__all__ = ["S3FileListerIterDataPipe", "S3FileLoaderIterDataPipe"]

importlib.import_module("torchdata._torchdata")


class S3FileListerIterDataPipe(S3FileLister):
    """As :class:`penstock.datapipes.iter.S3FileLister`, with a handler that programs can replace."""

    def __init__(
        self,
        source_datapipe: Iterable[str],
        length: int = -1,
        request_timeout_ms: int = -1,
        region: str = "",
        masks: str | list[str] = "",
    ) -> None:
        super().__init__(source_datapipe, length, request_timeout_ms, region, masks)
        self.handler = sys.modules["torchdata"]._torchdata.S3Handler(request_timeout_ms, region)


class S3FileLoaderIterDataPipe(S3FileLoader):
    """As :class:`penstock.datapipes.iter.S3FileLoader`."""


register(S3FileListerIterDataPipe, S3FileLoaderIterDataPipe)
