"""TLS settings of the suites' own requests."""

from __future__ import annotations

import ssl


def tls_context(ca: str | None) -> ssl.SSLContext:
    """A client context that trusts the certificates of a PEM file; None: those of the system.

    Raises:
        ValueError: the file contains no certificate.
        OSError: the file cannot be read.
    """
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise ValueError(f"no certificate in '{ca}': expected a PEM file") from None
    except OSError as error:
        raise OSError(f"cannot read the certificate '{ca}': {error.strerror}") from None
