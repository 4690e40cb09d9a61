"""Delays the start of each rank by a random time, so that many ranks do not exceed the request rate of one prefix at once."""

from __future__ import annotations

import random
import time
from typing import NamedTuple

import torch.distributed as dist


class StartJitter(NamedTuple):
    """A uniformly random start delay.

    Attributes:
        min_ranks: With fewer ranks there is no delay.
        seconds_per_rank: Each rank adds so much to the longest delay.
        max_seconds: Upper limit of the longest delay.
    """

    min_ranks: int
    seconds_per_rank: float
    max_seconds: float

    def delay(self, ranks: int, fraction: float) -> float:
        """Returns the delay in seconds: `fraction` (0 to 1) of the longest delay of `ranks` ranks."""
        return fraction * min(self.max_seconds, ranks * self.seconds_per_rank) if ranks >= self.min_ranks else 0.0

    def wait(self, ranks: int) -> None:
        delay = self.delay(ranks, random.random())
        if delay:
            time.sleep(delay)


# S3 serves 3,500 writes and 5,500 reads per second and prefix. Below min_ranks it throttles no rank even without a delay.
SAVE_JITTER = StartJitter(min_ranks=64, seconds_per_rank=0.002, max_seconds=2.0)
LOAD_JITTER = StartJitter(min_ranks=257, seconds_per_rank=0.001, max_seconds=2.0)


def world_size() -> int:
    """Returns the world size of torch.distributed; 1 if it is not initialized."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1
