"""client/s3/endpoint/endpoint_table.tsv, which the C++ tests replay, holds the results of the installed botocore."""

from __future__ import annotations

from pathlib import Path

import endpoint_table

TABLE = Path(__file__).resolve().parents[3] / "client/s3/endpoint/endpoint_table.tsv"


def test_a_sample_of_the_table_agrees_with_botocore():
    rows = TABLE.read_text().splitlines()
    sample = rows[:: max(1, len(rows) // 200)]
    inputs = [tuple(line.split("\t")[:4]) for line in sample]
    assert list(endpoint_table.lines(inputs)) == sample
    assert len(sample) > 150


def test_the_table_has_a_line_for_every_input_of_the_grid():
    inputs = ["\t".join(row) for row in dict.fromkeys(endpoint_table.grid())]
    assert ["\t".join(line.split("\t")[:4]) for line in TABLE.read_text().splitlines()] == inputs
