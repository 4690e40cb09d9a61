"""Map and iterable datasets over a prefix, read by DataLoader workers."""

from __future__ import annotations

import common
from penstock import S3IterableDataset, S3MapDataset, S3Reader
from torch.utils.data import DataLoader

OBJECTS = 64


def name_and_size(item: S3Reader) -> tuple[str, int]:
    return item.key, len(item.read())


def main() -> None:
    common.make_bucket()
    for number in range(OBJECTS):
        common.put(common.uri("samples", f"{number:05}.bin"), bytes(1000 + number))
    prefix = common.uri("samples") + "/"

    by_index = S3MapDataset.from_prefix(prefix, region=common.REGION, transform=name_and_size)
    print(f"map-style: {len(by_index)} objects; number 10 is {by_index[10]}")
    batches = list(DataLoader(by_index, batch_size=16, shuffle=True, num_workers=2))
    print(f"shuffled into {len(batches)} batches by 2 workers")

    # Each worker of each rank reads its share; without enable_sharding each would read everything.
    in_order = S3IterableDataset.from_prefix(prefix, region=common.REGION, transform=name_and_size, enable_sharding=True)
    seen = [key for keys, _ in DataLoader(in_order, batch_size=8, num_workers=2) for key in keys]
    assert sorted(seen) == sorted(key for keys, _ in batches for key in keys)
    print(f"ok: {len(set(seen))} objects, each once")


if __name__ == "__main__":
    main()
