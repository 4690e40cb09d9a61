"""Writes one large object several times and prints the cost as one JSON line.

python_put.py CLIENT ENDPOINT BUCKET MIB ROUNDS; CLIENT: penstock or s3torchconnector. Each write() has 64 MiB, like the tensors
of a checkpoint. `peak_mib` is the peak of memory above that before the first write.
"""

from __future__ import annotations

import importlib
import json
import sys

from cost import cost_of

WRITE_MIB = 64


def main() -> None:
    name, endpoint, bucket, mebibytes, rounds = sys.argv[1:]
    module = importlib.import_module(name)
    config = module.S3ClientConfig(force_path_style=True)
    checkpoint = module.S3Checkpoint("us-east-1", endpoint=endpoint, s3client_config=config)
    block = bytearray(range(256)) * (WRITE_MIB << 12)
    tensor = memoryview(block)

    def put() -> int:
        with checkpoint.writer(f"s3://{bucket}/written-by-{name}") as writer:
            for _ in range(int(mebibytes) // WRITE_MIB):
                writer.write(tensor)
        return int(mebibytes) << 20

    print(json.dumps(cost_of(put, int(rounds))))


if __name__ == "__main__":
    main()
