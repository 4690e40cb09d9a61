"""Reads a directory bucket from many threads at once, with a client that has no session yet.

    python_express.py ENDPOINT BUCKET KEY THREADS session|plain|make

`plain` signs with the access key itself and needs no session. `make` creates the bucket and the object. Prints the seconds
until the last thread has read the object, as one JSON line.
"""

from __future__ import annotations

import json
import sys
import threading
import time

import penstock


def main() -> None:
    endpoint, bucket, key, threads, mode = sys.argv[1:]
    config = penstock.S3ClientConfig(
        force_path_style=True, hedge_reads=False, disable_s3_express_session_auth=mode == "plain", max_attempts=1
    )
    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)
    if mode == "make":
        client.create_bucket(bucket)
        with client.put_object(bucket, key) as writer:
            writer.write(bytes(1024))
    start = threading.Barrier(int(threads) + 1)
    read: list[bytes] = []

    def work() -> None:
        start.wait()
        read.append(client.get_object(bucket, key).read())

    workers = [threading.Thread(target=work) for _ in range(int(threads))]
    for worker in workers:
        worker.start()
    start.wait()
    began = time.perf_counter()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - began
    if len(read) != len(workers):
        sys.exit("a read failed")
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
