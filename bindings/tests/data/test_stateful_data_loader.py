"""torchdata's StatefulDataLoader: an interrupted epoch resumes at its position, with both datasets."""

from __future__ import annotations

import pickle
from itertools import chain

import pytest
from bucket_io import put
from penstock import S3IterableDataset, S3MapDataset
from penstock._listing import identity
from torchdata.stateful_dataloader import StatefulDataLoader

COUNT = 41
WORKERS = [(0, None), (2, "fork"), (2, "spawn")]
every_worker = pytest.mark.parametrize(("workers", "method"), WORKERS, ids=["0", "2-fork", "2-spawn"])
soon_there = pytest.mark.parametrize(("workers", "method"), WORKERS[:2], ids=["0", "2-fork"])


def read_number(reader):
    return int(reader.read())


@pytest.fixture
def make(emulator, client, bucket):
    for i in range(COUNT):
        put(client, bucket, f"data/{i:03}", str(i).encode())

    def build(cls, **options):
        return cls.from_prefix(
            f"s3://{bucket}/data/", region="us-east-1", endpoint=emulator.endpoint, transform=read_number,
            s3client_config=emulator.config(), **options,
        )  # fmt: skip

    return build


def load(dataset, workers, method, **options):
    return StatefulDataLoader(dataset, num_workers=workers, multiprocessing_context=method, collate_fn=identity, **options)


def leave(loader, taken):
    """Takes items from a loader. Returns them, and the loader's state after pickling and unpickling."""
    seen = [item for _, item in zip(range(taken), loader, strict=False)]
    return seen, pickle.loads(pickle.dumps(loader.state_dict()))


@every_worker
def test_an_iterable_dataset_resumes(make, workers, method):
    def loader():
        return load(make(S3IterableDataset, enable_sharding=True), workers, method, batch_size=None)

    seen, state = leave(loader(), 17)
    assert len(seen) == 17
    again = loader()
    again.load_state_dict(state)
    rest = list(again)
    if workers == 0:
        assert seen + rest == list(range(COUNT))
    assert sorted(seen + rest) == list(range(COUNT))
    assert sorted(again) == list(range(COUNT))  # the next epoch is a whole one


@soon_there
def test_batches_of_an_iterable_dataset_resume(make, workers, method):
    def loader():
        return load(make(S3IterableDataset, enable_sharding=True), workers, method, batch_size=4)

    seen, state = leave(loader(), 3)
    again = loader()
    again.load_state_dict(state)
    assert sorted(chain(*seen, *again)) == list(range(COUNT))


@soon_there
def test_a_state_is_taken_after_every_item(make, workers, method):
    """A loader that is resumed repeatedly yields each object once."""
    seen, state = [], None
    while len(seen) < COUNT:
        loader = load(make(S3IterableDataset, enable_sharding=True), workers, method, batch_size=None)
        if state is not None:
            loader.load_state_dict(state)
        some, state = leave(loader, 15)
        assert some
        seen += some
    assert sorted(seen) == list(range(COUNT))


@every_worker
def test_a_map_dataset_resumes(make, workers, method):
    goes_on(make, workers, method, shuffled=False)


@soon_there
def test_a_shuffled_map_dataset_resumes(make, workers, method):
    goes_on(make, workers, method, shuffled=True)


def goes_on(make, workers, method, shuffled):
    def loader():
        return load(make(S3MapDataset), workers, method, batch_size=4, shuffle=shuffled)

    seen, state = leave(loader(), 3)
    again = loader()
    again.load_state_dict(state)
    items = [*chain(*seen, *again)]
    assert sorted(items) == list(range(COUNT))
    assert shuffled or items == list(range(COUNT))
