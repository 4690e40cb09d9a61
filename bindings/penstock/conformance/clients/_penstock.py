"""Penstock under test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ... import S3Client, S3IterableDataset, S3ReaderConstructor, __version__, dcp
from .._store import client_config
from . import Client, Loader


class Penstock(Client):
    """Our own client."""

    name: ClassVar[str] = "penstock"

    @property
    def version(self) -> str:
        return __version__

    def _arguments(self) -> dict[str, Any]:
        return {"endpoint": self.access.endpoint, "s3client_config": client_config(self.access)}

    def dataset(self, uri: str, transform: Callable[[Any], Any], *, sharded: bool) -> Any:
        return S3IterableDataset.from_prefix(
            uri, region=self.access.region, transform=transform, enable_sharding=sharded, **self._arguments()
        )

    def check_resumable(self) -> None:
        return

    def prefix_strategy(self, name: str, **arguments: Any) -> Callable[[int], str]:
        return STRATEGIES[name](**arguments)

    def prefix_strategy_base(self) -> type:
        return dcp.S3PrefixStrategyBase

    def storage_writer(self, uri: str, *, prefix_strategy: Any = None, thread_count: int = 1) -> Any:
        return dcp.S3StorageWriter(
            self.access.region, uri, prefix_strategy=prefix_strategy, thread_count=thread_count, **self._arguments()
        )

    def loaders(self) -> dict[str, Loader]:
        def planned(uri: str, gap: float) -> Any:
            most = min(gap, 1 << 62)
            return dcp.S3StorageReader(self.access.region, uri, max_gap_size=int(most), **self._arguments())

        def optimized(uri: str, gap: float) -> Any:
            constructor = S3ReaderConstructor.dcp_optimized(max_gap_size=gap)
            return dcp.S3StorageReader(self.access.region, uri, reader_constructor=constructor, **self._arguments())

        return {"planned": planned, "dcp_optimized": optimized}

    def put(self, bucket: str, key: str, data: bytes) -> None:
        with self._client().put_object(bucket, key) as writer:
            writer.write(data)

    def get(self, bucket: str, key: str) -> bytes:
        return self._client().get_object(bucket, key).read()

    def _client(self) -> S3Client:
        return S3Client(self.access.region, **self._arguments())


STRATEGIES: dict[str, Callable[..., Callable[[int], str]]] = {
    "default": dcp.DefaultPrefixStrategy,
    "binary": dcp.BinaryPrefixStrategy,
    "hex": dcp.HexPrefixStrategy,
    "round-robin": dcp.RoundRobinPrefixStrategy,
}
