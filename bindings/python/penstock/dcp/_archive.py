"""Builds the zip archive that ``torch.save`` writes for one tensor, without copying the tensor's bytes.

The archive is split into a head and a tail; an upload sends the tensor's memory between them. Records, order, flags and alignment
equal those of torch, so ``torch.load`` and ``unzip`` read the archive. Only ``.data/serialization_id``, a hash for torch's logs,
is omitted.

Source: APPNOTE.TXT of PKWARE (local header 4.3.7, data descriptor 4.3.9, central directory 4.3.12 to 4.3.16, zip64 4.5.3) and
torch's ``caffe2/serialize/inline_container.cc`` (alignment by an extra field "FB").
"""

from __future__ import annotations

import io
import pickle
import struct
import sys
import zlib
from functools import lru_cache
from typing import Any, NamedTuple

import torch

ALIGNMENT = 64
BIG = 0xFFFFFFFF  # sizes and offsets from this value on need zip64 fields
PICKLE_PROTOCOL = 2  # the default of torch.save; torch's weights_only reader supports it
_FLAGS = 0x0808  # data descriptor after the data, UTF-8 names
_FLAGS_OF_EMPTY = 0x0800  # no data descriptor

_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_CENTRAL = struct.Struct("<4sHHHHHHIIIHHHHHII")
_END = struct.Struct("<4sHHHHIIH")
_END64 = struct.Struct("<4sQHHIIQQQQ")
_LOCATOR64 = struct.Struct("<4sIQI")
_CRC = struct.Struct("<I")
_CRC_IN_CENTRAL = 16


class Frame(NamedTuple):
    """The archive bytes around the payload of every tensor with one dtype, size and stride.

    Attributes:
        head: Bytes before the payload.
        tail: Bytes after the payload, with a CRC-32 of 0.
        crc_places: Offsets in the tail of the payload's CRC-32 (4 bytes, little-endian).
    """

    head: bytes
    tail: bytes
    crc_places: tuple[int, int]

    def tail_for(self, crc32: int) -> bytearray:
        tail = bytearray(self.tail)
        for place in self.crc_places:
            _CRC.pack_into(tail, place, crc32)
        return tail


@lru_cache(maxsize=4096)
def frame(dtype: torch.dtype, size: tuple[int, ...], stride: tuple[int, ...]) -> Frame:
    """Returns the frame of a dense tensor that fills its whole storage."""
    like = torch.empty_strided(size, stride, dtype=dtype, device="cpu")
    return frame_of(_pickled(like), like.untyped_storage().nbytes())


def frame_of(pickled: bytes, payload_bytes: int) -> Frame:
    """Returns the frame of a storage of `payload_bytes` bytes that the pickle `pickled` refers to."""
    head, directory = bytearray(), bytearray()
    records = 0

    def begin(name: str, size: int, out: bytearray, offset: int) -> None:
        nonlocal records
        records += 1
        encoded = f"archive/{name}".encode()
        wide = size >= BIG
        extra = struct.pack("<HHQQ", 1, 16, size, size) if wide else b""
        start = offset + _LOCAL.size + len(encoded) + len(extra) + 4
        padding = -start % ALIGNMENT
        extra += struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        sizes = (BIG, BIG) if wide else (0, 0)
        out += (
            _LOCAL.pack(
                b"PK\3\4", 45 if wide else 0, _FLAGS if size else _FLAGS_OF_EMPTY, 0, 0, 0, 0, *sizes, len(encoded), len(extra)
            )
            + encoded
            + extra
        )

    def end(name: str, size: int, crc: int, out: bytearray, offset: int) -> tuple[int, int]:
        """Writes the data descriptor and the directory entry. Returns the offset of the CRC-32 in each."""
        encoded = f"archive/{name}".encode()
        descriptor_crc = len(out) + 4
        if size:
            out += struct.pack("<4sIQQ" if size >= BIG else "<4sIII", b"PK\7\10", crc, size, size)
        wide = [value for value in (size, size, offset) if value >= BIG]
        extra = struct.pack(f"<HH{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
        directory_crc = len(directory) + _CRC_IN_CENTRAL
        narrow = min(size, BIG)
        version = 45 if wide else 0
        flags = _FLAGS if size else _FLAGS_OF_EMPTY
        directory.extend(
            _CENTRAL.pack(
                b"PK\1\2", version, version, flags, 0, 0, 0, crc, narrow, narrow, len(encoded), len(extra), 0, 0, 0, 0,
                min(offset, BIG),
            )
            + encoded + extra
        )  # fmt: skip
        return descriptor_crc, directory_crc

    def add(name: str, content: bytes, out: bytearray, base: int) -> None:
        offset = base + len(out)
        begin(name, len(content), out, offset)
        out += content
        end(name, len(content), zlib.crc32(content), out, offset)

    add("data.pkl", pickled, head, 0)
    add(".format_version", b"1", head, 0)
    add(".storage_alignment", str(ALIGNMENT).encode(), head, 0)
    add("byteorder", sys.byteorder.encode(), head, 0)
    payload_offset = len(head)
    begin("data/0", payload_bytes, head, payload_offset)
    behind = len(head) + payload_bytes
    tail = bytearray()
    descriptor_crc, directory_crc = end("data/0", payload_bytes, 0, tail, payload_offset)
    add("version", b"3\n", tail, behind)
    directory_begin = len(tail)
    tail += directory + _ending(records, len(directory), behind + directory_begin)
    in_directory = directory_begin + directory_crc
    return Frame(bytes(head), bytes(tail), (descriptor_crc if payload_bytes else in_directory, in_directory))


def _ending(records: int, directory_bytes: int, directory_offset: int) -> bytes:
    ending = b""
    if directory_offset >= BIG:
        end64 = directory_offset + directory_bytes
        ending += _END64.pack(b"PK\6\6", _END64.size - 12, 45, 45, 0, 0, records, records, directory_bytes, directory_offset)
        ending += _LOCATOR64.pack(b"PK\6\7", 0, end64, 1)
    return ending + _END.pack(b"PK\5\6", 0, 0, records, records, directory_bytes, min(directory_offset, BIG), 0)


class _Pickler(pickle.Pickler):
    """Pickles a tensor and replaces its storage by the persistent id that torch.load expects."""

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, torch.storage.TypedStorage):
            typed: Any = obj
            return ("storage", getattr(torch, typed._pickle_storage_type()), "0", "cpu", typed._size())
        if isinstance(obj, torch.UntypedStorage):
            return ("storage", torch.UntypedStorage, "0", "cpu", obj.nbytes())
        return None


def _pickled(tensor: torch.Tensor) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, PICKLE_PROTOCOL).dump(tensor)
    return buffer.getvalue()


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether dtype, size, stride and bytes describe `tensor` completely. ``torch.save`` writes all other tensors."""
    return (
        type(tensor) is torch.Tensor
        and tensor.layout is torch.strided
        and not tensor.is_quantized
        and not tensor.requires_grad
        and not tensor.is_conj()
        and not tensor.is_neg()
        and not tensor.__dict__
    )


def has_memory(tensor: torch.Tensor) -> bool:
    """Whether `tensor` has strided memory of its own. Sparse tensors and wrapper subclasses do not."""
    dispatches = type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__
    return tensor.layout is torch.strided and not tensor.is_quantized and not dispatches
