"""S3Lister and S3Reader: nodes of torchdata, whose state resumes exactly."""

from __future__ import annotations

import json
import subprocess
import sys

import penstock
import pytest
from bucket_io import put
from gate_server import gate_config, gate_server
from penstock.datapipes.nodes import S3Lister, S3Reader
from torchdata.nodes import Batcher, IterableWrapper, Loader, ParallelMapper, Prefetcher

COUNT = 12
PLACE = {"prefix": 1, "last": "", "in_prefix": 0, "matched": 0}


@pytest.fixture
def options(emulator, client, bucket):
    for number in range(COUNT):
        put(client, bucket, f"data/{number:02}", b"%d" % number)
    return {"region": emulator.region, "endpoint": emulator.endpoint, "s3client_config": emulator.config()}


@pytest.fixture
def urls(options, bucket):
    return [f"s3://{bucket}/data/{number:02}" for number in range(COUNT)]


def read(item):
    return item[1].read()


def after(loader, taken):
    """Takes items from a loader. Returns them, and the loader's state as JSON can store it."""
    items = [item for _, item in zip(range(taken), loader, strict=False)]
    return items, json.loads(json.dumps(loader.state_dict()))


def resumed(loader, state):
    loader.load_state_dict(state)
    return loader


@pytest.mark.parametrize("prefixes", [["data/"], ["data/0", "data/none", "data/1"]])
@pytest.mark.parametrize("kind", ["lister", "reader", "prefetcher", "batches"])
def test_every_position_is_resumed_exactly(options, bucket, urls, prefixes, kind):
    def loader():
        lister = S3Lister([f"s3://{bucket}/{prefix}" for prefix in prefixes], **options)
        if kind == "lister":
            return Loader(lister)
        contents = ParallelMapper(S3Reader(lister, **options), read, num_workers=2, method="thread")
        if kind == "reader":
            return Loader(contents)
        return Loader(Prefetcher(contents, 3) if kind == "prefetcher" else Batcher(contents, 5, drop_last=False))

    full = list(loader())
    assert full[0] == {"lister": urls[0], "batches": [b"0", b"1", b"2", b"3", b"4"]}.get(kind, b"0")
    for taken in range(len(full)):
        items, state = after(loader(), taken)
        assert items + list(resumed(loader(), state)) == full, taken
    items, state = after(loader(), len(full))
    assert list(resumed(loader(), state)) == full  # the next epoch


def test_each_epoch_reads_all_objects(options, bucket):
    loader = Loader(S3Reader(S3Lister(f"s3://{bucket}/data/", **options), **options))
    for _ in range(2):
        assert [read(item) for item in loader] == [b"%d" % number for number in range(COUNT)]


def test_resuming_lists_only_what_follows_the_last_url(options, client, bucket, urls):
    _, state = after(Loader(S3Lister(f"s3://{bucket}/data/", **options)), 4)
    client.delete_object(bucket, "data/01")
    client.delete_object(bucket, "data/05")
    put(client, bucket, "data/00a", b"")
    put(client, bucket, "data/07a", b"")
    rest = list(resumed(Loader(S3Lister(f"s3://{bucket}/data/", **options)), state))
    assert rest == [*urls[4:5], *urls[6:8], f"s3://{bucket}/data/07a", *urls[8:]]


def test_ranks_share_the_urls(options, bucket, urls):
    def loader(rank):
        return Loader(S3Lister(f"s3://{bucket}/data/", rank=rank, world_size=5, masks="*/0?", **options))

    shares = [list(loader(rank)) for rank in range(5)]
    assert shares == [urls[rank:10:5] for rank in range(5)]
    for rank in range(5):
        items, state = after(loader(rank), 1)
        assert items + list(resumed(loader(rank), state)) == shares[rank]


def test_a_directory_bucket_is_resumed_by_count(emulator, client):
    bucket = "nodes--use1-az4--x-s3"
    client.create_bucket(bucket)
    for number in range(5):
        put(client, bucket, f"data/{number}", b"%d" % number)
    options = {"region": emulator.region, "endpoint": emulator.endpoint, "s3client_config": emulator.config()}
    full = list(Loader(S3Lister(f"s3://{bucket}/data/", **options)))
    assert len(full) == 5
    for taken in range(5):
        items, state = after(Loader(S3Lister(f"s3://{bucket}/data/", **options)), taken)
        assert items + list(resumed(Loader(S3Lister(f"s3://{bucket}/data/", **options)), state)) == full


def test_the_next_objects_are_read_in_advance():
    with gate_server(b"x" * 100, together=8) as (gate, endpoint):
        source = IterableWrapper([f"s3://b/{number}" for number in range(16)])
        reader = S3Reader(source, endpoint=endpoint, region="us-east-1", s3client_config=gate_config())
        assert [read(item) for item in Loader(reader)] == [b"x" * 100] * 16
        assert gate.timed_out == 0


def test_after_an_object_that_cannot_be_read_the_next_one_is(options, urls, bucket):
    reader = S3Reader(IterableWrapper([urls[0], f"s3://{bucket}/none", urls[2]]), **options)
    assert next(reader)[0] == urls[0]
    state = reader.state_dict()
    with pytest.raises(penstock.S3NotFoundError, match="/none") as caught:
        next(reader)
    assert isinstance(caught.value, ValueError)
    assert reader.state_dict() == state  # resuming tries the object again
    assert next(reader)[0] == urls[2]
    with pytest.raises(StopIteration):
        next(reader)


def test_after_a_url_without_a_key_the_next_object_is_read(options, urls, bucket):
    reader = S3Reader(IterableWrapper([urls[0], f"s3://{bucket}", urls[1], urls[2]]), **options)
    assert next(reader)[0] == urls[0]
    with pytest.raises(ValueError, match="names a bucket and no object"):
        next(reader)
    assert next(reader)[0] == urls[1]
    state = reader.state_dict()
    reader.reset(state)
    assert [url for url, _ in reader] == [urls[2]]


@pytest.mark.parametrize("place", ["source", "open"])
def test_an_interrupted_reader_continues_after_its_last_item(options, urls, monkeypatch, place):
    lister = S3Lister(urls[0].removesuffix("00"), **options)
    reader = S3Reader(lister, **options)
    assert next(reader)[0] == urls[0]
    patched, name = (lister._handler, "pages") if place == "source" else (reader._handler, "open")
    if place == "source":
        reader.reset(reader.state_dict())  # lists again

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(patched, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(reader)
    assert [url for url, _ in reader] == urls[1:]


def test_an_interrupted_lister_continues(options, urls, monkeypatch):
    lister = S3Lister(urls[0].removesuffix("00"), **options)
    lister.reset()

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(lister._handler, "pages", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(lister)
    assert list(lister) == urls


def test_a_failed_listing_is_not_the_end(options, client, bucket):
    lister = S3Lister([f"s3://{bucket}/data/", "s3://later-bucket/"], **options)
    reader = S3Reader(lister, **options)
    assert [read(next(reader)) for _ in range(COUNT)] == [b"%d" % number for number in range(COUNT)]
    with pytest.raises(penstock.S3NotFoundError, match="s3://later-bucket"):
        next(reader)
    client.create_bucket("later-bucket")
    put(client, "later-bucket", "k", b"late")
    assert read(next(reader)) == b"late"


def test_wrong_arguments_and_states_are_named(options):
    for make, kind, text in (
        (lambda: S3Lister("bucket/key"), ValueError, "Only s3:// URIs are supported, not 'bucket/key'"),
        (lambda: S3Lister("s3://b", rank=2, world_size=2), ValueError, r"rank must be 0 to world_size - 1 \(1\), not 2"),
        (lambda: S3Lister("s3://b", region=None), TypeError, "region"),
        (lambda: S3Lister(7), TypeError, "prefixes"),
        (lambda: S3Reader(["s3://b/k"]), TypeError, "source"),
        (lambda: S3Reader(S3Lister("s3://b"), buffer_size=-1), ValueError, "buffer_size"),
        (lambda: S3Lister("s3://b", prefetch=3), TypeError, "prefetch"),
        (lambda: S3Lister("s3://b").reset({"prefix": 0}), ValueError, "is not a state of an S3Lister"),
        (lambda: S3Reader(S3Lister("s3://b")).reset({}), ValueError, "is not a state of an S3Reader"),
        (
            lambda: S3Lister("s3://b").reset(PLACE | {"prefixes": ["s3://b"], "rank": 0, "world_size": 1}),
            ValueError, "the state is in prefix 1, but this S3Lister has 1",
        ),
        (
            lambda: S3Lister("s3://b").reset(PLACE | {"prefixes": ["s3://b"], "rank": 0, "world_size": 2}),
            ValueError, "the state is of an S3Lister with world_size 2, but this one has 1",
        ),
    ):  # fmt: skip
        with pytest.raises(kind, match=text):
            make()


def test_a_missing_torchdata_is_reported():
    program = (
        "import sys; sys.modules['torchdata'] = None\ntry: import penstock.datapipes.nodes\nexcept ImportError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("penstock.datapipes.nodes needs torchdata 0.10 or later, and 0.")
    assert done.stdout.endswith("pip install 'torchdata>=0.10'\n")
