"""An S3 endpoint and the credentials for it."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field

from penstock_emulator.offline_environment import offline_environment


def _ca_of_environment() -> str | None:
    return os.environ.get("AWS_CA_BUNDLE") or None


@dataclass(frozen=True)
class Access:
    """An endpoint and credentials that have all permissions there.

    Attributes:
        ca: PEM file with the certificates to trust over HTTPS. Default: ``AWS_CA_BUNDLE``; None: the system's certificates.
    """

    endpoint: str
    access_key: str
    secret_key: str = field(repr=False)
    region: str = "us-east-1"
    session_token: str | None = field(default=None, repr=False)
    ca: str | None = field(default_factory=_ca_of_environment)

    def at(self, endpoint: str) -> Access:
        """The same credentials at another endpoint, for example a proxy in front of this one."""
        return dataclasses.replace(self, endpoint=endpoint)

    def environment(self) -> dict[str, str | None]:
        """Environment variables that point AWS SDKs at this endpoint only. None: the variable must be unset."""
        return offline_environment(
            {
                "AWS_ENDPOINT_URL": self.endpoint,
                "AWS_ACCESS_KEY_ID": self.access_key,
                "AWS_SECRET_ACCESS_KEY": self.secret_key,
                "AWS_REGION": self.region,
                "AWS_DEFAULT_REGION": self.region,
                **({"AWS_SESSION_TOKEN": self.session_token} if self.session_token else {}),
                **({"AWS_CA_BUNDLE": self.ca} if self.ca else {}),
            }
        )
