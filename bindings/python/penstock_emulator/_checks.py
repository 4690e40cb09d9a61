"""Checks of arguments."""

from __future__ import annotations

from types import NoneType


def check_type(name: str, value: object, types: tuple[type, ...]) -> None:
    """Raises TypeError if `value` is not of one of `types`, which names bool if it may be one."""
    if isinstance(value, types) and (bool in types or not isinstance(value, bool)):
        return
    wanted = " or ".join("None" if kind is NoneType else kind.__name__ for kind in types)
    raise TypeError(f"{name} must be {wanted}, not {type(value).__name__}")
