"""Many ranks begin spread over a while, so that they don't meet the budget of one prefix all at once."""

from __future__ import annotations

import random
import time
from typing import NamedTuple

import torch.distributed as dist


class Spread(NamedTuple):
    """`from_ranks`: fewer begin at once. `s_per_rank`: seconds that each adds to the while, which ends at `most_s`."""

    from_ranks: int
    s_per_rank: float
    most_s: float

    def delay(self, ranks: int, fraction: float) -> float:
        """Seconds that a rank waits, `fraction` (0 to 1) of what so many ranks are spread over."""
        return fraction * min(self.most_s, ranks * self.s_per_rank) if ranks >= self.from_ranks else 0.0

    def wait(self, ranks: int) -> None:
        delay = self.delay(ranks, random.random())
        if delay:
            time.sleep(delay)


# S3 takes 3,500 writes and 5,500 reads a second below one prefix; up to so many ranks it refuses none that begin at once.
SAVES = Spread(from_ranks=64, s_per_rank=0.002, most_s=2.0)
LOADS = Spread(from_ranks=257, s_per_rank=0.001, most_s=2.0)


def world_size() -> int:
    """How many ranks this process is one of, as far as torch.distributed knows."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1
