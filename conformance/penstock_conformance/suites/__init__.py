"""The suites of this package. Each module is imported on first use."""

from __future__ import annotations

import importlib

from .._suite import Suite

#: Name and description of each suite, in the order in which they run.
KNOWN = {
    "wire": "S3's responses, request by request, byte by byte",
    "sharding": "each object exactly once across ranks, workers and interruptions",
    "prefixes": "keys of prefix strategies, their distribution over partitions, and resulting 503 responses",
    "dcp-ranges": "bytes and object versions that a load of a distributed checkpoint reads",
    "writes": "what aborted, killed and conditional writes publish",
    "express": "S3 Express One Zone, server: names, sessions, listings, appends, renames",
    "express-client": "S3 Express One Zone, client: hosts, session reuse, renames",
    "retry": "which operations a client retries after which failures",
    "matrix": "Penstock's client under every emulator fault, at every request",
}


def find(name: str) -> Suite:
    """Finds a suite by its name in :data:`KNOWN`, or by MODULE:ATTRIBUTE.

    Raises:
        ValueError: there is no such suite.
        ModuleNotFoundError: a module that the suite needs is not installed.
    """
    place = f"{__name__}._{name.replace('-', '_')}:suite" if name in KNOWN else name
    module, colon, attribute = place.partition(":")
    if not colon:
        raise ValueError(f"unknown suite '{name}': expected {', '.join(KNOWN)} or MODULE:ATTRIBUTE")
    found = getattr(importlib.import_module(module), attribute, None)
    if not isinstance(found, Suite):
        raise ValueError(f"'{place}' is not a penstock_conformance.Suite")
    return found
