"""The reader constructors that each rule of readers is tested with."""

from __future__ import annotations

import pytest
from penstock import S3ReaderConstructor
from penstock.s3reader.checkpoint import CheckpointReader

KINDS = {
    "default": S3ReaderConstructor.default(),
    "sequential": S3ReaderConstructor.sequential(),
    "range_based": S3ReaderConstructor.range_based(),
    "range_based(0)": S3ReaderConstructor.range_based(0),
    "range_based(7)": S3ReaderConstructor.range_based(7),
    "checkpoint": CheckpointReader,
}
every_kind = pytest.mark.parametrize("kind", KINDS)
