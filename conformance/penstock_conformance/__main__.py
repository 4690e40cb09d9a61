"""``python -m penstock_conformance``: the command line of the conformance suites."""

from __future__ import annotations

import sys

from ._cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
