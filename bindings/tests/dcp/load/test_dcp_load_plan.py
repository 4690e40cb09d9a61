"""Load plans that are exchanged between ranks: their pickles are small, and changes of a planner are kept."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest
import torch
from penstock.dcp._load_plan import CompactLoadPlan
from torch.distributed.checkpoint.metadata import MetadataIndex
from torch.distributed.checkpoint.planner import LoadItemType, LoadPlan, ReadItem


@dataclasses.dataclass(frozen=True)
class OwnItem(ReadItem):
    """An item of a custom planner."""

    weight: int = 0


def items_of(count: int) -> list[ReadItem]:
    def item(number: int) -> ReadItem:
        offset = torch.Size([number, 0])
        return ReadItem(
            type=LoadItemType.TENSOR if number % 3 else LoadItemType.BYTE_IO,
            dest_index=MetadataIndex(f"layer.{number}.weight", offset if number % 2 else None, number if number % 5 else None),
            dest_offsets=torch.Size([0, number]),
            storage_index=MetadataIndex(f"stored.{number}", offset),
            storage_offsets=torch.Size([number] * (number % 4)),
            lengths=torch.Size([1 << 40, number]),
        )

    return [item(number) for number in range(count)]


def round_trip(plan: LoadPlan) -> LoadPlan:
    arrived: LoadPlan = pickle.loads(pickle.dumps(plan))
    return arrived


@pytest.mark.parametrize("count", [0, 1, 100])
def test_pickling_preserves_a_plan(count):
    plan = CompactLoadPlan(items_of(count), {"a": 1}, "planner's")
    for arrived in (round_trip(plan), round_trip(round_trip(plan)), copy.deepcopy(plan)):
        assert (arrived.items, arrived.storage_data, arrived.planner_data) == (plan.items, {"a": 1}, "planner's")
        assert all(type(item.lengths) is torch.Size and type(item.type) is LoadItemType for item in arrived.items)
        assert all(item.storage_index.offset is None or type(item.storage_index.offset) is torch.Size for item in arrived.items)


def test_pickle_is_small_and_is_not_unpacked_if_returned_unchanged():
    plan = CompactLoadPlan(items_of(5000))
    pickled = pickle.dumps(plan)
    assert len(pickled) < len(pickle.dumps(LoadPlan(plan.items))) / 2
    at_the_coordinator = pickle.loads(pickled)
    back = round_trip(at_the_coordinator)
    assert isinstance(back, CompactLoadPlan)
    assert all(mine is sent for mine, sent in zip(back.items_sent_as(plan), plan.items, strict=True))
    assert at_the_coordinator._packed is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda plan: plan.items.pop(),
        lambda plan: plan.items.append(plan.items[0]),
        lambda plan: setattr(plan, "items", plan.items[1:]),
    ],
)
def test_changes_of_the_coordinator_are_kept(change):
    plan = CompactLoadPlan(items_of(10))
    at_the_coordinator = round_trip(plan)
    change(at_the_coordinator)
    back = round_trip(at_the_coordinator)
    assert isinstance(back, CompactLoadPlan)
    assert back.items_sent_as(plan) == at_the_coordinator.items != plan.items


def test_a_different_plan_keeps_its_own_items():
    plan, other = CompactLoadPlan(items_of(3)), CompactLoadPlan(items_of(4))
    arrived = round_trip(other)
    assert isinstance(arrived, CompactLoadPlan)
    pickle.dumps(plan)
    for sent in (plan, None, LoadPlan(items_of(3)), CompactLoadPlan(items_of(4))):  # the last one was never pickled
        assert arrived.items_sent_as(sent) == items_of(4)


def test_later_changes_of_the_sent_plan_are_ignored():
    plan = CompactLoadPlan(items_of(3))
    back = round_trip(round_trip(plan))
    plan.items.clear()
    assert isinstance(back, CompactLoadPlan)
    assert back.items_sent_as(plan) == items_of(3)


def test_planner_may_replace_the_items():
    plan = round_trip(CompactLoadPlan(items_of(4)))
    fewer = dataclasses.replace(plan, items=plan.items[:2])
    assert round_trip(fewer).items == items_of(4)[:2]


def test_items_of_a_subclass_keep_their_class():
    own = [OwnItem(**vars(item), weight=7) for item in items_of(2)]
    arrived = round_trip(CompactLoadPlan(own))
    assert type(arrived) is LoadPlan
    assert arrived.items == own
