"""Distributed checkpoints (torch.distributed.checkpoint) in S3."""

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
    "NumericPrefixStrategy",
    "RoundRobinPrefixStrategy",
    "S3PrefixStrategyBase",
]
