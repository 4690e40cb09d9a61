"""penstock.aio with a server that shares no code with Penstock (moto), checked with boto3."""

from __future__ import annotations

import asyncio
import itertools

import boto3
import penstock
import pytest
from botocore.config import Config
from penstock import aio

MIB = 1024**2
_numbers = itertools.count()


@pytest.fixture
def client(moto_endpoint):
    config = penstock.S3ClientConfig(force_path_style=True, access_key_id="testing", secret_access_key="testing", max_attempts=2)
    return aio.S3Client("us-east-1", endpoint=moto_endpoint, s3client_config=config)


@pytest.fixture
def boto(moto_endpoint):
    return boto3.client(
        "s3", endpoint_url=moto_endpoint, region_name="us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing",
        config=Config(s3={"addressing_style": "path"}, signature_version="s3v4"),
    )  # fmt: skip


@pytest.fixture
def bucket(boto):
    name = f"python-aio-{next(_numbers)}"
    boto.create_bucket(Bucket=name)
    return name


def test_boto3_reads_what_the_writer_published(client, boto, bucket):
    data = bytes(range(256)) * (18 * MIB // 256)

    async def main():
        async with client.put_object(bucket, "large", content_type="text/x", metadata={"who": "me"}) as writer:
            for start in range(0, len(data), 5 * MIB):
                await writer.write(data[start : start + 5 * MIB])
        async with client.put_object(bucket, "small") as writer:
            await writer.write(b"small")
        return writer.result

    small = asyncio.run(main())
    large = boto.get_object(Bucket=bucket, Key="large")
    assert large["Body"].read() == data
    assert (large["ContentType"], large["Metadata"]) == ("text/x", {"who": "me"})
    assert large["ETag"].endswith('-3"')  # three parts
    assert boto.head_object(Bucket=bucket, Key="small")["ETag"] == small.etag


def test_the_reader_reads_what_boto3_stored(client, boto, bucket):
    data = bytes(range(256)) * (18 * MIB // 256)
    boto.put_object(Bucket=bucket, Key="k", Body=data)

    async def main():
        async with client.get_object(bucket, "k") as reader:
            assert b"".join([block async for block in reader]) == data
        assert await client.get_object(bucket, "k").read() == data
        assert await client.get_object(bucket, "k", range=(7, 9 * MIB)).read() == data[7 : 9 * MIB]
        buffer = bytearray(len(data))
        assert await client.get_object(bucket, "k").readinto(buffer) == len(data)
        assert buffer == data

    asyncio.run(main())


def test_an_aborted_writer_leaves_no_upload(client, boto, bucket):
    started = asyncio.Event()

    async def write():
        async with client.put_object(bucket, "k") as writer:
            await writer.write(bytes(17 * MIB))
            started.set()
            await asyncio.sleep(60)

    async def main():
        task = asyncio.ensure_future(write())
        await started.wait()
        assert [each["Key"] for each in boto.list_multipart_uploads(Bucket=bucket)["Uploads"]] == ["k"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert boto.list_multipart_uploads(Bucket=bucket).get("Uploads", []) == []
    assert boto.list_objects_v2(Bucket=bucket)["KeyCount"] == 0


def test_listings_and_many_reads_of_what_boto3_stored(client, boto, bucket):
    for i in range(25):
        boto.put_object(Bucket=bucket, Key=f"{i:02}", Body=str(i).encode())

    async def main():
        keys = [info.key async for info in client.list_objects(bucket, max_keys=10).objects()]
        assert keys == [f"{i:02}" for i in range(25)]
        return [data async for _, data in client.get_many(bucket, keys, concurrency=8)]

    assert asyncio.run(main()) == [str(i).encode() for i in range(25)]
