"""Loggers that import ``logging`` with their first warning, since the import takes a tenth of the start of a file command.

While no part of the program has imported ``logging``, no handler or level can have been set for its messages of lower levels.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in requests/__init__.py
if TYPE_CHECKING:
    import logging


class Logger:
    """The logger of that name. Its methods are those of ``logging.Logger``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._logger: logging.Logger | None = None

    def debug(self, message: str, *values: object) -> None:
        if "logging" in sys.modules:
            self._imported().debug(message, *values, stacklevel=2)

    def info(self, message: str, *values: object) -> None:
        if "logging" in sys.modules:
            self._imported().info(message, *values, stacklevel=2)

    def warning(self, message: str, *values: object) -> None:
        if self._can_import():
            self._imported().warning(message, *values, stacklevel=2)

    def exception(self, message: str, *values: object) -> None:
        if self._can_import():
            self._imported().exception(message, *values, stacklevel=2)

    @staticmethod
    def _can_import() -> bool:
        return "logging" in sys.modules or not sys.is_finalizing()

    def _imported(self) -> logging.Logger:
        if self._logger is None:
            import logging

            self._logger = logging.getLogger(self._name)
        return self._logger
