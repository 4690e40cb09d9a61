"""Distributed checkpoints for tests: states, saves, and loads by torch's own reader from a local copy."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bucket_io
import penstock
import torch
import torch.distributed.checkpoint as dcp
from penstock.dcp import S3StorageReader, S3StorageWriter
from penstock.testing import Emulator


@contextlib.contextmanager
def slow_responses(emulator: Emulator, first_byte_ms: float) -> Iterator[None]:
    """The first byte of every response takes that long meanwhile, so that requests which may run in parallel do."""
    emulator.set_limits({"latency": {"first_byte_ms": first_byte_ms}})
    try:
        yield
    finally:
        emulator.set_limits(None)


def some_state(seed: int = 0) -> dict[str, Any]:
    """Returns tensors of several kinds, views and other objects. The seed determines the values."""
    made = torch.Generator().manual_seed(seed)

    def randn(*size: int) -> torch.Tensor:
        return torch.randn(*size, generator=made)

    return {
        "model": {
            "weight": randn(64, 33),
            "transposed": randn(20, 30).t(),
            "view": randn(100)[10:20],
            "strided": randn(10, 10)[:, 2:5],
            "half": randn(70, 70).bfloat16(),
            "empty": torch.zeros(0, 3),
            "scalar": torch.tensor(float(seed)),
        },
        "step": seed,
        "name": f"run {seed}",
    }


PART = 5 * 1024**2


def state_of_two_files(seed: int) -> dict[str, torch.Tensor]:
    """A state that two threads save as two files: one of three parts of PART bytes, the other of one request."""
    large = torch.arange(PART // 2, dtype=torch.float32) + seed
    return {"large": large, "small": torch.full((5000,), float(seed)), "seed": torch.tensor(seed)}


def emptied(state: Any) -> Any:
    """Returns the same structure with other values, as a target for a load."""
    if isinstance(state, dict):
        return {key: emptied(value) for key, value in state.items()}
    return torch.full_like(state, -1) if isinstance(state, torch.Tensor) else None


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


def writer_of(emulator: Emulator, uri: str, **kwargs: Any) -> S3StorageWriter:
    return S3StorageWriter(emulator.region, uri, emulator.config(), endpoint=emulator.endpoint, **kwargs)


def save(emulator: Emulator, uri: str, state: Any, save_kwargs: dict[str, Any] | None = None, **kwargs: Any) -> S3StorageWriter:
    writer = writer_of(emulator, uri, **kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save(state, storage_writer=writer, **(save_kwargs or {}))
    return writer


def load(emulator: Emulator, uri: str, state: Any) -> None:
    """Loads a checkpoint into `state` by S3StorageReader."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.load(state, storage_reader=S3StorageReader(emulator.region, uri, emulator.config(), endpoint=emulator.endpoint))


def copied(client: penstock.S3Client, bucket: str, prefix: str, folder: Path) -> Path:
    """Downloads the objects below a prefix to files."""
    for key in bucket_io.keys(client, bucket, prefix + "/"):
        path = folder / key.removeprefix(prefix + "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bucket_io.get(client, bucket, key))
    return folder


def loaded(client: penstock.S3Client, bucket: str, prefix: str, like: Any) -> Any:
    """Loads a local copy of the objects by torch's own reader."""
    state = emptied(like)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.load(state, storage_reader=dcp.FileSystemReader(copied(client, bucket, prefix, Path(folder))))
    return state


def names(client: penstock.S3Client, bucket: str, prefix: str) -> list[str]:
    return [key.removeprefix(prefix + "/") for key in bucket_io.keys(client, bucket, prefix + "/")]
