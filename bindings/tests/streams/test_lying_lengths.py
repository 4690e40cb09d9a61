"""Readers after responses that announce too short a length: the size of an object comes from a response that arrived whole.

A reader used to keep the announced length as the object's size: seek(0, SEEK_END) returned 50, and read() then returned b"".
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import penstock
import pytest
from bucket_io import put
from penstock import S3Client, S3ClientConfig
from penstock.testing import Emulator
from reader_kinds import KINDS, every_kind

MIB = 1024**2
SIZES = [65536, 9 * MIB + 3]
ANNOUNCED = 50
OPERATIONS: list[list[tuple[Any, ...]]] = [
    [("seek", 2312), ("read", 100), ("seek", 60000), ("read",), ("tell",)],
    [("read", 100), ("seek", 60000), ("read",)],
    [("read", 100), ("seek", 0, 2), ("read",), ("seek", -5, 2), ("read",)],
    [("seek", 0, 2), ("seek", 0), ("read",)],
    [("read",), ("seek", 0, 2), ("tell",)],
]


def content(size: int) -> bytes:
    return (bytes(range(251)) * (size // 251 + 1))[:size]


@contextmanager
def short_lengths(emulator: Emulator, times: int) -> Iterator[None]:
    rule = {
        "when": {"operation": "GetObject"},
        "do": {"truncate": {"mode": "length-lie"}, "at": f"body_out@{ANNOUNCED}"},
        "limit": {"times": times},
        "must_fire": False,
    }
    emulator.faults().set([rule])
    try:
        yield
    finally:
        emulator.faults().clear()


def run(reader: Any, data: bytes, operations: list[tuple[Any, ...]]) -> int:
    """Compares each call that returns with BytesIO. Returns how many raised."""
    local, failed = io.BytesIO(data), 0
    for name, *arguments in operations:
        try:
            got = getattr(reader, name)(*arguments)
        except penstock.S3Exception:
            failed += 1
            assert reader.tell() == local.tell(), "a failed call leaves the position unchanged"
            continue
        assert got == getattr(local, name)(*arguments), (name, *arguments)
    return failed


def client_of(emulator: Emulator, attempts: int) -> S3Client:
    config = S3ClientConfig(force_path_style=True, max_attempts=attempts)
    return S3Client("us-east-1", endpoint=emulator.endpoint, s3client_config=config)


@every_kind
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("times", [1, 100])
def test_a_call_after_such_a_response_is_right_or_an_error(
    emulator: Emulator, client: S3Client, bucket: str, monkeypatch: pytest.MonkeyPatch, kind: str, size: int, times: int
) -> None:
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)
    data = content(size)
    put(client, bucket, "k", data)
    for attempts in (1, 3):
        for operations in OPERATIONS:
            reader = client_of(emulator, attempts).get_object(bucket, "k", reader_constructor=KINDS[kind])
            with short_lengths(emulator, times):
                run(reader, data, operations)


@pytest.mark.parametrize("operations", OPERATIONS)
def test_one_such_response_is_overruled_by_the_next_two(
    emulator: Emulator, client: S3Client, bucket: str, monkeypatch: pytest.MonkeyPatch, operations: list[tuple[Any, ...]]
) -> None:
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)
    data = content(SIZES[0])
    put(client, bucket, "k", data)
    reader = client_of(emulator, 3).get_object(bucket, "k")
    with short_lengths(emulator, 1):
        assert run(reader, data, operations) == 0
    with short_lengths(emulator, 1):
        assert client_of(emulator, 3).get(bucket, "k").body == data


def test_the_second_response_may_lie(emulator: Emulator, client: S3Client, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The retry after a corrupt body used to end as S3PreconditionFailedError, although the ETag was the same."""
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)
    data = content(SIZES[0])
    put(client, bucket, "k", data)
    corrupt = {
        "when": {"operation": "GetObject", "nth": 1},
        "do": {"corrupt": {"mode": "flip-bit"}, "at": "body_out@9"},
        "must_fire": False,
    }
    lie = {
        "when": {"operation": "GetObject", "nth": 2},
        "do": {"truncate": {"mode": "length-lie"}, "at": f"body_out@{ANNOUNCED}"},
    }
    emulator.faults().set([corrupt, lie])
    assert client_of(emulator, 3).get(bucket, "k").body == data
    emulator.faults().clear()


@every_kind
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("announced", ["1", "50", "size - 1", "size + 1"])
def test_the_size_of_a_wrong_head_is_forgotten_after_an_error(
    emulator: Emulator, client: S3Client, bucket: str, monkeypatch: pytest.MonkeyPatch, kind: str, size: int, announced: str
) -> None:
    """Regression: the sequential and the ranged reader kept it, and later reads were short without an error."""
    for name, value in emulator.environment().items():
        monkeypatch.setenv(name, value)
    data = content(size)
    put(client, bucket, "k", data)
    length = {"1": "1", "50": "50", "size - 1": str(size - 1), "size + 1": str(size + 1)}
    for operations in (
        [("read",), ("read", 100), ("seek", 0), ("read",)],
        [("read", 100), ("seek", 2312), ("read", 10), ("read",)],
    ):
        reader = client_of(emulator, 1).get_object(bucket, "k", reader_constructor=KINDS[kind])
        rule = {
            "when": {"operation": "HeadObject"},
            "do": {"header_lie": {"set": {"Content-Length": length[announced]}}},
            "limit": {"times": 1},
            "must_fire": False,
        }
        emulator.faults().set([rule])
        reader.seek(0, io.SEEK_END)
        reader.seek(0)
        failed = False
        local = io.BytesIO(data)
        for name, *arguments in operations:
            try:
                got = getattr(reader, name)(*arguments)
            except (OSError, penstock.S3Exception):
                failed = True
                local.seek(reader.tell())
                continue
            expected = getattr(local, name)(*arguments)
            if failed:
                assert got == expected, (name, *arguments)
        emulator.faults().clear()
