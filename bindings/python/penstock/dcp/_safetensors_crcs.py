"""Checksums in the header of a safetensors file: format, and comparison with the bytes that a load has read. No I/O.

The header of a file that Penstock writes starts with ``START`` and one entry of ``__metadata__``::

    { "__metadata__":{"PENSTOCK_CRC64NVME":"1 HEADER PIECES", ...}, ...}

HEADER is the CRC64NVME of the header, 16 hexadecimal digits: of all bytes before the tensors, except these digits. PIECES is the
base64 of the CRC64NVMEs of all pieces, 8 bytes each, little-endian, in the order of the tensors in the header. ``piece_bytes``
of ``_pieces`` defines the pieces of a tensor.

The format permits further entries in ``__metadata__`` and whitespace, so other readers ignore both. A program that copies
``__metadata__`` to a file with other tensors writes another start, with or without other whitespace: its entry is not used.
"""

from __future__ import annotations

import base64
import ctypes
import json
import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .. import _core

START = b'{ "__metadata__":{"PENSTOCK_CRC64NVME":"1 '
_METADATA = '{"__metadata__":{'  # of json.dumps
_LENGTH = struct.Struct("<Q")  # of the text, before it
_DIGITS = 16
_DIGITS_AT = _LENGTH.size + len(START)


class HeaderDamage(NamedTuple):
    """The CRC64NVME of a header, and the one that it contains."""

    found: int
    expected: str


class Crcs(NamedTuple):
    """The CRC64NVMEs of a tensor's pieces, and the size of each piece but the last in bytes."""

    piece_bytes: int
    values: Sequence[int]


class PieceDamage(NamedTuple):
    """A piece of a tensor, bytes [begin, end), whose CRC64NVME is not the expected one."""

    begin: int
    end: int
    found: int
    expected: int


def header_with(about: dict[str, str], tensors: dict[str, Any], crcs: Sequence[int]) -> bytes:
    """Returns the header of a file. Its length does not depend on the values of `crcs`.

    Args:
        about: Other entries of ``__metadata__``, at least one.
        tensors: The entries of the tensors.
        crcs: CRC64NVMEs of all pieces.
    """
    values = array("Q", crcs)
    if sys.byteorder == "big":
        values.byteswap()
    rest = json.dumps({"__metadata__": about, **tensors}, separators=(",", ":")).removeprefix(_METADATA)
    text = b"".join((START, b"0" * _DIGITS, b" ", base64.b64encode(values), b'",', rest.encode()))
    text += b" " * (-len(text) % 8)
    header = _LENGTH.pack(len(text)) + text
    digits = f"{_crc_without_digits(header):016x}".encode()
    return header[:_DIGITS_AT] + digits + header[_DIGITS_AT + _DIGITS :]


def address_of(data: bytes) -> int:
    """Returns the memory address of `data`, valid while the caller holds a reference to it."""
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def _crc_without_digits(header: bytes) -> int:
    address, after = address_of(header), _DIGITS_AT + _DIGITS
    return _core.crc64nvme(address + after, len(header) - after, _core.crc64nvme(address, _DIGITS_AT))


def header_damage(header: bytes) -> HeaderDamage | None:
    """Compares a header with the CRC64NVME in it. Returns None if they agree, or if the header has none."""
    if not header.startswith(START, _LENGTH.size) or len(header) < _DIGITS_AT + _DIGITS:
        return None
    found = _crc_without_digits(header)
    expected = header[_DIGITS_AT : _DIGITS_AT + _DIGITS]
    return HeaderDamage(found, expected.decode(errors="replace")) if f"{found:016x}".encode() != expected else None


def crcs_in(header: bytes) -> Sequence[int] | None:
    """Returns the CRC64NVMEs of all pieces from an undamaged header; None if it contains none.

    Raises:
        ValueError: They are not in the format above.
    """
    if not header.startswith(START, _LENGTH.size):
        return None
    begin = _DIGITS_AT + _DIGITS + 1
    values = array("Q", base64.b64decode(header[begin : header.index(b'"', begin)], validate=True))
    if sys.byteorder == "big":
        values.byteswap()
    return values


def damage_of(crcs: Crcs, payload: int, segments: Iterable[tuple[int, int, int]]) -> PieceDamage | None:
    """Compares all pieces that are completely in memory with their CRCs. Returns the first one that differs.

    Args:
        crcs: The CRCs of the tensor.
        payload: Bytes of the tensor.
        segments: (offset in the tensor, address, size) of bytes in memory, in ascending order.
    """
    step = crcs.piece_bytes
    reached, crc, complete = 0, 0, False
    for begin, address, size in segments:
        offset, last = begin, begin + size
        if offset != reached:
            complete = False
        while offset < last:
            number = offset // step
            start, end = number * step, min(number * step + step, payload)
            if offset == start:
                crc, complete = 0, True
            count = min(end, last) - offset
            if complete:
                crc = _core.crc64nvme(address + offset - begin, count, crc)
            offset += count
            if offset == end and complete and crc != crcs.values[number]:
                return PieceDamage(start, end, crc, crcs.values[number])
        reached = last
    return None
