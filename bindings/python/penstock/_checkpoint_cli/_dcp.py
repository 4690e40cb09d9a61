"""Reads the ``.metadata`` of a distributed checkpoint: its tensors, and the objects and byte ranges that contain them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from .._checkpoint_format._metadata_check import metadata_damage, range_damage
from .._checkpoint_format._pieces import CRC32S, piece_bytes
from .._exceptions import S3InvalidArgumentError
from . import _pickles
from ._names import METADATA
from ._place import Place

MAX_BYTES = 1 << 30  # size limit of a .metadata; with 100,000 tensors in 1,000 shards it has about 100 MB


@dataclass(frozen=True)
class Item:
    """Bytes [offset, offset + length) of an object.

    Attributes:
        transforms: The encodings of extensions, such as compression.
        crc32s: CRC-32s of the pieces of its tensor, in the format of `.metadata`; empty: there are none.
        tensor_bytes: Size of its tensor.
        piece_bytes: Size of the pieces; the last one may be smaller.
    """

    name: str
    key: str
    offset: int
    length: int
    transforms: tuple[str, ...] = ()
    crc32s: bytes = b""
    tensor_bytes: int = 0
    piece_bytes: int = 0


@dataclass(frozen=True)
class Entry:
    """A tensor, or another pickled object if `shape` is None. `size` is in bytes; None: unknown."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    size: int | None
    chunks: int


@dataclass
class DcpCheckpoint:
    """The content of one or several metadata objects of a folder.

    Attributes:
        folder: Key of the folder, with a trailing slash.
        entries: The tensors and other values.
        items: The byte ranges that contain them.
        metadata: Keys of the metadata objects that were read.
        empty: Keys of the checkpoint's objects without items, which no load needs.
        damage: What is wrong with metadata objects, by key.
    """

    folder: str
    entries: list[Entry] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    damage: dict[str, list[str]] = field(default_factory=dict)

    def ends(self) -> dict[str, int]:
        """Returns the minimum size in bytes of each object that the checkpoint refers to, by key."""
        ends: dict[str, int] = {}
        for item in self.items:
            ends[item.key] = max(ends.get(item.key, 0), item.offset + item.length)
        return ends


def read(place: Place, folder: str, version_id: str = "") -> DcpCheckpoint:
    """Reads the ``.metadata`` of a folder; see `read_key`."""
    return read_key(place, folder, folder + METADATA, version_id)


def read_key(place: Place, folder: str, key: str, version_id: str = "") -> DcpCheckpoint:
    """Reads one metadata object of a folder, by one request.

    Raises:
        S3InvalidArgumentError: The object is not metadata that torch writes, or refers to unexpected classes.
    """
    data = place.read(key, 0, MAX_BYTES + 1, version_id)
    try:
        if len(data) > MAX_BYTES:
            raise ValueError(f"is larger than {MAX_BYTES:,} bytes")
        metadata = _pickles.load_dcp_metadata(data)
        found = _checkpoint(folder, metadata)
    except ValueError as error:
        raise S3InvalidArgumentError(f"{place.uri(key)} {error}") from None
    found.metadata.append(key)
    found.damage[key] = _damage(metadata, is_whole=key == folder + METADATA)
    return found


def _damage(metadata: _pickles.Metadata, is_whole: bool) -> list[str]:
    """Returns what is wrong with metadata. `is_whole`: it describes all chunks, not those of one rank."""
    try:
        found = list(metadata_damage(_dict(metadata, "state_dict_metadata"), _dict(metadata, "storage_data")))
    except (AttributeError, TypeError) as error:
        return [f"it cannot be read ({error})"]
    return [f"{each.name!r} {each.what}" for each in found if is_whole or not each.is_gap]


def read_all(place: Place, folder: str, keys: list[str]) -> DcpCheckpoint:
    """Reads several metadata objects of a folder, and merges the chunks of tensors that several ranks have."""
    found = DcpCheckpoint(folder)
    entries: dict[tuple[Any, ...], Entry] = {}
    for key in keys:
        one = read_key(place, folder, key)
        found.items += one.items
        found.metadata += one.metadata
        found.empty += one.empty
        found.damage |= one.damage
        for entry in one.entries:
            of_all = (entry.name, entry.dtype, entry.shape)
            known = entries.get(of_all)
            entries[of_all] = entry if known is None else replace(known, chunks=known.chunks + entry.chunks)
    found.entries = list(entries.values())
    return found


def _checkpoint(folder: str, metadata: _pickles.Metadata) -> DcpCheckpoint:
    found = DcpCheckpoint(folder)
    lengths: dict[str, int] = {}
    storage = _dict(metadata, "storage_data")
    chunks = _chunks(metadata) if any(hasattr(stored, CRC32S) for stored in storage.values()) else {}
    for index, stored in storage.items():
        item = _with_pieces(
            _item(folder, index, stored), stored, chunks.get(_place(getattr(index, "fqn", ""), getattr(index, "offset", None)))
        )
        found.items.append(item)
        lengths[item.name] = lengths.get(item.name, 0) + item.length
    empty = getattr(metadata, "penstock_empty", None)  # set by S3StorageWriter
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
        raise ValueError(f"has no {name}: it does not describe a checkpoint")
    return value


def _item(folder: str, index: Any, stored: Any) -> Item:
    item = str(getattr(index, "fqn", ""))
    path, offset, length = (getattr(stored, name, None) for name in ("relative_path", "offset", "length"))
    if not (isinstance(path, str) and path and isinstance(offset, int) and isinstance(length, int)) or min(offset, length) < 0:
        damage = range_damage(item, path, offset, length)
        raise ValueError(f"is invalid: {damage.name!r} {damage.what}; load another checkpoint")
    transforms = getattr(stored, "transform_descriptors", None) or ()
    return Item(item, folder + path, offset, length, tuple(str(each) for each in transforms))


def _place(name: Any, offsets: Any) -> tuple[str, tuple[Any, ...]]:
    return str(name), tuple(offsets) if isinstance(offsets, tuple) else ()


def _chunks(metadata: _pickles.Metadata) -> dict[tuple[str, tuple[Any, ...]], tuple[tuple[int, ...], int]]:
    """Returns the sizes of each chunk of tensors and the bytes of an element, by name and offsets. Leaves out invalid ones."""
    found = {}
    for name, entry in _dict(metadata, "state_dict_metadata").items():
        chunks = getattr(entry, "chunks", None)
        if not isinstance(entry, _pickles.TensorEntry) or not isinstance(chunks, list):
            continue
        item = _pickles.ITEM_BYTES.get(_dtype(entry))
        for chunk in chunks:
            sizes = getattr(chunk, "sizes", None)
            if item is not None and isinstance(sizes, tuple) and all(isinstance(size, int) and size >= 0 for size in sizes):
                found[_place(name, getattr(chunk, "offsets", None))] = (sizes, item)
    return found


def _with_pieces(item: Item, stored: Any, chunk: tuple[tuple[int, ...], int] | None) -> Item:
    crc32s = getattr(stored, CRC32S, b"")
    if chunk is None or not crc32s or not isinstance(crc32s, bytes):
        return item
    sizes, itemsize = chunk
    return replace(item, crc32s=crc32s, tensor_bytes=prod(sizes) * itemsize, piece_bytes=piece_bytes(sizes, itemsize))


def _dtype(entry: _pickles.TensorEntry) -> str:
    """Returns the name of the dtype in torch; empty: unknown."""
    state = getattr(getattr(entry, "properties", None), "state", None)
    return str(state[0]) if isinstance(state, tuple) and state else ""


def _tensor(name: str, entry: _pickles.TensorEntry) -> Entry:
    shape = getattr(entry, "size", None)
    dtype = _dtype(entry)
    chunks = getattr(entry, "chunks", ())
    if not isinstance(shape, tuple) or not all(isinstance(length, int) for length in shape):
        raise ValueError(f"has an invalid shape for {name!r}: {shape!r}")
    item = _pickles.ITEM_BYTES.get(dtype)
    return Entry(name, dtype, shape, None if item is None else prod(shape) * item, len(chunks) if isinstance(chunks, list) else 1)
