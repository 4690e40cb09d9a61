"""penstock.ray without ray. tests/foreign/libraries/test_ray_datasource.py has the rest."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest
from bucket_io import put
from penstock import S3ClientConfig
from penstock.ray._objects import REQUEST_BYTES, Item, find_items, read_items, split_by_bytes


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="ray is installed")
def test_without_ray_the_error_names_the_command_that_installs_it():
    import penstock.ray

    assert "S3Datasource" in dir(penstock.ray)
    with pytest.raises(
        ModuleNotFoundError, match=r"^penstock.ray needs Ray Data, and ray is not installed: pip install 'ray\[data\]'$"
    ):
        _ = penstock.ray.S3Datasource


def test_the_import_of_the_module_loads_neither_ray_nor_the_core():
    program = "import sys, penstock.ray; print(sorted({'ray', 'torch', 'pyarrow', 'penstock._core'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def items_of(*sizes: int) -> list[Item]:
    return [Item("bucket", f"{number}", size, None) for number, size in enumerate(sizes)]


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("sizes", [(0,) * 40, (1, 10**7) * 20, (10**9, 1, 1, 1), tuple(range(0, 10**7, 10**5))])
def test_groups_keep_the_order_and_are_about_equal(sizes, parts):
    items = items_of(*sizes)
    groups = split_by_bytes(items, parts)
    assert [item for group in groups for item in group] == items
    assert all(groups)
    assert len(groups) <= parts
    weights = [sum(item.size + REQUEST_BYTES for item in group) for group in groups]
    assert max(weights) <= sum(weights) / parts + max(sizes) + REQUEST_BYTES


def test_objects_are_read_ahead_within_the_budget(emulator, client, bucket):
    for number in range(20):
        put(client, bucket, f"ahead/{number:02}", bytes([number]) * 1000)
    reading = emulator.client(S3ClientConfig(look_ahead_bytes=5000))
    items = find_items(reading, [f"s3://{bucket}/ahead/"])
    before = emulator.journal().last
    started = read_items(reading, items)
    assert next(started) == (items[0], bytes(1000))
    started.close()
    assert emulator.journal().count(after=before, operations=["GetObject"]) <= 5
    assert [(item.key[-2:], data[0]) for item, data in read_items(reading, items)] == [(f"{n:02}", n) for n in range(20)]


def test_without_look_ahead_objects_are_read_one_after_the_other(emulator, client, bucket):
    put(client, bucket, "plain/a", b"a" * 100)
    put(client, bucket, "plain/b", b"")
    reading = emulator.client(S3ClientConfig(look_ahead_bytes=0))
    assert [data for _, data in read_items(reading, find_items(reading, [f"s3://{bucket}/plain/"]))] == [b"a" * 100, b""]
