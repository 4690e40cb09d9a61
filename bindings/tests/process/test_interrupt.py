"""Ctrl-C ends every call that waits for a server, and every listing. Each call runs in its own program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from endless_listing import endless_listing
from interrupted import PREAMBLE, SILENT_SERVER, exit_status

CALLS = {
    "read": 'client.get_object("bucket", "key").read()',
    "read of a range": 'client.get_object("bucket", "key", reader_constructor=ranged).read(10)',
    "readinto": 'client.get_object("bucket", "key", reader_constructor=ranged).readinto(bytearray(10))',
    "readline": 'client.get_object("bucket", "key").readline()',
    "seek to the end": 'client.get_object("bucket", "key").seek(0, 2)',
    "head_object": 'client.head_object("bucket", "key")',
    "list_objects": 'list(client.list_objects("bucket"))',
    "copy_object": 'client.copy_object("bucket", "a", "bucket", "b")',
    "delete_object": 'client.delete_object("bucket", "key")',
    "create_bucket": 'client.create_bucket("bucket")',
    "get": 'client.get("bucket", "key")',
    "get into a buffer": 'client.get("bucket", "key", buffer=bytearray(9))',
    "put": 'client.put("bucket", "key", b"x")',
    "delete_objects": 'client.delete_objects("bucket", ["key"])',
    "presign for a directory bucket": 'client.presign("get", "bucket--usw2-az1--x-s3", "key")',
    "upload_file": 'client.upload_file(sys.executable, "bucket", "key")',
    "download_file": 'client.download_file("bucket", "key", "/tmp/never-written")',
    "upload_directory": 'client.upload_directory(sys.prefix + "/bin", "bucket")',
    "download_directory": 'client.download_directory("bucket", "", "/tmp")',
    "close of a writer": 'w = client.put_object("bucket", "key"); w.write(b"x"); w.close()',
    "write of more than is buffered": 'w = client.put_object("bucket", "key"); [w.write(bytes(2**24)) for _ in range(64)]',
    "iteration of objects": 'next(iter(penstock.S3IterableDataset.from_objects(["s3://bucket/key"], **settings))).read()',
    "iteration of a prefix": 'next(iter(penstock.S3IterableDataset.from_prefix("s3://bucket/", **settings)))',
    "an item": 'penstock.S3MapDataset.from_objects(["s3://bucket/key"], **settings)[0].read()',
    "a batch": 'b = penstock.S3MapDataset.from_objects(["s3://bucket/key"] * 9, **settings).__getitems__(range(9)); b[0].read()',
    "reading a checkpoint": 'penstock.S3Checkpoint(**settings).reader("s3://bucket/key").read(4)',
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_a_call(call):
    program = textwrap.dedent(SILENT_SERVER) + f"try:\n    {CALLS[call]}\nexcept KeyboardInterrupt:\n    sys.exit(42)\n"
    assert exit_status(program, timeout_s=60) == 42


LISTINGS = {
    "list_objects": 'list(client.list_objects("bucket", "p/"))',
    "list_object_versions": 'list(client.list_object_versions("bucket", "p/"))',
    "open uploads": 'client._client.list_multipart_uploads("bucket", "p/")',
    "iteration of a prefix": 'list(penstock.S3IterableDataset.from_prefix("s3://bucket/p/", region="us-east-1"))',
    "length of a prefix": 'len(penstock.S3MapDataset.from_prefix("s3://bucket/p/", region="us-east-1"))',
    "download_directory": 'client.download_directory("bucket", "p/", sys.argv[1])',
    "find of the file system": 'import penstock.fsspec; penstock.fsspec.S3FileSystem().find("bucket/p")',
    "open uploads of the file system": 'import penstock.fsspec; penstock.fsspec.S3FileSystem().list_multipart_uploads("bucket")',
    "asyncio": "import penstock.aio; asyncio.run(listed())",
}
LISTING_PROGRAM = """
import asyncio, sys, penstock
client = penstock.S3Client("us-east-1")
async def listed():
    async with penstock.aio.S3Client("us-east-1") as client:
        return [info async for info in client.list_objects("bucket", "p/").objects()]
try:
    {call}
except KeyboardInterrupt:
    sys.exit(42)
"""


@pytest.mark.parametrize("call", LISTINGS)
def test_ctrl_c_ends_a_listing_whose_pages_are_empty(call, tmp_path):
    with endless_listing() as service:
        command = [sys.executable, "-c", PREAMBLE + LISTING_PROGRAM.format(call=LISTINGS[call]), tmp_path]
        with subprocess.Popen(command, env=os.environ | service.environment()) as process:
            try:
                service.signal(process, signal.SIGINT)
                assert process.wait(timeout=60) == 42
                service.check_ended()
            finally:
                process.kill()
