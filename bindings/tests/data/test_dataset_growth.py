"""The descriptors and the memory of a worker do not grow during a long iteration."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from penstock import S3ClientConfig, S3IterableDataset, S3MapDataset
from penstock._listing import identity
from torch.utils.data import DataLoader, get_worker_info

LONG = bool(os.environ.get("PENSTOCK_LONG"))
OBJECTS, WORKERS, OBJECT_BYTES = (10_000, 8, 20_000) if LONG else (600, 3, 20_000)
EPOCHS = 4
# The number of open connections of a worker depends on timing, up to this limit. A leak would be one per object.
MAX_CONNECTIONS = 32
ALLOWED_DESCRIPTORS = MAX_CONNECTIONS + 16
ALLOWED_MIB = 24  # growth of a worker: heaps and the interpreter
pytestmark = pytest.mark.timeout(3600 if LONG else 180)
RESIDENT_PAGES = 1  # field of /proc/self/statm


def usage(reader):
    """The size of the object, and the worker's number, descriptors and resident MiB."""
    size = len(reader.read())
    info = get_worker_info()
    resident = int(Path("/proc/self/statm").read_text().split()[RESIDENT_PAGES]) * os.sysconf("SC_PAGE_SIZE")
    return size, info.id if info else 0, sum(1 for _ in Path("/proc/self/fd").iterdir()), resident / 2**20


@pytest.fixture
def filled(client, bucket):
    body = os.urandom(OBJECT_BYTES)

    def put(number: int) -> None:
        with client.put_object(bucket, f"data/{number:05}") as writer:
            writer.write(body)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, range(OBJECTS)))
    return bucket


@pytest.mark.parametrize("cls", [S3IterableDataset, S3MapDataset])
def test_workers_do_not_grow_with_the_number_of_objects(emulator, filled, cls):
    options = {"enable_sharding": True} if cls is S3IterableDataset else {}
    dataset = cls.from_prefix(
        f"s3://{filled}/data/", region="us-east-1", endpoint=emulator.endpoint, transform=usage,
        s3client_config=emulator.config(S3ClientConfig(max_connections=MAX_CONNECTIONS)), **options,
    )  # fmt: skip
    loader = DataLoader(dataset, batch_size=50, num_workers=WORKERS, collate_fn=identity, persistent_workers=True)
    peaks: list[dict[int, tuple[int, float]]] = []
    for _ in range(EPOCHS):
        peak: dict[int, tuple[int, float]] = {}
        count = 0
        for batch in loader:
            for size, worker, descriptors, resident in batch:
                assert size == OBJECT_BYTES
                before = peak.get(worker, (0, 0.0))
                peak[worker] = (max(before[0], descriptors), max(before[1], resident))
                count += 1
        assert count == OBJECTS
        peaks.append(peak)
    for worker, (descriptors, resident) in peaks[-1].items():
        first_descriptors, first_resident = peaks[0][worker]
        assert descriptors <= first_descriptors + ALLOWED_DESCRIPTORS, f"worker {worker}"
        assert resident <= first_resident + ALLOWED_MIB, f"worker {worker}"
