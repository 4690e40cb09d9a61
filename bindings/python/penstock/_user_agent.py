"""The User-Agent header: library, platform and the caller's comments."""

from __future__ import annotations

import os
import sys

from ._core import __version__


class UserAgent:
    """The text of the ``User-Agent`` header.

    Args:
        comments: Appended in parentheses, joined by ``"; "``. Empty ones are left out.

    Raises:
        ValueError: `comments` is not a list.
    """

    def __init__(self, comments: list[str] | None = None) -> None:
        if comments is not None and not isinstance(comments, list):
            raise ValueError("Argument comments must be a List[str]")
        kept = [comment for comment in comments or [] if comment]
        self._prefix = self.get_default_prefix() + (f" ({'; '.join(kept)})" if kept else "")

    @property
    def prefix(self) -> str:
        return self._prefix

    @staticmethod
    def on_the_wire(prefix: str) -> str:
        """Returns `prefix` as a header value: characters outside printable ASCII are replaced by ``_``."""
        return "".join(character if " " <= character <= "~" else "_" for character in prefix)

    @staticmethod
    def get_default_prefix() -> str:
        kernel = os.uname()  # the module platform would take a millisecond to import
        system = {"darwin": "macos"}.get(sys.platform, sys.platform)
        parts = [
            f"penstock/{__version__}",
            "ua/2.1",
            f"os/{system}#{kernel.release}",
            f"lang/python#{sys.version_info.major}.{sys.version_info.minor}",
            f"md/arch#{kernel.machine.lower()}",
        ]
        torch = sys.modules.get("torch")  # only if it is already imported
        if torch is not None:
            parts.append(f"md/pytorch#{torch.__version__}")
        return " ".join(parts)
