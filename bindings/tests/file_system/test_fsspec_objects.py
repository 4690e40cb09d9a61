"""Metadata, tags, URLs, versions, multipart uploads and attributes of objects. tests/foreign compares the same with s3fs."""

from __future__ import annotations

import asyncio
import pickle
import urllib.request

import fsspec
import penstock
import pytest
from bucket_io import get, keys, put
from file_systems import file_system, storage_options
from penstock.fsspec import FileChangedError
from penstock.fsspec._parts import copy_with_attributes
from versioned_bucket import keep_versions

MIB = 1024**2
FULL = {
    "cache_control": "max-age=5",
    "content_encoding": "gzip",
    "content_language": "de",
    "content_type": "text/csv",
    "expires": 2_000_000_000.0,
    "metadata": {"a": "1"},
    "server_side_encryption": "AES256",
    "storage_class": "STANDARD_IA",
    "tagging": {"t": "1"},
}


@pytest.fixture
def fs(emulator):
    return file_system(emulator)


def described(client, bucket, key):
    head = client.head(bucket, key)
    names = ("cache_control", "content_encoding", "content_language", "content_type", "expires", "encryption", "storage_class")
    return {name: getattr(head, name) for name in names}, dict(head.metadata), client.get_object_tagging(bucket, key)


# ---- metadata


@pytest.mark.parametrize("limit", [5 * 1024 * MIB, 5 * MIB], ids=["one request", "parts"])
def test_setxattr_changes_nothing_else(fs, client, bucket, monkeypatch, limit):
    """s3fs loses the content type and all other headers."""
    monkeypatch.setattr("penstock.fsspec._object_operations.MAX_COPY_BYTES", limit)
    client.put(bucket, "k", bytes(6 * MIB), **FULL)
    before, _, _ = described(client, bucket, "k")
    fs.setxattr(f"{bucket}/k", b_c="2")
    assert described(client, bucket, "k") == (before, {"a": "1", "b-c": "2"}, {"t": "1"})
    fs.setxattr(f"{bucket}/k", copy_kwargs={"ContentType": "text/plain", "Tagging": "u=2"}, a=None)
    assert described(client, bucket, "k") == ({**before, "content_type": "text/plain"}, {"b-c": "2"}, {"u": "2"})
    assert client.head(bucket, "k").size == 6 * MIB


def test_setxattr_of_a_replaced_object_changes_nothing(fs, client, bucket, monkeypatch):
    put(client, bucket, "k", b"old")
    copy = type(fs.client).copy

    def put_and_copy(self, *args, **kwargs):
        put(client, bucket, "k", b"new")
        return copy(self, *args, **kwargs)

    monkeypatch.setattr(type(fs.client), "copy", put_and_copy)
    with pytest.raises(FileChangedError):
        fs.setxattr(f"{bucket}/k", a="1")
    assert (get(client, bucket, "k"), client.head(bucket, "k").metadata) == (b"new", {})


def test_metadata_of_open_files(fs, client, bucket):
    client.put(bucket, "k", b"x", metadata={"a": "1"})
    with fs.open(f"{bucket}/k") as file:
        file.setxattr(b="2")
        assert (file.metadata(), file.getxattr("b")) == ({"a": "1", "b": "2"}, "2")
    with fs.open(f"{bucket}/k", "wb") as file, pytest.raises(NotImplementedError, match="close it first"):
        file.setxattr(b="3")


# ---- URLs


def test_url_errors(fs, bucket):
    with pytest.raises(ValueError, match=r"one of get_object, .* not 'copy_object'"):
        fs.url(f"{bucket}/k", client_method="copy_object")
    with pytest.raises(ValueError, match=r"unknown parameters of get_object: Range; .*presign"):
        fs.url(f"{bucket}/k", Range="bytes=0-1")


def test_url_of_a_requester_pays_file_system_needs_no_header(emulator, client, bucket):
    put(client, bucket, "k", b"x")
    url = file_system(emulator, requester_pays=True).url(f"{bucket}/k")
    assert "x-amz-request-payer=requester" in url
    assert urllib.request.urlopen(url).read() == b"x"


def test_url_of_a_version(emulator, client, bucket):
    keep_versions(emulator, bucket)
    first = client.put(bucket, "k", b"old").version_id
    client.put(bucket, "k", b"new")
    fs = file_system(emulator, version_aware=True)
    for path in (f"{bucket}/k?versionId={first}", f"s3://{bucket}/k?versionId={first}"):
        assert urllib.request.urlopen(fs.url(path)).read() == b"old"


# ---- versions


def test_versions_are_never_written(emulator, client, bucket, tmp_path):
    keep_versions(emulator, bucket)
    fs = file_system(emulator, version_aware=True)
    fs.pipe(f"{bucket}/k", b"x")
    (tmp_path / "f").write_bytes(b"new")
    path = f"{bucket}/k?versionId={fs.info(f'{bucket}/k')['VersionId']}"
    for write in (
        lambda: fs.pipe_file(path, b"new"),
        lambda: fs.pipe({path: b"new"}),
        lambda: fs.put_file(str(tmp_path / "f"), path),
        lambda: fs.open(path, "wb"),
        lambda: fs.rm_file(path),
        lambda: fs.cp_file(f"{bucket}/k", path),
        lambda: fs.merge(path, [f"{bucket}/k"]),
    ):
        with pytest.raises(ValueError, match="cannot write or delete a version"):
            write()
    assert [(each["Key"], each["Size"]) for each in fs.object_version_info(f"{bucket}/k")] == [("k", 1)]
    with pytest.raises(ValueError, match="two versions"):
        fs.info(path, version_id="other")


def test_url_with_a_version_is_opened(emulator, client, bucket):
    keep_versions(emulator, bucket)
    first = client.put(bucket, "k", b"old").version_id
    client.put(bucket, "k", b"new")
    with fsspec.open(f"penstock://{bucket}/k?versionId={first}", **storage_options(emulator)) as file:
        copy = pickle.loads(pickle.dumps(file))
        assert file.read() == copy.read() == b"old"


def test_open_file_of_a_versioned_bucket_keeps_its_version(emulator, client, bucket):
    keep_versions(emulator, bucket)
    fs = file_system(emulator, version_aware=True)
    fs.pipe(f"{bucket}/k", b"1" * 30 * MIB)
    with fs.open(f"{bucket}/k") as file, fs.open(f"{bucket}/k") as unread:
        file.read(10)
        fs.pipe(f"{bucket}/k", b"2" * 30 * MIB)
        file.seek(20 * MIB)
        assert file.read(9) == b"1" * 9
        assert unread.read() == b"1" * 30 * MIB
        fs.rm(f"{bucket}/k")
        assert file.version_id == fs.object_version_info(f"{bucket}/k")[-1]["VersionId"]


def test_object_replaced_after_open_raises_at_the_first_read(fs, client, bucket):
    for name, size in (("small", 10), ("large", 30 * MIB), ("model.ckpt", 10)):
        put(client, bucket, name, b"1" * size)
        with fs.open(f"{bucket}/{name}") as file:
            put(client, bucket, name, b"2" * size)
            with pytest.raises(FileChangedError):
                file.read(5)
            assert file.size == size


def test_stale_listing_does_not_open_another_object(emulator, client, bucket):
    put(client, bucket, "d/k", b"old")
    fs = file_system(emulator, use_listings_cache=True)
    fs.ls(f"{bucket}/d")
    put(client, bucket, "d/k", b"newer")
    with pytest.raises(FileChangedError):
        fs.open(f"{bucket}/d/k").read()
    fs.invalidate_cache()
    assert fs.open(f"{bucket}/d/k").read() == b"newer"


# ---- attributes of written objects

BOTOCORE = {
    "ContentType": "text/csv", "CacheControl": "max-age=5", "ServerSideEncryption": "AES256", "Tagging": {"t": "1"},
    "Metadata": {"a": "1"},
}  # fmt: skip


@pytest.mark.parametrize("size", [0, 10, 40 * MIB])
@pytest.mark.parametrize("mode", ["wb", "xb"])
def test_attributes_of_opened_files(fs, client, bucket, size, mode):
    with fs.open(f"{bucket}/k", mode, **BOTOCORE) as file:
        file.write(bytes(size))
    head = client.head(bucket, "k")
    assert (head.size, head.content_type, head.cache_control, head.encryption) == (size, "text/csv", "max-age=5", "AES256")
    assert (head.metadata, client.get_object_tagging(bucket, "k")) == ({"a": "1"}, {"t": "1"})


@pytest.mark.parametrize("size", [10, 40 * MIB])
def test_exclusive_and_discarded_writes_with_attributes(fs, client, bucket, size):
    file = fs.open(f"{bucket}/k", "xb", **BOTOCORE)
    file.write(bytes(size))
    put(client, bucket, "k", b"theirs")
    with pytest.raises(FileExistsError):
        file.close()
    file = fs.open(f"{bucket}/k", "wb", **BOTOCORE)
    file.write(bytes(size))
    file.discard()
    assert get(client, bucket, "k") == b"theirs"
    assert fs.list_multipart_uploads(bucket) == []


def test_append_and_copy_in_parts_keep_all_attributes(fs, client, bucket):
    for key, size in (("small", 10), ("large", 6 * MIB)):
        client.put(bucket, key, bytes(size), **FULL)
        before = described(client, bucket, key)
        with fs.open(f"{bucket}/{key}", "ab") as file:
            file.write(b"more")
        copy_with_attributes(client, (bucket, key), (bucket, "copy"))
        assert described(client, bucket, key) == described(client, bucket, "copy") == before
        assert client.head(bucket, "copy").size == size + 4


def test_expected_bucket_owner_is_checked(emulator, client, bucket, tmp_path):
    put(client, bucket, "k", b"x")
    (tmp_path / "f").write_bytes(b"x")
    fs = file_system(emulator, s3_additional_kwargs={"ExpectedBucketOwner": "999999999999"})
    for write in (
        lambda: fs.pipe_file(f"{bucket}/new", b"x"),
        lambda: fs.pipe({f"{bucket}/new": b"x"}),
        lambda: fs.put_file(str(tmp_path / "f"), f"{bucket}/new"),
        lambda: fs.cp_file(f"{bucket}/k", f"{bucket}/new"),
    ):
        with pytest.raises(PermissionError):
            write()
    assert keys(client, bucket) == ["k"]


def test_copies_have_the_encryption_of_the_file_system(emulator, client, bucket):
    client.put(bucket, "k", b"x", metadata={"a": "1"})
    fs = file_system(emulator, s3_additional_kwargs={"StorageClass": "STANDARD_IA", "ContentType": "text/csv"})
    fs.cp(f"{bucket}/k", f"{bucket}/copy")
    fs.mv(f"{bucket}/k", f"{bucket}/moved")
    for key in ("copy", "moved"):
        head = client.head(bucket, key)
        assert (head.storage_class, head.metadata, head.content_type) == ("STANDARD_IA", {"a": "1"}, "binary/octet-stream")


def test_explicit_content_type_of_the_file_system_is_not_guessed(emulator, client, bucket, tmp_path):
    (tmp_path / "a.html").write_bytes(b"x")
    fs = file_system(emulator, s3_additional_kwargs={"ContentType": "text/csv"})
    fs.put(str(tmp_path / "a.html"), f"{bucket}/a.html")
    assert client.head(bucket, "a.html").content_type == "text/csv"


# ---- merge and multipart uploads


def test_merge_of_small_empty_and_missing_files(fs, client, bucket):
    for key, data in (("large", b"1" * 5 * MIB), ("small", b"22"), ("empty", b"")):
        put(client, bucket, key, data)
    for names, problem in ((["small", "large"], "'.*/small' has fewer than 5 MiB"), ([], "no files")):
        with pytest.raises(ValueError, match=problem):
            fs.merge(f"{bucket}/all", [f"{bucket}/{name}" for name in names])
    with pytest.raises(FileNotFoundError):
        fs.merge(f"{bucket}/all", [f"{bucket}/large", f"{bucket}/missing"])
    assert keys(client, bucket, "all") == []
    fs.merge(f"{bucket}/all", [f"{bucket}/{name}" for name in ("empty", "large", "empty", "small")], ContentType="text/csv")
    assert get(client, bucket, "all") == b"1" * 5 * MIB + b"22"
    assert client.head(bucket, "all").content_type == "text/csv"
    fs.merge(f"{bucket}/none", [f"{bucket}/empty"])
    assert get(client, bucket, "none") == b""
    assert fs.list_multipart_uploads(bucket) == []


def test_merge_of_a_replaced_file_writes_nothing(fs, client, bucket, monkeypatch):
    put(client, bucket, "k", b"1" * 5 * MIB)
    copy = type(fs.client).upload_part_copy

    def put_and_copy(self, *args, **kwargs):
        put(client, bucket, "k", b"2" * 5 * MIB)
        return copy(self, *args, **kwargs)

    monkeypatch.setattr(type(fs.client), "upload_part_copy", put_and_copy)
    with pytest.raises(FileChangedError):
        fs.merge(f"{bucket}/all", [f"{bucket}/k"])
    assert (keys(client, bucket), fs.list_multipart_uploads(bucket)) == (["k"], [])


def test_multipart_uploads_of_many_pages_are_listed_and_cleared(fs, client, bucket):
    for number in range(1003):
        client.create_multipart_upload(bucket, f"{number:04}")
    assert [each["Key"] for each in fs.list_multipart_uploads(f"s3://{bucket}")] == [f"{number:04}" for number in range(1003)]
    fs.clear_multipart_uploads(bucket)
    assert fs.list_multipart_uploads(bucket) == []


# ---- asynchronous files


def test_asynchronous_files(emulator, client, bucket):
    data = bytes(range(256)) * (12 * MIB // 256)

    async def use():
        fs = file_system(emulator, asynchronous=True)
        async with await fs.open_async(f"{bucket}/k", "wb", ContentType="text/csv") as file:
            assert await file.write(data) == len(data)
            assert keys(client, bucket) == []
        with pytest.raises(ZeroDivisionError):
            async with await fs.open_async(f"{bucket}/k", "wb") as file:
                await file.write(b"partial")
                1 / 0  # noqa: B018
        file = await fs.open_async(f"{bucket}/k", "wb")
        with pytest.raises(ZeroDivisionError):
            try:
                await file.write(b"never stored")
                raise ZeroDivisionError
            finally:
                await file.close()
        async with await fs.open_async(f"s3://{bucket}/k") as file:
            begin = await file.read(5)
            found = begin, await file.read(), file.size, file.loc
        file = await fs.open_async(f"{bucket}/missing")
        with pytest.raises(FileNotFoundError):
            await file.read()
        file = await fs.open_async(f"{bucket}/k", "xb")
        await file.write(b"x")
        with pytest.raises(FileExistsError):
            await file.close()
        with pytest.raises(ValueError, match="rb, wb and xb"):
            await fs.open_async(f"{bucket}/k", "ab")
        return found

    begin, rest, size, position = asyncio.run(use())
    assert (begin + rest == data, size, position) == (True, len(data), len(data))
    assert client.head(bucket, "k").content_type == "text/csv"


# ---- names of s3fs


def test_names_without_meaning_name_ours(fs, bucket):
    assert not hasattr(fs, "s3")
    with pytest.raises(AttributeError, match="client"):
        fs.s3  # noqa: B018
    for call in (
        lambda: fs.call_s3("head_object", Bucket=bucket, Key="k"),
        lambda: asyncio.run(fs._call_s3("head_object", Bucket=bucket, Key="k")),
        lambda: asyncio.run(fs.get_s3(bucket)),
    ):
        with pytest.raises(NotImplementedError, match=r"`client`, a penstock.S3Client"):
            call()
    with pytest.raises(NotImplementedError, match="AWS STS"):
        fs.get_delegated_s3pars()
    with pytest.raises(NotImplementedError, match=r"pipe or put"):
        fs.chmod(f"{bucket}/k", "private")
    fs.invalidate_region_cache()


def test_closing_a_session_closes_nothing(emulator, client, bucket):
    put(client, bucket, "k", b"x")

    async def use():
        fs = file_system(emulator, asynchronous=True)
        session = await fs.set_session()
        await session.close()
        async with await fs.set_session(refresh=True):
            pass
        return await fs._cat_file(f"{bucket}/k")

    assert asyncio.run(use()) == b"x"


def test_connect_reads_credentials_again(emulator, client, bucket, monkeypatch):
    put(client, bucket, "k", b"x")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", emulator.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    fs = file_system(emulator, key=None, secret=None, skip_instance_cache=True)
    with pytest.raises(PermissionError):
        fs.cat_file(f"{bucket}/k")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", emulator.secret_access_key)
    fs.connect(refresh=True)
    assert fs.cat_file(f"{bucket}/k") == fs.cat(f"{bucket}/k") == b"x"


def test_requests_of_coroutines_are_counted_by_the_client(fs, client, bucket):
    before = fs.client.metrics()["requests"].get("PutObject", 0)
    fs.pipe({f"{bucket}/{number}": b"x" for number in range(3)})
    assert fs.client.metrics()["requests"]["PutObject"] - before == 3
    assert isinstance(fs.client, penstock.S3Client)
