"""Parses the zip directory of a torch.save file to locate its records. No I/O."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_END = b"PK\x05\x06"
_END64_LOCATOR = b"PK\x06\x07"
_END64 = b"PK\x06\x06"
# APPNOTE.TXT 4.3.12: signature, method, CRC-32, sizes, lengths, external attributes, offset of the local header
_ENTRY = struct.Struct("<4s6xH4xIIIHHH4xII")
_FOLDER = 0x10  # the attribute of a folder, whose content torch does not read
_UNKNOWN = 0xFFFFFFFF  # the value is in the zip64 field


class Directory(NamedTuple):
    """The position of the zip directory: bytes [start, end) of the file."""

    start: int
    end: int


class Record(NamedTuple):
    """One record of the archive: bytes [start, end) of the file, from its local header to the next record."""

    name: str
    start: int
    end: int


class Entry(NamedTuple):
    """A record as the directory describes it.

    Attributes:
        start: Offset of its local header.
        crc: CRC-32 of its content; 0 if torch was configured not to compute it.
        size: Bytes of its content as stored.
        unpacked: Bytes of its content after decompression.
        method: 0: stored; other values: compressed.
        is_folder: Marked as a folder: torch reads no content and returns uninitialized memory.
    """

    name: bytes
    start: int
    crc: int
    size: int
    unpacked: int
    method: int
    is_folder: bool


def find_directory(tail: bytes, size: int) -> Directory | None:
    """Returns the position of the zip directory in a file of `size` bytes that ends with `tail`; None: not found."""
    end = tail.rfind(_END)
    if end < 0 or end + 22 > len(tail):
        return None
    length, start = struct.unpack_from("<II", tail, end + 12)
    locator = end - 20
    if locator >= 0 and tail[locator : locator + 4] == _END64_LOCATOR:
        (at,) = struct.unpack_from("<Q", tail, locator + 8)
        at -= size - len(tail)
        if at < 0 or at + 56 > len(tail) or tail[at : at + 4] != _END64:
            return None
        length, start = struct.unpack_from("<QQ", tail, at + 40)
    return Directory(start, start + length) if start + length <= size else None


def entries_of(directory: bytes) -> Iterator[Entry]:
    """Yields the entries in the order of the directory.

    Raises:
        struct.error, IndexError, ValueError: `directory` is not a zip directory.
    """
    at = 0
    while at < len(directory):
        signature, method, crc, packed, unpacked, name_length, extra_length, comment_length, attributes, start = (
            _ENTRY.unpack_from(directory, at)
        )
        if signature != b"PK\x01\x02":
            raise ValueError("not a directory entry")
        name_end = at + 46 + name_length
        if _UNKNOWN in (unpacked, packed, start):
            extra = directory[name_end : name_end + extra_length]
            while struct.unpack_from("<H", extra)[0] != 1:
                extra = extra[4 + struct.unpack_from("<H", extra, 2)[0] :]
            # The zip64 field contains the sizes and the offset that do not fit into 32 bits, in this order.
            places = (4 + 8 * number for number in range(3))
            unpacked, packed, start = (
                struct.unpack_from("<Q", extra, next(places))[0] if value == _UNKNOWN else value
                for value in (unpacked, packed, start)
            )
        yield Entry(directory[at + 46 : name_end], start, crc, packed, unpacked, method, bool(attributes & _FOLDER))
        at = name_end + extra_length + comment_length


def read_directory(directory: bytes, start: int) -> list[Record]:
    """Returns the records in file order; empty if `directory`, which is at offset `start`, is not a zip directory."""
    try:
        entries = sorted(entries_of(directory), key=lambda entry: entry.start)
    except (struct.error, ValueError):
        return []
    ends = [*(entry.start for entry in entries[1:]), start]
    names = [entry.name.decode("utf-8", "replace") for entry in entries]
    records = [Record(name, entry.start, end) for name, entry, end in zip(names, entries, ends, strict=False)]
    return records if all(record.start < record.end for record in records) else []


def storages_in_load_order(records: list[Record]) -> list[Record]:
    """Returns the records of tensor storages, ``NAME/data/0``, ``NAME/data/1`` and so on, in the order torch.load reads them."""
    numbered: list[tuple[int, Record]] = []
    for record in records:
        parent, _, key = record.name.rpartition("/")
        if key.isdecimal() and parent.endswith("/data"):
            numbered.append((int(key), record))
    return [record for _, record in sorted(numbered)]


def joined(records: list[Record], max_gap: int) -> list[tuple[int, int]]:
    """Returns the byte ranges of the records in the same order, merged across gaps of at most `max_gap` bytes."""
    ranges: list[tuple[int, int]] = []
    for record in records:
        if ranges and 0 <= record.start - ranges[-1][1] <= max_gap:
            ranges[-1] = (ranges[-1][0], record.end)
        else:
            ranges.append((record.start, record.end))
    return ranges
