"""A checkpoint that torch.load reads completely is compared with the object's checksum, also if fetched in ranges."""

from __future__ import annotations

import base64
import io
import random
import re
import zipfile

import penstock
import pytest
import torch
from awscrt.checksums import crc64nvme
from bucket_io import put
from gate_server import gate_config, gate_server

MIB = 1024**2


def saved(state, **options) -> bytes:
    file = io.BytesIO()
    torch.save(state, file, **options)
    return file.getvalue()


def in_text_order(data: bytes) -> bytes:
    """A file with records in the order of older versions of torch.save: 0, 1, 10, 100, 11."""
    source, file = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        for name in sorted(source.namelist()):
            target.writestr(name, source.read(name))
    return file.getvalue()


def large(count: int) -> dict[str, torch.Tensor]:
    return {f"w{i}": torch.full((MIB,), float(i)) for i in range(count)}


SHARED = torch.arange(3 * MIB, dtype=torch.float32)
FILES = {
    "large": lambda: saved(large(5)),
    "small and one large": lambda: saved({f"w{i}": torch.full((100,), float(i)) for i in range(500)} | large(3)),
    "a directory beyond the tail": lambda: saved({f"w{i}": torch.full((300,), float(i)) for i in range(8000)}),
    "views and an empty tensor": lambda: saved({"a": SHARED, "b": SHARED[5:], "none": torch.empty(0), "c": torch.ones(3)}),
    "records sorted as text": lambda: in_text_order(saved({f"w{i}": torch.full((200_000,), float(i)) for i in range(12)})),
    "one request": lambda: saved(large(1)),
}


def checksum_of(data: bytes) -> str:
    return base64.b64encode(crc64nvme(data).to_bytes(8, "big")).decode()


def load(data: bytes, checksum: str | None):
    headers = {} if checksum is None else {"x-amz-checksum-crc64nvme": checksum, "x-amz-checksum-type": "FULL_OBJECT"}
    with gate_server(data, 1, headers) as (_, endpoint):
        checkpoint = penstock.S3Checkpoint("us-east-1", endpoint=endpoint, s3client_config=gate_config())
        return torch.load(checkpoint.reader("s3://b/k"), weights_only=True)


@pytest.mark.parametrize("name", FILES)
def test_file_that_differs_from_the_stored_checksum_does_not_load(name):
    data = FILES[name]()
    right, wrong = checksum_of(data), checksum_of(b"another")
    assert load(data, right).keys() == load(data, None).keys()
    with pytest.raises(penstock.S3DataLossError, match=re.escape(wrong)):
        load(data, wrong)


@pytest.mark.parametrize("where", [500_000, 9 * MIB, -600_000, -200_000])
def test_flipped_bit_of_a_tensor_is_detected(where):
    """In the start of the file, in the prefetched part, at the border to the end, and in the end."""
    data = bytearray(FILES["large"]())
    right = checksum_of(bytes(data))
    data[where] ^= 1
    with pytest.raises(penstock.S3DataLossError, match=re.escape(right)):
        load(bytes(data), right)
    assert len(load(bytes(data), None)) == 5  # torch does not verify the CRC-32 of the records


def test_file_of_the_format_before_zip_is_verified():
    """torch imports a module while the reader's exception is set, so S3DataLossError is the cause of a SystemError."""
    data = saved(large(5), _use_new_zipfile_serialization=False)
    right = checksum_of(data)
    assert load(data, right).keys() == large(5).keys()
    damaged = bytearray(data)
    damaged[9 * MIB] ^= 1
    with pytest.raises((SystemError, penstock.S3DataLossError)) as raised:
        load(bytes(damaged), right)
    lost = raised.value if isinstance(raised.value, penstock.S3DataLossError) else raised.value.__cause__
    assert isinstance(lost, penstock.S3DataLossError)
    assert right in str(lost)


def test_last_bytes_are_never_returned_after_a_mismatch():
    data = FILES["large"]()
    headers = {"x-amz-checksum-crc64nvme": checksum_of(b"another"), "x-amz-checksum-type": "FULL_OBJECT"}
    with gate_server(data, 1, headers) as (_, endpoint):
        checkpoint = penstock.S3Checkpoint("us-east-1", endpoint=endpoint, s3client_config=gate_config())
        reader = checkpoint.reader("s3://b/k")
        with pytest.raises(penstock.S3DataLossError):
            torch.load(reader, weights_only=True)
        position = reader.tell()
        for _ in range(2):
            with pytest.raises(penstock.S3DataLossError):
                reader.readinto(bytearray(5 * MIB))
            assert reader.tell() == position


def test_load_from_the_emulator_is_verified(emulator, client, bucket):
    """The first response of the emulator contains the checksum, which therefore costs no request."""
    data = saved(large(5))
    put(client, bucket, "c.pt", data)
    checkpoint = penstock.S3Checkpoint("us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config())
    reader = checkpoint.reader(f"s3://{bucket}/c.pt")
    assert torch.load(reader, weights_only=True).keys() == large(5).keys()
    assert dict(reader._checksums) == {"crc64nvme": checksum_of(data)}
    assert "HeadObject" not in checkpoint._client.metrics()["requests"]


def test_some_tensors_are_loaded_without_the_others():
    data = saved(large(5))
    headers = {"x-amz-checksum-crc64nvme": checksum_of(b"another"), "x-amz-checksum-type": "FULL_OBJECT"}
    with gate_server(data, 1, headers) as (_, endpoint):
        checkpoint = penstock.S3Checkpoint("us-east-1", endpoint=endpoint, s3client_config=gate_config())
        reader = checkpoint.reader("s3://b/k")
        content, order = io.BytesIO(data), random.Random(5)
        reader.seek(-22, io.SEEK_END)
        assert reader.read() == data[-22:]
        for _ in range(3):
            position = order.randrange(MIB, 12 * MIB)
            content.seek(position)
            reader.seek(position)
            memory = bytearray(MIB)
            assert reader.readinto(memory) == MIB
            assert memory == content.read(MIB)
