"""S3ParquetDataset: row groups, columns, requests, and states that continue exactly."""

from __future__ import annotations

import io
import itertools
import json
import pickle

import penstock
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bucket_io import put
from penstock._listing import identity
from penstock.data import S3ParquetDataset, merge_states
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

ROWS = [100, 250, 30]
GROUP_ROWS = 40
GROUPS = [3, 7, 1]
COLUMNS = 12


def make_table(first: int, count: int) -> pa.Table:
    numbers = list(range(first, first + count))
    columns = {"id": numbers} | {f"c{i}": [float(number * i) for number in numbers] for i in range(1, COLUMNS)}
    columns["nested"] = [{"a": number, "b": {"c": str(number)}} for number in numbers]
    return pa.table(columns)


def to_bytes(table: pa.Table, **options: object) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **{"row_group_size": GROUP_ROWS} | options)
    return file.getvalue()


def ids(table: pa.Table) -> list[int]:
    return table["id"].to_pylist()


@pytest.fixture
def make(emulator, client, bucket):
    first = 0
    for number, rows in enumerate(ROWS):
        put(client, bucket, f"set/{number}.parquet", to_bytes(make_table(first, rows)))
        first += rows
    put(client, bucket, "set/README", b"no Parquet file")

    def build(prefix="set/", **options):
        options = {"endpoint": emulator.endpoint, "s3client_config": emulator.config()} | options
        return S3ParquetDataset.from_prefix(f"s3://{bucket}/{prefix}", region="us-east-1", **options)

    return build


def test_row_groups_come_in_the_order_of_the_files(make):
    tables = list(make())
    assert len(tables) == sum(GROUPS)
    assert pa.concat_tables(tables).equals(make_table(0, sum(ROWS)))


def test_only_the_columns_are_fetched(make):
    dataset = make(columns=["c3", "id", "nested.b"])
    tables = pa.concat_tables(dataset)
    assert sorted(tables.column_names) == ["c3", "id", "nested"]
    assert tables["nested"].to_pylist()[7] == {"b": {"c": "7"}}
    assert ids(tables) == list(range(sum(ROWS)))
    with pytest.raises(ValueError, match=r"0\.parquet has no column 'c99'; it has id, c1, "):
        next(iter(make(columns=["c99"])))
    with pytest.raises(TypeError, match="columns must be a collection"):
        make(columns="id")


def test_a_row_group_is_fetched_by_few_requests(emulator, client, bucket):
    table = pa.table({f"c{i}": pa.array(range(i, 200_000 + i)) for i in range(16)})
    data = to_bytes(table, row_group_size=100_000, compression="none", use_dictionary=False)
    put(client, bucket, "wide/0.parquet", data)
    dataset = S3ParquetDataset.from_prefix(
        f"s3://{bucket}/wide/", region="us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config(),
        columns=["c2", "c3", "c9"],
    )  # fmt: skip
    assert pa.concat_tables(dataset).equals(table.select(["c2", "c3", "c9"]))
    stats = dataset._get_client().metrics()
    assert len(data) > 24_000_000
    assert stats["bytes_received"] < len(data) / 4
    assert stats["requests"]["GetObject"] <= 2 * 3 + 2


def test_a_shuffled_epoch_has_every_row_once(make):
    def rows(epoch, **options):
        dataset = make(**{"shuffle_row_groups": True, "shuffle_rows": True, "transform": ids} | options)
        dataset.set_epoch(epoch)
        return list(itertools.chain(*dataset))

    first = rows(0)
    assert sorted(first) == list(range(sum(ROWS)))
    assert rows(0) == first
    others = [rows(1), rows(0, seed=1), rows(0, shuffle_rows=False), rows(0, shuffle_row_groups=False)]
    assert all(sorted(other) == sorted(first) and other != first for other in others)


@pytest.mark.parametrize("options", [{}, {"shuffle_row_groups": True, "shuffle_rows": True, "num_streams": 3}], ids=["", "mixed"])
def test_a_state_continues_after_every_row_group(make, options):
    whole = list(make(transform=ids, **options))
    for taken in range(sum(GROUPS) + 1):
        dataset = make(transform=ids, **options)
        assert list(itertools.islice(dataset, taken)) == whole[:taken]
        again = make(transform=ids, **options)
        again.load_state_dict(json.loads(json.dumps(dataset.state_dict())))
        assert list(again) == whole[taken:]
        assert list(again) == whole


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_share_the_row_groups(make, method):
    dataset = make(transform=ids)
    assert sum(file.metadata.num_rows for file in dataset.files) == sum(ROWS)
    loader = DataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context=method, collate_fn=identity)
    assert sorted(itertools.chain(*loader)) == list(range(sum(ROWS)))


def test_states_of_workers_continue_in_one_process(make):
    def dataset():
        return make(transform=ids, shuffle_row_groups=True, num_streams=2)

    whole = list(dataset())
    loader = StatefulDataLoader(dataset(), batch_size=None, num_workers=2, multiprocessing_context="fork", collate_fn=identity)
    start = list(itertools.islice(loader, 5))
    again = dataset()
    again.load_state_dict(merge_states([pickle.loads(pickle.dumps(loader.state_dict()))]))
    assert start + list(again) == whole


def test_a_changed_file_is_an_error(make, client, bucket):
    dataset = make(transform=ids)
    state = dataset.state_dict()
    iterator = iter(dataset)
    next(iterator)
    put(client, bucket, "set/1.parquet", to_bytes(make_table(5, 250)))
    fresh = make(transform=ids)
    fresh.load_state_dict(state)
    with pytest.raises(ValueError, match="the state is of another order: digest is"):
        iter(fresh)
    with pytest.raises(penstock.S3PreconditionFailedError, match=r"set/1\.parquet"):
        list(dataset)


def test_a_failed_read_is_tried_again_by_the_next_call(emulator, make, bucket):
    config = emulator.config(penstock.S3ClientConfig(max_attempts=1, look_ahead_bytes=0))
    dataset = make(transform=ids, s3client_config=config)
    whole = [ids(table) for table in make()]
    iterator = iter(dataset)
    seen = [next(iterator) for _ in range(4)]
    when = {"operation": "GetObject", "key": "set/1.parquet"}
    emulator.faults().set([{"id": "down", "when": when, "do": {"error": {"code": "InternalError"}}, "limit": {"times": 2}}])
    for _ in range(2):
        with pytest.raises(penstock.S3UnavailableError):
            seen.append(next(iterator))
            seen.append(next(iterator))
    assert seen + list(iterator) == whole


def test_incomplete_and_damaged_files_are_errors(make, client, bucket):
    data = to_bytes(make_table(0, 100), compression="zstd")
    cases = {
        "empty": b"",
        "cut": data[:-100],
        "text": b"no Parquet file, but longer than that",
        "length": data[:-8] + b"\xff\xff\xff\x7fPAR1",
        "metadata": data[:-300] + bytes(292) + data[-8:],
    }
    for name, damaged in cases.items():
        put(client, bucket, f"bad-{name}/0.parquet", damaged)
        with pytest.raises(penstock.S3DataLossError, match=rf"bad-{name}/0\.parquet is not a complete Parquet file"):
            list(make(f"bad-{name}/"))
    put(client, bucket, "bad-pages/0.parquet", data[:40] + bytes(200) + data[240:])
    with pytest.raises(penstock.S3DataLossError, match=r"row group 0 of s3://.*bad-pages/0\.parquet cannot be decoded"):
        list(make("bad-pages/"))


def test_long_metadata_takes_a_second_request(emulator, client, bucket):
    table = pa.table({f"a-column-with-a-rather-long-name-{i}": [i, i + 1] for i in range(1500)})
    put(client, bucket, "many/0.parquet", to_bytes(table))
    dataset = S3ParquetDataset.from_objects(
        [f"s3://{bucket}/many/0.parquet"], region="us-east-1", endpoint=emulator.endpoint, s3client_config=emulator.config()
    )
    assert next(iter(dataset)).equals(table)
    assert dataset._get_client().metrics()["requests"]["HeadObject"] == 1
