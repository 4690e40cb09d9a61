"""Sizes and durations are numbers, or texts with a unit, in every argument that is one."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import penstock
import pytest
from penstock import S3ClientConfig, S3ReaderConstructor, aio
from penstock.datapipes.iter import S3FileLoader
from penstock.dcp import S3StorageReader
from penstock.testing import Emulator

MIB = 1 << 20
SIZES = ("part_size", "look_ahead_bytes", "low_speed_limit", "max_bytes_per_second", "cache_size")
DURATIONS = ("attempt_timeout", "operation_timeout", "connect_timeout", "idle_timeout")


@pytest.mark.parametrize("name", SIZES)
def test_a_size_of_the_configuration_has_a_unit(name: str) -> None:
    for text, size in (("64MiB", 64 * MIB), ("0.1 GB", 10**8), (str(64 * MIB), 64 * MIB)):
        config = S3ClientConfig(**{name: text})
        config.validate()
        assert getattr(config, name) == size
        assert config == S3ClientConfig(**{name: size}) == dataclasses.replace(config)


@pytest.mark.parametrize("name", DURATIONS)
def test_a_duration_of_the_configuration_has_a_unit(name: str) -> None:
    for text, seconds in (("250ms", 0.25), ("5s", 5), ("1.5m", 90), ("2h", 7200), ("3", 3)):
        config = S3ClientConfig(**{name: text})
        config.validate()
        assert getattr(config, name) == seconds


@pytest.mark.parametrize("name", SIZES + DURATIONS)
@pytest.mark.parametrize("text", ["64Mi", "soon", "", "-5s", "-1"])
def test_another_text_is_refused(name: str, text: str) -> None:
    kind = "bytes" if name in SIZES else "seconds"
    message = f"^{name} must be a number of {kind}, or a text such as .*; not '{text}'"
    with pytest.raises(penstock.S3InvalidArgumentError, match=message):
        S3ClientConfig(**{name: text}).validate()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"part_size": "1MiB"}, "part size must be at between 5MiB and 5GiB, not 1048576 bytes"),
        ({"connect_timeout": "0s"}, "connect_timeout must be None .10 s. or more than 0"),
        ({"max_bytes_per_second": "1kB"}, "max_bytes_per_second must be None or 65536 to 9223372036854775807, not 1000"),
    ],
)
def test_a_text_has_the_limits_of_the_number(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(penstock.S3InvalidArgumentError, match=message):
        S3ClientConfig(**setting).validate()


def test_transfers_accept_units(client: penstock.S3Client, bucket: str, tmp_path: Path) -> None:
    durations = {"connect_timeout": "5s", "idle_timeout": "30s", "operation_timeout": "1m", "attempt_timeout": "30s"}
    sizes = {"part_size": "5MiB", "look_ahead_bytes": "32MiB", "max_bytes_per_second": "1GB", "low_speed_limit": "1kB"}
    config = dataclasses.replace(client.s3client_config, **durations, **sizes)
    other = penstock.S3Client(client.region, endpoint=client.endpoint, s3client_config=config)
    data = bytes(11 * MIB)
    file = tmp_path / "file"
    file.write_bytes(data)
    with other.put_object(bucket, "a") as writer:
        writer.write(data)
    assert client.head(bucket, "a").etag.strip('"').endswith("-3")
    other.upload_file(file, bucket, "b", part_size="6MiB", timeout="30s")
    with pytest.raises(penstock.S3InvalidArgumentError, match=r"part.size.* 1048576"):
        other.upload_file(file, bucket, "c", part_size="1MiB")
    other.download_file(bucket, "b", tmp_path / "copy", part_size="5MiB", timeout="30s")
    assert (tmp_path / "copy").read_bytes() == data
    assert other.upload_directory(tmp_path, bucket, "all", timeout="30s").failures == []
    with pytest.raises(penstock.S3InvalidArgumentError, match=r"part_size must be a number of bytes, or a text .* not '6M'"):
        other.upload_file(file, bucket, "c", part_size="6M")
    with pytest.raises(penstock.S3InvalidArgumentError, match=r"timeout must be a number of seconds, or a text .* not 'soon'"):
        other.head(bucket, "a", timeout="soon")


async def first_of(emulator: Emulator, bucket: str) -> tuple[str, int]:
    async with aio.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=emulator.config()) as client:
        await client.put(bucket, "k", b"abc", timeout="30s")
        head = await client.head(bucket, "k", timeout="30s")
        return (await client.presign("get", bucket, "k", expires_in="2h")).url, head.size


def test_requests_accept_units(client: penstock.S3Client, bucket: str, emulator: Emulator) -> None:
    def expiry(url: str) -> list[str]:
        return parse_qs(urlsplit(url).query)["X-Amz-Expires"]

    assert expiry(client.presign("get", bucket, "k", expires_in="1.5h").url) == ["5400"]
    assert client.presign_post(bucket, "k", expires_in="15m").fields
    url, size = asyncio.run(first_of(emulator, bucket))
    assert (expiry(url), size) == (["7200"], 3)
    assert penstock.flush_events(timeout="5s")


def test_readers_accept_units(client: penstock.S3Client, bucket: str) -> None:
    client.put(bucket, "k", b"0123456789")
    for kind in (S3ReaderConstructor.range_based("1KiB"), S3ReaderConstructor.range_based(buffer_size="0")):
        reader = client.get_object(bucket, "k", reader_constructor=kind)
        assert (reader.read(3), reader.read()) == (b"012", b"3456789")
    with pytest.raises(penstock.S3InvalidArgumentError, match=r"buffer_size must be a number of bytes, or a text .* not '1M'"):
        S3ReaderConstructor.range_based("1M")
    assert S3ReaderConstructor.dcp_optimized("1MiB")._max_gap_size == MIB
    reader = S3StorageReader("us-east-1", f"s3://{bucket}/run", max_gap_size="1MiB", max_request_size="64MiB")
    assert (reader._max_gap_size, reader._max_request_size) == (MIB, 64 * MIB)
    loader = S3FileLoader([], buffer_size="1GiB")
    assert loader.handler.client.s3client_config.look_ahead_bytes == 1 << 30


def test_the_append_buffer_has_a_unit(client: penstock.S3Client) -> None:
    bucket = "units--use1-az4--x-s3"
    client.create_bucket(bucket)
    with client.append_object(bucket, "log", buffer_size="1KiB") as writer:
        writer.write(bytes(1023))
        assert writer.tell() == 1023
        writer.write(b"x")
        assert client.head(bucket, "log").size == 1024
