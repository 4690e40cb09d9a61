"""S3ClientConfig.sse_customer_key: everything that reads or writes objects uses it. The emulator refuses other keys."""

from __future__ import annotations

import asyncio
import dataclasses
import pickle

import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from http_responses import responding
from penstock import S3IterableDataset, S3MapDataset, aio
from penstock.dcp import S3StorageReader, S3StorageWriter
from reader_kinds import KINDS, every_kind
from torch.utils.data import DataLoader

MIB = 1024**2
KEY = b"0123456789abcdefghijklmnopqrstuv"
SIZE = 12 * MIB + 5  # several parts


@pytest.fixture
def config(emulator):
    return emulator.config(penstock.S3ClientConfig(sse_customer_key=KEY, part_size=5 * MIB))


@pytest.fixture
def keyed(emulator, config):
    return penstock.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=config)


@pytest.fixture
def content():
    return bytes(range(256)) * (SIZE // 256 + 1)


@pytest.fixture
def large(keyed, bucket, content):
    with keyed.put_object(bucket, "large") as writer:
        writer.write(content)
    return "large"


def test_the_object_is_encrypted_with_the_key(keyed, client, bucket, large):
    assert keyed.head(bucket, large).encryption == "SSE-C"
    with pytest.raises(penstock.S3InvalidArgumentError):
        client.get(bucket, large)
    with pytest.raises(penstock.S3Exception):
        client.get(bucket, large, sse_customer_key=b"x" * 32)
    assert client.head(bucket, large, sse_customer_key=KEY).encryption == "SSE-C"


@every_kind
def test_readers(keyed, bucket, large, content, kind):
    reader = keyed.get_object(bucket, large, reader_constructor=KINDS[kind])
    assert reader.read(10) == content[:10]
    reader.seek(9 * MIB)
    assert reader.read(100) == content[9 * MIB : 9 * MIB + 100]
    reader.seek(0)
    memory = bytearray(len(content))
    assert reader.readinto(memory) > 0
    assert keyed.get_object(bucket, large, reader_constructor=KINDS[kind]).read() == content


@pytest.mark.parametrize("look_ahead", [0, 64 * MIB])
@pytest.mark.parametrize("workers", [0, 2])
def test_datasets(emulator, config, keyed, bucket, look_ahead, workers):
    config = dataclasses.replace(config, look_ahead_bytes=look_ahead)
    for n in range(10):
        keyed.put(bucket, f"data/{n}", f"content {n}".encode())
    arguments = {"region": emulator.region, "endpoint": emulator.endpoint, "s3client_config": config, "transform": read}
    wanted = [f"content {n}".encode() for n in range(10)]
    mapped = S3MapDataset.from_prefix(f"s3://{bucket}/data/", **arguments)
    assert list(DataLoader(mapped, batch_size=None, num_workers=workers)) == wanted
    iterated = S3IterableDataset.from_prefix(f"s3://{bucket}/data/", enable_sharding=True, **arguments)
    assert sorted(DataLoader(iterated, batch_size=None, num_workers=workers)) == wanted


def read(reader):
    return reader.read()


def test_checkpoints(emulator, config, client, bucket):
    state = {"weight": torch.arange(3_000_000, dtype=torch.float32), "step": 7}
    checkpoint = penstock.S3Checkpoint(region=emulator.region, endpoint=emulator.endpoint, s3client_config=config)
    with checkpoint.writer(f"s3://{bucket}/state.pt") as writer:
        torch.save(state, writer)
    with checkpoint.reader(f"s3://{bucket}/state.pt") as reader:
        assert torch.equal(torch.load(reader, weights_only=True)["weight"], state["weight"])
    with pytest.raises(penstock.S3InvalidArgumentError):
        client.get(bucket, "state.pt")


def test_distributed_checkpoints(emulator, config, client, bucket):
    state = {"weight": torch.arange(3_000_000, dtype=torch.float32), "bias": torch.ones(10)}
    arguments = {"endpoint": emulator.endpoint, "s3client_config": config}
    path = f"s3://{bucket}/step-1"
    dcp.save(state, storage_writer=S3StorageWriter(emulator.region, path, **arguments), no_dist=True)
    loaded = {name: torch.zeros_like(tensor) for name, tensor in state.items()}
    dcp.load(loaded, storage_reader=S3StorageReader(emulator.region, path, **arguments), no_dist=True)
    assert all(torch.equal(loaded[name], state[name]) for name in state)
    for info in [info for page in client.list_objects(bucket, "step-1/") for info in page.object_info]:
        with pytest.raises(penstock.S3InvalidArgumentError):
            client.get(bucket, info.key)


def test_files_copies_and_uploads_by_hand(keyed, bucket, large, content, tmp_path):
    keyed.download_file(bucket, large, str(tmp_path / "file"))
    assert (tmp_path / "file").read_bytes() == content
    keyed.upload_file(str(tmp_path / "file"), bucket, "uploaded")
    keyed.copy(bucket, "uploaded", bucket, "copied")
    keyed.copy_object(bucket, "copied", bucket, "again")
    upload = keyed.create_multipart_upload(bucket, "parts")
    parts = [
        keyed.upload_part(bucket, "parts", upload, 1, content[: 5 * MIB]),
        keyed.upload_part_copy(bucket, "parts", upload, 2, bucket, "again", src_range=(5 * MIB, len(content))),
    ]
    keyed.complete_multipart_upload(bucket, "parts", upload, parts)
    for key in ("uploaded", "copied", "again", "parts"):
        assert keyed.head(bucket, key).encryption == "SSE-C"
        assert keyed.get_object(bucket, key).read() == content


def test_the_asynchronous_client(emulator, config, bucket, large, content):
    async def main() -> None:
        async with aio.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=config) as client:
            async with client.get_object(bucket, large) as reader:
                assert b"".join([block async for block in reader]) == content
            async with client.put_object(bucket, "written") as writer:
                await writer.write(content)
            assert (await client.head(bucket, "written")).encryption == "SSE-C"
            assert [data async for _, data in client.get_many(bucket, ["written"])] == [content]

    asyncio.run(main())


def test_a_key_of_a_request_comes_first(keyed, bucket):
    keyed.put(bucket, "k", b"x", sse_customer_key=b"o" * 32)
    with pytest.raises(penstock.S3Exception):
        keyed.get(bucket, "k")
    assert keyed.get(bucket, "k", sse_customer_key=b"o" * 32).body == b"x"


def test_another_encryption_is_refused(keyed, bucket):
    with pytest.raises(penstock.S3InvalidArgumentError, match="this client has a customer_key"):
        keyed.put(bucket, "k", b"x", server_side_encryption="AES256")


def test_presigned_urls_do_not_contain_the_key(keyed, bucket):
    assert keyed.presign("get", bucket, "k").headers == {}
    assert keyed.presign("get", bucket, "k", sse_customer_key=KEY).headers != {}


def test_the_key_is_never_shown_and_survives_pickling(config, keyed, bucket, large):
    copy = pickle.loads(pickle.dumps(keyed))
    assert copy.head(bucket, large).encryption == "SSE-C"
    shown = repr(config) + repr(keyed.s3client_config)
    assert KEY.decode() not in shown
    settings = penstock.S3ClientConfig(sse_customer_key=KEY, unsigned=True, force_path_style=True, max_attempts=1)
    with responding(404, config=settings) as (client, received), pytest.raises(penstock.S3NotFoundError) as missing:
        client.head("bucket", "k")
    assert "x-amz-server-side-encryption-customer-key" in received[0].headers
    assert received[0].headers["x-amz-server-side-encryption-customer-key"] not in str(missing.value)


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (b"short", ValueError, "sse_customer_key must have 32 bytes, not 5"),
        ("k" * 32, TypeError, "S3ClientConfig.sse_customer_key must be bytes or None, not str"),
    ],
)
def test_bad_keys(key, error, message):
    with pytest.raises(error) as raised:
        penstock.S3Client("us-east-1", s3client_config=penstock.S3ClientConfig(sse_customer_key=key)).list_buckets()
    assert str(raised.value) == message


def test_a_key_is_not_sent_without_tls():
    config = penstock.S3ClientConfig(sse_customer_key=KEY, unsigned=True, force_path_style=True)
    client = penstock.S3Client("us-east-1", endpoint="http://192.0.2.1", s3client_config=config)
    with pytest.raises(penstock.S3InvalidArgumentError, match="https"):
        client.head("bucket", "k", timeout=5)
