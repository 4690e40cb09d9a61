"""Waiting for another thread in a way that Ctrl-C can interrupt."""

from __future__ import annotations

# Wait in a loop with this timeout: a signal that arrives just before the wait begins does not interrupt it.
LONGEST_WAIT_S = 0.25
