"""Creates Penstock's fsspec file system for an emulator."""

from __future__ import annotations

from typing import Any

from penstock.fsspec import PenstockFileSystem, S3FileSystem
from penstock.testing import Emulator


def storage_options(emulator: Emulator, **more: Any) -> dict[str, Any]:
    """The arguments that users of s3fs pass."""
    return {
        "key": emulator.access_key_id,
        "secret": emulator.secret_access_key,
        "endpoint_url": emulator.endpoint,
        "client_kwargs": {"region_name": "us-east-1"},
        **more,
    }


def file_system(emulator: Emulator, **more: Any) -> PenstockFileSystem:
    return S3FileSystem(**storage_options(emulator, **more))
