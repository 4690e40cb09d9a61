"""DCPOptimizedS3Reader and its constructor: the rules of the reference connector, and S3StorageReader with each reader type."""

from __future__ import annotations

import io
import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import penstock
import pytest
import torch
import torch.distributed.checkpoint as dcp
from checkpoints import Checkpoints, emptied, same_bits
from penstock.s3reader import (
    DCPOptimizedConstructor,
    DCPOptimizedS3Reader,
    DCPS3ReaderConstructorProtocol,
    ItemRange,
    RangedS3Reader,
    S3ReaderConstructor,
    SequentialS3Reader,
)
from penstock.s3reader.dcp_optimized import (
    DEFAULT_MAX_GAP_SIZE,
    FALLBACK_GUIDANCE,
    FIND_ITEM_ERROR_PREFIX,
    ItemViewBuffer,
    RangeGroup,
)
from penstock.testing import Emulator
from torch.distributed.checkpoint.planner import LoadPlan

CONTENT = bytes(range(256)) * 4
MIB = 1024**2


@pytest.fixture
def checkpoints(emulator: Emulator, client: penstock.S3Client, bucket: str) -> Checkpoints:
    return Checkpoints(emulator, client, bucket)


def no_info() -> Any:
    raise AssertionError("costs a request")


class Streams:
    """Returns CONTENT in small blocks, and records the requested ranges."""

    def __init__(self, content: bytes = CONTENT) -> None:
        self.content = content
        self.requested: list[tuple[int, int]] = []

    def __call__(self, start: int | None = None, end: int | None = None) -> Iterator[bytes]:
        assert start is not None
        assert end is not None
        self.requested.append((start, end))
        return (self.content[at : min(at + 7, end)] for at in range(start, min(end, len(self.content)), 7))


def reader_of(ranges: list[tuple[int, int]], streams: Streams | None = None, **options: Any) -> DCPOptimizedS3Reader:
    items = [ItemRange(*each) for each in ranges]
    return DCPOptimizedS3Reader("bucket", "key", items, no_info, streams or Streams(), **options)


# ---- construction


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        (("", "key", [ItemRange(0, 1)]), ValueError, "Bucket should be specified"),
        (("bucket", "", [ItemRange(0, 1)]), ValueError, "Key should be specified"),
        (("bucket", "key", []), ValueError, r"item_ranges must be a non-empty List\[ItemRange\] object"),
        (("bucket", "key", [ItemRange(3, 3)]), ValueError, r"No non-empty ranges to read \(all ranges were length 0\)"),
        (("bucket", "key", [ItemRange(-1, 3)]), ValueError, "Invalid range: -1-3"),
        (("bucket", "key", [ItemRange(5, 3)]), ValueError, "Invalid range: 5-3"),
        (("bucket", "key", [ItemRange(5, 8), ItemRange(0, 3)]), ValueError, "Unsorted ranges: 5-8 and 0-3"),
        (("bucket", "key", [ItemRange(0, 5), ItemRange(3, 8)]), ValueError, "Overlapping ranges: 0-5 and 3-8"),
    ],
)
def test_wrong_arguments_raise(arguments: tuple[Any, ...], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        DCPOptimizedS3Reader(*arguments, no_info, Streams())


def test_max_gap_size_must_be_a_number() -> None:
    with pytest.raises(TypeError, match="max_gap_size must be int or float or str, got bytes"):
        reader_of([(0, 1)], max_gap_size=b"1")
    with pytest.raises(ValueError, match="max_gap_size must be non-negative"):
        reader_of([(0, 1)], max_gap_size=-1)
    for wrong, kind, message in (
        (-1, ValueError, "max_gap_size must be non-negative, not -1; it takes bytes"),
        (float("nan"), ValueError, "max_gap_size must be non-negative, not nan"),
        (b"1", TypeError, "max_gap_size must be int or float or str, got bytes"),
        ("1M", ValueError, "max_gap_size must be a number of bytes, or a text such as .*; not '1M'"),
    ):
        with pytest.raises(kind, match=message):
            S3ReaderConstructor.dcp_optimized(max_gap_size=wrong)  # type: ignore[arg-type]
    assert DEFAULT_MAX_GAP_SIZE == 32 * MIB


@pytest.mark.parametrize(
    ("gap", "groups"),
    [
        (0, [(0, 10), (12, 30), (100, 110)]),
        (2, [(0, 30), (100, 110)]),
        (69.5, [(0, 30), (100, 110)]),
        (70, [(0, 110)]),
        ("69B", [(0, 30), (100, 110)]),
        ("1KiB", [(0, 110)]),
        (float("inf"), [(0, 110)]),
    ],
)
def test_close_items_are_fetched_by_one_request(gap: float, groups: list[tuple[int, int]]) -> None:
    streams = Streams()
    reader = reader_of([(0, 10), (12, 20), (20, 20), (20, 30), (100, 110)], streams, max_gap_size=gap)
    assert [(group.start, group.end) for group in reader._range_groups] == groups
    assert reader._group_start_to_group[0] == RangeGroup(*groups[0], reader._range_groups[0].item_ranges)
    for start, end in ((0, 10), (12, 20), (20, 30), (100, 110)):
        reader.seek(start)
        assert reader.read(end - start) == CONTENT[start:end]
    assert streams.requested == groups


# ---- access


def test_item_is_read_in_any_order_and_repeatedly() -> None:
    streams = Streams()
    reader = reader_of([(10, 110), (200, 250)], streams)
    reader.seek(100)
    assert reader.read(10) == CONTENT[100:110]
    reader.seek(10)
    assert reader.read(4) == CONTENT[10:14]
    assert reader.tell() == 14
    assert reader.seek(5, io.SEEK_CUR) == 19
    memory = bytearray(50)
    assert reader.readinto(memory) == 50
    assert memory == CONTENT[19:69]
    assert reader.read(0) == b""
    assert streams.requested == [(10, 250)]


def test_same_item_may_be_planned_twice() -> None:
    streams = Streams()
    reader = reader_of([(10, 20), (10, 20), (30, 40)], streams, max_gap_size=0)
    for start in (10, 10, 30):
        reader.seek(start)
        assert reader.read(10) == CONTENT[start : start + 10]
    assert streams.requested == [(10, 20), (30, 40)]


def test_other_orders_of_items_raise() -> None:
    reader = reader_of([(10, 20), (30, 40), (50, 60)])
    with pytest.raises(ValueError) as caught:
        reader.read(4)
    assert str(caught.value) == f"{FIND_ITEM_ERROR_PREFIX}Range 0-4 not contained in current item 10-20.\n{FALLBACK_GUIDANCE}"
    reader.seek(10)
    reader.read(10)
    with pytest.raises(ValueError, match="Range 20-21 not contained in current item 10-20 nor the next item 30-40"):
        reader.read(1)
    reader.seek(50)
    with pytest.raises(ValueError, match="Range 50-60 not contained in current item 10-20 nor the next item 30-40"):
        reader.read(10)
    for start in (30, 50):
        reader.seek(start)
        reader.read(10)
    with pytest.raises(ValueError, match="Range 60-61 not contained in last item with range 50-60"):
        reader.read(1)
    reader.seek(30)
    with pytest.raises(ValueError, match="last item"):
        reader.read(1)


def test_invalid_sizes_and_positions_raise() -> None:
    reader = reader_of([(0, 20)])
    with pytest.raises(ValueError, match=r"Size cannot be None; full read not supported\.\n"):
        reader.read()
    with pytest.raises(ValueError, match="Size cannot be negative"):
        reader.read(-1)
    with pytest.raises(TypeError):
        reader.read("1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="whence must be SEEK_CUR or SEEK_SET integers"):
        reader.seek(0, io.SEEK_END)
    with pytest.raises(ValueError, match="negative seek value -1"):
        reader.seek(-1)
    with pytest.raises(TypeError, match="integer argument expected"):
        reader.seek(1.5)  # type: ignore[arg-type]
    for wrong in (b"12", 5):
        with pytest.raises(TypeError, match="argument must be a writable bytes-like object"):
            reader.readinto(wrong)


def test_readinto_accepts_an_empty_buffer_of_several_dimensions() -> None:
    reader = reader_of([(10, 20)])
    reader.seek(10)
    assert reader.readinto(np.zeros((0, 5))) == 0
    buffer = ItemViewBuffer()
    buffer.append_view(memoryview(b"abc"))
    assert buffer.readinto(np.zeros((5, 0))) == 0


@pytest.mark.parametrize(("left", "where"), [(15, "before reaching item 30-40"), (35, "while reading item 30-40")])
def test_truncated_object_raises(left: int, where: str) -> None:
    reader = reader_of([(0, 10), (30, 40)], Streams(CONTENT[:left]))
    reader.read(10)
    reader.seek(30)
    with pytest.raises(ValueError, match=f"S3 stream exhausted at position {left} {where}"):
        reader.read(10)


def test_closed_reader_raises() -> None:
    reader = reader_of([(0, 20)])
    assert not reader.closed
    with reader:
        reader.read(5)
    assert reader.closed
    reader.close()
    for use in (lambda: reader.read(1), lambda: reader.seek(0), reader.tell, lambda: reader.readinto(bytearray(1))):
        with pytest.raises(ValueError, match=r"I/O operation on closed file\."):
            use()


def test_item_buffer_reads_across_blocks() -> None:
    buffer = ItemViewBuffer()
    for block in (b"abc", b"", b"defgh", b"i"):
        buffer.append_view(memoryview(block))
    assert buffer.read(4) == b"abcd"
    assert buffer.tell() == 4
    assert buffer.seek(-2, io.SEEK_END) == 7
    assert buffer.read(10) == b"hi"
    assert buffer.seek(20) == 20
    assert buffer.read(1) == b""
    buffer.seek(2)
    memory = bytearray(5)
    assert buffer.readinto(memory) == 5
    assert memory == b"cdefg"
    assert buffer.seek(-1, io.SEEK_CUR) == 6
    with pytest.raises(ValueError):
        buffer.seek(0, 7)
    for use in (lambda: buffer.seek(-1), buffer.read, lambda: buffer.read(-1), lambda: buffer.readinto(b"12")):
        with pytest.raises(AssertionError):
            use()


# ---- the constructor


def test_constructor_receives_the_ranges_of_a_plan(checkpoints: Checkpoints) -> None:
    uri = checkpoints.save({"a": torch.ones(3), "b": torch.ones(4)})
    constructor = S3ReaderConstructor.dcp_optimized(max_gap_size=7)
    assert isinstance(constructor, DCPOptimizedConstructor)
    assert isinstance(constructor, DCPS3ReaderConstructorProtocol)
    assert not isinstance(S3ReaderConstructor.default(), DCPS3ReaderConstructorProtocol)
    assert constructor._item_ranges_by_file == {}
    reader = checkpoints.reader(uri, reader_constructor=constructor)
    plan = LoadPlan([])
    assert reader.prepare_local_plan(plan) is plan
    dcp.load({"a": torch.zeros(3), "b": torch.zeros(4)}, storage_reader=reader, no_dist=True)
    assert list(constructor._item_ranges_by_file) == [f"{uri}/__0_0.distcp"]
    bucket, key = f"{uri}/__0_0.distcp".removeprefix("s3://").split("/", 1)
    made = constructor(bucket=bucket, key=key, get_object_info=no_info, get_stream=Streams())
    assert isinstance(made, DCPOptimizedS3Reader)
    assert made._max_gap_size == 7
    metadata = constructor(bucket=bucket, key="x/.metadata", get_object_info=no_info, get_stream=Streams())
    assert isinstance(metadata, SequentialS3Reader)
    with pytest.raises(ValueError) as caught:
        constructor(bucket=bucket, key="other", get_object_info=no_info, get_stream=Streams())
    assert str(caught.value).startswith(f"No ranges found for s3://{bucket}/other. Make sure range injection is used in")
    assert str(caught.value).endswith(FALLBACK_GUIDANCE)
    with pytest.raises(ValueError, match=r"storage_data must not be empty; required to map ReadItems to file ranges\."):
        constructor.set_item_ranges_by_file([object()], {}, uri)
    constructor.set_item_ranges_by_file([], {}, uri)
    assert constructor._item_ranges_by_file == {}


def test_names_of_reader_types() -> None:
    kinds: list[tuple[Any, str]] = [
        (None, "sequential"),
        (S3ReaderConstructor.dcp_optimized(), "dcp_optimized"),
        (S3ReaderConstructor.range_based(), "range_based"),
        (S3ReaderConstructor.sequential(), "sequential"),
        (lambda **_: None, "unknown"),
    ]
    for constructor, name in kinds:
        assert S3ReaderConstructor.get_reader_type_string(constructor) == name
    assert pickle.loads(pickle.dumps(S3ReaderConstructor.dcp_optimized(5)))._max_gap_size == 5


# ---- S3StorageReader with a reader constructor


def saved_state() -> dict[str, Any]:
    torch.manual_seed(6)
    return {f"tensor {i}": torch.randn(1000 + i) for i in range(12)} | {"step": 9}


def own_reader(**arguments: Any) -> RangedS3Reader:
    return RangedS3Reader(**arguments, buffer_size=0)


KINDS: dict[str, Callable[[], Any]] = {
    "dcp_optimized": S3ReaderConstructor.dcp_optimized,
    "range_based": S3ReaderConstructor.range_based,
    "sequential": S3ReaderConstructor.sequential,
    "default": S3ReaderConstructor.default,
    "custom": lambda: own_reader,
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_load_uses_the_given_reader(checkpoints: Checkpoints, make: Callable[[], Any]) -> None:
    saved = saved_state()
    uri = checkpoints.save(saved)
    state = emptied(saved)
    constructor = make()
    reader = checkpoints.load(state, uri, reader_constructor=constructor)
    assert reader._reader_constructor is constructor
    assert state["step"] == 9
    assert all(same_bits(state[name], value) for name, value in saved.items() if name != "step")


def requests_of(checkpoints: Checkpoints, uri: str, state: dict[str, Any], constructor: Any) -> int:
    """Returns the number of streams of shards that were opened, by the hook that tests of the reference connector use."""
    reader = checkpoints.reader(uri, reader_constructor=constructor)
    opened: Counter[str] = Counter()
    open_stream = reader.fs._client._get_object_stream

    def counting(bucket: str, key: str, start: int | None = None, end: int | None = None) -> Any:
        opened[key.rsplit(".", 1)[-1]] += 1
        return open_stream(bucket, key, start, end)

    reader.fs._client._get_object_stream = counting  # type: ignore[method-assign]
    before = checkpoints.emulator.stats()["requests"]["GetObject"]
    dcp.load(state, storage_reader=reader, no_dist=True)
    sent = checkpoints.emulator.stats()["requests"]["GetObject"] - before
    assert sent == opened.total()
    return opened["distcp"]


@pytest.mark.parametrize(("gap", "expected"), [(0, 3), (6000, 2), (float("inf"), 1), (32 * MIB, 1)])
def test_dcp_optimized_sends_one_request_for_close_items(checkpoints: Checkpoints, gap: float, expected: int) -> None:
    saved = {f"{i:02}": torch.randn(1000) for i in range(12)}
    uri = checkpoints.save(saved)
    # Three ranges: 2 items, one skipped, 1 item, many skipped, 1 item.
    state = {name: torch.zeros(1000) for name in ("00", "01", "03", "10")}
    assert requests_of(checkpoints, uri, state, S3ReaderConstructor.dcp_optimized(max_gap_size=gap)) == expected
    assert all(same_bits(state[name], saved[name]) for name in state)


def test_user_agent_contains_the_reader_type(checkpoints: Checkpoints) -> None:
    for constructor, name in ((None, "dcp_optimized"), (S3ReaderConstructor.sequential(), "sequential")):
        reader = checkpoints.reader("s3://bucket/x", reader_constructor=constructor)
        assert reader.fs._client.user_agent_prefix.endswith(f"(dcp; {torch.__version__}; md/reader_type#{name})")
    assert isinstance(checkpoints.reader("s3://bucket/x")._reader_constructor, DCPOptimizedConstructor)


def test_items_of_a_plan_are_sorted_by_offset(checkpoints: Checkpoints) -> None:
    saved = {name: torch.randn(100) for name in "cab"}
    uri = checkpoints.save(saved)
    reader = checkpoints.reader(uri)
    metadata = reader.read_metadata()
    reader.set_up_storage_reader(metadata, True)
    planner = dcp.DefaultLoadPlanner()
    planner.set_up_planner({name: torch.zeros(100) for name in "abc"}, metadata, True)
    plan = planner.create_local_plan()
    reader.prepare_local_plan(plan)
    offsets = [metadata.storage_data[item.storage_index].offset for item in plan.items]
    assert offsets == sorted(offsets)


def test_error_message_refers_to_an_existing_page() -> None:
    page, _, anchor = re.search(r"(docs/\S+\.md)(#)([a-z0-9-]+)", FALLBACK_GUIDANCE).groups()  # type: ignore[union-attr]
    headings = re.findall(r"^#+ (.+)$", (Path(__file__).parents[4] / page).read_text(), re.MULTILINE)
    assert anchor in [heading.lower().replace(" ", "-") for heading in headings]
