"""One job runs in the simulator, and as real requests to the emulator, whose clock the driver moves. The results agree.

The driver is a separate client. It keeps virtual time, backs off as the AWS Common Runtime does, and sends every request to the
emulator. It draws back-offs as the simulator does, so that only the models of S3 can differ.
"""

from __future__ import annotations

import heapq
import hmac
import http.client
from collections.abc import Callable
from typing import Any

import pytest
from penstock.testing import Emulator
from penstock_emulator import simulate

RANKS = 24
FILES = 3
LIMITS: dict[str, Any] = {"reads_per_second": 10, "writes_per_second": 10, "split_after_s": 2}
REFUSAL_NS = 10_000_000
SECOND_NS = 1_000_000_000
# The settings with which s3torchconnector uses the AWS Common Runtime.
ATTEMPTS, SCALE_S, CAP_S, QUOTA, COST = 10, 0.5, 20.0, 500, 5
SEND, REFUSED = "send", "refused"


def default_key(rank: int, file: int) -> str:
    return f"checkpoint/step_0/__{rank}_{file}.distcp"


def hex_key(rank: int, file: int) -> str:
    prefix = f"{rank:x}"[::-1].ljust(10, "0")
    return f"checkpoint/{prefix}/__{rank}_{file}.distcp"


def draw(seed: int, what: str, ordinal: int) -> float:
    digest = hmac.digest(seed.to_bytes(8, "little"), what.encode() + ordinal.to_bytes(8, "little"), "sha256")
    return (int.from_bytes(digest[:8], "big") >> 11) * 2.0**-53


class Rank:
    def __init__(self, number: int, first: int) -> None:
        self.number = number
        self.file = first  # -1: the metadata, before the files
        self.attempt = 1
        self.tokens = QUOTA
        self.drawn = 0
        self.failed = False


class Driver:
    """In a save, each rank puts its files, then rank 0 the metadata. In a load, each gets the metadata and its files."""

    def __init__(self, s3: Emulator, saves: bool, key: Callable[[int, int], str], metadata: str, seed: int) -> None:
        self.saves = saves
        self.clock = s3.clock()
        self.address = s3.endpoint.removeprefix("http://")
        self.key, self.metadata, self.seed = key, metadata, seed
        self.connection: http.client.HTTPConnection | None = None
        self.now = 0
        self.order = 0
        self.events: list[tuple[int, int, str, Rank]] = []
        self.requests = self.refused = 0

    def ask(self, key: str) -> bool:
        """Whether the request was admitted. A key that is read need not exist."""
        self.requests += 1
        self.connection = self.connection or http.client.HTTPConnection(self.address, timeout=30)
        self.connection.request("PUT" if self.saves else "GET", f"/job/{key}", b"")
        response = self.connection.getresponse()
        response.read()
        if response.status == (200 if self.saves else 404):
            return True
        assert (response.status, response.reason) == (503, "Slow Down")
        self.connection.close()
        self.connection = None
        self.refused += 1
        return False

    def push(self, at: int, step: str, rank: Rank) -> None:
        heapq.heappush(self.events, (at, self.order, step, rank))
        self.order += 1

    def back_off(self, rank: Rank) -> None:
        random = draw(self.seed, "back off", rank.number << 32 | rank.drawn)
        rank.drawn += 1
        if rank.attempt >= ATTEMPTS or rank.tokens < COST:
            rank.failed = True
            return
        rank.tokens -= COST
        wait = random * min(SCALE_S * 2 ** (rank.attempt - 1), CAP_S)
        rank.attempt += 1
        self.push(self.now + round(wait * SECOND_NS), SEND, rank)

    def send(self, rank: Rank) -> bool:
        """Whether the rank has finished its files."""
        is_file = 0 <= rank.file < FILES
        if not self.ask(self.key(rank.number, rank.file) if is_file else self.metadata):
            self.push(self.now + REFUSAL_NS, REFUSED, rank)
            return False
        rank.drawn += 1  # the response takes no time
        rank.tokens = min(QUOTA, rank.tokens + (COST if rank.attempt > 1 else 1))
        rank.attempt = 1
        rank.file += 1
        if rank.file < FILES:
            self.push(self.now, SEND, rank)
        return rank.file == FILES

    def run(self) -> None:
        ranks = [Rank(number, 0 if self.saves else -1) for number in range(RANKS)]
        for rank in ranks:
            self.push(0, SEND, rank)
        unfinished = RANKS
        while self.events:
            at, _, step, rank = heapq.heappop(self.events)
            if at > self.now:
                self.clock.advance((at - self.now) / SECOND_NS)
                self.now = at
            if step == REFUSED:
                self.back_off(rank)
            elif self.send(rank):
                unfinished -= 1
                if unfinished == 0 and self.saves:
                    self.push(self.now, SEND, ranks[0])


@pytest.mark.parametrize("operation", ["save", "load"])
@pytest.mark.parametrize(
    ("strategy", "key", "metadata"),
    [("default", default_key, "checkpoint/step_0/.metadata"), ("hex", hex_key, "checkpoint/.metadata")],
)
def test_a_simulated_job_is_throttled_like_a_real_one(
    strategy: str, key: Callable[[int, int], str], metadata: str, operation: str
) -> None:
    job = {
        "operation": operation,
        "limits": "aws-strict",
        **LIMITS,
        "latency": "none",
        "client": "crt",
        "seed": 11,
        "connections_per_rank": 1,
    }
    simulated = simulate.simulate(ranks=RANKS, files_per_rank=FILES, file_bytes=0, strategy=strategy, **job)
    with Emulator(auth="off", limits={"preset": "aws-strict", **LIMITS}) as s3:
        s3.client().create_bucket("job")
        s3.clock().freeze()
        driver = Driver(s3, operation == "save", key, metadata, seed=11)
        driver.run()
        report = s3.limits_report()
    bucket = report["buckets"][0]
    assert simulated.completed
    assert simulated.refused > 100
    assert driver.refused == report["refused"]
    assert driver.refused == pytest.approx(simulated.refused, rel=0.05)
    metadata_requests = 1 if operation == "save" else RANKS
    assert driver.requests - driver.refused == RANKS * FILES + metadata_requests == report["admitted"]
    assert len(bucket["partitions"]) == simulated.partitions >= 2
    splits = [event["boundary"] for event in bucket["events"]]
    assert splits == [event["boundary"] for event in simulated.document["events"]]
