"""S3 on asyncio's event loop: many requests at a time, streams with backpressure, cancellation."""

from __future__ import annotations

import asyncio
import hashlib

import common
from penstock import aio

OBJECTS = 200


async def run() -> None:
    bucket, _, prefix = common.uri("asyncio").removeprefix("s3://").partition("/")
    async with aio.S3Client(common.REGION) as client:
        # One task per request costs no thread.
        keys = [f"{prefix}/{i:03}" for i in range(OBJECTS)]
        await asyncio.gather(*(client.put(bucket, key, key.encode()) for key in keys))

        # At most 64 objects are in flight or wait for this loop.
        async for key, data in client.get_many(bucket, keys, concurrency=64):
            assert data == key.encode()

        # A stream: published at the end of the block, discarded if an exception leaves it.
        written = hashlib.sha256()
        async with client.put_object(bucket, f"{prefix}/stream") as writer:
            for number in range(20):
                chunk = bytes([number]) * 1_000_000
                written.update(chunk)
                await writer.write(chunk)
        read = hashlib.sha256()
        async with client.get_object(bucket, f"{prefix}/stream") as reader:
            async for block in reader:
                read.update(block)
        assert read.digest() == written.digest()

        # A timeout cancels the request.
        try:
            await asyncio.wait_for(client.get_object(bucket, f"{prefix}/stream").read(), 1e-6)
        except asyncio.TimeoutError:
            print("cancelled after a microsecond")

        listed = [info.key async for info in client.list_objects(bucket, f"{prefix}/").objects()]
        result = await client.delete_objects(bucket, listed)
        print(f"ok: {len(result.deleted)} objects deleted")


if __name__ == "__main__":
    common.make_bucket()
    asyncio.run(run())
