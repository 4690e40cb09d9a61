"""Tables in S3 through fsspec: Dask, DuckDB, pyarrow and pandas.

Penstock handles penstock:// URLs, and s3fs the same URLs with s3://.
"""

from __future__ import annotations

import comparison
import dask.dataframe
import duckdb
import fsspec
import numpy as np
import pandas as pd
import pyarrow.dataset
from comparison import common

ROWS, PARTS = 200_000, 4
URLS = {"penstock": "penstock", "s3fs": "s3"}


def url(client: str, *parts: str) -> str:
    return f"{URLS[client]}://{common.uri('tables', *parts).removeprefix('s3://')}"


def with_dask(client: str) -> list[float]:
    """Writes and reads a table in parts."""
    chance = np.random.default_rng(1)
    table = pd.DataFrame({"group": np.arange(ROWS) % 3, "value": chance.random(ROWS)})
    dask.dataframe.from_pandas(table, npartitions=PARTS).to_parquet(url(client, client))
    loaded = dask.dataframe.read_parquet(url(client, client))
    assert len(loaded) == ROWS
    return loaded.groupby("group")["value"].sum().compute().sort_index().tolist()


def with_duckdb(client: str) -> list[float]:
    with duckdb.connect() as connection:
        connection.register_filesystem(fsspec.filesystem(URLS[client]))
        query = f'select sum(value) from read_parquet(\'{url(client, client)}/*.parquet\') group by "group" order by "group"'
        return [row[0] for row in connection.execute(query).fetchall()]


def with_pyarrow(client: str) -> list[float]:
    system = fsspec.filesystem(URLS[client])
    table = pyarrow.dataset.dataset(url(client, client).partition("://")[2], filesystem=system, format="parquet").to_table()
    sums = table.group_by("group").aggregate([("value", "sum")]).sort_by("group")
    return sums["value_sum"].to_pylist()


def with_pandas(client: str) -> list[float]:
    table = pd.read_parquet(url(client, client))
    return table.groupby("group")["value"].sum().tolist()


def main() -> None:
    comparison.file_systems()  # also registers penstock://
    common.make_bucket()
    expected = None
    for name, work in (("dask", with_dask), ("duckdb", with_duckdb), ("pyarrow", with_pyarrow), ("pandas", with_pandas)):
        sums = comparison.compare(name, {client: lambda client=client, work=work: work(client) for client in URLS})
        np.testing.assert_allclose(sums["penstock"], sums["s3fs"], rtol=1e-12)
        expected = expected or sums["penstock"]
        np.testing.assert_allclose(sums["penstock"], expected, rtol=1e-12)
    print(f"ok: {ROWS} rows with Dask, DuckDB, pyarrow and pandas, equal to s3fs's")


if __name__ == "__main__":
    main()
