"""Power cuts of a real file system: strict mode loses no acknowledged write, relaxed mode serves no partial object.

The data directory is on ext4 over a loop device. While connections write, the file system is shut down without a flush of its
journal (EXT4_IOC_SHUTDOWN), which discards unsynced data, as a power failure does. The process is killed, the file system is
mounted again, the boot id is changed, and every key must have a state that the durability allows. The kernel may report success
of an fdatasync that began before the shutdown and ended during it, although its data is lost: acknowledgements after the start
of the shutdown do not count.

The test is skipped if ext4 cannot be mounted; test_power_failure.py needs no privileges. PENSTOCK_SEED repeats a seed;
PENSTOCK_LONG=1 cuts the power 200 times.
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import crash_registers
import pytest
from crash_registers import Register, RegisterWorker
from ext4_disk import Disk, why_none
from power_failure import set_boot_id
from store_process import BUCKETS, Requests, Server, fsck, make_buckets
from test_durability import KEYS_PER_BUCKET, MISSING, Key, Progress, Worker, check, check_listing, read

LONG = bool(os.environ.get("PENSTOCK_LONG"))
ROUNDS = 100 if LONG else 2  # of each durability
WORKERS = 4
IMAGE_BYTES = 1 << 30
WHY_NONE = why_none()
pytestmark = pytest.mark.skipif(bool(WHY_NONE), reason=WHY_NONE)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(tmp_path, IMAGE_BYTES)
    try:
        yield disk
    finally:
        disk.unmount()


@dataclass
class CutKey(Key):
    cut: threading.Event = field(default_factory=threading.Event)  # set when the shutdown begins

    def acknowledged(self) -> None:
        if not self.cut.is_set():
            super().acknowledged()


def check_relaxed(netloc: str, workers: list[Worker]) -> int:
    """Checks that each body was written as a whole; lost data is an error, not wrong bytes. Returns the number of objects."""
    connection = Requests(netloc)
    found = 0
    for key in [key for worker in workers for key in worker.keys]:
        status, _ = connection.send("GET", key.path)
        if status == 500:
            key.begin(MISSING)
            connection.expect(204, "DELETE", key.path)
            key.acknowledged()
            continue
        state = read(connection, key)
        assert state in key.written, f"{key.path}: {state}, which was never written"
        key.found(state)
        found += state is not MISSING
    return found


@contextlib.contextmanager
def writing(
    server: Server, disk: Disk, own: list[list[Key]], registers: list[Register], label: str, acknowledged: int
) -> Iterator[list[Worker]]:
    """Workers with `acknowledged` writes, and one that changes the registers. They continue until a write fails."""
    progress = Progress()
    workers = [Worker(server.netloc, keys, f"{label} {i}", progress) for i, keys in enumerate(own)]
    changing = RegisterWorker(server, registers, f"{label} r") if registers else None
    for worker in [*workers, *([changing] if changing else [])]:
        worker.start()
    assert progress.reaches(acknowledged // 2), f"{progress.count} writes in five minutes"
    disk.sync()  # so that a relaxed store loses only its last writes
    assert progress.reaches(acknowledged), f"{progress.count} writes in five minutes"
    yield workers
    for worker in [*workers, *([changing] if changing else [])]:
        worker.join(60)
        assert not worker.is_alive()


@pytest.mark.timeout(7200 if LONG else 180)
@pytest.mark.parametrize("durability", ["strict", "relaxed"])
def test_a_power_cut_loses_only_what_the_durability_allows(durability: str, disk: Disk, seed: int) -> None:
    chance = random.Random(seed)
    cut = threading.Event()
    own: list[list[Key]] = [
        [CutKey(f"/{bucket}/{i}-{j}", cut=cut) for bucket in BUCKETS for j in range(KEYS_PER_BUCKET)] for i in range(WORKERS)
    ]
    everything = [key for keys in own for key in keys]
    registers = crash_registers.registers(0) if durability == "strict" else []  # a relaxed store may lose them
    for register in registers:
        register.cut = cut
    data = disk.mounted / "data"
    server = Server(data, "--durability", durability)
    writes = found = 0
    try:
        make_buckets(server)
        if registers:
            crash_registers.create(server, registers)
        disk.sync()  # a relaxed store could lose its buckets, which the workers need
        for number in range(ROUNDS):
            with writing(server, disk, own, registers, f"{seed} {number}", chance.randint(1, 200)) as workers:
                cut.set()
                disk.cut()
                server.kill()
            writes += sum(worker.writes for worker in workers)
            cut.clear()
            disk.unmount()
            disk.mount()
            for mark in data.rglob("*-mark"):
                set_boot_id(mark)
            status, report, error = fsck(data)
            damage = {item["code"] for store in report["stores"] for item in store["findings"] if item["kind"] == "damage"}
            assert damage <= ({"blob"} if durability == "relaxed" else set()), f"round {number}, seed {seed}: {report} {error}"
            assert status == bool(damage), f"round {number}, seed {seed}: {report} {error}"
            server = Server(data, "--durability", durability)
            if durability == "strict":
                found += check(server.netloc, workers)
                check_listing(server.netloc, everything)
                crash_registers.check(server, registers, f"round {number}, seed {seed}")
            else:
                found += check_relaxed(server.netloc, workers)
    finally:
        server.kill()
    print(f"{durability}: {ROUNDS} cuts, {writes} writes, {found} bodies read")
    assert writes > ROUNDS
    assert durability == "relaxed" or found > 0
