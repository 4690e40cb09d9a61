"""A request on a connection that was kept: the other end may have closed it while it was idle."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def once_more(exchange: Callable[[], T], *, reused: bool, close: Callable[[], None]) -> T:
    """What `exchange` gives; where the connection was gone it is closed, and one that was `reused` replaced by a fresh one.

    Raises:
        OSError, http.client.HTTPException: of `exchange`.
    """
    try:
        return exchange()
    except (ConnectionError, http.client.RemoteDisconnected, ssl.SSLError):
        close()
        if not reused:
            raise
    return exchange()
