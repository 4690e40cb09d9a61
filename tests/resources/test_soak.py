"""Under a long mixed load memory, descriptors, threads and latency of one emulator stay constant, and every response is right.

Client processes start and end, faults and limits change, a second namespace is created, filled, reset and deleted; both kinds of
store. A normal run takes 20 s, PENSTOCK_LONG=1 two hours, PENSTOCK_SOAK_SECONDS any other time, each for all kinds together. The
latency of a small read is asserted with PENSTOCK_LONG=1 only.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import penstock
import pytest
from penstock_conformance._admin import Admin

LONG = bool(os.environ.get("PENSTOCK_LONG"))
SECONDS = float(os.environ.get("PENSTOCK_SOAK_SECONDS", "7200" if LONG else "20")) / 2  # of each kind of store
STORES = {"strict": ["--data", "{data}", "--durability", "strict"], "memory": ["--memory"]}
SEED = int(os.environ.get("PENSTOCK_SEED", "1"))
BUCKETS = ("soak", "soak-versions")  # the second one is versioned
WORKERS = 3
WORKER_SECONDS = min(30.0, SECONDS / 4)
MOST_GROWTH = 32 << 20  # bytes of resident memory between the second and the last quarter; the journal fills to 16 MiB
SPARE_DESCRIPTORS = 8 if LONG else 128  # namespaces and uploads of the moment; a quarter of a short run has few samples
MOST_SLOWER = 3.0  # factor of the median of small reads between the second and the last quarter, and MOST_ADDED_MS
MOST_ADDED_MS = 2.0
PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")

SCENARIOS = [
    [{"id": "throttled", "when": {"bucket": {"prefix": "soak"}, "probability": 0.02}, "do": {"slow_down": {}}}],
    [{"id": "lost", "when": {"bucket": {"prefix": "soak"}, "probability": 0.01}, "do": {"reset": {}, "at": "after_commit"}}],
    [{"id": "cut", "when": {"operation": "GetObject", "bucket": {"prefix": "soak"}, "probability": 0.02},
      "do": {"fin": {}, "at": "body_out@40"}}],
    [{"id": "failed", "when": {"bucket": {"prefix": "soak"}, "probability": 0.02}, "do": {"error": {"code": "InternalError"}}}],
]  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """One sample of the emulator's process, and the latency of a small read in a bucket without faults."""

    memory: int
    descriptors: int
    threads: int
    latency_ms: float


@dataclass(frozen=True)
class Running:
    pid: int
    endpoint: str
    admin: Admin

    def client(self, access_key: str = "penstock", secret_key: str = "penstock-secret") -> penstock.S3Client:
        config = penstock.S3ClientConfig(force_path_style=True, access_key_id=access_key, secret_access_key=secret_key)
        return penstock.S3Client("us-east-1", endpoint=self.endpoint, s3client_config=config)

    def sample(self, probe: penstock.S3Client) -> Sample:
        begun = time.perf_counter()
        assert probe.get_object("probe", "key").read() == b"x" * 1000
        latency_ms = (time.perf_counter() - begun) * 1000
        status = dict(line.split(":", 1) for line in Path(f"/proc/{self.pid}/status").read_text().splitlines())
        descriptors = len(os.listdir(f"/proc/{self.pid}/fd"))  # noqa: PTH208
        return Sample(int(status["VmRSS"].split()[0]) << 10, descriptors, int(status["Threads"]), latency_ms)


@pytest.fixture(params=STORES)
def emulator(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    command = [str(PROGRAM), "--port", "0", *[option.format(data=tmp_path / "data") for option in STORES[request.param]]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    ready = json.loads(process.stdout.readline())
    try:
        yield Running(process.pid, ready["endpoint"], Admin(ready["admin"]))
    finally:
        process.terminate()
        assert process.wait(60) == 0


def start_worker(emulator: Running, seed: int, seconds: float) -> subprocess.Popen[str]:
    arguments = [emulator.endpoint, "penstock", "penstock-secret", *BUCKETS, str(seed), str(seconds)]
    command = [sys.executable, str(Path(__file__).with_name("soak_worker.py")), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def create_fill_reset_and_delete_namespace(emulator: Running, number: int) -> None:
    name = f"soak-{number}"
    made = emulator.admin.request("POST", "namespaces", {"name": name})
    client = emulator.client(made["access_key_id"], made["secret_access_key"])
    for _ in range(2):
        client.create_bucket("scratch")
        for key in range(20):
            with client.put_object("scratch", f"{key}") as writer:
                writer.write(os.urandom(50_000))
        emulator.admin.request("POST", "reset", {"namespace": name})
        with pytest.raises(penstock.S3Exception):
            client.head_object("scratch", "0")
    emulator.admin.request("DELETE", f"namespaces/{name}")


def disturb(emulator: Running, chance: random.Random, number: int) -> None:
    """Changes the emulator's faults or limits, or creates, resets and deletes a namespace."""
    kind = chance.randrange(4)
    if kind == 0:
        emulator.admin.clear_faults()
    elif kind == 1:
        emulator.admin.set_faults({"seed": number, "rules": chance.choice(SCENARIOS)})
    elif kind == 2:
        rates = {"writes_per_second": 200, "reads_per_second": 2000}
        emulator.admin.set_limits({"buckets": dict.fromkeys(BUCKETS, rates)} if chance.random() < 0.5 else None)
    else:
        create_fill_reset_and_delete_namespace(emulator, number)


def quarter(samples: list[Sample], index: int, name: str) -> float:
    size = len(samples) // 4
    return statistics.median(getattr(sample, name) for sample in samples[index * size : (index + 1) * size])


@pytest.mark.timeout(SECONDS + 600)
def test_a_long_load_does_not_increase_memory_descriptors_threads_or_latency(emulator: Running) -> None:
    chance = random.Random(SEED)
    probe = emulator.client()
    for bucket in (*BUCKETS, "probe"):
        probe.create_bucket(bucket)
    probe.put_bucket_versioning(BUCKETS[1], "Enabled")
    with probe.put_object("probe", "key") as writer:
        writer.write(b"x" * 1000)
    samples: list[Sample] = []
    reports: list[dict[str, object]] = []
    end = time.monotonic() + SECONDS
    started = 0
    workers: list[subprocess.Popen[str]] = []
    while time.monotonic() < end or workers:
        for worker in [worker for worker in workers if worker.poll() is not None]:
            workers.remove(worker)
            assert worker.returncode == 0
            assert worker.stdout is not None
            reports.append(json.loads(worker.stdout.read()))
        while len(workers) < WORKERS and time.monotonic() < end:
            started += 1
            workers.append(start_worker(emulator, SEED * 1_000_000 + started, WORKER_SECONDS * (0.5 + chance.random() / 2)))
        if time.monotonic() < end:
            disturb(emulator, chance, len(samples))
            samples.append(emulator.sample(probe))
        time.sleep(0.2)  # the sampling interval
    print(f"{SECONDS:.0f} s, seed {SEED}, {started} client processes, {sum(int(r['done']) for r in reports)} operations, "
          f"{sum(int(r['failed']) for r in reports)} failed; by quarter:")  # fmt: skip
    for name in ("memory", "descriptors", "threads", "latency_ms"):
        print(f"  {name}: " + ", ".join(f"{quarter(samples, index, name):.6g}" for index in range(4)))
    assert not [wrong for report in reports for wrong in report["wrong"]]
    assert sum(int(report["done"]) for report in reports) > SECONDS * 5
    assert quarter(samples, 3, "memory") <= quarter(samples, 1, "memory") + MOST_GROWTH
    assert quarter(samples, 3, "descriptors") <= quarter(samples, 1, "descriptors") + 2 * WORKERS + SPARE_DESCRIPTORS
    assert quarter(samples, 3, "threads") <= quarter(samples, 1, "threads") + WORKERS + 4
    if LONG:
        assert quarter(samples, 3, "latency_ms") <= quarter(samples, 1, "latency_ms") * MOST_SLOWER + MOST_ADDED_MS
