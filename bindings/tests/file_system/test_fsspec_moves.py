"""The file system's mv: it never deletes an object that has no copy."""

from __future__ import annotations

import errno

import pytest
from bucket_io import get, keys, put
from file_systems import file_system


@pytest.fixture
def fs(emulator):
    return file_system(emulator)


@pytest.fixture
def tree(client, bucket):
    for key in ("d/a", "d/b", "d/s/c", "one"):
        put(client, bucket, key, key.encode())
    return bucket


def contents(client, bucket):
    return {key: get(client, bucket, key).decode() for key in keys(client, bucket)}


UNCHANGED = {key: key for key in ("d/a", "d/b", "d/s/c", "one")}


@pytest.mark.parametrize(
    ("source", "target"),
    [("d", "d/"), ("d", "d/sub"), ("d/", "d/sub"), ("d/s", "d/s/"), ("d", "d/s"), ("d/*", "d/s/")],
)
def test_moving_a_directory_into_itself_raises(fs, client, tree, source, target):
    with pytest.raises(OSError, match="into itself") as caught:
        fs.mv(f"{tree}/{source}", f"s3://{tree}/{target}", recursive=True)
    assert caught.value.errno == errno.EINVAL
    assert caught.value.filename2.startswith(f"{caught.value.filename}/")
    assert contents(client, tree) == UNCHANGED


def test_moving_an_empty_directory_into_itself_raises(fs, bucket):
    fs.mkdir(f"{bucket}/empty")
    with pytest.raises(OSError, match="into itself"):
        fs.mv(f"{bucket}/empty", f"{bucket}/empty/", recursive=True)
    assert fs.isdir(f"{bucket}/empty")


@pytest.mark.parametrize("targets", [["d/b", "d/a"], ["d/b", "d/new"]], ids=["swap", "chain"])
def test_target_that_is_also_a_source_raises(fs, client, tree, targets):
    with pytest.raises(OSError, match="the target is also a source") as caught:
        fs.mv([f"{tree}/d/a", f"{tree}/d/b"], [f"{tree}/{target}" for target in targets])
    assert (caught.value.filename, caught.value.filename2) == (f"{tree}/d/a", f"{tree}/d/b")
    assert contents(client, tree) == UNCHANGED


def test_two_sources_with_one_target_raise(fs, client, tree):
    put(client, tree, "e/a", b"e/a")
    for sources, target in (
        ([f"{tree}/d/a", f"{tree}/d/b"], [f"{tree}/new", f"{tree}/new"]),
        ([f"{tree}/d/a", f"{tree}/e/a"], f"{tree}/into/"),
    ):
        with pytest.raises(OSError, match="two sources have the same target"):
            fs.mv(sources, target)
    assert contents(client, tree) == UNCHANGED | {"e/a": "e/a"}


@pytest.mark.parametrize(
    ("source", "target", "recursive"),
    [("one", "one", False), ("d/a", "d/", False), ("d/*", "d/", False), ("d/", "d", True), ("d", "d", True)],
)
def test_object_with_equal_old_and_new_name_is_kept(fs, client, tree, source, target, recursive):
    fs.mv(f"{tree}/{source}", f"{tree}/{target}", recursive=recursive)
    assert contents(client, tree) == UNCHANGED
    fs.mv([f"s3://{tree}/one", f"{tree}/d/a"], [f"{tree}/one", f"{tree}/moved"])
    assert contents(client, tree) == {"d/b": "d/b", "d/s/c": "d/s/c", "one": "one", "moved": "d/a"}


def test_move_deletes_only_what_it_copied(fs, client, tree):
    fs.mv(f"{tree}/d", f"{tree}/e", recursive=True, maxdepth=1)
    assert contents(client, tree) == {"e/a": "d/a", "e/b": "d/b", "d/s/c": "d/s/c", "one": "one"}
    fs.mv(f"{tree}/e/*", f"{tree}/e/old/", recursive=True)
    assert contents(client, tree) == {"e/old/a": "d/a", "e/old/b": "d/b", "d/s/c": "d/s/c", "one": "one"}


def test_object_created_during_a_move_is_kept(fs, client, tree, monkeypatch):
    copy = type(fs._store).copy

    def copy_and_write(store, source, target):
        copied = copy(store, source, target)
        put(client, tree, "d/late", b"late")
        return copied

    monkeypatch.setattr(type(fs._store), "copy", copy_and_write)
    fs.mv(f"{tree}/d", f"{tree}/e", recursive=True)
    assert contents(client, tree) == {"e/a": "d/a", "e/b": "d/b", "e/s/c": "d/s/c", "d/late": "late", "one": "one"}


def test_nothing_is_deleted_if_a_copy_fails(fs, client, tree):
    with pytest.raises(FileNotFoundError):
        fs.mv([f"{tree}/d/a", f"{tree}/missing"], [f"{tree}/x", f"{tree}/y"])
    with pytest.raises(FileNotFoundError):
        fs.mv(f"{tree}/d", "no-such-bucket-here/d", recursive=True)
    assert contents(client, tree) == UNCHANGED | {"x": "d/a"}


def test_move_includes_directory_markers(emulator, client, bucket):
    fs = file_system(emulator, directory_markers=True, remember_directories=False)
    fs.mkdir(f"{bucket}/d")
    fs.mkdir(f"{bucket}/d/empty")
    fs.pipe(f"{bucket}/d/a", b"1")
    fs.mv(f"{bucket}/d", f"{bucket}/e", recursive=True)
    assert keys(client, bucket) == ["e/", "e/a", "e/empty/"]


def test_moved_directory_is_no_longer_remembered(fs, bucket):
    fs.mkdir(f"{bucket}/d/empty")
    fs.mv(f"{bucket}/d", f"{bucket}/e", recursive=True)
    assert fs.isdir(f"{bucket}/e/empty")
    assert not fs.exists(f"{bucket}/d")


# ---- an object and a directory of the same name


@pytest.fixture
def both(client, tree):
    put(client, tree, "d/s", b"same")
    return tree


def test_object_with_keys_below_it_is_a_file_and_a_directory(emulator, both):
    for fs in (file_system(emulator), file_system(emulator, use_listings_cache=True)):
        for _ in range(2):
            assert fs.isfile(f"{both}/d/s")
            assert fs.isdir(f"{both}/d/s")
            assert not fs.isdir(f"{both}/d/a")
            assert not fs.isdir(f"{both}/d/missing")
            assert fs.info(f"{both}/d/s")["type"] == "file"
            assert [entry["type"] for entry in fs.ls(f"{both}/d") if entry["name"] == f"{both}/d/s"] == ["file", "directory"]
    assert fs.ls(f"{both}/d", detail=False) == [f"{both}/d/{name}" for name in "abs"]
    assert fs.ls(f"{both}/d/s", detail=False) == [f"{both}/d/s/c"]


def test_searches_descend_below_an_object(fs, both):
    assert list(fs.walk(f"{both}/d")) == [(f"{both}/d", ["s"], ["a", "b", "s"]), (f"{both}/d/s", [], ["c"])]
    assert fs.glob(f"{both}/d/*/*") == [f"{both}/d/s/c"]
    names = [f"{both}/{key}" for key in ("d/a", "d/b", "d/s", "d/s/c", "one")]
    assert fs.find(both) == fs.find(both, maxdepth=3) == names
    assert fs.find(both, withdirs=True, detail=True)[f"{both}/d/s"]["type"] == "file"
    assert fs.du(both) == fs.du(both, maxdepth=3) == len("d/a" + "d/b" + "same" + "d/s/c" + "one")


def test_copy_of_one_file_copies_the_object(fs, client, both, tmp_path):
    fs.cp(f"{both}/d/s", f"{both}/copy")
    fs.get(f"{both}/d/s", str(tmp_path / "local"))
    fs.mv(f"{both}/d/s", f"{both}/moved")
    assert contents(client, both) == UNCHANGED | {"copy": "same", "moved": "same"}
    assert (tmp_path / "local").read_bytes() == b"same"


def test_target_of_that_name_is_a_directory(fs, client, both, tmp_path):
    (tmp_path / "new").write_bytes(b"new")
    fs.cp(f"{both}/one", f"{both}/d/s")
    fs.put(str(tmp_path / "new"), f"{both}/d/s")
    assert contents(client, both) == UNCHANGED | {"d/s": "same", "d/s/one": "one", "d/s/new": "new"}


def test_recursive_move_includes_both(fs, client, both):
    fs.mv(f"{both}/d", f"{both}/e", recursive=True)
    assert contents(client, both) == {"e/a": "d/a", "e/b": "d/b", "e/s": "same", "e/s/c": "d/s/c", "one": "one"}


@pytest.mark.parametrize("source", ["d", "d/"])
def test_download_of_both_to_a_local_disk_raises(fs, both, tmp_path, source):
    with pytest.raises(IsADirectoryError, match="d/s"):
        fs.get(f"{both}/{source}", str(tmp_path / "local"), recursive=True)
    assert (tmp_path / "local").exists()


def test_no_object_is_written_outside_the_local_target(fs, client, bucket, tmp_path):
    put(client, bucket, "d/x/../../up", b"")
    with pytest.raises(ValueError, match="outside"):
        fs.get(f"{bucket}/d/x/", str(tmp_path / "local/inner"), recursive=True)
    assert not (tmp_path / "up").exists()
    assert not (tmp_path / "local").exists()
