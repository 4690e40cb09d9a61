"""A load plan with a compact pickle, for the exchange between ranks and coordinator."""

from __future__ import annotations

import pickle
from typing import Any

import torch
from torch.distributed.checkpoint.metadata import MetadataIndex
from torch.distributed.checkpoint.planner import LoadItemType, LoadPlan, ReadItem


class CompactLoadPlan(LoadPlan):
    """A :class:`LoadPlan` with a small pickle whose items are unpacked on first access.

    torch gathers the plans of all ranks on the coordinator, whose planner usually returns them unchanged. The coordinator then
    unpacks no items. A rank compares the returned plan with the one that it sent, and reuses its own items if they are equal.
    """

    def __init__(self, items: list[ReadItem], storage_data: Any = None, planner_data: Any = None) -> None:
        self._packed: bytes | None = None
        self._sent: tuple[bytes, list[ReadItem]] | None = None
        super().__init__(items, storage_data, planner_data)

    @property
    def items(self) -> list[ReadItem]:
        if self._packed is not None:
            self._items, self._packed = _unpack(self._packed), None  # the caller may change the list
        return self._items

    @items.setter
    def items(self, items: list[ReadItem]) -> None:
        self._items = items
        self._packed = None

    def items_sent_as(self, sent: LoadPlan | None) -> list[ReadItem]:
        """Returns the items. If the plan `sent` was returned unchanged, these are the items that `sent` was pickled with."""
        if self._packed is not None and isinstance(sent, CompactLoadPlan) and sent._sent and sent._sent[0] == self._packed:
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


def _packed_plan(packed: bytes, storage_data: Any, planner_data: Any) -> CompactLoadPlan:
    plan = CompactLoadPlan([], storage_data, planner_data)
    plan._packed = packed
    return plan


def _columns(indices: list[MetadataIndex]) -> tuple[list[str], list[tuple[int, ...] | None], list[int | None]]:
    return (
        [index.fqn for index in indices],
        [None if index.offset is None else tuple(index.offset) for index in indices],
        [index.index for index in indices],
    )


def _pack(items: list[ReadItem]) -> bytes | None:
    """Packs items by columns. Returns None if there are items of subclasses."""
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
