"""The installed version of torchdata."""

from __future__ import annotations

import importlib.metadata


def torchdata_version() -> tuple[int, int] | None:
    """Returns major and minor version of the installed torchdata, without importing it; None: not installed."""
    try:
        major, minor = importlib.metadata.version("torchdata").split(".")[:2]
        return int(major), int(minor)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return None
