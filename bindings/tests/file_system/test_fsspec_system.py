"""The file system: errors, options, protocols, processes, threads, event loops, other parts of fsspec."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import penstock
import penstock.fsspec
import pytest
from bucket_io import keys, put
from file_systems import file_system, storage_options
from penstock.fsspec import FileChangedError, PenstockFileSystem, S3FileSystem

MIB = 1024**2


@pytest.fixture
def fs(emulator):
    return file_system(emulator)


# ---- errors


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("AccessDenied", 403, PermissionError),
        ("SlowDown", 503, TimeoutError),
        ("InternalError", 500, TimeoutError),
        ("NoSuchKey", 404, FileNotFoundError),
        ("InvalidArgument", 400, OSError),
    ],
)
def test_errors_are_mapped_to_os_errors(emulator, bucket, client, code, status, kind):
    put(client, bucket, "k", b"x")
    fs = file_system(emulator, max_attempts=1)
    faults = emulator.faults()
    faults.set([{"when": {"operation": "GetObject", "bucket": bucket}, "do": {"error": {"status": status, "code": code}}}])
    try:
        with pytest.raises(kind) as caught:
            fs.cat_file(f"{bucket}/k")
    finally:
        faults.clear()
    assert isinstance(caught.value, OSError)
    assert caught.value.filename == f"{bucket}/k"
    assert isinstance(caught.value.__cause__, penstock.S3Exception)
    assert caught.value.__cause__.status == status


def test_errors_from_the_event_loop_keep_their_cause(emulator, bucket, client):
    """asyncio recreates a plain TimeoutError, without its cause."""
    put(client, bucket, "k", b"x")
    fs = file_system(emulator, max_attempts=1)
    faults = emulator.faults()
    faults.set([{"when": {"operation": "CopyObject", "bucket": bucket}, "do": {"slow_down": {}}}])
    try:
        with pytest.raises(TimeoutError) as caught:
            fs.mv(f"{bucket}/k", f"{bucket}/moved")
    finally:
        faults.clear()
    assert isinstance(caught.value.__cause__, penstock.S3ThrottledError)


def test_object_replaced_during_a_read_raises(fs, client, bucket):
    put(client, bucket, "k", b"1" * 30 * MIB)
    with fs.open(f"{bucket}/k") as file:
        file.read(10)
        put(client, bucket, "k", b"2" * 30 * MIB)
        file.seek(20 * MIB)
        with pytest.raises(FileChangedError):
            file.read(9 * MIB)


# ---- construction, registration, pickling


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"endpoint": "http://127.0.0.1:1"}, "no argument 'endpoint'; did you mean 'endpoint_url'"),
        ({"nonsense": 1}, "no argument 'nonsense'; expected one of add_aliases, .*version_aware"),
        ({"client_kwargs": {"endpoint": "http://127.0.0.1:1"}}, r"client_kwargs\['endpoint'\]; did you mean 'endpoint_url'"),
    ],
)
def test_unknown_arguments_raise(given, problem):
    with pytest.raises(TypeError, match=problem):
        S3FileSystem(**given)


def test_arguments_of_s3fs_and_fsspec_are_accepted():
    S3FileSystem(anon=True, use_ssl=False, cache_regions=True, default_block_size=1, max_concurrency=4, session=None)
    S3FileSystem(anon=True, listings_expiry_time=3, max_paths=5, skip_instance_cache=True, client_kwargs={"verify": True})


def test_options_of_s3fs(emulator, bucket, client, monkeypatch):
    put(client, bucket, "k", b"x")
    keys_of = {"aws_access_key_id": emulator.access_key_id, "aws_secret_access_key": emulator.secret_access_key}
    for options in (
        {"client_kwargs": {"endpoint_url": emulator.endpoint, "region_name": "us-east-1", **keys_of}, "default_block_size": 5},
        {"endpoint_url": emulator.endpoint, "username": emulator.access_key_id, "password": emulator.secret_access_key},
        storage_options(
            emulator, config_kwargs={"retries": {"max_attempts": 4}, "s3": {"addressing_style": "path"}}, use_ssl=False
        ),
    ):
        assert S3FileSystem(**options).cat_file(f"{bucket}/k") == b"x"
    config = S3FileSystem(**storage_options(emulator, config_kwargs={"retries": {"max_attempts": 4}})).client.s3client_config
    assert config.max_attempts == 5  # botocore does not count the first attempt
    assert config.addressing_style is None
    assert S3FileSystem(anon=True, endpoint_url=emulator.endpoint).client.s3client_config.unsigned
    virtual = S3FileSystem(config_kwargs={"s3": {"addressing_style": "virtual"}}).client.s3client_config
    assert virtual.addressing_style == "virtual"
    assert S3FileSystem(client_kwargs={"region_name": "eu-west-1"}).client.region == "eu-west-1"
    monkeypatch.setenv("AWS_DEFAULT_REGION", "ap-south-1")
    assert S3FileSystem(profile="research").client.region == "ap-south-1"
    with pytest.raises(ValueError, match="SSECustomerKey"):
        S3FileSystem(s3_additional_kwargs={"SSECustomerKey": "k"})


def test_user_agent_contains_fsspec(fs):
    assert fs.client.user_agent_prefix.endswith("(fsspec)")


def test_protocols(emulator, bucket):
    assert fsspec.get_filesystem_class("penstock") is PenstockFileSystem
    fs, path = fsspec.core.url_to_fs(f"penstock://{bucket}/k", **storage_options(emulator))
    assert (path, fs.unstrip_protocol(path)) == (f"{bucket}/k", f"penstock://{bucket}/k")
    assert file_system(emulator).unstrip_protocol("b/k") == "s3://b/k"
    assert fs is fsspec.filesystem("penstock", **storage_options(emulator))
    for url in ("s3://b/k/", "s3a://b/k", "penstock://b/k", "/b/k", "b/k"):
        assert fs._strip_protocol(url) == "b/k"


def test_s3_is_registered_on_request_and_if_it_has_no_handler(monkeypatch):
    taken = sys.modules["fsspec.registry"]._registry
    theirs = type("Theirs", (fsspec.AbstractFileSystem,), {})
    monkeypatch.setitem(taken, "s3a", theirs)
    monkeypatch.setitem(taken, "s3", theirs)
    del taken["s3"]
    monkeypatch.setattr(penstock.fsspec.importlib.util, "find_spec", lambda name: object())
    assert penstock.fsspec.register_where_missing() == []  # s3fs can be imported
    assert "s3" not in taken
    monkeypatch.setattr(penstock.fsspec.importlib.util, "find_spec", lambda name: None)
    assert penstock.fsspec.register_where_missing() == ["s3"]
    assert taken["s3a"] is theirs
    penstock.fsspec.register()
    assert (taken["s3"], taken["s3a"]) == (S3FileSystem, S3FileSystem)


def test_installed_penstock_does_not_register_s3():
    document = (Path(__file__).resolve().parents[3] / "pyproject.toml").read_text()
    section = document.partition('[project.entry-points."fsspec.specs"]')[2].partition("[")[0]
    assert section.split() == ["penstock", "=", '"penstock.fsspec:PenstockFileSystem"']


def test_pickles(fs, client, bucket):
    put(client, bucket, "k", b"x")
    assert pickle.loads(pickle.dumps(fs)) is fs
    assert fsspec.AbstractFileSystem.from_json(fs.to_json()).cat(f"{bucket}/k") == b"x"


def read_in_child(fs, path, results):
    results.put((fs.cat_file(path), fs.find(path.rpartition("/")[0]), fs.cat(path)))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_works_in_forked_children(fs, client, bucket, method):
    """fsspec's own asynchronous file systems raise an error after a fork."""
    put(client, bucket, "k", b"x")
    assert fs.find(bucket) == [f"{bucket}/k"]  # start its threads
    context = multiprocessing.get_context(method)
    results = context.Queue()
    child = context.Process(target=read_in_child, args=(fs, f"{bucket}/k", results))
    child.start()
    assert results.get(timeout=60) == (b"x", [f"{bucket}/k"], b"x")
    child.join()


def test_many_threads(fs, client, bucket):
    contents = [bytes([number]) * 1000 for number in range(20)]
    for number, content in enumerate(contents):
        put(client, bucket, f"d/{number}", content)
    paths = [f"{bucket}/d/{number}" for number in range(20)]

    def use(number):
        whole = fs.cat(paths)
        ranges = fs.cat_ranges(paths, [number] * 20, [number + 5] * 20, on_error="raise")
        return [whole[path] for path in paths] == contents and ranges == [content[:5] for content in contents]

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(use, range(16)))


def test_in_an_event_loop(emulator, client, bucket):
    put(client, bucket, "d/k", b"x")

    async def use():
        fs = file_system(emulator, asynchronous=True)
        await fs._pipe_file(f"{bucket}/d/l", b"y")
        found = await asyncio.gather(fs._cat_file(f"{bucket}/d/k"), fs._find(f"{bucket}/d"), fs._info(f"{bucket}/d/l"))
        await fs._rm(f"{bucket}/d", recursive=True)
        with pytest.raises(RuntimeError, match=r"await _find\(\)"):
            fs.find(bucket)
        return found

    data, names, info = asyncio.run(use())
    assert (data, names, info["size"]) == (b"x", [f"{bucket}/d/k", f"{bucket}/d/l"], 1)
    assert keys(client, bucket) == []


def test_cancelled_write_publishes_nothing(emulator, client, bucket):
    faults, journal = emulator.faults(), emulator.journal()

    async def seen(operation, behind):
        entries = journal.tail(behind=behind, timeout_s=60, operations=operation, bucket=bucket)
        assert await asyncio.to_thread(next, entries, None) is not None

    async def use():
        fs = file_system(emulator, asynchronous=True)
        behind = journal.last
        write = asyncio.ensure_future(fs._pipe_file(f"{bucket}/k", bytes(100 * MIB)))
        await seen("CreateMultipartUpload", behind)
        write.cancel()
        with pytest.raises(asyncio.CancelledError):
            await write
        await seen("AbortMultipartUpload", behind)

    faults.set([{"when": {"operation": "UploadPart", "bucket": bucket}, "do": {"stall": {"ms": 300}}}])
    try:
        asyncio.run(use())
    finally:
        faults.clear()
    assert keys(client, bucket) == []
    assert client._client.list_multipart_uploads(bucket) == []


# ---- other parts of fsspec


def test_mappers_and_chains(emulator, client, bucket, tmp_path):
    options = storage_options(emulator)
    fs = PenstockFileSystem(**options)
    mapper = fs.get_mapper(f"{bucket}/store", create=True)
    mapper["a/b"] = b"1"
    mapper.setitems({"c": b"2", "d": b"3"})
    assert dict(mapper) == {"a/b": b"1", "c": b"2", "d": b"3"}
    assert mapper.getitems(["c", "d"]) == {"c": b"2", "d": b"3"}
    del mapper["c"]
    assert keys(client, bucket) == ["store/a/b", "store/d"]
    for chain in ("simplecache", "filecache", "blockcache"):
        cache = {chain: {"cache_storage": str(tmp_path / chain)}, "penstock": options}
        with fsspec.open(f"{chain}::penstock://{bucket}/store/d", **cache) as file:
            assert file.read() == b"3"
    blocks = {"blockcache": {"cache_storage": str(tmp_path / "blocks")}, "penstock": options}
    put(client, bucket, "large", bytes(range(256)) * 20 * 4096)
    with fsspec.open(f"blockcache::penstock://{bucket}/large", **blocks) as file:
        file.seek(6 * MIB + 5)
        assert file.read(5) == bytes(range(5, 10))
    with fsspec.open(f"blockcache::penstock://{bucket}/large", **blocks) as file:
        after = emulator.journal().last
        file.seek(6 * MIB + 7)
        assert file.read(2) == bytes([7, 8])
        assert emulator.journal().count(after=after, operations="GetObject") == 0  # from the disk
    below = fsspec.filesystem("dir", path=f"{bucket}/store", fs=fs)
    assert below.cat("a/b") == b"1"


def test_options_of_fsspecs_configuration(emulator, client, bucket, monkeypatch):
    put(client, bucket, "k", b"x")
    conf = {"endpoint_url": emulator.endpoint, "key": emulator.access_key_id, "secret": emulator.secret_access_key}
    monkeypatch.setitem(fsspec.config.conf, "s3", conf)  # set by FSSPEC_S3_ENDPOINT_URL and similar variables
    assert S3FileSystem(skip_instance_cache=True).cat(f"{bucket}/k") == b"x"
    assert PenstockFileSystem(skip_instance_cache=True).cat(f"{bucket}/k") == b"x"
