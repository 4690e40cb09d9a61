"""Group `client`, the uploads: a large object from memory, to a bucket whose ETags are not MD5."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlsplit

from groups.client import SIZE
from groups.client_python import create_bucket_without_md5
from harness import BUILD, Measurement, Row, interleave, per_gigabyte, rows, run_json
from servers import CREDENTIALS, penstock_emulator

PYTHON_PUT = str(Path(__file__).parent.parent / "clients/python_put.py")
UPLOADS = 2


def put_1gib(rounds: int) -> list[Row]:
    """1 GiB of a tensor's memory, verified by its CRC64NVME, compared with a bare send() loop and the peer's writer."""
    program = str(BUILD / "bench/bench_client_put")
    with penstock_emulator("--memory") as server:
        create_bucket_without_md5(server, "bench")
        target = {"Bucket": "bench", "Key": "sent"}
        url = urlsplit(server.boto3().generate_presigned_url("put_object", Params=target, ExpiresIn=7200))

        def ours() -> Measurement:
            got = run_json([program, "penstock", server.endpoint, "bench", "put", str(SIZE), str(UPLOADS)], CREDENTIALS)
            return {**per_gigabyte(got), "requests": got["requests"]}

        def bare() -> Measurement:
            to = [str(url.hostname), str(url.port), f"{url.path}?{url.query}"]
            return per_gigabyte(run_json([program, "send", *to, str(SIZE), str(UPLOADS)]))

        def writer(name: str) -> Measurement:
            command = [sys.executable, PYTHON_PUT, name, server.endpoint, "bench", str(SIZE >> 20), str(UPLOADS)]
            return per_gigabyte(run_json(command, CREDENTIALS))

        cells = {
            "penstock": ours,
            "bare send": bare,
            "our writer": lambda: writer("penstock"),
            "s3torchconnector": lambda: writer("s3torchconnector"),
        }
        results = interleave(cells, rounds)
    names = {
        "gb_per_s": ("client.put_1gib", "GB/s"),
        "cpu_per_gb": ("client.put_1gib.cpu", "CPU-s/GB"),
        "requests": ("client.put_1gib.requests", "requests"),
    }
    return rows(results, "penstock", names)


SCENARIOS = [put_1gib]
