"""Which certificates the requests of a run trust."""

from __future__ import annotations

import ssl


def context(ca: str | None) -> ssl.SSLContext:
    """Of connections that trust this PEM file, or, where it is None, what the system trusts.

    Raises:
        ValueError: there is no certificate in it.
        OSError: it cannot be read.
    """
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise ValueError(f"there is no certificate in '{ca}'; it takes a PEM file") from None
    except OSError as error:
        raise OSError(f"the certificate '{ca}' cannot be read: {error.strerror}") from None
