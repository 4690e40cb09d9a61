"""Operations on paths: listings, content, copies, deletion, directories."""

from __future__ import annotations

import errno
from datetime import datetime, timezone

import fsspec
import penstock
import pytest
from bucket_io import get, keys, put
from file_systems import file_system
from penstock.fsspec._parts import copy_with_attributes
from penstock.requests import _parts

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


def test_ls_returns_direct_children(fs, tree):
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


def test_info_of_files_directories_and_buckets(fs, tree, client):
    info = fs.info(f"s3://{tree}/a/1")
    assert (info["type"], info["size"]) == ("file", 3)
    assert info["ETag"] == client.head_object(tree, "a/1").etag
    assert abs(datetime.now(timezone.utc) - info["LastModified"]).total_seconds() < 3600
    assert fs.info(f"{tree}/a")["type"] == "directory"
    assert fs.info(tree)["type"] == "directory"
    assert (fs.isfile(f"{tree}/a"), fs.isdir(f"{tree}/a"), fs.isdir(f"{tree}/a/1"), fs.isfile(f"{tree}/a/1")) == (
        False, True, False, True,
    )  # fmt: skip
    assert not fs.exists(f"{tree}/a/mis")  # a prefix of a name is not a name
    assert not fs.exists("no-such-bucket-here")
    assert fs.size(f"{tree}/a/1") == 3
    assert fs.modified(f"{tree}/a/1") == info["LastModified"] == fs.created(f"{tree}/a/1")


def test_find_sends_one_listing(fs, tree, emulator):
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


def test_directory_marker_is_a_directory(fs, client, bucket):
    """S3's console writes an empty object with a slash at the end."""
    put(client, bucket, "d/", b"")
    put(client, bucket, "d/e/", b"")
    assert fs.ls(f"{bucket}/d", detail=False) == [f"{bucket}/d/e"]
    assert fs.isdir(f"{bucket}/d")
    assert fs.isdir(f"{bucket}/d/e")
    assert fs.find(bucket) == []
    fs.rm(f"{bucket}/d", recursive=True)
    assert keys(client, bucket) == []


def test_listings_are_cached_only_on_request(emulator, client, tree):
    plain, cached = file_system(emulator), file_system(emulator, use_listings_cache=True)
    for fs in (plain, cached):
        fs.ls(tree)
    client.delete_object(tree, "z")
    put(client, tree, "new", b"")
    assert not plain.exists(f"{tree}/z")
    assert cached.exists(f"{tree}/z")
    assert cached.exists(f"{tree}/new")  # a name may be missing in a cached listing
    assert f"{tree}/z" not in cached.ls(tree, detail=False, refresh=True)
    cached.pipe(f"{tree}/mine", b"")
    assert f"{tree}/mine" in cached.ls(tree, detail=False)
    client.delete_object(tree, "new")
    cached.invalidate_cache()
    assert not cached.exists(f"{tree}/new")


# ---- contents


def test_cat_file_reads_slices(fs, client, bucket):
    data = bytes(range(200))
    put(client, bucket, "k", data)
    for start, end in [(None, None), (10, 20), (-5, None), (None, -5), (-10, -5), (5, None), (190, 300), (300, 400), (20, 10)]:
        assert fs.cat_file(f"s3://{bucket}/k", start, end) == data[start:end]
    assert fs.cat(f"{bucket}/k") == data
    assert fs.head(f"{bucket}/k", 3) == data[:3]
    assert fs.tail(f"{bucket}/k", 3) == data[-3:]
    assert fs.read_block(f"{bucket}/k", 5, 5) == data[5:10]


def test_cat_ranges_coalesces_close_ranges(fs, emulator, client, bucket):
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


def test_cat_of_a_bucket_is_an_error(fs, bucket):
    with pytest.raises(IsADirectoryError, match=bucket):
        fs.cat(bucket)


def test_cat_ranges_beyond_the_end_are_not_retried(fs, emulator, client, bucket):
    """A range that ends behind its object is usual: the first 64 KiB of small files."""
    put(client, bucket, "k", b"0123456789")
    after = emulator.journal().last
    assert fs.cat_ranges([f"{bucket}/k"] * 2, [0, 8], [11, 65536]) == [b"0123456789", b"89"]
    assert emulator.journal().count(after=after) <= 4


def test_cat_ranges_returns_errors_in_place(fs, client, bucket):
    put(client, bucket, "k", b"0123456789")
    paths = [f"{bucket}/k", f"{bucket}/missing", f"{bucket}/k"]
    first, second, third = fs.cat_ranges(paths, [0, 0, 5], [2, 2, 7])
    assert (first, third) == (b"01", b"56")
    assert isinstance(second, FileNotFoundError)
    with pytest.raises(FileNotFoundError):
        fs.cat_ranges(paths, [0, 0, 5], [2, 2, 7], on_error="raise")
    with pytest.raises(ValueError, match="3 paths"):
        fs.cat_ranges(paths, [0], [1])


def test_pipe_and_exclusive_pipe(fs, client, bucket):
    fs.pipe({f"s3://{bucket}/{name}": name.encode() for name in "xyz"})
    assert keys(client, bucket) == ["x", "y", "z"]
    with pytest.raises(FileExistsError):
        fs.pipe_file(f"{bucket}/x", b"new", mode="create")
    assert get(client, bucket, "x") == b"x"
    fs.pipe(f"{bucket}/x", b"new", ContentType="text/plain", Metadata={"step": "7"})
    info = fs.info(f"{bucket}/x")
    assert (info["ContentType"], info["Metadata"]) == ("text/plain", {"step": "7"})
    with pytest.raises(ValueError, match="SSECustomerKey"):
        fs.pipe(f"{bucket}/x", b"newer", SSECustomerKey="k")
    assert get(client, bucket, "x") == b"new"


class Counted(fsspec.Callback):
    def __init__(self):
        super().__init__()
        self.children = []

    def branched(self, path_1, path_2, **kwargs):
        self.children.append(Counted())
        return self.children[-1]


@pytest.mark.parametrize("size", [0, 5, 40 * MIB])
def test_get_and_put_report_to_callbacks(fs, client, bucket, tmp_path, size):
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


def test_failed_get_leaves_no_partial_file(fs, bucket, tmp_path, emulator, client):
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


def test_copies_run_inside_s3(fs, tree, emulator, client):
    after = emulator.journal().last
    fs.cp(f"s3://{tree}/a/1", f"s3://{tree}/copy")
    assert [entry.operation for entry in emulator.journal().entries(after=after, operations=["GetObject", "PutObject"])] == []
    assert get(client, tree, "copy") == b"a/1"
    fs.mv(f"{tree}/a", f"{tree}/moved", recursive=True)
    assert keys(client, tree) == ["a.txt", "copy", "moved/1", "moved/b/2", "moved/b/c/3", "z"]
    with pytest.raises(FileNotFoundError):
        fs.cp_file(f"{tree}/missing", f"{tree}/other")


def test_copy_in_parts(client, bucket, monkeypatch):
    monkeypatch.setattr(_parts, "COPY_PART", 8 * MIB)
    """Used above 5 GiB; here above 8 MiB."""
    data = bytes(range(256)) * (17 * MIB // 256)
    put(client, bucket, "k", data)
    copy_with_attributes(client, (bucket, "k"), (bucket, "copy"))
    assert get(client, bucket, "copy") == data
    assert client.head_object(bucket, "copy").etag.endswith('-3"')
    with pytest.raises(penstock.S3NotFoundError):
        copy_with_attributes(client, (bucket, "missing"), (bucket, "other"))
    assert client._client.list_multipart_uploads(bucket) == []
    assert _parts.shares(10, 4) == [(0, 3), (3, 6), (6, 10)]
    assert _parts.shares(0, 4) == [(0, 0)]


def test_object_above_the_limit_of_one_request_is_copied_in_parts(fs, client, bucket, emulator, monkeypatch):
    put(client, bucket, "k", b"x" * 6 * MIB)
    faults = emulator.faults()
    faults.set(
        [{"when": {"operation": "CopyObject", "bucket": bucket}, "do": {"error": {"status": 400, "code": "InvalidRequest"}}}]
    )
    try:
        with pytest.raises(OSError, match="InvalidRequest"):  # the same code for another reason
            fs.cp_file(f"{bucket}/k", f"{bucket}/copy")
        monkeypatch.setattr("penstock.fsspec._store.MAX_COPY_BYTES", 5 * MIB)
        fs.cp_file(f"{bucket}/k", f"{bucket}/copy")
    finally:
        faults.clear()
    assert get(client, bucket, "copy") == b"x" * 6 * MIB


# ---- removal


def test_recursive_rm_deletes_a_thousand_keys_per_request(fs, tree, client, emulator):
    after = emulator.journal().last
    fs.rm(f"s3://{tree}/a", recursive=True)
    assert keys(client, tree) == ["a.txt", "z"]
    assert emulator.journal().count(after=after, operations="DeleteObjects") == 1
    assert emulator.journal().count(after=after, operations="DeleteObject") == 0
    with pytest.raises(FileNotFoundError):
        fs.rm(f"{tree}/a", recursive=True)
    fs.rm(f"{tree}/missing")  # already deleted
    fs.rm(f"{tree}/a.*")
    fs.rm_file(f"{tree}/z")
    assert keys(client, tree) == []
    fs.rm(tree, recursive=True) if fs.find(tree) else fs.rmdir(tree)
    assert not fs.exists(tree)


@pytest.mark.parametrize("recursive", [False, True])
@pytest.mark.parametrize("pattern", ["**", "*", "**/"])
def test_rm_of_a_pattern_keeps_the_bucket(fs, tree, client, pattern, recursive):
    fs.rm(f"s3://{tree}/{pattern}", recursive=recursive)
    assert fs.exists(tree)
    assert keys(client, tree) == ([] if recursive or pattern == "**" else [key for key in keys(client, tree) if "/" in key])


def test_rm_of_a_file_keeps_similar_names(fs, client, bucket):
    for key in ("run", "run/1", "run2"):
        put(client, bucket, key, b"")
    fs.rm(f"{bucket}/run", recursive=True)
    assert keys(client, bucket) == ["run2"]


def test_refused_deletion_raises(fs, bucket, client, monkeypatch):
    """s3fs ignores the errors in a response of DeleteObjects."""
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


def test_created_directory_exists_in_the_process(emulator, bucket, client):
    fs, other = file_system(emulator), file_system(emulator, skip_instance_cache=True)
    fs.makedirs(f"s3://{bucket}/runs/1", exist_ok=True)
    for each in (fs, other):
        assert each.isdir(f"{bucket}/runs/1")
        assert each.isdir(f"{bucket}/runs")
        assert each.exists(f"s3://{bucket}/runs/1/")
        assert each.ls(f"{bucket}/runs", detail=False) == [f"{bucket}/runs/1"]
        assert each.ls(f"{bucket}/runs/1") == []
    assert keys(client, bucket) == []  # other processes do not see it
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


def test_directory_markers_are_visible_to_other_clients(emulator, bucket, client):
    fs = file_system(emulator, directory_markers=True, remember_directories=False)
    fs.mkdir(f"{bucket}/d")
    assert keys(client, bucket) == ["d/"]
    assert fs.isdir(f"{bucket}/d")
    fs.rmdir(f"{bucket}/d")
    assert keys(client, bucket) == []


def test_buckets_are_created_on_request(emulator, fs, client, bucket):
    fs.mkdir(f"{bucket}-b")
    with pytest.raises(FileExistsError):
        fs.makedirs(f"{bucket}-b")
    fs.makedirs(f"{bucket}-b", exist_ok=True)
    fs.makedirs(f"{bucket}-c/d", exist_ok=True)
    assert not fs.exists(f"{bucket}-c")  # creating a directory does not create its bucket
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


def test_checksum_and_ukey_change_with_the_content(fs, client, bucket):
    put(client, bucket, "k", b"1")
    before = fs.checksum(f"{bucket}/k"), fs.ukey(f"{bucket}/k")
    assert before == (fs.checksum(f"{bucket}/k"), fs.ukey(f"{bucket}/k"))
    put(client, bucket, "k", b"2")
    after = fs.checksum(f"{bucket}/k"), fs.ukey(f"{bucket}/k")
    assert before[0] != after[0]
    assert before[1] != after[1]
