"""Verifies the records of a torch.save archive against the CRC-32s in its zip directory. No I/O."""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple, Protocol

from .. import _core
from ._zip_directory import Directory, Entry, entries_of, find_directory

MAGIC = b"PK\x03\x04"
TAIL_BYTES = 64 * 1024  # bytes at the end of an archive in which to look for its directory
_DEFLATED = 8
_LOCAL = struct.Struct("<4s2xHH4xI8xHH")  # APPNOTE.TXT 4.3.7: signature, flags, method, CRC-32, length of name and extra field
_HAS_DESCRIPTOR = 8  # flag, 4.4.4
_DESCRIPTOR = struct.Struct("<4sII")  # 4.3.9: signature, CRC-32, lower 32 bits of the size


class Content(Protocol):
    """The bytes of an archive. `check_records` reads them in ascending order, each byte at most once."""

    def read(self, begin: int, end: int) -> bytes:
        """Returns the bytes [begin, end), fewer if the archive ends before."""

    def crc(self, begin: int, end: int) -> int:
        """Returns the CRC-32 of the bytes [begin, end)."""


class Held:
    """An archive in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, begin: int, end: int) -> bytes:
        return self.data[begin:end]

    def crc(self, begin: int, end: int) -> int:
        return _core.crc32_of(memoryview(self.data)[begin:end])


class Verdict(NamedTuple):
    """The result of a check. `damage`: what is wrong with the bytes. `unknown`: what could not be verified. Empty: nothing."""

    damage: str = ""
    unknown: str = ""


def _incomplete(why: str) -> Verdict:
    return Verdict(f"are not a complete torch.save archive: {why}")


def content_begin(record: bytes) -> int:
    """Returns the offset of the content in a record, which begins with its local header."""
    return int(_LOCAL.size + sum(_LOCAL.unpack_from(record)[4:]))


def content_of(record: bytes, entry: Entry) -> bytes:
    """Returns the content of a record, which begins with its local header. `record` includes its data descriptor, if it has one.

    The content is verified, unless the directory, the header and the descriptor all have the CRC-32 0: torch writes that if it is
    configured not to compute checksums.

    Raises:
        ValueError: The record does not match its entry in the directory, or only the directory lacks its CRC-32.
    """
    if len(record) < _LOCAL.size or not record.startswith(MAGIC):
        raise ValueError(f"record {entry.name!r} is not at the offset in the directory")
    begin = content_begin(record)
    data = record[begin : begin + entry.size]
    if entry.method == _DEFLATED:
        try:
            data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, entry.unpacked + 1)
        except zlib.error as error:
            raise ValueError(f"record {entry.name!r} cannot be decompressed: {error}") from None
    elif entry.method:
        raise ValueError(
            f"record {entry.name!r} uses the compression method {entry.method}; only stored and deflated are supported"
        )
    if len(data) != entry.unpacked:
        raise ValueError(f"record {entry.name!r} has {len(data)} bytes; the directory states {entry.unpacked}")
    if _core.crc32_of(data) == entry.crc:
        return data
    if entry.crc:
        raise ValueError(f"record {entry.name!r} does not match its CRC-32")
    _, flags, _, crc_of_header, _, _ = _LOCAL.unpack_from(record)
    if not _lacks_crc(Held(record), begin + entry.size, entry, flags, crc_of_header):
        raise ValueError(f"record {entry.name!r} has no CRC-32 in the directory, but was saved with one")
    return data


def check_archive(content: Content, size: int) -> Verdict:
    """Verifies an archive of `size` bytes whose content can be read in any order."""
    found = find_directory(content.read(max(0, size - TAIL_BYTES), size), size)
    if found is None:
        return _incomplete("they have no zip directory")
    return check_records(content, content.read(found.start, found.end), found)


def check_records(content: Content, directory: bytes, place: Directory) -> Verdict:
    """Verifies the records listed in `directory`, whose position in the archive is `place`."""
    try:
        entries = entries_of(directory)
    except ValueError:
        return _incomplete("their zip directory cannot be read")
    unknown, end = "", 0
    for entry in entries:
        name = entry.name.decode("utf-8", "replace")
        header = content.read(entry.start, entry.start + _LOCAL.size) if end <= entry.start < place.start else b""
        if len(header) < _LOCAL.size or not header.startswith(MAGIC):
            return _incomplete(f"record {name!r} is not at the offset in the directory")
        _, flags, method, crc_of_header, name_length, extra_length = _LOCAL.unpack(header)
        name_end = entry.start + _LOCAL.size + name_length
        begin = name_end + extra_length
        end = begin + entry.size
        name_read = content.read(entry.start + _LOCAL.size, name_end)
        if end > place.start or (method, name_read) != (entry.method, entry.name):
            return _incomplete(f"record {name!r} does not match its entry in the directory")
        if entry.is_folder or (method == 0 and entry.unpacked != entry.size):
            return _incomplete(f"the directory does not describe record {name!r} as torch.save does")
        if entry.size == 0:
            continue
        if entry.method:
            unknown = unknown or f"record {name!r} is compressed"
        elif not entry.crc:
            if not _lacks_crc(content, end, entry, flags, crc_of_header):
                return _incomplete(f"record {name!r} has no CRC-32 in the directory, but was saved with one")
            unknown = unknown or f"record {name!r} was saved without a CRC-32"
        elif (crc := content.crc(begin, end)) != entry.crc:
            return Verdict(f"have the CRC-32 {crc:08x}, and were saved with {entry.crc:08x} (record {name!r})")
    return Verdict(unknown=unknown)


def _lacks_crc(content: Content, end: int, entry: Entry, flags: int, crc_of_header: int) -> bool:
    """Whether a record without a CRC-32 in the directory has none in its data descriptor either, or in its header."""
    if not flags & _HAS_DESCRIPTOR:
        return crc_of_header == 0
    descriptor = content.read(end, end + _DESCRIPTOR.size)
    return descriptor == _DESCRIPTOR.pack(b"PK\7\10", 0, entry.size & 0xFFFFFFFF)
