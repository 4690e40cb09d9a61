"""Iterations that stop and resume, as torchdata's StatefulDataLoader does it."""

from __future__ import annotations

import json

import penstock
import pytest
from bucket_io import put
from penstock import S3IterableDataset
from penstock._listing import identity
from torch.utils.data import DataLoader, get_worker_info

COUNT = 23


def read_number(reader):
    return int(reader.read())


@pytest.fixture
def make(emulator, client, bucket):
    for i in range(COUNT):
        put(client, bucket, f"data/{i:03}", str(i).encode())

    def build(**options):
        return S3IterableDataset.from_prefix(
            f"s3://{bucket}/data/", region="us-east-1", endpoint=emulator.endpoint, transform=read_number,
            s3client_config=emulator.config(), **options,
        )  # fmt: skip

    return build


def resumed(dataset, state):
    """Dataset first, then its new iterator: the order of StatefulDataLoader's workers."""
    state = json.loads(json.dumps(state))  # a state can be serialised
    dataset.load_state_dict(state["dataset"])
    iterator = iter(dataset)
    iterator.load_state_dict(state["iterator"])
    return iterator


@pytest.mark.parametrize("taken", [0, 1, 10, COUNT])
def test_a_resumed_iteration_yields_the_remaining_items(make, taken):
    dataset = make()
    iterator = iter(dataset)
    assert [next(iterator) for _ in range(taken)] == list(range(taken))
    state = {"dataset": dataset.state_dict(), "iterator": iterator.state_dict()}
    assert list(iterator) == list(range(taken, COUNT))  # state_dict() has no effect on the iteration
    again = make()
    assert list(resumed(again, state)) == list(range(taken, COUNT))
    assert list(again) == list(range(COUNT))  # the next epoch starts over


@pytest.mark.parametrize("whose", ["dataset", "iterator"])
def test_either_state_alone_is_enough(make, whose):
    dataset = make()
    iterator = iter(dataset)
    for _ in range(5):
        next(iterator)
    again = make()
    if whose == "dataset":
        again.load_state_dict(dataset.state_dict())
        resumed_iterator = iter(again)
    else:
        resumed_iterator = iter(again)
        next(resumed_iterator)  # a started iterator can load a state too
        resumed_iterator.load_state_dict(iterator.state_dict())
    assert list(resumed_iterator) == list(range(5, COUNT))


def test_prefetched_objects_do_not_count_as_yielded(make):
    dataset = make()
    assert next(iter(dataset)) == 0  # now all other objects are being prefetched
    assert dataset.state_dict() == {"yielded": 1, "world_size": 1, "num_workers": 1}


def test_a_state_outlives_several_interruptions(make):
    seen, state = [], None
    while len(seen) < COUNT:
        dataset = make()
        if state is not None:
            dataset.load_state_dict(state)
            assert dataset.state_dict() == state  # before the first item too
        seen += [item for item, _ in zip(iter(dataset), range(4), strict=False)]
        state = {**dataset.state_dict(), "yielded": len(seen)}
    assert seen == list(range(COUNT))


class Reporting(S3IterableDataset):
    """Yields each item with its worker and the worker's state after it, as StatefulDataLoader collects them."""

    resume_from = None

    def __iter__(self):
        worker = get_worker_info().id
        if self.resume_from is not None:
            self.load_state_dict(self.resume_from[worker])
        inner = super().__iter__()
        return ((worker, item, self.state_dict()) for item in inner)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_each_worker_resumes_its_own_share(emulator, make, method):
    base = make(enable_sharding=True)
    dataset = Reporting(
        "us-east-1", base._get_dataset_objects, emulator.endpoint, read_number, emulator.config(), enable_sharding=True
    )
    first, states = [], {}
    loader = DataLoader(dataset, batch_size=None, num_workers=2, collate_fn=identity, multiprocessing_context=method)
    for (worker, item, state), _ in zip(loader, range(9), strict=False):
        first.append(item)
        states[worker] = state
    dataset.resume_from = states
    loader = DataLoader(dataset, batch_size=None, num_workers=2, collate_fn=identity, multiprocessing_context=method)
    rest = [item for _, item, _ in loader]
    assert sorted(first + rest) == list(range(COUNT))


def test_a_state_of_another_sharding_is_rejected(make):
    dataset = make(enable_sharding=True)
    with pytest.raises(ValueError, match="saved with 4 ranks of 2 workers, but this iteration has 1 of 1"):
        iter(dataset).load_state_dict({"yielded": 3, "world_size": 4, "num_workers": 2})
    flag = {"yielded": 3, "world_size": True, "num_workers": 1}  # equal to 1 in Python
    for wrong in ({}, {"yielded": "x", "world_size": 1, "num_workers": 1}, flag, None):
        with pytest.raises(ValueError, match="is not a state of an S3IterableDataset"):
            iter(dataset).load_state_dict(wrong)
    with pytest.raises(ValueError, match="yielded in the state must be 0 or more, not -1"):
        iter(dataset).load_state_dict({"yielded": -1, "world_size": 1, "num_workers": 1})


def test_the_rank_is_taken_when_iteration_starts(make, monkeypatch):
    """The dataset is created before the process group. With s3torchconnector, every rank would get all objects."""
    dataset = make(enable_sharding=True)
    monkeypatch.setattr("torch.distributed.is_initialized", lambda: True)
    monkeypatch.setattr("torch.distributed.get_world_size", lambda: 3)
    seen = []
    for rank in range(3):
        monkeypatch.setattr("torch.distributed.get_rank", lambda rank=rank: rank)
        seen.append(list(dataset))
    assert seen == [list(range(rank, COUNT, 3)) for rank in range(3)]


def test_two_iterations_at_once_do_not_disturb_each_other(make):
    dataset = make()
    assert list(zip(dataset, dataset, strict=True)) == [(i, i) for i in range(COUNT)]


def test_an_object_whose_transform_failed_counts_as_yielded(make, client, bucket):
    put(client, bucket, "data/001", b"not a number")
    iterator = iter(make())
    assert next(iterator) == 0
    with pytest.raises(ValueError, match="invalid literal"):
        next(iterator)
    assert iterator.state_dict()["yielded"] == 2
    assert next(iterator) == 2


def test_nothing_is_requested_before_the_first_item(emulator):
    dataset = S3IterableDataset.from_prefix(
        "s3://no-such-bucket-yet/", region="us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config()
    )
    iterator = iter(dataset)
    with pytest.raises(penstock.S3NotFoundError):
        next(iterator)
