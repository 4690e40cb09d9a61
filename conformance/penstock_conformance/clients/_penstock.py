"""Penstock's client under test."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from penstock import S3Client, S3IterableDataset, S3ReaderConstructor, __version__, dcp

from .._access import Access
from .._store import client_config
from . import Client, Loader


class Penstock(Client):
    """Penstock's client."""

    name: ClassVar[str] = "penstock"

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._shared = S3Client(access.region, **self._arguments())

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
            finite = int(min(gap, 1 << 62))
            return dcp.S3StorageReader(self.access.region, uri, max_gap_size=finite, **self._arguments())

        def optimized(uri: str, gap: float) -> Any:
            constructor = S3ReaderConstructor.dcp_optimized(max_gap_size=gap)
            return dcp.S3StorageReader(self.access.region, uri, reader_constructor=constructor, **self._arguments())

        return {"planned": planned, "dcp_optimized": optimized}

    def keys(self, bucket: str, prefix: str) -> list[str]:
        return [info.key for page in self._client().list_objects(bucket, prefix) for info in page.object_info]

    def rename(self, bucket: str, source: str, target: str) -> None:
        rename = getattr(self._client(), "rename_object", None)
        if rename is None:
            raise self._lacks("renames")
        rename(bucket, source, target)

    def reach(self, bucket: str, region: str, *, path_style: bool) -> None:
        config = dataclasses.replace(client_config(self.access), force_path_style=path_style, max_attempts=1)
        S3Client(region, s3client_config=config).head_object(bucket, "key")

    def put(self, bucket: str, key: str, data: bytes) -> None:
        with self._client().put_object(bucket, key) as writer:
            writer.write(data)

    def write(self, bucket: str, key: str, pieces: Iterable[bytes]) -> None:
        with self._in_parts().put_object(bucket, key) as writer:
            for piece in pieces:
                writer.write(piece)

    def put_if(self, bucket: str, key: str, data: bytes, *, etag: str | None) -> None:
        if etag is not None:  # S3Client.put_object has no argument for it
            self._client()._client.put_object(bucket, key, data, if_match=etag.strip('"'))
            return
        with self._in_parts().put_object(bucket, key, if_none_match=True) as writer:
            writer.write(data)

    def _in_parts(self) -> S3Client:
        """A client that uploads in parts from 5 MiB on; the default is 64 MiB."""
        config = client_config(self.access, part_size=5 << 20)
        return S3Client(self.access.region, endpoint=self.access.endpoint, s3client_config=config)

    def get(self, bucket: str, key: str) -> bytes:
        return self._client().get_object(bucket, key).read()

    def _client(self) -> S3Client:
        """The client that all requests share."""
        return self._shared


STRATEGIES: dict[str, Callable[..., Callable[[int], str]]] = {
    "default": dcp.DefaultPrefixStrategy,
    "binary": dcp.BinaryPrefixStrategy,
    "hex": dcp.HexPrefixStrategy,
    "round-robin": dcp.RoundRobinPrefixStrategy,
}
