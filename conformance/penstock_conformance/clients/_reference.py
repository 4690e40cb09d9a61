"""The Amazon S3 Connector for PyTorch (s3torchconnector) under test."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import s3torchconnector as connector
from s3torchconnector import dcp
from s3torchconnector.dcp import s3_prefix_strategy as strategies

from .._access import Access
from . import Client, Loader


class Reference(Client):
    """s3torchconnector. Its DCP classes have no endpoint argument; they read the environment."""

    name: ClassVar[str] = "s3torchconnector"

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        # Shared by all objects, because its client caches sessions.
        self._checkpoint = connector.S3Checkpoint(access.region, endpoint=access.endpoint, s3client_config=self._config())

    @property
    def version(self) -> str:
        return importlib.metadata.version("s3torchconnector")

    def _config(self) -> Any:
        return connector.S3ClientConfig(force_path_style=True)

    def dataset(self, uri: str, transform: Callable[[Any], Any], *, sharded: bool) -> Any:
        return connector.S3IterableDataset.from_prefix(
            uri, region=self.access.region, endpoint=self.access.endpoint, transform=transform, s3client_config=self._config(),
            enable_sharding=sharded,
        )  # fmt: skip

    def prefix_strategy(self, name: str, **arguments: Any) -> Callable[[int], str]:
        kinds: dict[str, Callable[..., Callable[[int], str]]] = {
            "default": strategies.DefaultPrefixStrategy,
            "binary": strategies.BinaryPrefixStrategy,
            "hex": strategies.HexPrefixStrategy,
            "round-robin": strategies.RoundRobinPrefixStrategy,
        }
        return kinds[name](**arguments)

    def prefix_strategy_base(self) -> type:
        base: type = strategies.S3PrefixStrategyBase
        return base

    def storage_writer(self, uri: str, *, prefix_strategy: Any = None, thread_count: int = 1) -> Any:
        return dcp.S3StorageWriter(
            self.access.region, uri, s3client_config=self._config(), prefix_strategy=prefix_strategy, thread_count=thread_count
        )

    def loaders(self) -> dict[str, Loader]:
        def optimized(uri: str, gap: float) -> Any:
            constructor = connector.S3ReaderConstructor.dcp_optimized(max_gap_size=gap)
            return dcp.S3StorageReader(self.access.region, uri, s3client_config=self._config(), reader_constructor=constructor)

        return {"dcp_optimized": optimized}

    def keys(self, bucket: str, prefix: str) -> list[str]:
        dataset = self.dataset(f"s3://{bucket}/{prefix}", lambda reader: str(reader.key), sharded=False)
        return list(dataset)

    def put(self, bucket: str, key: str, data: bytes) -> None:
        with self._checkpoint.writer(f"s3://{bucket}/{key}") as writer:
            writer.write(data)

    def write(self, bucket: str, key: str, pieces: Iterable[bytes]) -> None:
        with self._checkpoint.writer(f"s3://{bucket}/{key}") as writer:
            for piece in pieces:
                writer.write(piece)

    def get(self, bucket: str, key: str) -> bytes:
        with self._checkpoint.reader(f"s3://{bucket}/{key}") as reader:
            data: bytes = reader.read()
        return data
