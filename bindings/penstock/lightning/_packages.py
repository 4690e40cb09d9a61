"""Lightning under either of its names: ``lightning`` or ``pytorch_lightning``."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

_NAMES = ("lightning", "pytorch_lightning")
_INSIDE = {"lightning": "lightning.pytorch", "pytorch_lightning": "pytorch_lightning"}


def _package() -> ModuleType:
    """The one that the program has imported, else the one that is installed.

    Raises:
        ModuleNotFoundError: No module named 'lightning'.
    """
    for name in _NAMES:
        if sys.modules.get(name) is not None:
            return importlib.import_module(name)
    try:
        return importlib.import_module("lightning")
    except ModuleNotFoundError as error:
        if error.name != "lightning":
            raise
        missing = error
    try:
        return importlib.import_module("pytorch_lightning")
    except ModuleNotFoundError as error:
        raise (missing if error.name == "pytorch_lightning" else error) from None


package = _package()


def inside(name: str) -> Any:
    """A module of the package, such as ``"plugins.io"``."""
    return importlib.import_module(f"{_INSIDE[package.__name__]}.{name}")


def version() -> tuple[int, int]:
    """Its major and minor version."""
    major, minor = package.__version__.split(".")[:2]
    return int(major), int(minor)


def stand_in(implementation: type) -> None:
    """Has the other package, where the program imported it too, take `implementation` for a CheckpointIO of its own."""
    for name in _NAMES:
        if sys.modules.get(name) is not None and name != package.__name__:
            importlib.import_module(f"{_INSIDE[name]}.plugins.io").CheckpointIO.register(implementation)
