"""Clients under test: adapters from the operations that suites use to each client's API."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from .._access import Access
from .._verdict import NotRun

#: Clients that have a name; others are given as MODULE:CLASS.
KNOWN = {
    "penstock": "penstock_conformance.clients._penstock:Penstock",
    "s3torchconnector": "penstock_conformance.clients._reference:Reference",
    "boto3": "penstock_conformance.clients._boto3:Boto3",
}
#: Creates a StorageReader for a URI. The second argument is the maximum gap in bytes between ranges that one request covers.
Loader = Callable[[str, float], Any]


class Client(ABC):
    """A client under test.

    Subclasses override the methods that the client supports. The others raise :class:`NotRun`: their checks are not run.

    Args:
        access: Endpoint, region and credentials to use. The environment has the same values.
    """

    name: ClassVar[str]

    def __init__(self, access: Access) -> None:
        self.access = access

    @property
    @abstractmethod
    def version(self) -> str:
        """Version of the client, for reports."""

    def _lacks(self, what: str) -> NotRun:
        return NotRun(f"{self.name} has no {what}")

    # ---- datasets

    def dataset(self, uri: str, transform: Callable[[Any], Any], *, sharded: bool) -> Any:
        """A torch IterableDataset of the objects below ``s3://bucket/prefix``.

        Args:
            uri: ``s3://bucket/prefix``.
            transform: Maps a reader, which has ``key`` and ``read()``, to an item of the dataset.
            sharded: Divide the objects among the ranks of torch.distributed and their workers.
        """
        raise self._lacks("sharded dataset")

    def check_resumable(self) -> None:
        """Raises NotRun unless datasets have ``state_dict()`` and ``load_state_dict()``, torchdata's interface."""
        raise self._lacks("resumable dataset")

    # ---- distributed checkpoints

    def prefix_strategy(self, name: str, **arguments: Any) -> Callable[[int], str]:
        """Creates the strategy default, binary, hex or round-robin with the arguments of s3torchconnector's classes."""
        raise self._lacks("prefix strategies")

    def prefix_strategy_base(self) -> type:
        """The base class of custom strategies."""
        raise self._lacks("prefix strategies")

    def storage_writer(self, uri: str, *, prefix_strategy: Any = None, thread_count: int = 1) -> Any:
        """A torch.distributed.checkpoint StorageWriter."""
        raise self._lacks("storage writer for distributed checkpoints")

    def loaders(self) -> dict[str, Loader]:
        """The ways to load a distributed checkpoint, by name."""
        raise self._lacks("storage reader for distributed checkpoints")

    # ---- objects

    def put(self, bucket: str, key: str, data: bytes) -> None:
        """Writes an object."""
        raise self._lacks("object writes")

    def write(self, bucket: str, key: str, pieces: Iterable[bytes]) -> None:
        """Writes an object from pieces, in parts of at most 8 MiB. An exception of the iterator aborts the write."""
        raise self._lacks("streaming writes")

    def put_if(self, bucket: str, key: str, data: bytes, *, etag: str | None) -> None:
        """Writes an object if the existing one has this ETag; None: if none exists. Otherwise raises."""
        raise self._lacks("conditional writes")

    def get(self, bucket: str, key: str) -> bytes:
        """Reads an object."""
        raise self._lacks("object reads")

    def keys(self, bucket: str, prefix: str) -> list[str]:
        """All keys with the prefix."""
        raise self._lacks("listings")

    def rename(self, bucket: str, source: str, target: str) -> None:
        """Renames an object in a directory bucket."""
        raise self._lacks("renames")

    def reach(self, bucket: str, region: str, *, path_style: bool) -> None:
        """Sends one request for an object to AWS instead of the endpoint. The caller ignores the result."""
        raise self._lacks("requests to AWS endpoints")


def find(name: str) -> type[Client]:
    """Finds a client by its name in :data:`KNOWN`, or by MODULE:CLASS.

    Raises:
        ValueError: there is no such client, or it is incomplete.
    """
    place = KNOWN.get(name, name)
    module, colon, attribute = place.partition(":")
    if not colon:
        raise ValueError(f"unknown client '{name}': expected {', '.join(KNOWN)} or MODULE:CLASS")
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"client '{name}': there is no module {error.name!r}; install it, or give MODULE:CLASS of a module on PYTHONPATH"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Client)):
        raise ValueError(f"'{place}' is not a subclass of penstock_conformance.clients.Client")
    missing = sorted(found.__abstractmethods__) + ([] if hasattr(found, "name") else ["name"])
    if missing:
        raise ValueError(f"'{place}' does not define {' and '.join(missing)}; a client needs a name and a version")
    return found
