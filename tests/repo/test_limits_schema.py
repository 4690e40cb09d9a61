"""docs/limits.schema.json and a running emulator accept and reject the same limits."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import penstock.testing
import pytest

SCHEMA: dict[str, Any] = json.loads((Path(__file__).resolve().parents[2] / "docs/limits.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
FULL: dict[str, Any] = {
    "preset": "aws-strict",
    "directory_preset": "aws-express",
    "reads_per_second": 10,
    "writes_per_second": 20,
    "burst_ms": 100,
    "split_after_s": 1.5,
    "merge_after_s": 0,
    "max_partitions": 16,
    "buckets": {"hot": {"preset": "aws-standard", "reads_per_second": 1, "boundaries": ["b", "a"]}},
    "latency": {"first_byte_ms": 0.5, "bytes_per_second": 1000},
    "seed": 0,
    "retry_after_ms": 0,
}
Change = Callable[[dict[str, Any]], Any]


def hot(limits: dict[str, Any]) -> dict[str, Any]:
    bucket: dict[str, Any] = limits["buckets"]["hot"]
    return bucket


TAKEN: dict[str, Change] = {
    "everything": lambda limits: None,
    "nothing": lambda limits: limits.clear(),
    "a latency profile": lambda limits: limits.update(latency="s3-express"),
    "a latency without fields": lambda limits: limits.update(latency={}),
    "the largest rate": lambda limits: limits.update(reads_per_second=4_000_000_000),
    "a bucket without limits": lambda limits: limits.update(buckets={"b": {}}),
}
REFUSED: dict[str, Change] = {
    "an unknown member": lambda limits: limits.update(limit=1),
    "an unknown preset": lambda limits: limits.update(preset="aws-lax"),
    "a preset that is a number": lambda limits: limits.update(preset=1),
    "an unknown directory preset": lambda limits: limits.update(directory_preset=""),
    "no reads per second": lambda limits: limits.update(reads_per_second=0),
    "too many writes": lambda limits: limits.update(writes_per_second=4_000_000_001),
    "a fraction of a read": lambda limits: limits.update(reads_per_second=1.5),
    "a burst of more than a second": lambda limits: limits.update(burst_ms=1001),
    "a negative time": lambda limits: limits.update(split_after_s=-1),
    "no partitions": lambda limits: limits.update(max_partitions=0),
    "buckets in a list": lambda limits: limits.update(buckets=[]),
    "an unknown member of a bucket": lambda limits: hot(limits).update(latency="none"),
    "an unknown preset of a bucket": lambda limits: hot(limits).update(preset="x"),
    "an empty boundary": lambda limits: hot(limits).update(boundaries=[""]),
    "a boundary that is a number": lambda limits: hot(limits).update(boundaries=[1]),
    "an unknown profile": lambda limits: limits.update(latency="s3"),
    "a latency that is a number": lambda limits: limits.update(latency=30),
    "a negative first byte delay": lambda limits: limits.update(latency={"first_byte_ms": -1}),
    "a rate of 0 bytes per second": lambda limits: limits.update(latency={"bytes_per_second": 0}),
    "an unknown member of a latency": lambda limits: limits.update(latency={"ms": 1}),
    "a negative seed": lambda limits: limits.update(seed=-1),
    "a Retry-After of a day": lambda limits: limits.update(retry_after_ms=86_400_000),
}


def test_schema_and_emulator_accept_and_reject_the_same_limits() -> None:
    VALIDATOR.check_schema(SCHEMA)
    with penstock.testing.Emulator() as s3:
        for name, change in (TAKEN | REFUSED).items():
            limits = copy.deepcopy(FULL)
            change(limits)
            assert VALIDATOR.is_valid(limits) == (name in TAKEN), name
            if name in TAKEN:
                s3.set_limits(limits)
            else:
                with pytest.raises(ValueError):
                    s3.set_limits(limits)
