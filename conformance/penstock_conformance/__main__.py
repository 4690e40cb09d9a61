"""``python -m penstock_conformance``: the command line of the conformance suites."""

from __future__ import annotations

import sys

from ._cli import add_command, main

__all__ = ["add_command", "main"]

if __name__ == "__main__":
    sys.exit(main())
