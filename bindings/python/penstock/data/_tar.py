"""Tar archives: their members, and samples of members grouped as webdataset groups them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from .._exceptions import _ONE_LINE, S3DataLossError
from ._epochs import Stopped

Sample = dict[str, Any]
Handler = Callable[[Exception], bool]

BLOCK = 512
MAX_EXTENSION_BYTES = 1024**2  # of a long name or a pax header
MAX_MEMBER_BYTES = 2**62  # far beyond the limit of S3
_LARGE = 4 * 1024**2  # bytes that are read without the blocks of the file
_REST_BYTES = 1024**2  # read at a time behind the end mark
_END_MARK = bytes(BLOCK)
_REGULAR = (b"0", b"\0", b"7")  # regular files; before POSIX, and contiguous ones
_EXTENSIONS = (b"L", b"K", b"x", b"X", b"g")  # a long name or link of GNU tar, pax headers of a member or of all
# Links, devices, directories and FIFOs: no data follows, whatever the size says.
_WITHOUT_DATA = (b"1", b"2", b"3", b"4", b"5", b"6")
_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_META = re.compile(r"__[^/]*__($|/)")
_KEY = re.compile(r"((?:.*/|)[^.]+)[.]([^/]*)$")


def _damaged(url: str, offset: int, text: str) -> S3DataLossError:
    message = f"{url} is damaged or incomplete at offset {offset}: {text}"
    error = S3DataLossError(message.translate(_ONE_LINE))
    error.bucket, _, error.key = url.removeprefix("s3://").partition("/")
    return error


class File(Protocol):
    """What an archive is read from."""

    def read(self, size: int, /) -> bytes: ...
    def read1(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, /) -> int: ...
    def tell(self) -> int: ...


class Member(NamedTuple):
    """A member of an archive. Its headers begin at `begin`, its data at `data`; the next member begins at `end`."""

    name: str
    size: int
    begin: int
    data: int
    end: int
    regular: bool


def _number(field: bytes) -> int:
    """Parses a number of a header: octal digits, or a big-endian number after a byte 0x80."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    return int(field.split(b"\0", 1)[0].strip() or b"0", 8)


def _sum(data: bytes) -> int:
    """Returns the sum of at most 256 bytes, which is in the lower half of their Adler-32. `sum` takes ten times as long."""
    return (zlib.adler32(data) & 0xFFFF) - 1


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _pax_records(data: bytes) -> Iterator[tuple[str, str]]:
    """Yields the records ``LENGTH KEY=VALUE`` of a pax header. Raises ValueError if one is invalid."""
    while data and data[0] != 0:
        digits = data.split(b" ", 1)[0]
        length = int(digits)
        key, separator, value = data[len(digits) + 1 : length - 1].partition(b"=")
        if not separator or data[length - 1 : length] != b"\n":
            raise ValueError(data[:40])
        yield key.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape")
        data = data[length:]


class Archive:
    """Reads the members of a tar archive in order: ustar, GNU and pax formats, without sparse files.

    The archive must end with a block of zeros, and only zeros may follow, so that an incomplete archive is an error.

    Args:
        file: The archive, read from its current position.
        url: The name of the archive in errors.
        offset: The offset in the archive of the current position, which must be between two members.
        part: Whether `file` is a part of an archive: its end is the end of the last member.
    """

    def __init__(self, file: File, url: str, offset: int = 0, part: bool = False) -> None:
        self._file = file
        self._url = url
        self._next = offset  # the offset of the next member
        self._shift = file.tell() - offset
        self._part = part
        self._block = b""  # bytes that were read from the file, up to its position
        self._used = 0
        self._end = offset  # the offset of the end of the block

    def _take(self, size: int) -> bytes:
        """Returns the next `size` bytes, fewer at the end of the file."""
        used = self._used
        end = used + size
        if end <= len(self._block):
            self._used = end
            return self._block[used:end]
        pieces, missing = [self._block[used:]], end - len(self._block)
        while missing >= _LARGE:
            pieces.append(self._file.read(missing))
            self._end += len(pieces[-1])
            missing = missing - len(pieces[-1]) if pieces[-1] else 0
        while True:
            self._block = self._file.read1(-1)
            self._used = min(missing, len(self._block))
            self._end += len(self._block)
            pieces.append(self._block[: self._used])
            missing -= self._used
            if missing <= 0 or not self._block:
                return b"".join(pieces)

    def _read(self, size: int, what: str) -> bytes:
        at = self._at()
        data = self._take(size)
        if len(data) < size:
            raise _damaged(self._url, at, f"the archive ends at offset {at + len(data)}, within {what} of {size} bytes")
        return data

    def _at(self) -> int:
        return self._end - len(self._block) + self._used

    def _go(self, offset: int) -> None:
        used = len(self._block) - (self._end - offset)
        if 0 <= used <= len(self._block):
            self._used = used
        else:
            self._file.seek(offset + self._shift)
            self._block, self._used, self._end = b"", 0, offset

    def next(self) -> Member | None:
        """Returns the next member, or None at the end of the archive.

        Raises:
            S3DataLossError: The archive is damaged or incomplete.
            ValueError: The archive is compressed, or has a sparse file or a global name.
        """
        begin = self._next
        name: str | None = None
        size: int | None = None
        extended = False
        while True:
            self._go(self._next)
            block = self._header(self._next)
            if block is None:
                if extended:
                    raise _damaged(self._url, begin, "the archive ends after a long name or a pax header, without its member")
                return None
            at, kind, stored = self._next, block[156:157], self._size(block)
            data = at + BLOCK
            if kind not in _EXTENSIONS:
                break
            self._next = data + stored + -stored % BLOCK
            extension = self._extension(stored, at)
            if kind == b"L":
                name = _text(extension)
            elif kind != b"K":
                records = self._pax(extension, at)
                if kind == b"g":
                    self._check_global(records, at)
                    continue
                name = records.get("path", name)
                size = self._pax_size(records["size"], at) if "size" in records else size
            extended = True
        if name is None:
            name = self._name(block)
        if kind == b"S":
            raise self._sparse(name, at)
        if size is None:
            size = stored
        regular = kind in _REGULAR and not (kind == b"\0" and name.endswith("/"))
        self._next = data if kind in _WITHOUT_DATA else data + size + -size % BLOCK
        return Member(name, size, begin, data, self._next, regular)

    def read(self, member: Member) -> bytes:
        """Returns the data of a member that :meth:`next` returned last."""
        self._go(member.data)
        return self._read(member.size, f"the member {member.name!r}")

    def _header(self, at: int) -> bytes | None:
        block = self._take(BLOCK)
        if len(block) < BLOCK:
            if not block and self._part:
                return None
            what = "within a header" if block else "without the block of zeros that marks its end"
            raise _damaged(self._url, at, f"the archive ends {what}")
        if block == _END_MARK:
            self._check_rest(at)
            return None
        own = _sum(block[:148]) + 8 * 32 + _sum(block[156:256]) + _sum(block[256:])
        try:
            stored = _number(block[148:156])
        except ValueError:
            stored = -1
        # Some programs add signed bytes.
        if stored != own and (stored < 0 or stored != own - 256 * sum(byte > 127 for byte in block)):
            for magic, kind in _COMPRESSED.items() if at == 0 else ():
                if block.startswith(magic):
                    raise ValueError(f"{self._url} is compressed ({kind}): store archives uncompressed, for example .tar")
            raise _damaged(self._url, at, "expected the header of a member, but its checksum does not match")
        return block

    def _check_rest(self, mark: int) -> None:
        while rest := self._take(_REST_BYTES):
            if rest.count(0) != len(rest):
                found = self._at() - len(rest.lstrip(b"\0"))
                raise _damaged(self._url, found, f"data follows the end mark at offset {mark}")

    def _size(self, block: bytes) -> int:
        try:
            size = _number(block[124:136])
        except ValueError:
            size = -1
        if size < 0:
            raise _damaged(self._url, self._next, f"the header has an invalid size, {block[124:136]!r}")
        return size

    def _pax_size(self, text: str, at: int) -> int:
        if not (text.isdecimal() and text.isascii()) or int(text) > MAX_MEMBER_BYTES:
            raise _damaged(self._url, at, f"the pax header has an invalid size, {text[:32]!r}")
        return int(text)

    def _extension(self, size: int, at: int) -> bytes:
        if size > MAX_EXTENSION_BYTES:
            text = f"the name or pax header has {size} bytes, and at most {MAX_EXTENSION_BYTES} are supported"
            raise _damaged(self._url, at, text)
        return self._read(size, "a pax header or a long name")

    def _pax(self, data: bytes, at: int) -> Mapping[str, str]:
        try:
            records = dict(_pax_records(data))
        except ValueError:
            raise _damaged(self._url, at, "the pax header is invalid") from None
        if any(key.startswith("GNU.sparse.") for key in records):
            raise self._sparse(records.get("GNU.sparse.name", records.get("path", "")), at)
        if "path" in records:
            records["path"] = records["path"].rstrip("/")
        return records

    def _check_global(self, records: Mapping[str, str], at: int) -> None:
        for key in ("path", "size"):
            if key in records:
                raise ValueError(
                    f"{self._url} has a global pax header with the record {key!r} at offset {at}, which is not supported: write"
                    " the archive without it"
                )

    def _sparse(self, name: str, at: int) -> ValueError:
        return ValueError(
            f"{self._url} has the sparse file {name!r} at offset {at}, which is not supported: write it without --sparse"
        )

    def _name(self, block: bytes) -> str:
        name = _text(block[:100])
        return f"{_text(block[345:500])}/{name}" if block[345] and block[257:263] == b"ustar\0" else name


class Grouping(NamedTuple):
    """The rules that group members into samples, as in webdataset.

    Attributes:
        rename_files: Called with the name of each regular file; returns the name to use.
        select_files: Called with the (new) name; False leaves the file out, and its bytes are not read.
        suffixes: Keep only files with these suffixes; None: all.
        handler: Called with an exception of a file: True continues, False ends the iteration.
    """

    rename_files: Callable[[str], str] | None
    select_files: Callable[[str], bool] | None
    suffixes: frozenset[str] | None
    handler: Handler


class _Groups:
    """The rules of one archive: which sample a member belongs to."""

    def __init__(self, archive: Archive, url: str, grouping: Grouping) -> None:
        self._archive = archive
        self._url = url
        self._grouping = grouping
        self.sample: Sample | None = None  # the current one
        self.begin = self.end = 0

    def belongs(self, member: Member) -> tuple[str, str] | None:
        """Returns the key and suffix of a member; None: it belongs to no sample."""
        name, grouping = member.name, self._grouping
        if not member.regular or _META.match(name) or ("/" not in name and name.startswith("__") and name.endswith("__")):
            return None
        name = name if grouping.rename_files is None else grouping.rename_files(name)
        if grouping.select_files is not None and not grouping.select_files(name):
            return None
        found = _KEY.match(name)
        return None if found is None else (found[1], found[2].lower())

    def start(self, key: str, member: Member) -> None:
        self.sample = {"__key__": key, "__url__": self._url}
        self.begin = member.begin

    def duplicate(self, suffix: str, member: Member) -> ValueError | None:
        """Returns an error if the current sample has a file with this suffix already."""
        assert self.sample is not None
        self.end = member.end
        if suffix not in self.sample:
            return None
        return ValueError(
            f"{self._url} has two files with the suffix {suffix!r} in the sample {self.sample['__key__']!r}, the second,"
            f" {member.name!r}, at offset {member.begin}: suffixes, in lower case, must differ within a sample"
        )

    def add(self, suffix: str, member: Member) -> None:
        """Adds a member to the current sample."""
        assert self.sample is not None
        if self._grouping.suffixes is None or suffix in self._grouping.suffixes:
            self.sample[suffix] = self._archive.read(member)

    def take(self) -> tuple[Sample, int, int] | None:
        """Returns the current sample and the range of its members; None: there is none, or it is marked as bad."""
        sample, self.sample = self.sample, None
        return None if sample is None or sample.get("__bad__") else (sample, self.begin, self.end)


def read_samples(archive: Archive, url: str, grouping: Grouping) -> Iterator[tuple[Sample, int, int]]:
    """Yields the samples of an archive, each with the offsets at which its members begin and end.

    Raises:
        Stopped: The handler returned False.
        Exception: The archive cannot be read (see :meth:`Archive.next`), or the handler raised.
    """
    groups = _Groups(archive, url, grouping)
    while (member := archive.next()) is not None:
        try:
            belongs = groups.belongs(member)
        except Exception as error:
            belongs = None
            if not grouping.handler(error):
                raise Stopped from None
        if belongs is None:
            continue
        key, suffix = belongs
        if groups.sample is None or groups.sample["__key__"] != key:
            done = groups.take()
            if done is not None:
                yield done
            groups.start(key, member)
        duplicate = groups.duplicate(suffix, member)
        if duplicate is None:
            groups.add(suffix, member)
        elif not grouping.handler(duplicate):
            raise Stopped
    done = groups.take()
    if done is not None:
        yield done
