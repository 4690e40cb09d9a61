"""S3 for asyncio: :class:`penstock.S3Client` with coroutines, on the same engine, without a thread per call.

::

    import asyncio
    from penstock.aio import S3Client

    async def main() -> None:
        async with S3Client("us-east-1") as client:
            await client.put("bucket", "key", b"hello")
            print((await client.get("bucket", "key")).body)

    asyncio.run(main())
"""

from __future__ import annotations

from ._client import S3Client
from ._listing import ObjectPages, VersionPages
from ._reader import ObjectReader
from ._writer import ObjectWriter

__all__ = ["ObjectPages", "ObjectReader", "ObjectWriter", "S3Client", "VersionPages"]
