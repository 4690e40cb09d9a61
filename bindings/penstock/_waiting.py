"""How to wait for another thread so that Ctrl-C ends it."""

from __future__ import annotations

# In turns of this: a signal that comes just before Python begins to wait does not wake it.
LONGEST_WAIT_S = 0.25
