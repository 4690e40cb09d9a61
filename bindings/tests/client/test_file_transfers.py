"""upload_file, download_file, and directories."""

from __future__ import annotations

import dataclasses
import os
import threading
from pathlib import Path

import penstock
import pytest

MIB = 1024**2


def test_a_file_goes_there_and_back(client, bucket, tmp_path):
    data = os.urandom(12 * MIB)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(data)
    target.write_bytes(b"old")
    seen: list[tuple[int, int | None]] = []
    config = penstock.S3ClientConfig(part_size=5 * MIB)
    config = dataclasses.replace(client.s3client_config, part_size=5 * MIB)
    partial = penstock.S3Client(client.region, endpoint=client.endpoint, s3client_config=config)
    result = partial.upload_file(
        source, bucket, "k", content_type="x/y", tagging={"a": "b"}, progress=lambda *counts: seen.append(counts)
    )
    assert result.size == len(data) and result.etag == client.head(bucket, "k").etag
    assert seen[-1] == (len(data), len(data))
    found = partial.download_file(bucket, "k", str(target), sync=True, progress=lambda *counts: seen.append(counts))
    assert target.read_bytes() == data
    assert (found.size, found.content_type, found.tag_count) == (len(data), "x/y", 1)
    assert client.get_object_tagging(bucket, "k") == {"a": "b"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "target"]


# A response without a checksum, with the ETag of the object and 40 of its bytes as the whole.
TOO_SHORT = [
    {"header_lie": {"drop": ["x-amz-checksum-crc64nvme", "x-amz-checksum-type"]}},
    {"truncate": {"mode": "length-lie"}, "at": "body_out@40"},
]


@pytest.fixture
def one_attempt(client):
    config = dataclasses.replace(client.s3client_config, max_attempts=1)
    return penstock.S3Client(client.region, endpoint=client.endpoint, s3client_config=config)


def test_a_length_that_contradicts_a_listing_replaces_no_file(one_attempt, emulator, bucket, tmp_path):
    client = one_attempt
    for key in ("d/a", "d/b"):
        client.put(bucket, key, bytes(100))
    (tmp_path / "a").write_text("earlier")
    (info, _) = next(client.list_objects(bucket, "d/")).object_info
    emulator.faults().set([{"when": {"operation": "GetObject", "key": "d/a"}, "do": TOO_SHORT}])
    with pytest.raises(penstock.S3DataLossError, match=r"100 bytes in the listing.*has 40"):
        client.download_file(bucket, "d/a", tmp_path / "a", listed=(info.size, info.etag))
    result = client.download_directory(bucket, "d", tmp_path)
    assert [(failure.key, type(failure.error)) for failure in result.failures] == [("d/a", penstock.S3DataLossError)]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"earlier", "b": bytes(100)}
    client.download_file(bucket, "d/a", tmp_path / "a", listed=(100, '"another version"'))
    assert (tmp_path / "a").read_bytes() == bytes(40)
    emulator.faults().clear()


def test_without_replace_a_file_is_kept(client, bucket, tmp_path):
    client.put(bucket, "k", bytes(12 * MIB))
    target = tmp_path / "target"
    target.write_text("earlier")
    with pytest.raises(penstock.S3ConflictError, match=f"'{target}': File exists"):
        client.download_file(bucket, "k", target, replace=False)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("target", "earlier")]
    client.download_file(bucket, "k", tmp_path / "new", replace=False, sync=True)
    assert (tmp_path / "new").stat().st_size == 12 * MIB


def test_errors_of_files(client, bucket, tmp_path):
    with pytest.raises(penstock.S3NotFoundError, match="missing"):
        client.upload_file(tmp_path / "missing", bucket, "k")
    (tmp_path / "old").write_bytes(b"old")
    with pytest.raises(penstock.S3NotFoundError):
        client.download_file(bucket, "missing", tmp_path / "old")
    assert (tmp_path / "old").read_bytes() == b"old"
    with pytest.raises(TypeError, match=r"upload_file\(\) has no argument 'content_typ'"):
        client.upload_file(tmp_path / "old", bucket, "k", content_typ="x")
    with pytest.raises(TypeError, match="progress must be a callable or None, not int"):
        client.upload_file(tmp_path / "old", bucket, "k", progress=3)


def test_an_exception_of_the_callback_ends_the_transfer(client, bucket, tmp_path):
    (tmp_path / "f").write_bytes(os.urandom(MIB))

    def fail(*counts: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        client.upload_file(tmp_path / "f", bucket, "k", progress=fail)
    with pytest.raises(RuntimeError, match="enough"):
        client.upload_directory(tmp_path, bucket, "p", on_file=fail)


def test_directories(client, bucket, tmp_path):
    source = tmp_path / "source"
    for name in ("a", "d/b", "d/e/c"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
    (source / "link").symlink_to("a")
    reports: list[tuple[str, str, Exception | None]] = []
    threads = set()

    def on_file(path: str, key: str, error: Exception | None) -> None:
        threads.add(threading.get_ident())
        reports.append((path, key, error))

    up = client.upload_directory(source, bucket, "runs/7", on_file=on_file, cache_control="no-cache")
    assert (up.files, up.bytes, up.failures) == (3, sum(map(len, ("a", "d/b", "d/e/c"))), [])
    assert [Path(path).name for path in up.skipped] == ["link"]
    assert sorted(key for _, key, _ in reports) == ["runs/7/a", "runs/7/d/b", "runs/7/d/e/c"]
    assert threads == {threading.get_ident()}
    assert client.head(bucket, "runs/7/a").cache_control == "no-cache"
    assert client.upload_directory(source, bucket, "followed", follow_symlinks=True).files == 4
    client.put(bucket, "runs/7/../evil", b"x")
    reports.clear()
    down = client.download_directory(bucket, "runs/7", tmp_path / "target", on_file=on_file)
    assert down.files == 3
    assert [failure.key for failure in down.failures] == ["runs/7/../evil"]
    assert isinstance(down.failures[0].error, penstock.S3Exception)
    assert [key for _, key, error in reports if error is not None] == ["runs/7/../evil"]
    assert (tmp_path / "target/d/e/c").read_text() == "d/e/c"
    assert not (tmp_path / "evil").exists()


def test_a_missing_folder(client, bucket, tmp_path):
    with pytest.raises(penstock.S3NotFoundError):
        client.upload_directory(tmp_path / "missing", bucket)


@pytest.mark.parametrize("listed", [(None, '"e"'), (5, None), 5, ("5", '"e"'), (True, '"e"'), (1, '"e"', 2)])
def test_a_wrong_listed_is_a_type_error(client, bucket, tmp_path, listed):
    with pytest.raises(TypeError, match="listed must be None or the size and the ETag"):
        client.download_file(bucket, "k", tmp_path / "k", listed=listed)
