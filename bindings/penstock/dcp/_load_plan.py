"""A rank's load plan as it travels to the coordinator and back."""

from __future__ import annotations

import pickle
from typing import Any

import torch
from torch.distributed.checkpoint.metadata import MetadataIndex
from torch.distributed.checkpoint.planner import LoadItemType, LoadPlan, ReadItem


class TravellingPlan(LoadPlan):
    """A :class:`LoadPlan` whose pickle is small, and is unpacked by whoever asks for its items.

    torch gathers every rank's plan on one of them, and its planner sends them back as they came: of a plan that nobody looks
    into there neither item is made. What comes home is compared with what went out, and not unpacked either.
    """

    def __init__(self, items: list[ReadItem], storage_data: Any = None, planner_data: Any = None) -> None:
        self._packed: bytes | None = None
        self._sent: tuple[bytes, list[ReadItem]] | None = None
        super().__init__(items, storage_data, planner_data)

    @property
    def items(self) -> list[ReadItem]:
        if self._packed is not None:
            self._items, self._packed = _unpack(self._packed), None  # the list may be changed from now on
        return self._items

    @items.setter
    def items(self, items: list[ReadItem]) -> None:
        self._items = items
        self._packed = None

    def items_at_home(self, sent: LoadPlan | None) -> list[ReadItem]:
        """Its items: those of `sent` as it went out, where it came back with the same."""
        if self._packed is not None and isinstance(sent, TravellingPlan) and sent._sent and sent._sent[0] == self._packed:
            return sent._sent[1]
        return self.items

    def __reduce__(self) -> tuple[Any, ...]:
        packed = self._packed
        if packed is None:
            packed = _pack(self._items)
            if packed is None:
                return LoadPlan, (self._items, self.storage_data, self.planner_data)
            self._sent = packed, list(self._items)
        return _packed_plan, (packed, self.storage_data, self.planner_data)


def _packed_plan(packed: bytes, storage_data: Any, planner_data: Any) -> TravellingPlan:
    plan = TravellingPlan([], storage_data, planner_data)
    plan._packed = packed
    return plan


def _columns(indices: list[MetadataIndex]) -> tuple[list[str], list[tuple[int, ...] | None], list[int | None]]:
    return (
        [index.fqn for index in indices],
        [None if index.offset is None else tuple(index.offset) for index in indices],
        [index.index for index in indices],
    )


def _pack(items: list[ReadItem]) -> bytes | None:
    """None: there are items of classes of somebody's own."""
    kinds = {*map(type, items)} | {type(index) for item in items for index in (item.dest_index, item.storage_index)}
    if not kinds <= {ReadItem, MetadataIndex}:
        return None
    columns = (
        bytes(item.type.value for item in items),
        _columns([item.dest_index for item in items]),
        [tuple(item.dest_offsets) for item in items],
        _columns([item.storage_index for item in items]),
        [tuple(item.storage_offsets) for item in items],
        [tuple(item.lengths) for item in items],
    )
    return pickle.dumps(columns, pickle.HIGHEST_PROTOCOL)


def _indices(fqns: list[str], offsets: list[tuple[int, ...] | None], numbers: list[int | None]) -> list[MetadataIndex]:
    return [
        MetadataIndex(fqn, None if offset is None else torch.Size(offset), number)
        for fqn, offset, number in zip(fqns, offsets, numbers, strict=True)
    ]


def _unpack(packed: bytes) -> list[ReadItem]:
    types, destinations, dest_offsets, sources, storage_offsets, lengths = pickle.loads(packed)
    kinds = {kind.value: kind for kind in LoadItemType}
    size = torch.Size
    return [
        ReadItem(kinds[kind], dest, size(dest_offset), source, size(storage_offset), size(length))
        for kind, dest, dest_offset, source, storage_offset, length in zip(
            types, _indices(*destinations), dest_offsets, _indices(*sources), storage_offsets, lengths, strict=True
        )
    ]
