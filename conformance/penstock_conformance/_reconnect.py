"""Requests on reused connections: the server may have closed an idle connection."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def with_reconnect(exchange: Callable[[], T], *, reused: bool, close: Callable[[], None]) -> T:
    """Calls `exchange`, and once more on a new connection if a reused connection turns out to be closed.

    Args:
        exchange: Sends a request and reads the response.
        reused: Whether the connection has been used before.
        close: Closes the connection after a connection error.

    Raises:
        OSError, http.client.HTTPException: raised by `exchange`.
    """
    try:
        return exchange()
    except (ConnectionError, http.client.RemoteDisconnected, ssl.SSLError):
        close()
        if not reused:
            raise
    return exchange()
