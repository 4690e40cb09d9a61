"""Finds Lightning by either of its package names: ``lightning`` or ``pytorch_lightning``."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

_NAMES = ("lightning", "pytorch_lightning")
_INSIDE = {"lightning": "lightning.pytorch", "pytorch_lightning": "pytorch_lightning"}


def _package() -> ModuleType:
    """Returns the package that the program has imported, else the installed one.

    Raises:
        ModuleNotFoundError: Neither package is installed.
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
    """Returns a module of the package, such as ``"plugins.io"``."""
    return importlib.import_module(f"{_INSIDE[package.__name__]}.{name}")


def version() -> tuple[int, int]:
    """Returns the major and minor version of the package."""
    major, minor = package.__version__.split(".")[:2]
    return int(major), int(minor)


def stand_in(implementation: type) -> None:
    """Registers `implementation` as a CheckpointIO of the other package, if the program has imported that one too."""
    for name in _NAMES:
        if sys.modules.get(name) is not None and name != package.__name__:
            importlib.import_module(f"{_INSIDE[name]}.plugins.io").CheckpointIO.register(implementation)
