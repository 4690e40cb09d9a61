"""The suites that come with the package. Each is imported when it is asked for."""

from __future__ import annotations

import importlib

from .._suite import Suite

#: Name to what it is about, in the order in which they run.
KNOWN = {
    "wire": "S3's answers, request by request, to the byte",
    "sharding": "every object exactly once over ranks, workers and interruptions",
    "prefixes": "keys of prefix strategies, their spread over partitions, and the 503s they meet",
    "dcp-ranges": "which bytes a load of a distributed checkpoint fetches, and of which version",
    "writes": "what a write publishes that is left, killed, or not under its condition",
    "express": "S3 Express One Zone of a server: names, sessions, listings, appends, renames",
    "express-client": "S3 Express One Zone of a client: hosts, one session for all, renames",
    "retry": "verb by verb and failure by failure what is asked again, and what is not",
    "matrix": "our client under every fault of the emulator, at every request, on both data planes",
}


def find(name: str) -> Suite:
    """The suite of a name in :data:`KNOWN`, or of MODULE:ATTRIBUTE.

    Raises:
        ValueError: there is none.
        ModuleNotFoundError: something that it needs is not installed.
    """
    place = f"{__name__}._{name.replace('-', '_')}:suite" if name in KNOWN else name
    module, colon, attribute = place.partition(":")
    if not colon:
        raise ValueError(f"'{name}' is no suite; it takes {', '.join(KNOWN)}, or MODULE:ATTRIBUTE of your own")
    found = getattr(importlib.import_module(module), attribute, None)
    if not isinstance(found, Suite):
        raise ValueError(f"'{place}' is no penstock_conformance.Suite")
    return found
