"""Testing without AWS: the emulator inside this process.

with penstock.testing.Emulator() as s3:
    client = s3.client()
    client.create_bucket("data")
"""

from __future__ import annotations

import dataclasses
from types import TracebackType
from typing import Any

from . import _core
from ._client import S3Client
from ._config import S3ClientConfig

ACCESS_KEY_ID = "penstock"
SECRET_ACCESS_KEY = "penstock-secret"


class Emulator:
    """An S3 emulator inside this process, on a free port of 127.0.0.1. A context manager.

    Args:
        data_directory: Keep everything there; None: in memory.
        strict_durability: An acknowledged write is on disk.
        access_keys: Pairs of access key id and secret that are accepted; None: one default pair.
        region: The region it plays.
        fail_rate: Share of requests answered 503 SlowDown, decided by `fail_seed`, not by chance.
        tls: Paths of a PEM certificate and its key; None: plain HTTP.
        port: 0: any free port.
        log_path: File that gets one JSON line per request; None: none.

    Raises:
        ValueError: an option cannot work; the message names it.

    Thread safety: safe from any thread. A forked child must not use it, but may send requests to it.
    """

    def __init__(
        self,
        *,
        data_directory: str | None = None,
        strict_durability: bool = False,
        access_keys: list[tuple[str, str]] | None = None,
        region: str = "us-east-1",
        fail_rate: float = 0.0,
        fail_seed: int = 1,
        tls: tuple[str, str] | None = None,
        port: int = 0,
        log_path: str | None = None,
    ) -> None:
        certificate, key = tls or ("", "")
        self.region = region
        self.access_key_id, self.secret_access_key = (access_keys or [(ACCESS_KEY_ID, SECRET_ACCESS_KEY)])[0]
        self._core = _core.Emulator(
            port=port, data_directory=data_directory or "", strict_durability=strict_durability,
            access_keys=access_keys or [], region=region, fail_rate=fail_rate, fail_seed=fail_seed,
            tls_certificate=certificate, tls_key=key, log_path=log_path or "",
        )  # fmt: skip

    def __enter__(self) -> Emulator:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    @property
    def endpoint(self) -> str:
        """URL of the S3 endpoint."""
        return self._core.endpoint

    @property
    def admin_endpoint(self) -> str:
        """URL of the admin listener."""
        return self._core.admin_endpoint

    def environment(self) -> dict[str, str]:
        """Environment variables that make AWS SDKs, the AWS CLI and Penstock use this emulator."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
        }

    def client(self, s3client_config: S3ClientConfig | None = None) -> S3Client:
        """A client of this emulator."""
        return S3Client(self.region, endpoint=self.endpoint, s3client_config=self.config(s3client_config))

    def config(self, base: S3ClientConfig | None = None) -> S3ClientConfig:
        """`base`, or the defaults, with this emulator's credentials and path-style addressing."""
        return dataclasses.replace(
            base or S3ClientConfig(),
            force_path_style=True,
            access_key_id=self.access_key_id,
            secret_access_key=self.secret_access_key,
        )

    def stats(self) -> dict[str, Any]:
        """Requests by operation, answers by status, body bytes in and out, injected failures."""
        return self._core.stats()

    def reset(self) -> None:
        """Forgets every bucket and object."""
        self._core.reset()

    def stop(self) -> None:
        """Finishes requests in progress and stops. Later calls do nothing."""
        self._core.stop()
