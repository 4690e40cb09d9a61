"""Distributed checkpoints (torch.distributed.checkpoint) in S3."""

import contextlib

from .._extras import required

with required("penstock.dcp", "torch", "torch"):
    from ._file_system import S3FileSystem
    from ._lost_ranks import LostRankError
    from ._reader import S3StorageReader
    from ._writer import S3StorageWriter
    from .s3_prefix_strategy import (
        BinaryPrefixStrategy,
        DefaultPrefixStrategy,
        HexPrefixStrategy,
        NumericPrefixStrategy,
        RoundRobinPrefixStrategy,
        S3PrefixStrategyBase,
    )

__all__ = [
    "BinaryPrefixStrategy",
    "DefaultPrefixStrategy",
    "HexPrefixStrategy",
    "LostRankError",
    "NumericPrefixStrategy",
    "RoundRobinPrefixStrategy",
    "S3FileSystem",
    "S3PrefixStrategyBase",
    "S3StorageReader",
    "S3StorageWriter",
]

with contextlib.suppress(ImportError):  # needs torch 2.9 or later
    from ._hugging_face import S3HuggingFaceStorageReader, S3HuggingFaceStorageWriter

    __all__ += ["S3HuggingFaceStorageReader", "S3HuggingFaceStorageWriter"]
