"""Samplers: their order, shares of ranks, weights, and states that continue exactly."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import pytest
from bucket_io import put
from penstock import S3MapDataset
from penstock._listing import identity
from penstock.data import MixingSampler, S3ConcatDataset, ShardedSampler
from penstock.data._order import hashes, mix, permutation
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

SIZE = 1003


def sharded(**options):
    return ShardedSampler(SIZE, **{"seed": 3} | options)


def mixing(**options):
    return MixingSampler([10, 0, 500, 60], [1, 0, 2, 1], **{"seed": 3, "num_samples": SIZE} | options)


BOTH = pytest.mark.parametrize("make", [sharded, mixing])


def of_all_ranks(make, world_size, state=None, count=None):
    """The indices of all ranks by position."""
    ranks = [make(rank=rank, world_size=world_size) for rank in range(world_size)]
    for sampler in ranks:
        if state is not None:
            sampler.load_state_dict(state)
    rows = [list(itertools.islice(sampler, count)) for sampler in ranks]
    return list(itertools.chain(*zip(*rows, strict=True)))


def test_hashes_are_those_of_every_version():
    """The order of a training must not change with the version of Penstock."""
    assert mix(0) == 0xE220A8397B1DCDAF  # the first number of SplitMix64 for the seed 0
    assert (mix(1, 2), mix(2, 1)) == (13608149317741381227, 16171810823986729605)
    assert hashes(0, 3, 7).tolist() == hashes(0, 5, 7).tolist()[:3]
    assert permutation(8, 1, 3).tolist() == [5, 2, 0, 1, 3, 6, 4, 7]


def test_an_epoch_has_every_index_once():
    order = list(sharded())
    assert sorted(order) == list(range(SIZE))
    assert order != list(sharded(seed=4))
    assert order == list(sharded())
    sampler = sharded()
    sampler.set_epoch(1)
    assert sorted(sampler) == list(range(SIZE))
    assert list(sampler) != order
    assert list(sharded(shuffle=False)) == list(range(SIZE))
    assert list(ShardedSampler([])) == []


@BOTH
@pytest.mark.parametrize("world_size", [2, 3, 8])
def test_ranks_share_the_positions_of_one_sequence(make, world_size):
    whole = list(make())
    rows = of_all_ranks(make, world_size)
    assert rows[:SIZE] == whole
    assert len(rows) == -(-SIZE // world_size) * world_size == len(make(rank=0, world_size=world_size)) * world_size
    fewer = of_all_ranks(lambda **options: make(drop_last=True, **options), world_size)
    assert fewer == whole[: SIZE // world_size * world_size]


@BOTH
def test_a_state_continues_on_any_number_of_ranks(make):
    whole = list(make())
    for before, after, taken in ((1, 1, 0), (1, 4, 8), (4, 2, 50), (2, 3, 333), (4, 1, SIZE // 4)):
        sampler = make(rank=0, world_size=before)
        list(itertools.islice(sampler, taken))
        state = json.loads(json.dumps(sampler.state_dict()))
        assert state["position"] == taken * before
        rest = of_all_ranks(make, after, state)
        assert rest[: SIZE - taken * before] == whole[taken * before :]
        again = make(rank=0, world_size=before)
        again.load_state_dict(state)
        assert again.state_dict() == state
        list(again)
        assert list(again) == list(make(rank=0, world_size=before))  # the next epoch starts at the beginning


@BOTH
def test_chunks_do_not_change_the_sequence(make, monkeypatch):
    whole = of_all_ranks(make, 3)
    monkeypatch.setattr("penstock.data._samplers._CHUNK", 7)
    smaller = of_all_ranks(make, 3)
    assert smaller == whole


def test_weights_are_the_shares_of_the_datasets():
    sampler = MixingSampler([100, 10_000, 7], [1.5, 1.5, 3], num_samples=40_000)
    counts = Counter(0 if index < 100 else 1 if index < 10_100 else 2 for index in sampler)
    assert counts[0] == pytest.approx(10_000, rel=0.05)
    assert counts[1] == pytest.approx(10_000, rel=0.05)
    assert counts[2] == pytest.approx(20_000, rel=0.05)


def test_no_item_is_repeated_before_all_items_of_its_dataset_have_come():
    drawn = [index for index in mixing() if index < 10]
    rounds = [drawn[at : at + 10] for at in range(0, len(drawn) - 9, 10)]
    assert len(rounds) > 10
    assert all(sorted(one) == list(range(10)) for one in rounds)
    assert len({tuple(one) for one in rounds}) == len(rounds)


@BOTH
def test_states_of_other_samplers_are_refused(make):
    state = make().state_dict()
    with pytest.raises(ValueError, match="the state is of another order: seed is 3 in the state and 4 here"):
        make(seed=4).load_state_dict(state)
    with pytest.raises(ValueError, match="is not a state of a"):
        make().load_state_dict(state | {"position": -1})
    with pytest.raises(TypeError):
        make().load_state_dict(None)
    sampler = make()
    next(iter(sampler))
    with pytest.raises(ValueError, match="used must be 0 to 1"):
        sampler.state_dict(used=2)


def test_arguments_out_of_range_are_refused():
    for options, message in (
        ({"rank": 2, "world_size": 2}, "rank must be 0 to world_size - 1"),
        ({"rank": 0}, "rank and world_size belong together"),
    ):
        with pytest.raises(ValueError, match=message):
            sharded(**options)
    for sizes, weights, message in (
        ([1, 2], [1], "there are 2 datasets and 1 weights"),
        ([1, 2], [1, -1], "weights must be numbers of at least 0"),
        ([1, 2], [0, 0], "weights must be numbers of at least 0"),
        ([1, 2], [1, float("nan")], "weights must be numbers of at least 0"),
        ([1, 0], [1, 1], "the dataset 1 is empty and has the weight 1"),
    ):
        with pytest.raises(ValueError, match=message):
            MixingSampler(sizes, weights)
    with pytest.raises(ValueError, match="epoch must be 0 to"):
        sharded().set_epoch(-1)


# ---- with datasets


def number_of(reader):
    return int(reader.read())


@pytest.fixture
def datasets(emulator, client, bucket):
    """Two datasets of 30 and 12 objects, whose items are their numbers: 0 to 29, and 30 to 41."""
    for number in range(42):
        put(client, bucket, f"{'a' if number < 30 else 'b'}/{number:03}", str(number).encode())
    return [
        S3MapDataset.from_prefix(
            f"s3://{bucket}/{prefix}/",
            region="us-east-1",
            endpoint=emulator.endpoint,
            transform=number_of,
            s3client_config=emulator.config(),
        )
        for prefix in "ab"
    ]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stateful_data_loader_continues_with_the_samplers(datasets, workers):
    def loader(sampler):
        method = "fork" if workers else None
        options = {"num_workers": workers, "multiprocessing_context": method, "collate_fn": identity}
        return StatefulDataLoader(S3ConcatDataset(datasets), batch_size=5, sampler=sampler, **options)

    for sampler in (lambda: ShardedSampler(42, seed=1), lambda: MixingSampler(datasets, [1, 3], seed=1)):
        expected = list(sampler())
        first = loader(sampler())
        start = list(itertools.islice(first, 3))
        again = loader(sampler())
        again.load_state_dict(first.state_dict())
        assert list(itertools.chain(*start, *again)) == expected
        assert list(itertools.chain(*again)) == expected


def test_a_data_loader_continues_after_the_used_samples(datasets):
    sampler = ShardedSampler(datasets[0], seed=1)
    options = {"batch_size": 4, "num_workers": 2, "multiprocessing_context": "fork", "collate_fn": identity}
    loader = DataLoader(datasets[0], sampler=sampler, **options)
    start = list(itertools.islice(loader, 2))
    state = sampler.state_dict(used=8)
    assert state["position"] == 8 < sampler.state_dict()["position"]
    sampler.load_state_dict(state)
    assert list(itertools.chain(*start, *loader)) == list(ShardedSampler(30, seed=1))


def test_items_of_concatenated_datasets(datasets):
    both = S3ConcatDataset(datasets)
    assert len(both) == 42
    assert both[35] == 35
    assert both.__getitems__([41, 0, 29, 30, -1]) == [41, 0, 29, 30, 41]
    assert S3ConcatDataset([datasets[1], list(range(5)), datasets[0]]).__getitems__([13, 0, 16, 18, 11]) == [1, 30, 4, 1, 41]
    for index in (42, -43):
        with pytest.raises(IndexError, match="the datasets have 42 items"):
            both.__getitems__([index])


def test_a_batch_of_several_datasets_is_fetched_by_one_client(datasets):
    both = S3ConcatDataset(datasets)
    both.__getitems__(range(42))
    read = [dataset._get_client().metrics()["requests"].get("GetObject", 0) for dataset in datasets]
    assert read == [42, 0]
