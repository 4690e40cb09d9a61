"""The records of a torch.save file by its zip directory, which the core reads. No I/O."""

from __future__ import annotations

from typing import NamedTuple

from .. import _core


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
    found = _core.find_zip_directory(tail, size)
    return None if found is None else Directory(*found)


def entries_of(directory: bytes) -> list[Entry]:
    """Returns the entries in the order of their local headers.

    Raises:
        ValueError: `directory` is not a zip directory.
    """
    return sorted((Entry(*entry) for entry in _core.zip_entries(directory)), key=lambda entry: entry.start)


def read_directory(directory: bytes, start: int) -> list[Record]:
    """Returns the records in file order; empty if `directory`, which is at offset `start`, is not a zip directory."""
    try:
        entries = entries_of(directory)
    except ValueError:
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
