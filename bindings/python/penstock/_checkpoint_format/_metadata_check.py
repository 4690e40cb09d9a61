"""Checks whether the metadata of a distributed checkpoint can be true: chunks of tensors, and the places of items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

from .. import _core

_MAX_BYTES = 2**62  # of an object, far beyond the limit of S3; the core refuses more


class Damage(NamedTuple):
    """What is wrong with a value of the checkpoint.

    Attributes:
        is_gap: Elements of a tensor are missing. A process that saves alone may save a part of a tensor.
    """

    name: str
    what: str
    is_gap: bool = False


def metadata_damage(entries: dict[Any, Any], storage_data: dict[Any, Any] | None) -> Iterator[Damage]:
    """Yields what is wrong with metadata. Reads only attributes that those of torch have.

    Args:
        entries: The attribute `state_dict_metadata`.
        storage_data: The attribute of that name: places by name and offset.
    """
    storage_data = storage_data or {}
    places = {(key.fqn, _offset_of(key)) for key in storage_data}
    for name, entry in entries.items():
        chunks = getattr(entry, "chunks", None)
        if chunks is not None:
            yield from _tensor_damage(name, entry.size, chunks, places)
    yield from _place_damage(storage_data)


def range_damage(name: str, path: Any, offset: Any, length: Any) -> Damage:
    """Returns the damage of an item whose bytes no file can have."""
    return Damage(name, f"has {length} bytes from byte {offset} of {path!r}, but items are within bytes 0 to {_MAX_BYTES} (2^62)")


def _offset_of(index: Any) -> tuple[int, ...] | None:
    offset = getattr(index, "offset", None)  # torch does not pickle None
    return None if offset is None else tuple(offset)


def _tensor_damage(name: str, size: Any, chunks: Any, places: set[Any]) -> Iterator[Damage]:
    if len(chunks) == 1 and chunks[0].sizes == size and not any(chunks[0].offsets) and (name, (0,) * len(size)) in places:
        return  # most tensors
    boxes: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for chunk in chunks:
        offsets, sizes = tuple(chunk.offsets), tuple(chunk.sizes)
        if not _is_within(offsets, sizes, size):
            yield Damage(name, f"has the chunk {list(sizes)} at {list(offsets)}, but the size {list(size)}")
            return
        if 0 not in sizes:
            boxes.append((offsets, sizes))
        if (name, offsets) not in places and not (len(chunks) == 1 and (name, None) in places):
            yield Damage(name, f"has no place for its chunk at {list(offsets)}")
    if len(boxes) > 1 and _core.boxes_overlap(boxes):
        yield Damage(name, "has chunks that overlap")
        return
    found, wanted = sum(prod(sizes) for _, sizes in boxes), prod(size)
    if found != wanted:
        what = f"has the size {list(size)}, which are {wanted:,} elements, but its chunks have {found:,}"
        yield Damage(name, what, is_gap=True)


def _is_within(offsets: tuple[int, ...], sizes: tuple[int, ...], outer: Any) -> bool:
    if not len(offsets) == len(sizes) == len(outer):
        return False
    return all(at >= 0 and length >= 0 and at + length <= end for at, length, end in zip(offsets, sizes, outer, strict=True))


def _place_damage(storage_data: dict[Any, Any]) -> Iterator[Damage]:
    """Yields items that no file can have, and items that share bytes of a file: one has the place of another."""
    files: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for key, place in storage_data.items():
        if not 0 <= place.offset <= place.offset + place.length <= _MAX_BYTES:
            yield range_damage(key.fqn, place.relative_path, place.offset, place.length)
            continue
        files[place.relative_path].append((place.offset, place.length, key.fqn))
    for path, items in files.items():
        items.sort()
        end, before = 0, ""
        for offset, length, name in items:
            if length and offset < end:
                yield Damage(name, f"is at bytes {offset} to {offset + length} of {path!r}, and {before!r} ends at byte {end}")
                break
            if length:
                end, before = offset + length, name
