"""A Python thread that keeps the interpreter's lock stalls no transfer that needs no Python memory."""

from __future__ import annotations

import gil_holder
import pytest


# Each read of an object of unknown size had its I/O thread wait for the lock, and with it all transfers of that thread.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_transfers_continue_while_a_thread_holds_the_gil(size: int) -> None:
    assert gil_holder.bulk_moved_while_the_lock_was_held(size)
