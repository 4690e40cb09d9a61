"""Clients under test: what the suites ask a client to do, in its own words."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from .._suite import NotRun

if TYPE_CHECKING:
    from .._bench import Access

#: Those that are known by name; any other is MODULE:CLASS.
KNOWN = {
    "penstock": "penstock_conformance.clients._penstock:Penstock",
    "s3torchconnector": "penstock_conformance.clients._reference:Reference",
    "boto3": "penstock_conformance.clients._boto3:Boto3",
}
#: Makes a load's reader: of a URI, and the most bytes between two wanted ranges that still come by one request.
Loader = Callable[[str, float], Any]


class Client(ABC):
    """A client under test. Sub-classes say what it can; what it cannot raises :class:`NotRun`, and the checks are not run.

    Args:
        access: Endpoint, region and key it has to use; the environment says the same.
    """

    name: ClassVar[str]

    def __init__(self, access: Access) -> None:
        self.access = access

    @property
    @abstractmethod
    def version(self) -> str:
        """Of the client, for reports."""

    def _lacks(self, what: str) -> NotRun:
        return NotRun(f"{self.name} has no {what}")

    # ---- datasets

    def dataset(self, uri: str, transform: Callable[[Any], Any], *, sharded: bool) -> Any:
        """A torch IterableDataset of the objects below ``s3://bucket/prefix``; its items are ``transform(reader)``.

        `reader` has ``key`` and ``read()``. Sharded: ranks of torch.distributed and workers share the objects out.
        """
        raise self._lacks("sharded dataset")

    def check_resumable(self) -> None:
        """Raises NotRun unless datasets have ``state_dict()`` and ``load_state_dict()``, as torchdata asks for them."""
        raise self._lacks("dataset that can be resumed")

    # ---- distributed checkpoints

    def prefix_strategy(self, name: str, **arguments: Any) -> Callable[[int], str]:
        """Of ``default``, ``binary``, ``hex`` and ``round-robin``; the arguments are those of the connector's classes."""
        raise self._lacks("prefix strategies")

    def prefix_strategy_base(self) -> type:
        """The class that strategies of one's own derive from."""
        raise self._lacks("prefix strategies")

    def storage_writer(self, uri: str, *, prefix_strategy: Any = None, thread_count: int = 1) -> Any:
        """A torch.distributed.checkpoint StorageWriter."""
        raise self._lacks("storage writer for distributed checkpoints")

    def loaders(self) -> dict[str, Loader]:
        """Its ways to load a distributed checkpoint, by name: each makes a StorageReader."""
        raise self._lacks("storage reader for distributed checkpoints")

    # ---- objects

    def put(self, bucket: str, key: str, data: bytes) -> None:
        """Writes an object."""
        raise self._lacks("way to write objects")

    def write(self, bucket: str, key: str, pieces: Iterable[bytes]) -> None:
        """Writes an object out of pieces as they come, in parts of 8 MiB at most. What their iterator raises ends the write."""
        raise self._lacks("way to write objects piece by piece")

    def put_if(self, bucket: str, key: str, data: bytes, *, etag: str | None) -> None:
        """Writes an object where the one that is there has this ETag; None: where there is none. Raises where that is not so."""
        raise self._lacks("way to write objects under a condition")

    def get(self, bucket: str, key: str) -> bytes:
        """Reads an object."""
        raise self._lacks("way to read objects")

    def keys(self, bucket: str, prefix: str) -> list[str]:
        """Every key below a prefix."""
        raise self._lacks("way to list objects")

    def rename(self, bucket: str, source: str, target: str) -> None:
        """Moves an object within a directory bucket."""
        raise self._lacks("way to rename objects")

    def reach(self, bucket: str, region: str, *, path_style: bool) -> None:
        """Asks AWS itself (no endpoint) for any object, once; whatever comes of it. The environment says the rest."""
        raise self._lacks("way to ask AWS for an object")


def find(name: str) -> type[Client]:
    """The client of a name in :data:`KNOWN`, or of MODULE:CLASS.

    Raises:
        ValueError: there is none.
        ModuleNotFoundError: it is not installed.
    """
    place = KNOWN.get(name, name)
    module, colon, attribute = place.partition(":")
    if not colon:
        raise ValueError(f"'{name}' is no client; it takes {', '.join(KNOWN)}, or MODULE:CLASS of your own")
    found = getattr(importlib.import_module(module), attribute, None)
    if not (isinstance(found, type) and issubclass(found, Client)):
        raise ValueError(f"'{place}' is no sub-class of penstock_conformance.clients.Client")
    lacking = sorted(found.__abstractmethods__) + ([] if hasattr(found, "name") else ["name"])
    if lacking:
        raise ValueError(f"'{place}' does not say its {' and its '.join(lacking)}; every client has a name and a version")
    return found
