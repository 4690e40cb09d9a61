"""Exceptions of the emulator's Python interface."""

from __future__ import annotations

from typing import Any


class EmulatorError(Exception):
    """A call to the emulator failed. Requests of S3 clients never raise it: their errors are responses."""


class NotFoundError(EmulatorError):
    """The namespace, fault scenario or retry test does not exist."""


class ConflictError(EmulatorError):
    """The namespace exists already, or two accounts would have the same canonical id."""


class InvalidArgumentError(EmulatorError, ValueError):
    """An option or a document is invalid; the message names it."""


_BY_KIND: dict[str, type[EmulatorError]] = {
    "invalid_argument": InvalidArgumentError,
    "not_found": NotFoundError,
    "conflict": ConflictError,
    "already_exists": ConflictError,
}


def from_error(*, kind: str, message: str, **details: Any) -> EmulatorError:
    """Returns the exception for an error of the C++ core, which alone calls this."""
    return _BY_KIND.get(kind, EmulatorError)(message)
