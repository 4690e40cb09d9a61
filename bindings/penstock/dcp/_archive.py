"""The zip archive that ``torch.save`` makes of one tensor, in pieces: what stands before its bytes, and what behind.

Same records, order, flags and alignment as torch's own, so that ``torch.load`` and ``unzip`` read it, but the tensor's bytes are
not touched here: an upload sends them from where they lie. Only ``.data/serialization_id``, a hash for torch's logs, is left out.
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
BIG = 0xFFFFFFFF  # a size or offset from here on is written in 64 bits
PICKLE_PROTOCOL = 2  # torch.save's, and what its weights_only reader takes
_FLAGS = 0x0808  # sizes and CRC follow the data, and names are UTF-8; an empty record is followed by none
_FLAGS_OF_EMPTY = 0x0800

_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_CENTRAL = struct.Struct("<4sHHHHHHIIIHHHHHII")
_END = struct.Struct("<4sHHHHIIH")
_END64 = struct.Struct("<4sQHHIIQQQQ")
_LOCATOR64 = struct.Struct("<4sIQI")
_CRC = struct.Struct("<I")
_CRC_IN_CENTRAL = 16


class Frame(NamedTuple):
    """What surrounds the bytes of any tensor of one dtype, size and stride.

    Attributes:
        head: Before the bytes.
        tail: Behind them, with a CRC-32 of 0.
        crc_places: Where in the tail the CRC-32 of the bytes goes, little-endian.
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
    """The frame of a dense tensor whose storage holds it and nothing else."""
    like = torch.empty_strided(size, stride, dtype=dtype, device="cpu")
    return frame_of(_pickled(like), like.untyped_storage().nbytes())


def frame_of(pickled: bytes, payload_bytes: int) -> Frame:
    """The frame of `payload_bytes` of storage that `pickled` describes."""
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
        """Descriptor and directory entry; where the CRC stands in each."""
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
    """Pickles a tensor with its one storage by name, as torch.load wants it."""

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
    """Whether its dtype, size, stride and bytes are all there is to it; others are left to ``torch.save``."""
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
    """Whether its elements lie in its own memory by strides, as those of sparse tensors and of wrapper subclasses do not."""
    dispatches = type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__
    return tensor.layout is torch.strided and not tensor.is_quantized and not dispatches
