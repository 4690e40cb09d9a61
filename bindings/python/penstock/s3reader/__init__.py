"""Readers of S3 objects: file-like, seekable, lazy."""

from .adaptive import AdaptiveS3Reader
from .constructor import DCPOptimizedConstructor, S3ReaderConstructor
from .dcp_optimized import DCPOptimizedS3Reader, RangeGroup
from .protocol import DCPS3ReaderConstructorProtocol, GetStreamCallable, ItemRange, S3Reader, S3ReaderConstructorProtocol
from .ranged import RangedS3Reader
from .sequential import SequentialS3Reader

__all__ = [
    "AdaptiveS3Reader",
    "DCPOptimizedConstructor",
    "DCPOptimizedS3Reader",
    "DCPS3ReaderConstructorProtocol",
    "GetStreamCallable",
    "ItemRange",
    "RangeGroup",
    "RangedS3Reader",
    "S3Reader",
    "S3ReaderConstructor",
    "S3ReaderConstructorProtocol",
    "SequentialS3Reader",
]
