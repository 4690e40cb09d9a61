"""Gets small objects, 64 at a time, and prints the cost as one JSON line.

python_small.py CLIENT ENDPOINT BUCKET KEY REQUESTS; CLIENT: the name of a function below without `_gets`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

AT_A_TIME = 64
WARM_UP = 200


async def on_loop(get: Callable[[], Awaitable[Any]], requests: int) -> None:
    left = iter(range(requests))

    async def worker() -> None:
        for _ in left:
            await get()

    await asyncio.gather(*(worker() for _ in range(AT_A_TIME)))


def in_threads(get: Callable[[], Any], measure: Callable[[Callable[[int], None]], None]) -> None:
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        measure(lambda requests: [*pool.map(lambda _: get(), range(requests))].clear())


def penstock_aio_gets(endpoint: str, bucket: str, key: str, measure: Callable[[Callable[[int], None]], None]) -> None:
    import penstock
    from penstock.aio import S3Client

    client = S3Client("us-east-1", endpoint=endpoint, s3client_config=penstock.S3ClientConfig(force_path_style=True))
    with asyncio.Runner() as runner:
        measure(lambda requests: runner.run(on_loop(lambda: client.get(bucket, key), requests)))


def penstock_threads_gets(endpoint: str, bucket: str, key: str, measure: Callable[[Callable[[int], None]], None]) -> None:
    import penstock

    client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=penstock.S3ClientConfig(force_path_style=True))
    in_threads(lambda: client.get(bucket, key), measure)


def boto3_threads_gets(endpoint: str, bucket: str, key: str, measure: Callable[[Callable[[int], None]], None]) -> None:
    import boto3
    from botocore.config import Config

    config = Config(max_pool_connections=AT_A_TIME)
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", config=config)

    def get() -> bytes:
        body: bytes = client.get_object(Bucket=bucket, Key=key)["Body"].read()
        return body

    in_threads(get, measure)


def aiobotocore_gets(endpoint: str, bucket: str, key: str, measure: Callable[[Callable[[int], None]], None]) -> None:
    from aiobotocore.config import AioConfig
    from aiobotocore.session import get_session

    async def run(requests: int) -> None:
        async def get() -> None:
            async with (await client.get_object(Bucket=bucket, Key=key))["Body"] as body:
                await body.read()

        await on_loop(get, requests)

    config = AioConfig(max_pool_connections=AT_A_TIME)
    made = get_session().create_client("s3", endpoint_url=endpoint, region_name="us-east-1", config=config)
    with asyncio.Runner() as runner:
        client = runner.run(made.__aenter__())
        measure(lambda requests: runner.run(run(requests)))
        runner.run(made.__aexit__(None, None, None))


def main() -> None:
    name, endpoint, bucket, key, requests = sys.argv[1:]

    def measure(get: Callable[[int], None]) -> None:
        get(WARM_UP)  # opens connections, imports modules
        cpu, start = time.process_time(), time.perf_counter()
        get(int(requests))
        seconds = time.perf_counter() - start
        print(json.dumps({"rate": int(requests) / seconds, "cpu": (time.process_time() - cpu) / int(requests) * 1e6}))

    globals()[f"{name}_gets"](endpoint, bucket, key, measure)


if __name__ == "__main__":
    main()
