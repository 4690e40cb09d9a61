"""Readers of S3 objects: file-like, seekable, lazy."""

from .adaptive import AdaptiveS3Reader
from .constructor import S3ReaderConstructor
from .protocol import GetStreamCallable, S3Reader, S3ReaderConstructorProtocol
from .ranged import RangedS3Reader
from .sequential import SequentialS3Reader

__all__ = [
    "AdaptiveS3Reader",
    "GetStreamCallable",
    "RangedS3Reader",
    "S3Reader",
    "S3ReaderConstructor",
    "S3ReaderConstructorProtocol",
    "SequentialS3Reader",
]
