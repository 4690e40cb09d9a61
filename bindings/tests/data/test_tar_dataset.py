"""S3TarDataset: the samples of tar shards, their order, and states that continue exactly."""

from __future__ import annotations

import itertools
import json
import pickle

import penstock
import pytest
from bucket_io import put
from penstock._listing import identity
from penstock.data import S3TarDataset, merge_states
from tar_shards import Shards, key_of, make_tar, put_shards, sample_files
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

COUNTS = [7, 11, 3, 9, 8, 12, 5, 6]
MIXED = {"shuffle_shards": True, "shuffle_buffer": 10, "seed": 5}


@pytest.fixture
def shards(emulator, client, bucket):
    return Shards(emulator, bucket, put_shards(client, bucket, COUNTS))


def take(iterator, count):
    return list(itertools.islice(iterator, count))


def test_samples_come_in_the_order_of_the_shards(shards):
    dataset = shards.dataset(decode=identity)
    samples = list(dataset)
    assert [key_of(sample) for sample in samples] == shards.keys
    assert samples[0].keys() == {"__key__", "__url__", "jpg", "cls"}
    assert samples[0]["__url__"] == f"s3://{shards.bucket}/train/000000.tar"
    assert [sample["__key__"] for sample in dataset] == shards.keys  # again


def test_braces_and_lists_name_shards(shards, emulator):
    def keys(uris):
        dataset = S3TarDataset.from_objects(
            uris, region="us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config(), decode=key_of
        )
        return list(dataset)

    first = f"s3://{shards.bucket}/train/"
    assert keys(first + "{000000..000007}.tar") == shards.keys
    assert keys(first + "00000{0,1}.tar::" + first + "000003.tar") == shards.keys[:18] + shards.keys[21:30]
    assert keys([first + "000002.tar"]) == shards.keys[18:21]


def test_a_shuffled_epoch_has_every_sample_once_and_depends_on_seed_and_epoch(shards):
    def keys(epoch, **options):
        dataset = shards.dataset(**MIXED | options)
        dataset.set_epoch(epoch)
        return list(dataset)

    first = keys(0)
    assert sorted(first) == shards.keys
    assert first != shards.keys
    assert keys(0) == first
    others = [keys(1), keys(0, seed=6), keys(0, shuffle_buffer=0), keys(0, shuffle_shards=False)]
    assert all(sorted(other) == shards.keys and other != first for other in others)
    assert keys(0, shuffle_shards=False, shuffle_buffer=0) == shards.keys


def test_the_buffer_mixes_samples_of_several_shards(shards):
    first = list(shards.dataset(shuffle_buffer=20))[:40]  # the buffer is full until then
    assert len({key.split("/")[0] for key in first[:15]}) > 2
    ascending = sum(one < following for one, following in itertools.pairwise(first))
    assert 10 < ascending < 30


@pytest.mark.parametrize("options", [{}, MIXED, MIXED | {"num_streams": 3}], ids=["plain", "shuffled", "streams"])
def test_a_state_continues_exactly_after_every_sample(shards, options):
    whole = list(shards.dataset(**options))
    assert sorted(whole) == shards.keys
    for taken in range(0, len(whole) + 1, 3):
        dataset = shards.dataset(**options)
        assert take(iter(dataset), taken) == whole[:taken]
        state = json.loads(json.dumps(dataset.state_dict()))
        again = shards.dataset(**options)
        again.load_state_dict(state)
        assert again.state_dict() == state
        assert list(again) == whole[taken:]
        assert list(again) == whole  # the next iteration starts at the beginning


def test_a_state_sets_the_epoch(shards):
    dataset = shards.dataset(**MIXED)
    dataset.set_epoch(4)
    whole = list(dataset)
    start = take(iter(dataset), 20)
    again = shards.dataset(**MIXED)
    again.load_state_dict(dataset.state_dict())
    assert again.epoch == 4
    assert start + list(again) == whole
    again.load_state_dict(dataset.state_dict())
    again.set_epoch(5)
    assert sorted(again) == shards.keys  # of another epoch, so that the state does not apply


class Workers:
    """One dataset for each of several workers of one epoch."""

    def __init__(self, make, count, state=None):
        self.datasets = [make() for _ in range(count)]
        for rank, dataset in enumerate(self.datasets):
            dataset._rank, dataset._world_size = rank, count
            if state is not None:
                dataset.load_state_dict(state)
        self.iterators = [iter(dataset) for dataset in self.datasets]

    def take(self, steps):
        """The samples of some steps, in each of which every worker yields one; None: until all workers end."""
        rounds = itertools.count() if steps is None else range(steps)
        found = []
        for _ in rounds:
            row = [next(iterator, None) for iterator in self.iterators]
            if all(item is None for item in row):
                break
            found += [item for item in row if item is not None]
        return found

    def state(self):
        return merge_states([dataset.state_dict() for dataset in self.datasets])


def test_the_order_is_the_same_for_every_number_of_workers(shards):
    def make():
        return shards.dataset(**MIXED, num_streams=4)

    whole = Workers(make, 1).take(None)
    assert sorted(whole) == shards.keys
    even = 4 * min(len(list(dataset)) for dataset in Workers(make, 4).datasets)  # until the first stream ends
    assert even >= 32
    for count in (2, 4):
        assert Workers(make, count).take(even // count) == whole[:even]
        assert sorted(Workers(make, count).take(None)) == shards.keys


@pytest.mark.parametrize(("before", "after"), [(4, 1), (1, 4), (2, 4), (4, 2), (3, 2)])
def test_a_merged_state_continues_on_another_number_of_workers(shards, before, after):
    def make():
        return shards.dataset(**MIXED, num_streams=4)

    whole = Workers(make, 1).take(None)
    first = Workers(make, before)
    start = first.take(20 // before)
    rest = Workers(make, after, json.loads(json.dumps(first.state()))).take(None)
    assert sorted(start + rest) == shards.keys
    if 4 % before == 0:
        assert (start + rest)[:32] == whole[:32]


def test_without_num_streams_a_merged_state_keeps_the_streams_of_the_start(shards):
    def make():
        return shards.dataset(**MIXED)

    first = Workers(make, 3)
    start = first.take(5)
    state = first.state()
    assert state["num_streams"] == 3
    assert sorted(start + Workers(make, 1, state).take(None)) == shards.keys
    with pytest.raises(ValueError, match="4 workers of all ranks share 3 streams"):
        Workers(make, 4, state)


def test_states_of_other_orders_are_refused(shards, client):
    dataset = shards.dataset(**MIXED)
    state = dataset.state_dict()
    for options in ({"seed": 6}, {"shuffle_buffer": 11}, {"shuffle_shards": False}):
        other = shards.dataset(**MIXED | options)
        other.load_state_dict(state)
        with pytest.raises(ValueError, match="the state is of another order: "):
            iter(other)
    put(client, shards.bucket, "train/more.tar", make_tar(sample_files(9, 1)))
    dataset.load_state_dict(state)
    with pytest.raises(ValueError, match="units is 8 in the state and 9 here"):
        iter(dataset)
    with pytest.raises(ValueError, match="not one of S3TarDataset"):
        dataset.load_state_dict({"yielded": 3})
    with pytest.raises(TypeError):
        dataset.load_state_dict([])


def test_merging_needs_every_state_once(shards):
    def make():
        return shards.dataset(num_streams=4)

    states = [dataset.state_dict() for dataset in Workers(make, 4).datasets]
    with pytest.raises(ValueError, match="states of 1 of 4 streams are missing, the first is 2"):
        merge_states([states[0], states[1], states[3]])
    with pytest.raises(ValueError, match="two states have the stream 1"):
        merge_states([*states, states[1]])
    with pytest.raises(ValueError, match="the states differ: epoch is 0 in one and 1 in another"):
        merge_states([*states[:3], states[3] | {"epoch": 1}])
    with pytest.raises(ValueError, match="found no state"):
        merge_states([{}])
    with pytest.raises(ValueError, match="snapshot_every_n_steps=1"):
        merge_states([{"_steps_since_snapshot": 2, "state": states}])
    dataset = make()
    dataset.load_state_dict(states[1])
    with pytest.raises(ValueError, match="the state is of worker 1 of 4, and this is worker 0 of 1"):
        iter(dataset)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_share_the_samples_of_an_epoch(shards, method):
    dataset = shards.dataset(**MIXED)
    loader = DataLoader(
        dataset, batch_size=None, num_workers=2, multiprocessing_context=method, collate_fn=identity, persistent_workers=True
    )
    first = list(loader)
    assert sorted(first) == shards.keys
    dataset.set_epoch(1)
    second = list(loader)
    assert sorted(second) == shards.keys
    assert second != first  # persistent workers see the new epoch


def stateful(dataset, workers, **options):
    method = "fork" if workers else None
    return StatefulDataLoader(dataset, num_workers=workers, multiprocessing_context=method, collate_fn=identity, **options)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("batch_size", [None, 4])
def test_a_stateful_data_loader_resumes_exactly(shards, workers, batch_size):
    def loader():
        return stateful(shards.dataset(**MIXED), workers, batch_size=batch_size)

    whole = list(loader())
    for taken in (0, 1, 5, len(whole) - 1):
        first = loader()
        start = take(iter(first), taken) if taken else []
        again = loader()
        again.load_state_dict(pickle.loads(pickle.dumps(first.state_dict())))
        assert start + list(again) == whole
        assert list(again) == whole


def test_states_of_data_loaders_continue_on_another_number_of_workers(shards):
    whole = list(shards.dataset(**MIXED, num_streams=4))
    first = stateful(shards.dataset(**MIXED, num_streams=4), 2, batch_size=None)
    start = take(iter(first), 14)
    dataset = shards.dataset(**MIXED, num_streams=4)
    dataset.load_state_dict(merge_states([first.state_dict()]))
    again = DataLoader(dataset, batch_size=None, num_workers=4, multiprocessing_context="fork", collate_fn=identity)
    rest = list(again)
    assert sorted(start + rest) == shards.keys
    assert (start + rest)[:32] == whole[:32]
    assert sorted(again) == shards.keys  # new workers have the loaded state too, but the next epoch is a whole one


def test_reads_after_a_state_are_of_the_version_before_it(shards, client):
    dataset = shards.dataset()
    take(iter(dataset), 3)
    state = dataset.state_dict()
    put(client, shards.bucket, "train/000000.tar", make_tar(sample_files(0, 8)))
    dataset.load_state_dict(state)
    with pytest.raises(penstock.S3PreconditionFailedError, match=r"train/000000\.tar"):
        next(iter(dataset))
    shuffled = shards.dataset(shuffle_buffer=10)  # the buffer has samples of the first shard, and the second is open
    take(iter(shuffled), 3)
    shuffled.load_state_dict(shuffled.state_dict())
    put(client, shards.bucket, "train/000000.tar", make_tar(sample_files(0, 9)))
    with pytest.raises(penstock.S3PreconditionFailedError, match=r"train/000000\.tar"):
        list(shuffled)


def test_a_failed_read_raises_again_and_then_continues(emulator, shards):
    dataset = shards.dataset(s3client_config=emulator.config(penstock.S3ClientConfig(max_attempts=1, look_ahead_bytes=0)))
    iterator = iter(dataset)
    seen = take(iterator, 7)
    when = {"operation": "GetObject", "key": "train/000001.tar"}
    emulator.faults().set([{"id": "down", "when": when, "do": {"error": {"code": "InternalError"}}, "limit": {"times": 2}}])
    for _ in range(2):
        with pytest.raises(penstock.S3UnavailableError):
            next(iterator)
    assert seen + list(iterator) == shards.keys


def test_a_dataset_without_shards_is_an_error(shards):
    with pytest.raises(ValueError, match=r"no object below 's3://test-\d+/none/' ends with \.tar"):
        list(shards.dataset(prefix="none/"))


def test_more_workers_than_streams_are_refused(shards):
    dataset = shards.dataset(num_streams=2)
    dataset._rank, dataset._world_size = 2, 3
    with pytest.raises(ValueError, match="3 workers of all ranks share 2 streams"):
        iter(dataset)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shuffle_buffer": -1}, "shuffle_buffer must be 0"),
        ({"num_streams": 0}, "num_streams must be None or at least 1, not 0"),
    ],
)
def test_numbers_out_of_range_are_refused(shards, options, message):
    with pytest.raises(ValueError, match=message):
        shards.dataset(**options)


def test_a_str_of_suffixes_is_refused(shards):
    with pytest.raises(TypeError, match="suffixes must be a collection"):
        shards.dataset(suffixes="jpg")
