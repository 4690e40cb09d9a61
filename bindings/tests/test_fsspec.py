"""The file system's operations on paths: listings, contents, copies, removal, directories, errors."""

from __future__ import annotations

import asyncio
import errno
import multiprocessing
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

import fsspec
import penstock
import penstock.fsspec
import pytest
from bucket_io import get, keys, put
from file_systems import file_system, storage_options
from penstock.fsspec import FileChangedError, PenstockFileSystem, S3FileSystem
from penstock.fsspec._parts import copy_in_parts, shares

MIB = 1024**2


@pytest.fixture
def fs(emulator):
    return file_system(emulator)


@pytest.fixture
def tree(client, bucket):
    for key in ("a/1", "a/b/2", "a/b/c/3", "a.txt", "z"):
        put(client, bucket, key, key.encode())
    return bucket


# ---- listings


def test_ls_is_what_is_directly_inside(fs, tree):
    assert fs.ls(tree, detail=False) == [f"{tree}/a", f"{tree}/a.txt", f"{tree}/z"]
    entries = fs.ls(f"s3://{tree}/a/")
    assert [(entry["name"], entry["type"], entry["size"]) for entry in entries] == [
        (f"{tree}/a/1", "file", 3),
        (f"{tree}/a/b", "directory", 0),
    ]
    assert {"ETag", "LastModified", "mtime", "StorageClass"} <= entries[0].keys()
    assert fs.ls(f"{tree}/z", detail=False) == [f"{tree}/z"]
    assert tree in fs.ls("", detail=False)
    with pytest.raises(FileNotFoundError):
        fs.ls(f"{tree}/missing")
    with pytest.raises(FileNotFoundError):
        fs.ls("no-such-bucket-here")


def test_info_of_files_directories_buckets(fs, tree, client):
    info = fs.info(f"s3://{tree}/a/1")
    assert (info["type"], info["size"]) == ("file", 3)
    assert info["ETag"] == client.head_object(tree, "a/1").etag
    assert abs(datetime.now(timezone.utc) - info["LastModified"]).total_seconds() < 3600
    assert fs.info(f"{tree}/a")["type"] == "directory"
    assert fs.info(tree)["type"] == "directory"
    assert (fs.isfile(f"{tree}/a"), fs.isdir(f"{tree}/a"), fs.isdir(f"{tree}/a/1"), fs.isfile(f"{tree}/a/1")) == (
        False, True, False, True,
    )  # fmt: skip
    assert not fs.exists(f"{tree}/a/mis")  # no name by its beginning
    assert not fs.exists("no-such-bucket-here")
    assert fs.size(f"{tree}/a/1") == 3
    assert fs.modified(f"{tree}/a/1") == info["LastModified"] == fs.created(f"{tree}/a/1")


def test_find_is_one_listing(fs, tree, emulator):
    after = emulator.journal().last
    assert fs.find(f"{tree}/a") == [f"{tree}/a/1", f"{tree}/a/b/2", f"{tree}/a/b/c/3"]
    assert [entry.operation for entry in emulator.journal().entries(after=after)] == ["ListObjectsV2"]
    assert fs.find(f"{tree}/a", withdirs=True) == [
        f"{tree}/a", f"{tree}/a/1", f"{tree}/a/b", f"{tree}/a/b/2", f"{tree}/a/b/c", f"{tree}/a/b/c/3",
    ]  # fmt: skip
    assert fs.find(f"{tree}/a", maxdepth=1) == [f"{tree}/a/1"]
    assert fs.find(f"{tree}/a", maxdepth=2) == [f"{tree}/a/1", f"{tree}/a/b/2"]
    assert fs.find(f"{tree}/z") == [f"{tree}/z"]
    assert fs.find(f"{tree}/missing") == []
    assert fs.find(f"{tree}/a", detail=True)[f"{tree}/a/b/2"]["size"] == 5
    with pytest.raises(ValueError, match="all buckets"):
        fs.find("")


def test_walk_glob_du(fs, tree):
    assert [(root, sorted(dirs), sorted(files)) for root, dirs, files in fs.walk(f"{tree}/a")] == [
        (f"{tree}/a", ["b"], ["1"]),
        (f"{tree}/a/b", ["c"], ["2"]),
        (f"{tree}/a/b/c", [], ["3"]),
    ]
    assert fs.glob(f"s3://{tree}/a*") == [f"{tree}/a", f"{tree}/a.txt"]
    assert fs.glob(f"{tree}/**/[23]") == [f"{tree}/a/b/2", f"{tree}/a/b/c/3"]
    assert fs.glob(f"{tree}/*/b/?", detail=True).keys() == {f"{tree}/a/b/2", f"{tree}/a/b/c"}
    assert fs.du(f"{tree}/a") == 3 + 5 + 7
    assert fs.du(f"{tree}/a", total=False)[f"{tree}/a/b/2"] == 5


def test_a_marked_directory_is_one(fs, client, bucket):
    """S3's console writes an empty object with a slash at the end."""
    put(client, bucket, "d/", b"")
    put(client, bucket, "d/e/", b"")
    assert fs.ls(f"{bucket}/d", detail=False) == [f"{bucket}/d/e"]
    assert fs.isdir(f"{bucket}/d")
    assert fs.isdir(f"{bucket}/d/e")
    assert fs.find(bucket) == []
    fs.rm(f"{bucket}/d", recursive=True)
    assert keys(client, bucket) == []


def test_answers_are_s3s_unless_a_cache_is_asked_for(emulator, client, tree):
    plain, cached = file_system(emulator), file_system(emulator, use_listings_cache=True)
    for fs in (plain, cached):
        fs.ls(tree)
    client.delete_object(tree, "z")
    put(client, tree, "new", b"")
    assert not plain.exists(f"{tree}/z")
    assert cached.exists(f"{tree}/z")
    assert cached.exists(f"{tree}/new")  # that a name is not in a listing means nothing
    assert f"{tree}/z" not in cached.ls(tree, detail=False, refresh=True)
    cached.pipe(f"{tree}/mine", b"")
    assert f"{tree}/mine" in cached.ls(tree, detail=False)
    client.delete_object(tree, "new")
    cached.invalidate_cache()
    assert not cached.exists(f"{tree}/new")


# ---- contents


def test_cat_file_slices(fs, client, bucket):
    data = bytes(range(200))
    put(client, bucket, "k", data)
    for start, end in [(None, None), (10, 20), (-5, None), (None, -5), (-10, -5), (5, None), (190, 300), (300, 400), (20, 10)]:
        assert fs.cat_file(f"s3://{bucket}/k", start, end) == data[start:end]
    assert fs.cat(f"{bucket}/k") == data
    assert fs.head(f"{bucket}/k", 3) == data[:3]
    assert fs.tail(f"{bucket}/k", 3) == data[-3:]
    assert fs.read_block(f"{bucket}/k", 5, 5) == data[5:10]


def test_cat_ranges_joins_neighbours(fs, emulator, client, bucket):
    contents = {name: bytes([number]) * 100_000 for number, name in enumerate("abc")}
    for name, data in contents.items():
        put(client, bucket, name, data)
    paths, starts, ends = [], [], []
    for name in "cab":
        for number in range(20):
            paths.append(f"{bucket}/{name}")
            starts.append(number * 5000)
            ends.append(number * 5000 + 4000)
    after = emulator.journal().last
    results = fs.cat_ranges(paths, starts, ends, on_error="raise")
    assert all(data == contents[path[-1]][:4000] for path, data in zip(paths, results, strict=True))
    assert len({id(data) for data in results}) == len(results)
    assert emulator.journal().count(after=after, operations="GetObject") == 3
    after = emulator.journal().last
    fs.cat_ranges(paths, starts, ends, max_gap=10)
    assert emulator.journal().count(after=after, operations="GetObject") == 60


def test_cat_ranges_of_every_kind(fs, client, bucket):
    data = bytes(range(256)) * 100
    put(client, bucket, "k", data)
    bounds = [
        (0, 10),
        (0, 10),
        (5, 15),
        (3, 3),
        (None, 4),
        (-4, None),
        (25_000, 30_000),
        (30_000, 30_001),
        (0, len(data)),
        (9, 5),
    ]
    results = fs.cat_ranges([f"{bucket}/k"] * len(bounds), [b for b, _ in bounds], [e for _, e in bounds])
    assert results == [data[begin:end] for begin, end in bounds]
    assert results[0] is not results[1]
    assert fs.cat_ranges([f"{bucket}/k"] * 2, 1, 3) == [data[1:3]] * 2


def test_errors_of_cat_ranges_are_in_their_places(fs, client, bucket):
    put(client, bucket, "k", b"0123456789")
    paths = [f"{bucket}/k", f"{bucket}/missing", f"{bucket}/k"]
    first, second, third = fs.cat_ranges(paths, [0, 0, 5], [2, 2, 7])
    assert (first, third) == (b"01", b"56")
    assert isinstance(second, FileNotFoundError)
    with pytest.raises(FileNotFoundError):
        fs.cat_ranges(paths, [0, 0, 5], [2, 2, 7], on_error="raise")
    with pytest.raises(ValueError, match="3 paths"):
        fs.cat_ranges(paths, [0], [1])


def test_pipe_and_its_exclusive_form(fs, client, bucket):
    fs.pipe({f"s3://{bucket}/{name}": name.encode() for name in "xyz"})
    assert keys(client, bucket) == ["x", "y", "z"]
    with pytest.raises(FileExistsError):
        fs.pipe_file(f"{bucket}/x", b"new", mode="create")
    assert get(client, bucket, "x") == b"x"
    fs.pipe(f"{bucket}/x", b"new", ContentType="text/plain", Metadata={"step": "7"})
    info = fs.info(f"{bucket}/x")
    assert (info["ContentType"], info["Metadata"]) == ("text/plain", {"step": "7"})
    with pytest.raises(ValueError, match="ServerSideEncryption"):
        fs.pipe(f"{bucket}/x", b"newer", ServerSideEncryption="aws:kms")
    assert get(client, bucket, "x") == b"new"


class Counted(fsspec.Callback):
    def __init__(self):
        super().__init__()
        self.children = []

    def branched(self, path_1, path_2, **kwargs):
        self.children.append(Counted())
        return self.children[-1]


@pytest.mark.parametrize("size", [0, 5, 40 * MIB])
def test_get_and_put_tell_their_callbacks(fs, client, bucket, tmp_path, size):
    local = tmp_path / "local"
    local.write_bytes(bytes(range(256)) * (size // 256) + bytes(size % 256))
    sent, brought = Counted(), Counted()
    fs.put_file(str(local), f"{bucket}/k", callback=sent)
    fs.get_file(f"{bucket}/k", str(tmp_path / "back"), callback=brought)
    assert (tmp_path / "back").read_bytes() == local.read_bytes()
    assert (sent.size, sent.value, brought.size, brought.value) == (size, size, size, size)
    trees = Counted()
    fs.put([str(local)] * 2, [f"{bucket}/many/1", f"{bucket}/many/2"], callback=trees)
    assert (trees.size, trees.value) == (2, 2)
    assert [child.value for child in trees.children] == [size, size]


def test_get_leaves_no_half_file(fs, bucket, tmp_path, emulator, client):
    put(client, bucket, "k", b"x" * 1000)
    with pytest.raises(FileNotFoundError):
        fs.get_file(f"{bucket}/missing", str(tmp_path / "back"))
    (tmp_path / "back").write_bytes(b"before")
    broken = file_system(emulator, max_attempts=1)
    faults = emulator.faults()
    faults.set([{"when": {"operation": "GetObject", "bucket": bucket}, "do": {"error": {"status": 500}}}])
    try:
        with pytest.raises(TimeoutError, match="500"):
            broken.get_file(f"{bucket}/k", str(tmp_path / "back"))
    finally:
        faults.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["back"]
    assert (tmp_path / "back").read_bytes() == b"before"


def test_exclusive_put(fs, client, bucket, tmp_path):
    (tmp_path / "local").write_bytes(b"new")
    put(client, bucket, "k", b"old")
    with pytest.raises(FileExistsError):
        fs.put_file(str(tmp_path / "local"), f"{bucket}/k", mode="create")
    assert get(client, bucket, "k") == b"old"


# ---- copies


def test_copies_are_made_inside_s3(fs, tree, emulator, client):
    after = emulator.journal().last
    fs.cp(f"s3://{tree}/a/1", f"s3://{tree}/copy")
    assert [entry.operation for entry in emulator.journal().entries(after=after, operations=["GetObject", "PutObject"])] == []
    assert get(client, tree, "copy") == b"a/1"
    fs.mv(f"{tree}/a", f"{tree}/moved", recursive=True)
    assert keys(client, tree) == ["a.txt", "copy", "moved/1", "moved/b/2", "moved/b/c/3", "z"]
    with pytest.raises(FileNotFoundError):
        fs.cp_file(f"{tree}/missing", f"{tree}/other")


def test_a_copy_in_parts(client, bucket):
    """Above 5 GiB; here above 8 MiB."""
    data = bytes(range(256)) * (17 * MIB // 256)
    put(client, bucket, "k", data)
    copy_in_parts(client._client, (bucket, "k"), (bucket, "copy"), 8 * MIB)
    assert get(client, bucket, "copy") == data
    assert client.head_object(bucket, "copy").etag.endswith('-3"')
    with pytest.raises(penstock.S3NotFoundError):
        copy_in_parts(client._client, (bucket, "missing"), (bucket, "other"))
    assert client._client.list_multipart_uploads(bucket) == []
    assert shares(10, 4) == [(0, 3), (3, 6), (6, 10)]
    assert shares(0, 4) == [(0, 0)]


# ---- removal


def test_rm_of_a_tree_is_a_request_for_a_thousand(fs, tree, client, emulator):
    after = emulator.journal().last
    fs.rm(f"s3://{tree}/a", recursive=True)
    assert keys(client, tree) == ["a.txt", "z"]
    assert emulator.journal().count(after=after, operations="DeleteObjects") == 1
    assert emulator.journal().count(after=after, operations="DeleteObject") == 0
    with pytest.raises(FileNotFoundError):
        fs.rm(f"{tree}/a", recursive=True)
    fs.rm(f"{tree}/missing")  # is deleted already
    fs.rm(f"{tree}/a.*")
    fs.rm_file(f"{tree}/z")
    assert keys(client, tree) == []
    fs.rm(tree, recursive=True) if fs.find(tree) else fs.rmdir(tree)
    assert not fs.exists(tree)


def test_rm_of_a_file_and_its_namesakes(fs, client, bucket):
    for key in ("run", "run/1", "run2"):
        put(client, bucket, key, b"")
    fs.rm(f"{bucket}/run", recursive=True)
    assert keys(client, bucket) == ["run2"]


def test_what_s3_refuses_to_delete_is_an_error(fs, bucket, client, monkeypatch):
    """s3fs passes over the errors of a DeleteObjects."""
    put(client, bucket, "d/1", b"")
    put(client, bucket, "d/2", b"")

    class Refusing:
        def __getattr__(self, name):
            return getattr(client._client, name)

        def delete_objects(self, bucket, keys):
            return [(keys[0], "AccessDenied", "Access Denied")]

    monkeypatch.setattr(type(fs._store), "core", property(lambda store: Refusing()))
    with pytest.raises(PermissionError, match="AccessDenied"):
        fs.rm(f"{bucket}/d", recursive=True)


# ---- directories


def test_a_made_directory_is_one_to_the_process(emulator, bucket, client):
    fs, other = file_system(emulator), file_system(emulator, skip_instance_cache=True)
    fs.makedirs(f"s3://{bucket}/runs/1", exist_ok=True)
    for each in (fs, other):
        assert each.isdir(f"{bucket}/runs/1")
        assert each.isdir(f"{bucket}/runs")
        assert each.exists(f"s3://{bucket}/runs/1/")
        assert each.ls(f"{bucket}/runs", detail=False) == [f"{bucket}/runs/1"]
        assert each.ls(f"{bucket}/runs/1") == []
    assert keys(client, bucket) == []  # nobody else sees any of it
    fs.makedirs(f"{bucket}/runs/1", exist_ok=True)
    with pytest.raises(FileExistsError):
        fs.makedirs(f"{bucket}/runs/1")
    with pytest.raises(OSError, match="not empty") as caught:
        fs.rmdir(f"{bucket}/runs")
    assert caught.value.errno == errno.ENOTEMPTY
    fs.rmdir(f"{bucket}/runs/1")
    fs.rm(f"{bucket}/runs", recursive=True)
    assert not other.exists(f"{bucket}/runs")
    with pytest.raises(FileNotFoundError):
        fs.rmdir(f"{bucket}/runs")


def test_directory_markers_are_seen_by_everybody(emulator, bucket, client):
    fs = file_system(emulator, directory_markers=True, remember_directories=False)
    fs.mkdir(f"{bucket}/d")
    assert keys(client, bucket) == ["d/"]
    assert fs.isdir(f"{bucket}/d")
    fs.rmdir(f"{bucket}/d")
    assert keys(client, bucket) == []


def test_buckets_are_made_when_asked(emulator, fs, client, bucket):
    fs.mkdir(f"{bucket}-b")
    with pytest.raises(FileExistsError):
        fs.makedirs(f"{bucket}-b")
    fs.makedirs(f"{bucket}-b", exist_ok=True)
    fs.makedirs(f"{bucket}-c/d", exist_ok=True)
    assert not fs.exists(f"{bucket}-c")  # a directory does not bring its bucket with it
    file_system(emulator, create_buckets=True).makedirs(f"{bucket}-c/d", exist_ok=True)
    assert fs.exists(f"{bucket}-c")
    put(client, f"{bucket}-b", "k", b"")
    with pytest.raises(OSError, match="BucketNotEmpty"):
        fs.rmdir(f"{bucket}-b")
    fs.rm(f"{bucket}-b", recursive=True)
    assert not fs.exists(f"{bucket}-b")


def test_touch(fs, bucket, client):
    fs.touch(f"{bucket}/k")
    assert get(client, bucket, "k") == b""
    put(client, bucket, "k", b"full")
    with pytest.raises(NotImplementedError):
        fs.touch(f"{bucket}/k", truncate=False)
    assert get(client, bucket, "k") == b"full"
    fs.touch(f"{bucket}/k")
    assert get(client, bucket, "k") == b""


def test_checksum_and_ukey_follow_the_contents(fs, client, bucket):
    put(client, bucket, "k", b"1")
    before = fs.checksum(f"{bucket}/k"), fs.ukey(f"{bucket}/k")
    assert before == (fs.checksum(f"{bucket}/k"), fs.ukey(f"{bucket}/k"))
    put(client, bucket, "k", b"2")
    after = fs.checksum(f"{bucket}/k"), fs.ukey(f"{bucket}/k")
    assert before[0] != after[0]
    assert before[1] != after[1]


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
def test_errors_are_those_of_files(emulator, bucket, client, code, status, kind):
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


def test_an_object_replaced_while_it_is_read(fs, client, bucket):
    put(client, bucket, "k", b"1" * 30 * MIB)
    with fs.open(f"{bucket}/k") as file:
        file.read(10)
        put(client, bucket, "k", b"2" * 30 * MIB)
        file.seek(20 * MIB)
        with pytest.raises(FileChangedError):
            file.read(9 * MIB)


# ---- how it is made, found, moved


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
    assert config.max_attempts == 5  # botocore does not count the first
    assert config.force_path_style
    assert S3FileSystem(anon=True, endpoint_url=emulator.endpoint).client.s3client_config.unsigned
    assert not S3FileSystem(endpoint_url="https://s3.eu-west-1.amazonaws.com").client.s3client_config.force_path_style
    assert S3FileSystem(client_kwargs={"region_name": "eu-west-1"}).client.region == "eu-west-1"
    monkeypatch.setenv("AWS_DEFAULT_REGION", "ap-south-1")
    assert S3FileSystem(profile="research").client.region == "ap-south-1"
    with pytest.raises(ValueError, match="version_aware"):
        S3FileSystem(version_aware=True)
    with pytest.raises(ValueError, match="ServerSideEncryption"):
        S3FileSystem(s3_additional_kwargs={"ServerSideEncryption": "AES256"})


def test_the_user_agent_says_fsspec(fs):
    assert fs.client.user_agent_prefix.endswith("(fsspec)")


def test_protocols(emulator, bucket):
    assert fsspec.get_filesystem_class("penstock") is PenstockFileSystem
    fs, path = fsspec.core.url_to_fs(f"penstock://{bucket}/k", **storage_options(emulator))
    assert (path, fs.unstrip_protocol(path)) == (f"{bucket}/k", f"penstock://{bucket}/k")
    assert file_system(emulator).unstrip_protocol("b/k") == "s3://b/k"
    assert fs is fsspec.filesystem("penstock", **storage_options(emulator))
    for url in ("s3://b/k/", "s3a://b/k", "penstock://b/k", "/b/k", "b/k"):
        assert fs._strip_protocol(url) == "b/k"


def test_s3_is_taken_where_asked_and_where_nobody_has_it(monkeypatch):
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


def test_installing_penstock_leaves_s3_alone():
    document = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text()
    section = document.partition('[project.entry-points."fsspec.specs"]')[2].partition("[")[0]
    assert section.split() == ["penstock", "=", '"penstock.fsspec:PenstockFileSystem"']


def test_pickles(fs, client, bucket):
    put(client, bucket, "k", b"x")
    assert pickle.loads(pickle.dumps(fs)) is fs
    assert fsspec.AbstractFileSystem.from_json(fs.to_json()).cat(f"{bucket}/k") == b"x"


def read_in_child(fs, path, answers):
    answers.put((fs.cat_file(path), fs.find(path.rpartition("/")[0]), fs.cat(path)))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_works_in_children(fs, client, bucket, method):
    """fsspec's own asynchronous file systems refuse to be used after a fork."""
    put(client, bucket, "k", b"x")
    assert fs.find(bucket) == [f"{bucket}/k"]  # its threads are running
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    child = context.Process(target=read_in_child, args=(fs, f"{bucket}/k", answers))
    child.start()
    assert answers.get(timeout=60) == (b"x", [f"{bucket}/k"], b"x")
    child.join()


def test_many_threads_at_once(fs, client, bucket):
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


def test_a_cancelled_write_publishes_nothing(emulator, client, bucket):
    faults, journal = emulator.faults(), emulator.journal()

    async def use():
        fs = file_system(emulator, asynchronous=True)
        write = asyncio.ensure_future(fs._pipe_file(f"{bucket}/k", bytes(100 * MIB)))
        while not journal.count(operations="CreateMultipartUpload", bucket=bucket):
            await asyncio.sleep(0.01)
        write.cancel()
        with pytest.raises(asyncio.CancelledError):
            await write
        while not journal.count(operations="AbortMultipartUpload", bucket=bucket):
            await asyncio.sleep(0.01)

    faults.set([{"when": {"operation": "UploadPart", "bucket": bucket}, "do": {"stall": {"ms": 300}}}])
    try:
        asyncio.run(asyncio.wait_for(use(), 60))
    finally:
        faults.clear()
    assert keys(client, bucket) == []
    assert client._client.list_multipart_uploads(bucket) == []


# ---- with the rest of fsspec


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
    monkeypatch.setitem(fsspec.config.conf, "s3", conf)  # what FSSPEC_S3_ENDPOINT_URL and so on set
    assert S3FileSystem(skip_instance_cache=True).cat(f"{bucket}/k") == b"x"
    assert PenstockFileSystem(skip_instance_cache=True).cat(f"{bucket}/k") == b"x"
