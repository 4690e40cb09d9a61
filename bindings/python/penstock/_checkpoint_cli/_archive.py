"""Inspects a file of torch.save by its zip directory and data.pkl, read by ranges. Does not read the tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._exceptions import S3InvalidArgumentError
from ..s3reader._zip_directory import entries_of, find_directory
from ..s3reader._zip_records import TAIL_BYTES, content_of
from . import _pickles
from ._dcp import Entry

if TYPE_CHECKING:
    from ._place import Place

MAX_PICKLE_BYTES = 1 << 30
# Of a compressed data.pkl. torch.save does not compress; pickles of state dicts become about ten times smaller.
MAX_UNPACKED_BYTES = 16 << 20
MAX_RATIO = 32
MAX_DEPTH = 200  # nesting levels
_ENDS = (98, TAIL_BYTES)  # bytes in which to look for the end records: of a file without a comment, and of other files


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
        data = _content_of_pickle(place, key, size, version_id)
    except ValueError as error:
        raise _not_of_torch(place, key, str(error)) from None
    try:
        state, foreign = _pickles.load_file_pickle(data)
        return entries(state), foreign
    except ValueError as error:
        raise _not_of_torch(place, key, f"its data.pkl {error}") from None


def _content_of_pickle(place: Place, key: str, size: int, version_id: str) -> bytes:
    """Reads the record data.pkl. Raises ValueError that says why it cannot be read."""

    def read(begin: int, end: int) -> bytes:
        return place.read(key, begin, end, version_id) if begin < end else b""

    tails = (read(max(0, size - end), size) for end in _ENDS)
    found = next((found for tail in tails if (found := find_directory(tail, size))), None)
    if found is None:
        raise ValueError("it is not a zip file")
    if found.end - found.start > MAX_PICKLE_BYTES:
        raise ValueError(f"its zip directory has {found.end - found.start:,} bytes")
    entries = entries_of(read(found.start, found.end))
    number = next((i for i, each in enumerate(entries) if each.name.rpartition(b"/")[2] == b"data.pkl"), None)
    if number is None:
        raise ValueError("it has no data.pkl")
    entry = entries[number]
    if max(entry.size, entry.unpacked) > MAX_PICKLE_BYTES:
        raise ValueError(f"its data.pkl has {max(entry.size, entry.unpacked):,} bytes")
    if entry.method and entry.unpacked > max(MAX_UNPACKED_BYTES, MAX_RATIO * entry.size):
        raise ValueError(
            f"its data.pkl has {entry.size:,} compressed bytes for {entry.unpacked:,}; the limit is"
            f" {MAX_UNPACKED_BYTES:,} bytes or a ratio of {MAX_RATIO}"
        )
    end = entries[number + 1].start if number + 1 < len(entries) else found.start
    return content_of(read(entry.start, min(end, entry.start + MAX_PICKLE_BYTES)), entry)


def entries(state: Any) -> list[Entry]:
    """Returns the tensors of nested dicts and lists. An entry's name is the path to the tensor, joined with dots.

    Raises:
        ValueError: They are nested too deeply.
    """
    found: list[Entry] = []
    seen: set[int] = set()

    def walk(value: Any, path: tuple[str, ...]) -> None:
        if isinstance(value, _pickles.Tensor):
            found.append(Entry(".".join(path), value.dtype, tuple(value.shape), value.size, 1))
            return
        if not isinstance(value, (dict, list, tuple)) or id(value) in seen:
            return
        if len(path) > MAX_DEPTH:
            raise ValueError(f"nests more than {MAX_DEPTH} dicts and lists")
        seen.add(id(value))  # a container may contain itself
        for name, child in value.items() if isinstance(value, dict) else enumerate(value):
            walk(child, (*path, str(name)))

    walk(state, ())
    return found
