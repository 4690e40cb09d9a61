"""The archive of one tensor: the layout of torch.save, readable by torch.load and unzip, without copying the tensor."""

from __future__ import annotations

import ctypes
import io
import struct
import zipfile
from pathlib import Path

import pytest
import torch
from penstock import _core
from penstock.dcp import _archive
from penstock.dcp._shard import _put_data
from penstock.dcp._sink import CopyingSink

DTYPES = [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
    torch.bool, torch.complex64, torch.complex128, torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn,
    torch.float8_e5m2,
]  # fmt: skip


def ours(tensor: torch.Tensor) -> bytes:
    buffer = io.BytesIO()
    _put_data(CopyingSink(buffer), tensor, [tensor])
    return buffer.getvalue()


def theirs(tensor: torch.Tensor) -> bytes:
    buffer = io.BytesIO()
    torch.save(tensor, buffer)
    return buffer.getvalue()


def random_bytes(dtype: torch.dtype, *size: int) -> torch.Tensor:
    count = torch.Size(size).numel() * dtype.itemsize
    values = torch.randint(0, 2 if dtype is torch.bool else 256, (count,), dtype=torch.uint8)
    return values.view(dtype).reshape(size) if count else torch.empty(size, dtype=dtype)


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    as_bytes = [t.contiguous().flatten().view(torch.uint8) if t.numel() else t.flatten() for t in (one, other)]
    return (one.dtype, one.shape, one.stride()) == (other.dtype, other.shape, other.stride()) and torch.equal(*as_bytes)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [(3, 5), (), (0,), (0, 4), (1,), (70_001,)], ids=str)
def test_torch_load_returns_the_same_tensor(dtype, size):
    tensor = random_bytes(dtype, *size)
    data = ours(tensor)
    assert same_bits(torch.load(io.BytesIO(data), weights_only=True), tensor)
    assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None


@pytest.mark.parametrize(
    "tensor", [torch.randn(30, 7), torch.arange(10).reshape(2, 5).t(), torch.zeros(0), torch.tensor(3)], ids=str
)
def test_records_have_the_offsets_of_torch_save(tensor):
    mine, its = zipfile.ZipFile(io.BytesIO(ours(tensor))), zipfile.ZipFile(io.BytesIO(theirs(tensor)))
    wanted = [entry for entry in its.infolist() if entry.filename != "archive/.data/serialization_id"]
    assert [entry.filename for entry in mine.infolist()] == [entry.filename for entry in wanted]
    for entry, its_entry in zip(mine.infolist(), wanted, strict=True):
        assert mine.read(entry) == its.read(its_entry)
        assert (entry.header_offset, entry.CRC, entry.flag_bits) == (its_entry.header_offset, its_entry.CRC, its_entry.flag_bits)
    assert theirs(tensor).startswith(ours(tensor)[: mine.infolist()[-1].header_offset])


def test_payload_starts_at_a_multiple_of_64():
    for size in ((5,), (5, 6, 7), (1,) * 30, (123456,)):
        head = _archive.frame(torch.float32, size, torch.empty(size).stride()).head
        assert len(head) % 64 == 0


def test_tensors_that_are_not_plain_are_detected():
    sparse = torch.eye(3).to_sparse()
    parameter = torch.nn.Parameter(torch.ones(2))
    conjugate = torch.tensor([1 + 2j]).conj()
    attributed = torch.ones(2)
    attributed.note = "kept"
    for tensor in (sparse, parameter, conjugate, attributed, torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)):
        assert not _archive.is_plain(tensor)
        loaded = torch.load(io.BytesIO(ours(tensor)), weights_only=True)
        assert type(loaded) is type(tensor)
        assert torch.equal(loaded.to_dense() if loaded.is_sparse else loaded, tensor.to_dense() if tensor.is_sparse else tensor)


def test_sizes_and_offsets_of_4_gib_and_more(tmp_path: Path):
    """The payload is a hole in a sparse file, so that the test needs little memory."""
    payload = (1 << 32) + 64
    frame = _archive.frame(torch.uint8, (payload,), (1,))
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.write(frame.head)
        file.seek(payload - 3, io.SEEK_CUR)
        file.write(b"end")
        file.write(frame.tail_for(0))
    entry = zipfile.ZipFile(path).getinfo("archive/data/0")
    assert (entry.file_size, entry.compress_size) == (payload, payload)
    assert zipfile.ZipFile(path).getinfo("archive/version").header_offset > payload
    loaded = torch.load(path, weights_only=True, mmap=True)
    assert loaded.shape == (payload,)
    assert bytes(loaded[-3:].tolist()) == b"end"


def test_unzip_detects_a_wrong_checksum():
    frame = _archive.frame(torch.uint8, (4,), (1,))
    good = frame.head + b"1234" + frame.tail_for(_core.crc32(*address_of(b"1234")))
    bad = frame.head + b"1235" + frame.tail_for(_core.crc32(*address_of(b"1234")))
    assert zipfile.ZipFile(io.BytesIO(good)).testzip() is None
    assert zipfile.ZipFile(io.BytesIO(bad)).testzip() == "archive/data/0"


def address_of(data: bytes) -> tuple[int, int]:
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0, len(data)


def test_crc32_of_the_core_equals_zlib():
    data = bytes(range(256)) * 1000
    whole = _core.crc32(*address_of(data))
    assert whole == zipfile.crc32(data)
    address, _ = address_of(data)
    assert _core.crc32(address + 1000, len(data) - 1000, _core.crc32(address, 1000)) == whole
    assert _core.crc32(0, 0) == 0


def test_the_cores_checksum_of_a_buffer_is_zlibs():
    data = bytes(range(256)) * 1000
    view = memoryview(data)
    assert _core.crc32_of(data) == zipfile.crc32(data)
    assert _core.crc32_of(view[1000:], _core.crc32_of(view[:1000])) == zipfile.crc32(data)
    assert _core.crc32_of(b"") == 0
    with pytest.raises(BufferError, match="contiguous"):
        _core.crc32_of(view[::2])


def test_data_descriptor_follows_the_payload():
    tensor = torch.arange(8, dtype=torch.uint8)
    frame = _archive.frame(torch.uint8, (8,), (1,))
    assert struct.unpack("<4sIII", frame.tail_for(0x01020304)[:16]) == (b"PK\7\10", 0x01020304, 8, 8)
    assert ours(tensor)[len(frame.head) :][:8] == bytes(range(8))
