"""The ranges view, with reads of boto3, of the Penstock client and of a distributed checkpoint."""

from __future__ import annotations

import io
import json
import urllib.parse
import uuid
from typing import Any

import penstock
import pyarrow
import pyarrow.parquet
import pytest
import torch
import torch.distributed.checkpoint as dcp
from botocore.exceptions import ClientError
from penstock._user_agent import UserAgent
from penstock.dcp import S3StorageReader, S3StorageWriter
from playwright.sync_api import Page, expect

ROWS = ".grid-body > .grid-row"


@pytest.fixture
def bucket(s3: Any) -> str:
    name = f"ranges-{uuid.uuid4().hex[:8]}"
    s3.create_bucket(Bucket=name)
    return name


@pytest.fixture
def client(standalone: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A Penstock client, whose settings are those of the environment."""
    settings = {
        "AWS_ENDPOINT_URL": standalone.endpoint,
        "AWS_ACCESS_KEY_ID": standalone.access_key,
        "AWS_SECRET_ACCESS_KEY": standalone.secret_key,
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return penstock.S3Client(region="us-east-1")


def address(bucket: str, key: str, **params: str) -> str:
    return f"ranges/{bucket}/{urllib.parse.quote(key, safe='')}?{urllib.parse.urlencode(params)}"


def number(page: Page, name: str) -> Any:
    return page.locator(".range-numbers > div").filter(has=page.get_by_text(name, exact=True)).locator("dd")


def window(page: Page) -> str:
    page.mouse.move(0, 0)
    return page.locator(".range-readout").inner_text()


def test_the_ranks_of_a_job_are_told_apart(console: Any, client: Any, standalone: Any, s3: Any, bucket: str):
    s3.put_object(Bucket=bucket, Key="shard", Body=bytes(1000))
    for rank in (0, 1):
        of_rank = penstock.S3Client("us-east-1", endpoint=standalone.endpoint, user_agent=UserAgent([f"rank/{rank}"]))
        of_rank.get(bucket, "shard", range=(400 * rank, 400 * rank + 500))
    client.get(bucket, "shard", range=(990, 1000))
    page = console.open(address(bucket, "shard"))
    page.get_by_label("Group by").select_option("Rank")
    expect(page.locator(ROWS)).to_have_count(3)
    for name, last in (("rank 0", "0-499"), ("rank 1", "400-899"), ("none", "990-999")):
        expect(page.locator(ROWS).filter(has_text=name)).to_contain_text(last)
    console.open(f"requests?bucket={bucket}&rank=1")
    expect(page.locator(ROWS)).to_have_count(1)
    page.locator(ROWS).click()
    page.get_by_role("link", name="1", exact=True).click()
    assert "rank=1" in page.url and console.violations() == []


def test_reads_of_a_client(console: Any, client: Any, s3: Any, bucket: str):
    s3.put_object(Bucket=bucket, Key="data/a b.bin", Body=bytes(1 << 20))
    for begin, end in ((0, 1000), (500, 1500), (1 << 19, (1 << 19) + 4096)):
        client.get(bucket, "data/a b.bin", range=(begin, end))
    page = console.open("ranges")
    page.get_by_label("Key", exact=True).fill("no such key")
    expect(page.get_by_text("No object in this list has these names.")).to_be_visible()
    page.get_by_label("Key", exact=True).fill("a b")
    page.get_by_label("Bucket", exact=True).fill(bucket)
    expect(page.locator(ROWS)).to_have_count(1)
    page.locator(ROWS).filter(has_text=f"{bucket}/data/a b.bin").click()
    expect(number(page, "Requests")).to_contain_text("3")
    expect(number(page, "Bytes fetched")).to_contain_text("6,096")
    expect(number(page, "Read again")).to_contain_text("500")
    expect(number(page, "Different bytes")).to_contain_text("5.46 KiB")
    page.get_by_label("Group by").select_option("User agent")
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(ROWS)).to_contain_text("penstock")
    assert console.violations() == []
    page.get_by_label("Wanted bytes").fill("0-99, 2000-2099")
    page.get_by_role("button", name="Compare").click()
    expect(number(page, "Not wanted")).to_contain_text("5,496")
    expect(number(page, "Missing")).to_contain_text("100")
    assert "wanted=0-99" in page.url and "by=user_agent" in page.url
    page.reload()
    expect(number(page, "Missing")).to_contain_text("100")
    page.get_by_label("Wanted bytes").fill("9-1")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("alert")).to_contain_text("The range 9-1 ends before it begins.")


def test_new_reads_appear_and_a_pause_stops_them(console: Any, s3: Any, bucket: str):
    s3.put_object(Bucket=bucket, Key="key", Body=bytes(1000))
    page = console.open(address(bucket, "key"))
    expect(page.get_by_text("The journal has no read of this object.")).to_be_visible()
    s3.get_object(Bucket=bucket, Key="key", Range="bytes=0-9")["Body"].read()
    expect(number(page, "Requests")).to_contain_text("1")
    page.get_by_role("button", name="Pause").click()
    s3.get_object(Bucket=bucket, Key="key")["Body"].read()
    page.wait_for_timeout(1500)  # some live events
    expect(number(page, "Requests")).to_contain_text("1")
    page.get_by_role("button", name="Pause").click()
    expect(number(page, "Requests")).to_contain_text("2")


def test_a_small_object_and_other_requests(console: Any, s3: Any, bucket: str):
    """The list counts the bytes of reads only, and the picture ends with the object."""
    s3.put_object(Bucket=bucket, Key="small", Body=b"13 bytes long")
    s3.get_object(Bucket=bucket, Key="small")["Body"].read()
    s3.get_object_attributes(Bucket=bucket, Key="small", ObjectAttributes=["ETag", "ObjectSize"])
    with pytest.raises(ClientError):
        s3.get_object(Bucket=bucket, Key="small", Range="bytes=100-")
    page = console.open("ranges")
    page.get_by_label("Bucket", exact=True).fill(bucket)
    row = page.locator(ROWS).filter(has_text=f"{bucket}/small")
    expect(row.get_by_role("gridcell").nth(1)).to_have_text("1")
    expect(row.get_by_role("gridcell").nth(2)).to_have_text("13 B")
    row.click()
    expect(page.locator(".range-readout")).to_have_text("Bytes 0 to 12 of 13")


def test_zoom_and_pan(console: Any, s3: Any, bucket: str):
    s3.put_object(Bucket=bucket, Key="key", Body=bytes(1 << 20))
    s3.get_object(Bucket=bucket, Key="key", Range="bytes=0-524287")["Body"].read()
    page = console.open(address(bucket, "key"))
    picture = page.get_by_role("application")
    everything = "Bytes 0 to 1,048,575 of 1,048,576"
    expect(page.locator(".range-readout")).to_have_text(everything)
    picture.focus()
    page.keyboard.press("+")
    expect(page.locator(".range-readout")).to_have_text("Bytes 262,144 to 786,431 of 1,048,576")
    page.keyboard.press("Home")
    expect(page.locator(".range-readout")).to_have_text("Bytes 0 to 524,287 of 1,048,576")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".range-readout")).to_have_text("Bytes 52,428 to 576,716 of 1,048,576")
    page.keyboard.press("0")
    expect(page.locator(".range-readout")).to_have_text(everything)
    box = picture.bounding_box()
    page.mouse.move(box["x"] + 155, box["y"] + 30)
    expect(page.locator(".range-readout")).to_contain_text("read: bytes 0 to 524,287")
    page.mouse.wheel(0, -500)
    assert window(page) != everything
    page.get_by_role("button", name="Show all").click()
    assert window(page) == everything
    page.get_by_role("button", name="Zoom in").click()
    assert window(page) != everything


def test_items_of_a_distributed_checkpoint(console: Any, client: Any, s3: Any, bucket: str):
    tensors = {f"layer{n}": torch.full((256, 64), float(n)) for n in range(8)}
    uri = f"s3://{bucket}/run/step-1"
    dcp.save({"model": tensors}, storage_writer=S3StorageWriter("us-east-1", uri), no_dist=True)
    some = {name: torch.zeros(256, 64) for name in ("layer2", "layer5")}
    dcp.load({"model": some}, storage_reader=S3StorageReader("us-east-1", uri), no_dist=True)
    assert torch.equal(some["layer5"], tensors["layer5"])
    keys = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket)["Contents"]]
    page = console.open(address(bucket, next(key for key in keys if key.endswith(".distcp"))))
    items = page.get_by_role("grid", name="Items of the checkpoint")
    expect(items.locator(ROWS)).to_have_count(8)
    expect(items.locator(ROWS).filter(has_text="model.layer2")).to_contain_text("100 %")
    expect(items.locator(ROWS).filter(has_text="model.layer7")).to_contain_text("0 %")
    expect(items.locator(ROWS).filter(has_text="model.layer7")).to_contain_text("float32 256 \u00d7 64")
    assert console.violations() == []
    items.locator(ROWS).filter(has_text="model.layer7").click()  # zooms to it
    picture = page.get_by_role("application").bounding_box()
    page.mouse.move(picture["x"] + picture["width"] / 2, picture["y"] + 30)
    expect(page.locator(".range-readout")).to_contain_text("model.layer7")


def test_tensors_and_columns(console: Any, s3: Any, bucket: str):
    header = json.dumps(
        {name: {"dtype": "F32", "shape": [64], "data_offsets": [at, at + 256]} for name, at in (("a", 0), ("b", 256))}
    ).encode()
    s3.put_object(Bucket=bucket, Key="model.safetensors", Body=len(header).to_bytes(8, "little") + header + bytes(512))
    begin = 8 + len(header)
    s3.get_object(Bucket=bucket, Key="model.safetensors", Range=f"bytes={begin + 256}-{begin + 383}")["Body"].read()
    table = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"id": list(range(1000)), "name": ["x"] * 1000}), table, row_group_size=500)
    s3.put_object(Bucket=bucket, Key="table.parquet", Body=table.getvalue())
    s3.get_object(Bucket=bucket, Key="table.parquet")["Body"].read()
    page = console.open(address(bucket, "model.safetensors"))
    tensors = page.get_by_role("grid", name="Tensors")
    expect(tensors.locator(ROWS).nth(0)).to_contain_text("0 %")
    expect(tensors.locator(ROWS).nth(1)).to_contain_text("50 %")
    page = console.open(address(bucket, "table.parquet"))
    columns = page.get_by_role("grid", name="Columns of row groups")
    expect(columns.locator(ROWS)).to_have_count(4)
    expect(columns.locator(ROWS).last).to_contain_text("row group 1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_states_are_accessible(open_console: Any, standalone: Any, s3: Any, bucket: str, width: int, scheme: str):
    key = "<script>\u202e/" + "a" * 900
    s3.put_object(Bucket=bucket, Key=key, Body=bytes(1000))
    s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    with open_console(standalone, width=width, scheme=scheme) as console:
        for route in ("ranges", address(bucket, key, wanted="0-9"), address(bucket, "missing")):
            page = console.open(route)
            expect(page.get_by_text("Loading …")).to_have_count(0)
            assert console.violations() == [], route
            widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert widths[0] <= widths[1], f"{route[:60]} is wider than the window"
