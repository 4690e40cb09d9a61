"""A distributed checkpoint as its ``.metadata`` has it: tensors, and which bytes of which objects hold them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from .._exceptions import S3InvalidArgumentError
from . import _pickles
from ._names import METADATA
from ._place import Place

MOST_BYTES = 1 << 30  # of a .metadata; one of 100,000 tensors in 1,000 shards has about 100 MB


@dataclass(frozen=True)
class Item:
    """Bytes [offset, offset + length) of an object; `transforms`, if any, were applied to them (compression)."""

    name: str
    key: str
    offset: int
    length: int
    transforms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A tensor, or, where `shape` is None, something else that was pickled. `size` in bytes; None: not known."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    size: int | None
    chunks: int


@dataclass
class DcpCheckpoint:
    """`metadata`: keys of what was read. `empty`: keys of its objects without items, which no load needs."""

    folder: str
    entries: list[Entry] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)

    def ends(self) -> dict[str, int]:
        """By key of each object that is referred to: the bytes that it has at the least."""
        ends: dict[str, int] = {}
        for item in self.items:
            ends[item.key] = max(ends.get(item.key, 0), item.offset + item.length)
        return ends


def read(place: Place, folder: str, version_id: str = "") -> DcpCheckpoint:
    """As `read_key` the one metadata of all ranks."""
    return read_key(place, folder, folder + METADATA, version_id)


def read_key(place: Place, folder: str, key: str, version_id: str = "") -> DcpCheckpoint:
    """One request, for a metadata of a folder.

    Raises:
        S3InvalidArgumentError: it is not what torch writes, or names classes that it has no use for.
    """
    data = place.read(key, 0, MOST_BYTES + 1, version_id)
    try:
        if len(data) > MOST_BYTES:
            raise ValueError(f"is larger than {MOST_BYTES:,} bytes")
        found = _checkpoint(folder, _pickles.load_dcp_metadata(data))
    except ValueError as error:
        raise S3InvalidArgumentError(f"{place.uri(key)} {error}") from None
    found.metadata.append(key)
    return found


def read_all(place: Place, folder: str, keys: list[str]) -> DcpCheckpoint:
    """What several metadata of a folder say together: of a tensor that several ranks have, all chunks."""
    found = DcpCheckpoint(folder)
    entries: dict[tuple[Any, ...], Entry] = {}
    for key in keys:
        one = read_key(place, folder, key)
        found.items += one.items
        found.metadata += one.metadata
        found.empty += one.empty
        for entry in one.entries:
            of_all = (entry.name, entry.dtype, entry.shape)
            known = entries.get(of_all)
            entries[of_all] = entry if known is None else replace(known, chunks=known.chunks + entry.chunks)
    found.entries = list(entries.values())
    return found


def _checkpoint(folder: str, metadata: _pickles.Metadata) -> DcpCheckpoint:
    found = DcpCheckpoint(folder)
    lengths: dict[str, int] = {}
    for index, stored in _dict(metadata, "storage_data").items():
        item = _item(folder, index, stored)
        found.items.append(item)
        lengths[item.name] = lengths.get(item.name, 0) + item.length
    empty = getattr(metadata, "penstock_empty", None)  # as our writer names them
    found.empty = [folder + name for name in empty if isinstance(name, str)] if isinstance(empty, list) else []
    for name, entry in _dict(metadata, "state_dict_metadata").items():
        if isinstance(entry, _pickles.TensorEntry):
            found.entries.append(_tensor(str(name), entry))
        else:
            found.entries.append(Entry(str(name), "", None, lengths.get(str(name)), 1))
    return found


def _dict(metadata: _pickles.Metadata, name: str) -> dict[Any, Any]:
    value = getattr(metadata, name, None)
    if not isinstance(value, dict):
        raise ValueError(f"has no {name}, so it tells nothing of what was saved")
    return value


def _item(folder: str, index: Any, stored: Any) -> Item:
    path, offset, length = (getattr(stored, name, None) for name in ("relative_path", "offset", "length"))
    if not (isinstance(path, str) and path and isinstance(offset, int) and isinstance(length, int)) or min(offset, length) < 0:
        raise ValueError(f"says of an item that it is at {path!r}, {offset!r} + {length!r}, which is no place in an object")
    transforms = getattr(stored, "transform_descriptors", None) or ()
    return Item(str(getattr(index, "fqn", "")), folder + path, offset, length, tuple(str(each) for each in transforms))


def _tensor(name: str, entry: _pickles.TensorEntry) -> Entry:
    shape = getattr(entry, "size", None)
    state = getattr(getattr(entry, "properties", None), "state", None)
    dtype = str(state[0]) if isinstance(state, tuple) and state else ""
    chunks = getattr(entry, "chunks", ())
    if not isinstance(shape, tuple) or not all(isinstance(length, int) for length in shape):
        raise ValueError(f"says of {name!r} that its shape is {shape!r}")
    item = _pickles.ITEM_BYTES.get(dtype)
    return Entry(name, dtype, shape, None if item is None else prod(shape) * item, len(chunks) if isinstance(chunks, list) else 1)
