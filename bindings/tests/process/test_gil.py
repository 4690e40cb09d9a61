"""A Python thread that holds the GIL does not stall transfers that need no Python memory."""

from __future__ import annotations

import gil_holder
import pytest


# Each read of an object of unknown size used to block its I/O thread, and all transfers of that thread, until it got the GIL.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", ["read", "get", "observed"])
@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_transfers_continue_while_a_thread_holds_the_gil(size: int, call: str) -> None:
    assert gil_holder.bulk_moves_while_the_gil_is_held(size, call)
