"""Load plans between ranks: small on their way, and whatever a planner makes of them is what is read."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest
import torch
from penstock.dcp._load_plan import TravellingPlan
from torch.distributed.checkpoint.metadata import MetadataIndex
from torch.distributed.checkpoint.planner import LoadItemType, LoadPlan, ReadItem


@dataclasses.dataclass(frozen=True)
class OwnItem(ReadItem):
    """As a planner of somebody's own may have them."""

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


def travelled(plan: LoadPlan) -> LoadPlan:
    arrived: LoadPlan = pickle.loads(pickle.dumps(plan))
    return arrived


@pytest.mark.parametrize("count", [0, 1, 100])
def test_it_arrives_as_it_was(count):
    plan = TravellingPlan(items_of(count), {"a": 1}, "planner's")
    for arrived in (travelled(plan), travelled(travelled(plan)), copy.deepcopy(plan)):
        assert (arrived.items, arrived.storage_data, arrived.planner_data) == (plan.items, {"a": 1}, "planner's")
        assert all(type(item.lengths) is torch.Size and type(item.type) is LoadItemType for item in arrived.items)
        assert all(item.storage_index.offset is None or type(item.storage_index.offset) is torch.Size for item in arrived.items)


def test_it_is_small_and_comes_back_without_being_unpacked():
    plan = TravellingPlan(items_of(5000))
    on_the_way = pickle.dumps(plan)
    assert len(on_the_way) < len(pickle.dumps(LoadPlan(plan.items))) / 2
    at_the_coordinator = pickle.loads(on_the_way)
    back = travelled(at_the_coordinator)
    assert isinstance(back, TravellingPlan)
    assert all(mine is sent for mine, sent in zip(back.items_at_home(plan), plan.items, strict=True))
    assert at_the_coordinator._packed is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda plan: plan.items.pop(),
        lambda plan: plan.items.append(plan.items[0]),
        lambda plan: setattr(plan, "items", plan.items[1:]),
    ],
)
def test_what_a_planner_changes_on_the_way_is_what_arrives(change):
    plan = TravellingPlan(items_of(10))
    at_the_coordinator = travelled(plan)
    change(at_the_coordinator)
    back = travelled(at_the_coordinator)
    assert isinstance(back, TravellingPlan)
    assert back.items_at_home(plan) == at_the_coordinator.items != plan.items


def test_another_plan_than_the_one_that_went_out_is_itself():
    plan, other = TravellingPlan(items_of(3)), TravellingPlan(items_of(4))
    arrived = travelled(other)
    assert isinstance(arrived, TravellingPlan)
    pickle.dumps(plan)
    for sent in (plan, None, LoadPlan(items_of(3)), TravellingPlan(items_of(4))):  # the last never went out
        assert arrived.items_at_home(sent) == items_of(4)


def test_what_happens_to_the_list_at_home_meanwhile_does_not_count():
    plan = TravellingPlan(items_of(3))
    back = travelled(travelled(plan))
    plan.items.clear()
    assert isinstance(back, TravellingPlan)
    assert back.items_at_home(plan) == items_of(3)


def test_a_planner_may_replace_it():
    plan = travelled(TravellingPlan(items_of(4)))
    fewer = dataclasses.replace(plan, items=plan.items[:2])
    assert travelled(fewer).items == items_of(4)[:2]


def test_items_of_somebodys_own_class_keep_it():
    own = [OwnItem(**vars(item), weight=7) for item in items_of(2)]
    arrived = travelled(TravellingPlan(own))
    assert type(arrived) is LoadPlan
    assert arrived.items == own
