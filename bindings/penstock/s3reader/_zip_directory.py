"""Where the records of a torch.save file are: its zip directory, as far as planning needs it. No I/O."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_END = b"PK\x05\x06"
_END64_LOCATOR = b"PK\x06\x07"
_END64 = b"PK\x06\x06"
# APPNOTE.TXT 4.3.12: signature, method, CRC-32, sizes, lengths, external attributes, offset of the header
_ENTRY = struct.Struct("<4s6xH4xIIIHHH4xII")
_FOLDER = 0x10  # the attribute of a folder, of which torch reads no content
_UNKNOWN = 0xFFFFFFFF  # the value is in the zip64 field


class Directory(NamedTuple):
    """Where the directory is in the file: bytes [start, end)."""

    start: int
    end: int


class Record(NamedTuple):
    """One file of the archive: its header, content and what follows are bytes [start, end) of the file."""

    name: str
    start: int
    end: int


class Entry(NamedTuple):
    """A record as the directory describes it.

    Attributes:
        start: Offset of its local header.
        crc: CRC-32 of its content; 0 where torch was told to compute none.
        size: Bytes of its content, as stored.
        unpacked: Bytes of its content once it is unpacked.
        method: 0: stored as it is; others: compressed.
        is_folder: It is marked as a folder: torch reads no content, and gives memory as it finds it.
    """

    name: bytes
    start: int
    crc: int
    size: int
    unpacked: int
    method: int
    is_folder: bool


def find_directory(tail: bytes, size: int) -> Directory | None:
    """The directory of a file of `size` bytes that ends with `tail`; None: it is no zip file that we understand."""
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
    """Every record, in the directory's order. Raises struct.error, IndexError or ValueError where it is no directory."""
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
            # The zip64 field has those of the sizes and the offset that did not fit, in this order.
            places = (4 + 8 * number for number in range(3))
            unpacked, packed, start = (
                struct.unpack_from("<Q", extra, next(places))[0] if value == _UNKNOWN else value
                for value in (unpacked, packed, start)
            )
        yield Entry(directory[at + 46 : name_end], start, crc, packed, unpacked, method, bool(attributes & _FOLDER))
        at = name_end + extra_length + comment_length


def read_directory(directory: bytes, start: int) -> list[Record]:
    """The records in the order they have in the file; empty where `directory`, which begins at `start`, is none."""
    try:
        entries = sorted(entries_of(directory), key=lambda entry: entry.start)
    except (struct.error, ValueError):
        return []
    ends = [*(entry.start for entry in entries[1:]), start]
    names = [entry.name.decode("utf-8", "replace") for entry in entries]
    records = [Record(name, entry.start, end) for name, entry, end in zip(names, entries, ends, strict=False)]
    return records if all(record.start < record.end for record in records) else []


def storages_in_load_order(records: list[Record]) -> list[Record]:
    """The tensors' storages, ``NAME/data/0``, ``NAME/data/1`` and so on, as torch.load comes to ask for them."""
    numbered: list[tuple[int, Record]] = []
    for record in records:
        parent, _, key = record.name.rpartition("/")
        if key.isdecimal() and parent.endswith("/data"):
            numbered.append((int(key), record))
    return [record for _, record in sorted(numbered)]


def joined(records: list[Record], most_between: int) -> list[tuple[int, int]]:
    """Their bytes as ranges in the same order, neighbours in one range."""
    ranges: list[tuple[int, int]] = []
    for record in records:
        if ranges and 0 <= record.start - ranges[-1][1] <= most_between:
            ranges[-1] = (ranges[-1][0], record.end)
        else:
            ranges.append((record.start, record.end))
    return ranges
