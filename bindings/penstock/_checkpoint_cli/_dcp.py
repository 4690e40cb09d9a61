"""A distributed checkpoint as its ``.metadata`` has it: tensors, and which bytes of which objects hold them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

from .._exceptions import S3InvalidArgumentError
from . import _pickles
from ._place import METADATA, Place

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
    folder: str
    entries: list[Entry] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)

    def ends(self) -> dict[str, int]:
        """By key of each object that is referred to: the bytes that it has at the least."""
        ends: dict[str, int] = {}
        for item in self.items:
            ends[item.key] = max(ends.get(item.key, 0), item.offset + item.length)
        return ends


def read(place: Place, folder: str, version_id: str = "") -> DcpCheckpoint:
    """One request, for the metadata.

    Raises:
        S3InvalidArgumentError: it is not what torch writes, or names classes that it has no use for.
    """
    key = folder + METADATA
    data = place.read(key, 0, MOST_BYTES + 1, version_id)
    try:
        if len(data) > MOST_BYTES:
            raise ValueError(f"is larger than {MOST_BYTES:,} bytes")
        return _checkpoint(folder, _pickles.load_dcp_metadata(data))
    except ValueError as error:
        raise S3InvalidArgumentError(f"{place.uri(key)} {error}") from None


def _checkpoint(folder: str, metadata: _pickles.Metadata) -> DcpCheckpoint:
    found = DcpCheckpoint(folder)
    lengths: dict[str, int] = {}
    for index, stored in _dict(metadata, "storage_data").items():
        item = _item(folder, index, stored)
        found.items.append(item)
        lengths[item.name] = lengths.get(item.name, 0) + item.length
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
