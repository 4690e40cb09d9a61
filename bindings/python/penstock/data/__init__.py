"""Datasets of formats for training, and samplers: tar shards (webdataset), Parquet, shuffling and mixing with exact state."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._epochs import EpochDataset, merge_states
    from ._parquet_dataset import S3ParquetDataset
    from ._samplers import EpochSampler, MixingSampler, S3ConcatDataset, ShardedSampler
    from ._tar_dataset import S3TarDataset
    from ._webdataset import register_webdataset

__all__ = [
    "EpochDataset",
    "EpochSampler",
    "MixingSampler",
    "S3ConcatDataset",
    "S3ParquetDataset",
    "S3TarDataset",
    "ShardedSampler",
    "merge_states",
    "register_webdataset",
]

_MODULES = {
    "_epochs": ("EpochDataset", "merge_states"),
    "_parquet_dataset": ("S3ParquetDataset",),
    "_samplers": ("EpochSampler", "MixingSampler", "S3ConcatDataset", "ShardedSampler"),
    "_tar_dataset": ("S3TarDataset",),
    "_webdataset": ("register_webdataset",),
}
_ORIGIN = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _ORIGIN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    from .._extras import required

    with required(f"{__name__}.{name}", "torch", "torch"):
        value: object = getattr(importlib.import_module(f".{_ORIGIN[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
