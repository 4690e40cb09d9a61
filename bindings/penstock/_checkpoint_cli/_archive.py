"""Inspects a file of torch.save by its zip directory and data.pkl, read by ranges. Does not read the tensors."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

from .._exceptions import S3InvalidArgumentError
from . import _pickles
from ._dcp import Entry

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ._place import Place

MAX_PICKLE_BYTES = 1 << 30
_TAIL = 98  # bytes of a zip file's end records, including those of zip64


class RangeFile(io.RawIOBase):
    """Bytes [begin, begin + size) of an object as a file object. Each read sends a request, unless its bytes are buffered."""

    def __init__(self, place: Place, key: str, begin: int, size: int, *, version_id: str = "") -> None:
        super().__init__()
        self._place = place
        self._key = key
        self._begin = begin
        self._size = size
        self._version_id = version_id
        self._at = 0
        self._kept = b""
        self._kept_at = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer).cast("B")
        count = min(len(view), max(0, self._size - self._at))
        if count == 0:
            return 0
        if not (self._kept_at <= self._at and self._at + count <= self._kept_at + len(self._kept)):
            self._fetch(count)
        start = self._at - self._kept_at
        piece = self._kept[start : start + count]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _fetch(self, count: int) -> None:
        start = self._at
        if start >= self._size - _TAIL:  # zipfile reads the end records one by one: fetch them together
            start, count = max(0, self._size - _TAIL), _TAIL
        end = min(self._size, start + count)
        self._kept = self._place.read(self._key, self._begin + start, self._begin + end, self._version_id)
        self._kept_at = start


def _not_of_torch(place: Place, key: str, why: str) -> S3InvalidArgumentError:
    return S3InvalidArgumentError(
        f"cannot inspect {place.uri(key)} as a file of torch.save: {why};"
        " a file in the format before torch 1.6 (_use_new_zipfile_serialization=False) must be loaded and saved again"
    )


def inspect(place: Place, key: str, size: int, version_id: str = "") -> tuple[list[Entry], list[str]]:
    """Returns the tensors of a file, and the classes that torch.load(weights_only=True) might reject.

    Raises:
        S3InvalidArgumentError: The object is not a zip file of torch.save.
    """
    try:
        with zipfile.ZipFile(RangeFile(place, key, 0, size, version_id=version_id)) as archive:
            record = next((each for each in archive.infolist() if each.filename.rpartition("/")[2] == "data.pkl"), None)
            if record is None:
                raise _not_of_torch(place, key, "it has no data.pkl")
            if record.file_size > MAX_PICKLE_BYTES:
                raise _not_of_torch(place, key, f"its data.pkl has {record.file_size:,} bytes")
            data = archive.read(record)
    except zipfile.BadZipFile as error:
        raise _not_of_torch(place, key, str(error)) from None
    try:
        state, foreign = _pickles.load_file_pickle(data)
    except ValueError as error:
        raise _not_of_torch(place, key, f"its data.pkl {error}") from None
    return entries(state), foreign


def entries(state: Any) -> list[Entry]:
    """Returns the tensors of nested dicts and lists. An entry's name is the path to the tensor, joined with dots."""
    found: list[Entry] = []
    seen: set[int] = set()

    def walk(value: Any, path: tuple[str, ...]) -> None:
        if isinstance(value, _pickles.Tensor):
            found.append(Entry(".".join(path), value.dtype, tuple(value.shape), value.size, 1))
            return
        if not isinstance(value, (dict, list, tuple)) or id(value) in seen:
            return
        seen.add(id(value))  # a container may contain itself
        for name, child in value.items() if isinstance(value, dict) else enumerate(value):
            walk(child, (*path, str(name)))

    walk(state, ())
    return found
