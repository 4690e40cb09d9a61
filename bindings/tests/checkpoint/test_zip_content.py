"""A record of a torch.save archive whose CRC-32 is 0: what its header and its data descriptor say counts."""

from __future__ import annotations

import io
import struct

import pytest
import torch
from penstock.s3reader._zip_directory import Entry, entries_of, find_directory
from penstock.s3reader._zip_records import content_begin, content_of


def archive(*, crcs: bool = True) -> bytes:
    before = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(crcs)
    try:
        buffer = io.BytesIO()
        torch.save({"w": torch.ones(10)}, buffer)
        return buffer.getvalue()
    finally:
        torch.serialization.set_crc32_options(before)


def pickle_of(data: bytes) -> tuple[bytes, Entry]:
    """The record of data.pkl up to the next one, and its entry in the directory."""
    found = find_directory(data, len(data))
    assert found is not None
    entries = entries_of(data[found.start : found.end])
    index = next(index for index, entry in enumerate(entries) if entry.name.endswith(b"data.pkl"))
    return data[entries[index].start : entries[index + 1].start], entries[index]


def damaged(record: bytes, entry: Entry) -> bytes:
    position = content_begin(record) + 5
    assert entry.size > 5
    return record[:position] + bytes([record[position] ^ 1]) + record[position + 1 :]


def test_a_record_with_its_crc_is_verified():
    record, entry = pickle_of(archive())
    assert content_of(record, entry) == record[content_begin(record) :][: entry.size]
    with pytest.raises(ValueError, match="does not match its CRC-32"):
        content_of(damaged(record, entry), entry)


def test_a_crc_that_only_the_directory_lacks_is_damage():
    record, entry = pickle_of(archive())
    with pytest.raises(ValueError, match="has no CRC-32 in the directory, but was saved with one"):
        content_of(record, entry._replace(crc=0))


@pytest.mark.parametrize("kept", ["header", "descriptor"])
def test_a_crc_that_is_left_in_one_other_place_is_damage(kept):
    record, entry = pickle_of(archive(crcs=False))
    end = content_begin(record) + entry.size
    assert record[end : end + 4] == b"PK\7\10"
    if kept == "descriptor":
        record = record[: end + 4] + struct.pack("<I", 5) + record[end + 8 :]
    else:  # a header without the flag of a descriptor
        flags = struct.unpack_from("<H", record, 6)[0] & ~8
        record = record[:6] + struct.pack("<H", flags) + record[8:14] + struct.pack("<I", 5) + record[18:]
    with pytest.raises(ValueError, match="but was saved with one"):
        content_of(record, entry)


def test_an_archive_that_torch_saved_without_crcs_is_read():
    record, entry = pickle_of(archive(crcs=False))
    assert entry.crc == 0
    assert content_of(record, entry) == record[content_begin(record) :][: entry.size]


def test_content_whose_crc_is_zero_needs_no_descriptor():
    content = bytes.fromhex("9d0ad96d")  # its CRC-32 is 0
    header = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, len(content), len(content), 1, 0)
    entry = Entry(b"x", 0, 0, len(content), len(content), 0, False)
    assert content_of(header + b"x" + content, entry) == content
