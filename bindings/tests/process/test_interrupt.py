"""Ctrl-C ends every call that waits for a server. Each call runs in its own program, with a server that never responds."""

from __future__ import annotations

import textwrap

import pytest
from interrupted import SILENT_SERVER, exit_status

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
