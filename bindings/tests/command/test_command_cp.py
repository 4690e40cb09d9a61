"""`penstock cp` and `penstock mv`."""

from __future__ import annotations

import os
import time

import penstock
import pytest
from bucket_io import get, keys, put
from command_runs import make_tree, tree
from penstock import S3Exception
from penstock._commands import _copies, _cp, _sync
from penstock._commands._listing import objects
from penstock.requests import _parts
from versioned_bucket import keep_versions

MIB = 1024**2


def test_single_files_and_objects(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, "f.txt")
    file = tmp_path / "f.txt"
    run = penstock_command("cp", file, f"s3://{bucket}")
    assert run.out == f"upload: {file} to s3://{bucket}/f.txt\n"
    penstock_command("cp", file, f"s3://{bucket}/p/")
    penstock_command("cp", file, f"s3://{bucket}/p/other")
    penstock_command("cp", f"s3://{bucket}/p/other", f"s3://{bucket}/copies/")
    assert keys(client, bucket) == ["copies/other", "f.txt", "p/f.txt", "p/other"]
    assert client.head(bucket, "f.txt").content_type == "text/plain"
    penstock_command("cp", f"s3://{bucket}/p/other", tmp_path)
    penstock_command("cp", f"s3://{bucket}/p/other", tmp_path / "new/folder/name")
    penstock_command("cp", f"s3://{bucket}/p/other", f"{tmp_path}/into/")
    found = tree(tmp_path)
    assert found == dict.fromkeys(["f.txt", "other", "new/folder/name", "into/other"], b"f.txt")
    modified = client.head(bucket, "p/other").last_modified
    assert (tmp_path / "other").stat().st_mtime == modified


def test_trees_go_there_and_back(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path / "t", "a", "d/b", "d/e/c", "ä ö/%20+?#")
    (tmp_path / "t/empty").mkdir()
    (tmp_path / "t/link").symlink_to("a")
    os.mkfifo(tmp_path / "t/fifo")
    run = penstock_command("cp", "-r", tmp_path / "t", f"s3://{bucket}/p")
    assert "upload skipped" in run.err and "fifo" in run.err
    names = ["a", "d/b", "d/e/c", "link", "ä ö/%20+?#"]
    assert keys(client, bucket) == [f"p/{name}" for name in names]
    put(client, bucket, "p2", b"not below p/")
    penstock_command("cp", "--recursive", f"s3://{bucket}/p", tmp_path / "back")
    assert tree(tmp_path / "back") == {name: b"a" if name == "link" else name.encode() for name in names}
    penstock_command("cp", "--recursive", f"s3://{bucket}/p/", f"s3://{bucket}/q")
    assert keys(client, bucket, "q/") == [f"q/{name}" for name in names]


def test_a_folder_without_recursive_is_refused(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, "d/a")
    put(client, bucket, "p/a", b"")
    for source, target in ((tmp_path / "d", f"s3://{bucket}"), (f"s3://{bucket}/p/", tmp_path / "x")):
        assert "--recursive" in penstock_command("cp", source, target, status=2).err
    assert keys(client, bucket) == ["p/a"] and not (tmp_path / "x").exists()


@pytest.mark.parametrize("words", [["a", "b"], ["-r", "-", "s3://bucket/k"], ["s3://", "x"], ["s3:/b/k", "x"], ["-", "-"]])
def test_wrong_arguments(penstock_command, words):
    assert penstock_command("cp", *words, status=2).err.startswith("penstock cp: ")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--max-bandwidth", "9" * 400), "invalid size '999"),
        (("--max-bandwidth", "0"), "invalid bandwidth '0': expected at least 64KiB per second"),
        (("--expires", "nan"), "invalid time 'nan': expected 1970 to 9999, 0 to 253402300799 seconds"),
        (("--expires", "1e300"), "invalid time '1e300': expected 1970 to 9999, 0 to 253402300799 seconds"),
    ],
)
def test_numbers_beyond_their_limits(penstock_command, words, error):
    assert error in penstock_command("cp", "a", "s3://bucket/k", *words, status=2).err


def test_wildcards_and_filters(penstock_command, client, bucket, tmp_path):
    names = ["logs/1.gz", "logs/a/2.gz", "logs/a/3.txt", "other/4.gz"]
    for name in names:
        put(client, bucket, name, name.encode())
    penstock_command("cp", f"s3://{bucket}/logs/*.gz", tmp_path / "w")
    assert sorted(tree(tmp_path / "w")) == ["1.gz", "a/2.gz"]
    penstock_command("cp", "-r", f"s3://{bucket}", tmp_path / "f", "--exclude", "*", "--include", "*.gz", "--exclude", "other/*")
    assert sorted(tree(tmp_path / "f")) == ["logs/1.gz", "logs/a/2.gz"]
    penstock_command("cp", f"{tmp_path}/w/*.gz", f"s3://{bucket}/up")
    assert keys(client, bucket, "up/") == ["up/1.gz", "up/a/2.gz"]
    put(client, bucket, "s*r", b"star")
    penstock_command("cp", "--raw", f"s3://{bucket}/s*r", tmp_path / "star")
    assert (tmp_path / "star").read_bytes() == b"star"
    assert "no object matches" in penstock_command("cp", f"s3://{bucket}/nothing*", tmp_path / "n", status=1).err
    assert "no object matches" in penstock_command("cp", "-r", f"s3://{bucket}/log", tmp_path / "n", status=1).err


def test_a_wildcard_that_is_a_key_moves_nothing_else(penstock_command, client, bucket, tmp_path):
    for key in ("page?x=1", "pageAx=1"):
        put(client, bucket, key, b"")
    assert "--raw" in penstock_command("mv", f"s3://{bucket}/page?x=1", tmp_path, status=2).err
    assert "--raw" in penstock_command("rm", f"s3://{bucket}/page?x=1", status=2).err
    assert len(keys(client, bucket)) == 2 and tree(tmp_path) == {}
    penstock_command("rm", "--raw", f"s3://{bucket}/page?x=1")
    penstock_command("mv", f"s3://{bucket}/page?x=1", tmp_path)
    assert keys(client, bucket) == [] and list(tree(tmp_path)) == ["pageAx=1"]


def test_several_sources(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, "a", "b", "d/a")
    run = penstock_command("cp", tmp_path / "a", tmp_path / "b", tmp_path / "missing", f"s3://{bucket}/p", status=1)
    assert keys(client, bucket) == ["p/a", "p/b"] and "missing" in run.err and "1 failure, 2 succeeded" in run.err
    assert "same target" in penstock_command("mv", tmp_path / "a", tmp_path / "d/a", f"s3://{bucket}/q/", status=1).err
    assert keys(client, bucket, "q/") == ["q/a"] and (tmp_path / "d/a").exists()


def test_keys_that_would_leave_the_folder(penstock_command, client, bucket, tmp_path):
    bad = ["p/../out", "p//abs", "p/a/./b", "p/x//y", "p/.."]
    for key in [*bad, "p/good", "p/..good"]:
        put(client, bucket, key, b"x")
    run = penstock_command("cp", "-r", f"s3://{bucket}/p", tmp_path / "in", status=1)
    assert sorted(tree(tmp_path)) == ["in/..good", "in/good"]
    assert run.err.count("download failed") == len(bad)
    assert "component '..'" in penstock_command("cp", f"s3://{bucket}/p/..", f"{tmp_path}/", status=2).err


def test_a_key_that_is_a_file_and_a_folder(penstock_command, client, bucket, tmp_path):
    for key in ("a", "a/b", "c/d"):
        put(client, bucket, key, key.encode())
    run = penstock_command("mv", "-r", f"s3://{bucket}", tmp_path / "d", status=1)
    assert tree(tmp_path / "d") == {"a": b"a", "c/d": b"c/d"}
    assert "a/b" in run.err and keys(client, bucket) == ["a/b"], "what was not moved is still there"
    (tmp_path / "x/a").mkdir(parents=True)
    put(client, bucket, "a", b"a")
    assert "is a folder" in penstock_command("cp", f"s3://{bucket}/*", f"{tmp_path}/x", "--exclude", "a/*", status=1).err


def test_folder_markers(penstock_command, client, bucket, tmp_path):
    put(client, bucket, "p/", b"")
    put(client, bucket, "p/d/", b"")
    put(client, bucket, "p/full/", b"content")
    run = penstock_command("cp", "-r", f"s3://{bucket}/p", tmp_path / "t", status=1)
    assert (tmp_path / "t/d").is_dir() and tree(tmp_path / "t") == {}
    assert run.err.count("failed") == 1 and "7 bytes, which no folder can hold" in run.err
    assert penstock_command("sync", f"s3://{bucket}/p", tmp_path / "t", "--exclude", "full/", "--dry-run").out == ""
    penstock_command("mv", "-r", f"s3://{bucket}/p", f"s3://{bucket}/q")
    assert keys(client, bucket) == ["q/", "q/d/", "q/full/"]
    assert get(client, bucket, "q/full/") == b"content"


def test_names_that_are_not_utf8(penstock_command, client, bucket, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d/good").write_text("")
    with open(os.fsencode(tmp_path / "d") + b"/b\xff", "wb"):  # noqa: PTH123
        pass
    run = penstock_command("cp", "-r", tmp_path / "d", f"s3://{bucket}", status=1)
    assert "not UTF-8" in run.err and "b\\udcff" in run.err
    assert keys(client, bucket) == ["good"]


def test_links_of_the_source(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, "d/a", "outside/b")
    (tmp_path / "d/folder").symlink_to(tmp_path / "outside")
    (tmp_path / "d/dangling").symlink_to("nothing")
    (tmp_path / "d/loop").symlink_to(".")
    run = penstock_command("cp", "-r", tmp_path / "d", f"s3://{bucket}/f", status=1)
    assert keys(client, bucket, "f/") == ["f/a", "f/folder/b"]
    assert "loop of symbolic links" in run.err and "dangling" in run.err
    penstock_command("cp", "-r", "--no-follow-symlinks", tmp_path / "d", f"s3://{bucket}/n")
    assert keys(client, bucket, "n/") == ["n/a"]
    penstock_command("mv", "-r", tmp_path / "d", f"s3://{bucket}/m")
    assert keys(client, bucket, "m/") == ["m/a"] and (tmp_path / "outside/b").exists()


def test_downloads_do_not_follow_links_below_the_target(penstock_command, client, bucket, tmp_path):
    put(client, bucket, "d/a", b"new")
    put(client, bucket, "f", b"new")
    make_tree(tmp_path, "outside/a", "outside/f", "t/x")
    (tmp_path / "t/d").symlink_to(tmp_path / "outside")
    (tmp_path / "t/f").symlink_to(tmp_path / "outside/f")
    run = penstock_command("cp", "-r", f"s3://{bucket}", tmp_path / "t", status=1)
    assert "symbolic link" in run.err
    assert tree(tmp_path / "outside") == {"a": b"outside/a", "f": b"outside/f"}
    assert (tmp_path / "t/f").read_bytes() == b"new" and not (tmp_path / "t/f").is_symlink()


def test_dry_run_changes_nothing(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, "d/a")
    put(client, bucket, "k", b"")
    run = penstock_command("cp", "-r", "--dryrun", tmp_path / "d", f"s3://{bucket}/p")
    assert run.out == f"(dryrun) upload: {tmp_path}/d/a to s3://{bucket}/p/a\n"
    penstock_command("mv", "--dry-run", f"s3://{bucket}/k", tmp_path / "x/y")
    penstock_command("cp", "-r", "--dry-run", f"s3://{bucket}", f"s3://{bucket}/z")
    assert keys(client, bucket) == ["k"] and not (tmp_path / "x").exists()


def test_no_overwrite(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, "new", "old")
    put(client, bucket, "k", b"old")
    put(client, bucket, "k2", b"")
    for source in (tmp_path / "new", f"s3://{bucket}/k2"):
        assert "the object exists" in penstock_command("cp", "-n", source, f"s3://{bucket}/k").err
    assert get(client, bucket, "k") == b"old"
    assert "the file exists" in penstock_command("mv", "--no-overwrite", f"s3://{bucket}/k", tmp_path / "old").err
    assert (tmp_path / "old").read_text() == "old" and keys(client, bucket) == ["k", "k2"]
    penstock_command("mv", "-n", tmp_path / "new", f"s3://{bucket}/k")
    assert (tmp_path / "new").exists()


@pytest.mark.parametrize("words", [["cp"], ["mv"], ["cp", "-r"]])
def test_a_folder_in_the_place_of_a_file_is_a_failure_also_with_no_overwrite(penstock_command, client, bucket, tmp_path, words):
    put(client, bucket, "p/k", b"new")
    (tmp_path / "k").mkdir()
    source = f"s3://{bucket}/p/k" if len(words) == 1 else f"s3://{bucket}/p"
    run = penstock_command(*words, "--no-overwrite", source, f"{tmp_path}/", status=1)
    assert "is a folder, but the key needs a file there" in run.err
    assert keys(client, bucket) == ["p/k"]


def test_a_dry_run_with_no_overwrite_leaves_out_what_exists(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, "d/new", "d/old")
    put(client, bucket, "p/old", b"")
    put(client, bucket, "p/other", b"")
    up = ["--dry-run", "--no-overwrite", f"{tmp_path}/d", f"s3://{bucket}/p"]
    down = ["--dry-run", "--no-overwrite", f"s3://{bucket}/p", f"{tmp_path}/d"]
    for words in (["cp", "-r", *up], ["sync", "--exact-timestamps", *up], ["mv", "-r", *up]):
        run = penstock_command(*words)
        assert len(run.lines) == 1 and run.lines[0].endswith("/p/new") and "/p/old: the object exists" in run.err
    for words in (["cp", "-r", *down], ["sync", "--exact-timestamps", *down]):
        run = penstock_command(*words)
        assert len(run.lines) == 1 and run.lines[0].endswith("/d/other") and "/d/old: the file exists" in run.err
    run = penstock_command("cp", "-r", "-n", "--dry-run", f"s3://{bucket}/p", f"s3://{bucket}/p2")
    assert len(run.lines) == 2 and keys(client, bucket) == ["p/old", "p/other"]


def test_attributes_of_objects(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, "f.json")
    words = ["--storage-class", "STANDARD_IA", "--metadata", "a=1,b=2", "--metadata", '{"c": "3,4"}', "--tags", "team=x y",
             "--cache-control", "no-cache", "--expires", "2030-01-02T03:04:05Z", "--sse", "AES256"]  # fmt: skip
    penstock_command("cp", tmp_path / "f.json", f"s3://{bucket}/k", *words)
    head = client.head(bucket, "k")
    assert (head.storage_class, head.content_type, head.cache_control) == ("STANDARD_IA", "application/json", "no-cache")
    assert head.metadata == {"a": "1", "b": "2", "c": "3,4"} and head.expires == "Wed, 02 Jan 2030 03:04:05 GMT"
    assert client.get_object_tagging(bucket, "k") == {"team": "x y"}
    penstock_command("cp", f"s3://{bucket}/k", f"s3://{bucket}/kept")
    kept = client.head(bucket, "kept")
    assert (kept.metadata, kept.content_type, kept.expires) == (head.metadata, head.content_type, head.expires)
    assert client.get_object_tagging(bucket, "kept") == {"team": "x y"}
    penstock_command("cp", f"s3://{bucket}/k", f"s3://{bucket}/changed", "--content-type", "x/y", "--tags", "n=1")
    changed = client.head(bucket, "changed")
    assert (changed.content_type, changed.metadata, changed.cache_control) == ("x/y", head.metadata, "no-cache")
    assert client.get_object_tagging(bucket, "changed") == {"n": "1"}
    penstock_command("cp", f"s3://{bucket}/k", f"s3://{bucket}/m", "--metadata", "z=1")
    assert (client.head(bucket, "m").metadata, client.head(bucket, "m").cache_control) == ({"z": "1"}, head.cache_control)
    penstock_command("cp", f"s3://{bucket}/k", f"s3://{bucket}/r", "--metadata", "z=1", "--metadata-directive", "REPLACE")
    assert client.head(bucket, "r").metadata == {"z": "1"} and client.head(bucket, "r").cache_control is None
    penstock_command("cp", "--no-guess-mime-type", tmp_path / "f.json", f"s3://{bucket}/n")
    assert client.head(bucket, "n").content_type == "binary/octet-stream"
    assert (
        "--sse aws:kms" in penstock_command("cp", tmp_path / "f.json", f"s3://{bucket}/n", "--sse-kms-key-id", "x", status=2).err
    )


def test_keys_of_the_customer(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, "f")
    (tmp_path / "key").write_bytes(bytes(range(32)))
    (tmp_path / "key2").write_bytes(bytes(32))
    (tmp_path / "short").write_bytes(bytes(31))
    key, key2 = f"fileb://{tmp_path}/key", f"fileb://{tmp_path}/key2"
    penstock_command("cp", tmp_path / "f", f"s3://{bucket}/k", "--sse-c", "AES256", "--sse-c-key", key)
    assert client.head(bucket, "k", sse_customer_key=bytes(range(32))).encryption == "SSE-C"
    penstock_command("cp", f"s3://{bucket}/k", tmp_path / "plain", status=1)
    penstock_command("cp", f"s3://{bucket}/k", tmp_path / "plain", "--sse-c-key", key)
    assert (tmp_path / "plain").read_text() == "f"
    penstock_command("mv", f"s3://{bucket}/k", f"s3://{bucket}/m", "--sse-c-copy-source-key", key, "--sse-c-key", key2)
    assert penstock_command("cat", f"s3://{bucket}/m", "--sse-c-key", key2).out == "f" and keys(client, bucket) == ["m"]
    penstock_command("cp", tmp_path / "f", f"s3://{bucket}/open")
    penstock_command("cp", f"s3://{bucket}/open", f"s3://{bucket}/closed", "--sse-c-key", key)
    penstock_command("cp", f"s3://{bucket}/closed", tmp_path / "opened", "--sse-c-key", key)
    assert (tmp_path / "opened").read_text() == "f"
    for wrong in (f"fileb://{tmp_path}/short", f"fileb://{tmp_path}/none", "x" * 32):
        run = penstock_command("cp", tmp_path / "f", f"s3://{bucket}/k", "--sse-c-key", wrong, status=2)
        assert "x" * 32 not in run.err


def test_versions(penstock_command, client, emulator, bucket, tmp_path):
    keep_versions(emulator, bucket)
    put(client, bucket, "k", b"first")
    first = client.head(bucket, "k").version_id
    put(client, bucket, "k", b"second")
    penstock_command("cp", f"s3://{bucket}/k", tmp_path / "f", "--version-id", first)
    penstock_command("cp", f"s3://{bucket}/k", f"s3://{bucket}/k", "--version-id", first)
    assert (tmp_path / "f").read_bytes() == b"first" and get(client, bucket, "k") == b"first"
    assert penstock_command("cat", f"s3://{bucket}/k", "--version-id", first).out == "first"
    penstock_command("cp", "-r", f"s3://{bucket}", tmp_path, "--version-id", first, status=2)


def test_large_copies_are_made_in_parts(penstock_command, client, emulator, bucket, tmp_path, monkeypatch):
    monkeypatch.setattr(_copies, "SINGLE_COPY_LIMIT", 5 * MIB)
    monkeypatch.setattr(_parts, "COPY_PART", 6 * MIB)
    data = os.urandom(12 * MIB)
    client.put(bucket, "k", data, content_type="x/y", metadata={"a": "b"}, tagging={"t": "1"}, expires=10**9)
    before = emulator.journal().last
    penstock_command("cp", f"s3://{bucket}/k", f"s3://{bucket}/copy")
    assert emulator.journal().count(after=before, operations="UploadPartCopy") == 2
    assert get(client, bucket, "copy") == data
    head = client.head(bucket, "copy")
    assert (head.content_type, head.metadata, head.expires) == ("x/y", {"a": "b"}, "Sun, 09 Sep 2001 01:46:40 GMT")
    assert client.get_object_tagging(bucket, "copy") == {"t": "1"}
    penstock_command("cp", f"s3://{bucket}/k", f"s3://{bucket}/copy", "--metadata", "n=1")
    assert client.head(bucket, "copy").metadata == {"n": "1"} and client.head(bucket, "copy").content_type == "x/y"
    emulator.faults().set([{"when": {"operation": "UploadPartCopy", "nth": 2}, "do": {"error": {"code": "AccessDenied"}}}])
    penstock_command("mv", f"s3://{bucket}/k", f"s3://{bucket}/moved", status=1)
    emulator.faults().clear()
    assert keys(client, bucket) == ["copy", "k"] and not client.list_multipart_uploads(bucket).uploads


def test_moves(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, "d/a", "d/s/b")
    penstock_command("mv", "-r", tmp_path / "d", f"s3://{bucket}/p", "--exclude", "a")
    assert tree(tmp_path / "d") == {"a": b"d/a"} and keys(client, bucket) == ["p/s/b"]
    run = penstock_command("mv", "-r", f"s3://{bucket}/p", f"s3://{bucket}/q")
    assert run.out == f"move: s3://{bucket}/p/s/b to s3://{bucket}/q/s/b\n" and keys(client, bucket) == ["q/s/b"]
    penstock_command("mv", f"s3://{bucket}/q/s/b", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "d/s/b" and keys(client, bucket) == []


def test_a_move_onto_itself_or_into_itself_is_refused(penstock_command, client, bucket):
    for key in ("a/x", "a/a/x", "k"):
        put(client, bucket, key, key.encode())
    root = f"s3://{bucket}"
    penstock_command("mv", f"{root}/k", f"{root}/k", status=1)
    penstock_command("cp", f"{root}/k", f"{root}/k", status=1)
    for target in (f"{root}/a", f"{root}/a/b"):
        penstock_command("mv", "-r", f"{root}/a", target, status=2)
    # a/a/x would go to a/x, which is moved too.
    assert "moved too" in penstock_command("mv", "-r", f"{root}/a", f"{root}/", status=1).err
    assert {key: get(client, bucket, key) for key in keys(client, bucket)} == {"a/a/x": b"a/a/x", "k": b"k", "x": b"a/x"}


def test_a_copy_into_its_own_folder_ends(penstock_command, client, bucket):
    for key in ("a/1", "a/2"):
        put(client, bucket, key, b"")
    penstock_command("cp", "-r", f"s3://{bucket}/a", f"s3://{bucket}/a/b")
    assert keys(client, bucket) == ["a/1", "a/2", "a/b/1", "a/b/2"]


def test_a_move_keeps_a_source_that_changed_meanwhile(penstock_command, client, emulator, bucket, tmp_path, monkeypatch):
    put(client, bucket, "k", b"old")
    download = penstock.S3Client.download_file
    copy = _copies.Copier.copy

    def then_overwrite(self, *arguments, **options):
        done = download(self, *arguments, **options)
        put(client, bucket, "k", b"newer")
        return done

    monkeypatch.setattr(penstock.S3Client, "download_file", then_overwrite)
    penstock_command("mv", f"s3://{bucket}/k", tmp_path / "f", status=1)
    assert get(client, bucket, "k") == b"newer" and (tmp_path / "f").read_bytes() == b"old"

    def copy_then_overwrite(self, *arguments, **options):
        done = copy(self, *arguments, **options)
        put(client, bucket, "k", b"newest")
        return done

    monkeypatch.setattr(_copies.Copier, "copy", copy_then_overwrite)
    penstock_command("mv", f"s3://{bucket}/k", f"s3://{bucket}/c", status=1)
    assert get(client, bucket, "k") == b"newest" and get(client, bucket, "c") == b"newer"

    upload = penstock.S3Client.upload_file
    (tmp_path / "source").write_text("one")

    def upload_then_change(self, *arguments, **options):
        done = upload(self, *arguments, **options)
        (tmp_path / "source").write_text("two!")
        return done

    monkeypatch.setattr(penstock.S3Client, "upload_file", upload_then_change)
    assert "changed" in penstock_command("mv", tmp_path / "source", f"s3://{bucket}/s", status=1).err
    assert (tmp_path / "source").read_text() == "two!"


def test_a_move_keeps_a_file_whose_time_was_set_back(penstock_command, client, bucket, tmp_path, monkeypatch):
    source = tmp_path / "source"
    source.write_text("one")
    before, upload = source.stat(), penstock.S3Client.upload_file

    def upload_then_change(self, *arguments, **options):
        done = upload(self, *arguments, **options)
        source.write_text("two")
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        while source.stat().st_ctime_ns == before.st_ctime_ns:  # the kernel's clock for files ticks every few milliseconds
            os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        return done

    monkeypatch.setattr(penstock.S3Client, "upload_file", upload_then_change)
    assert "changed" in penstock_command("mv", source, f"s3://{bucket}/s", status=1).err
    assert source.read_text() == "two" and get(client, bucket, "s") == b"one"


def test_hard_links_are_moved(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, *(f"d/{number}" for number in range(8)))
    for number in range(8):
        os.link(tmp_path / "d/0", tmp_path / f"d/link-{number}")
    penstock_command("mv", "-r", tmp_path / "d", f"s3://{bucket}")
    assert tree(tmp_path) == {} and len(keys(client, bucket)) == 16


@pytest.mark.parametrize("target", ["in S3", "local"])
def test_a_move_whose_deletion_was_answered_late_is_complete(penstock_command, client, emulator, bucket, tmp_path, target):
    put(client, bucket, "k", b"text")
    rule = {"when": {"operation": "DeleteObject"}, "do": {"reset": {}, "at": "after_commit"}, "limit": {"times": 1}}
    emulator.faults().set([rule])
    penstock_command("mv", f"s3://{bucket}/k", tmp_path / "c" if target == "local" else f"s3://{bucket}/c")
    emulator.faults().check()
    emulator.faults().clear()
    assert keys(client, bucket) == ([] if target == "local" else ["c"])


def test_a_failed_copy_keeps_its_source(penstock_command, client, emulator, bucket, tmp_path):
    make_tree(tmp_path, "d/a", "d/b")
    emulator.faults().set(
        [{"when": {"operation": "PutObject", "key": {"exactly": "a"}}, "do": {"error": {"code": "AccessDenied"}}}]
    )
    run = penstock_command("mv", "-r", tmp_path / "d", f"s3://{bucket}", status=1)
    emulator.faults().clear()
    assert tree(tmp_path / "d") == {"a": b"d/a"} and keys(client, bucket) == ["b"]
    assert "move failed" in run.err and "1 failure, 1 succeeded" in run.err


def test_a_directory_bucket_renames(penstock_command, client, emulator):
    bucket = f"cli-{time.monotonic_ns()}--use1-az4--x-s3"
    client.create_bucket(bucket)
    for key in ("p/b", "p/a", "px"):
        put(client, bucket, key, key.encode())
    before = emulator.journal().last
    penstock_command("mv", "-r", f"s3://{bucket}/p", f"s3://{bucket}/q")
    assert emulator.journal().count(after=before, operations="RenameObject") == 2
    assert emulator.journal().count(after=before, operations=["CopyObject", "DeleteObject"]) == 0
    assert sorted(keys(client, bucket)) == ["px", "q/a", "q/b"]
    assert [line.split()[-1] for line in penstock_command("ls", f"s3://{bucket}/p").lines] == ["px"]
    penstock_command("mv", "-n", f"s3://{bucket}/px", f"s3://{bucket}/q/a")
    assert get(client, bucket, "q/a") == b"p/a"


def test_json_has_one_object_per_file(penstock_command, client, bucket, tmp_path):
    make_tree(tmp_path, "d/a", "d/b\n")
    run = penstock_command("cp", "-r", "--json", tmp_path / "d", f"s3://{bucket}")
    found = sorted(run.documents, key=lambda document: document["source"])
    assert [document["target"] for document in found] == [f"s3://{bucket}/a", f"s3://{bucket}/b\n"]
    etag = client.head(bucket, "a").etag.strip('"')
    assert found[0] == {
        "operation": "upload", "source": f"{tmp_path}/d/a", "target": f"s3://{bucket}/a", "size": 3, "etag": etag
    }  # fmt: skip
    run = penstock_command("cp", "--json", f"s3://{bucket}/none", tmp_path / "x", status=1)
    assert run.out == "" and '"operation": "download"' in run.err and '"error": ' in run.err
    assert penstock_command("cp", "--quiet", "-r", tmp_path / "d", f"s3://{bucket}").out == ""


def test_no_partial_file_is_left(penstock_command, client, emulator, bucket, tmp_path):
    put(client, bucket, "k", os.urandom(9 * MIB))
    emulator.faults().set([{"when": {"operation": "GetObject", "nth": 2}, "do": {"error": {"code": "AccessDenied"}}}])
    (tmp_path / "f").write_text("old")
    penstock_command("cp", f"s3://{bucket}/k", tmp_path / "f", status=1)
    emulator.faults().clear()
    assert tree(tmp_path) == {"f": b"old"}


def test_a_short_copy_keeps_its_source(penstock_command, client, bucket, monkeypatch):
    put(client, bucket, "k", b"12345")

    def copy_less(self, entry, target, **options):
        return client.put(target.bucket, target.key, b"123")

    monkeypatch.setattr(_copies.Copier, "copy", copy_less)
    assert "3 bytes instead of 5" in penstock_command("mv", f"s3://{bucket}/k", f"s3://{bucket}/c", status=1).err
    assert get(client, bucket, "k") == b"12345"


@pytest.mark.parametrize("words", ["cp -r", "mv -r", "sync"])
@pytest.mark.parametrize("local", [True, False])
def test_a_failed_page_does_not_end_the_transfers_of_earlier_pages(
    penstock_command, client, bucket, tmp_path, monkeypatch, words, local
):
    names = [f"{number:02}" for number in range(40)]
    for name in names:
        put(client, bucket, f"d/{name}", b"x")

    def failing(client, source):
        yield from objects(client, source)
        if source.root.key == "d/":
            raise S3Exception("the next page failed")

    monkeypatch.setattr(_cp, "objects", failing)
    monkeypatch.setattr(_sync, "objects", failing)
    client.create_bucket(f"{bucket}-t")
    target = f"{tmp_path}/" if local else f"s3://{bucket}-t/"
    run = penstock_command(*words.split(), "--jobs", "2", f"s3://{bucket}/d/", target, status=1)
    assert len(run.lines) == 40 and run.err == f"penstock {words.split()[0]}: the next page failed\n"
    assert (sorted(tree(tmp_path)) if local else keys(client, f"{bucket}-t")) == names
    assert keys(client, bucket) == ([] if words == "mv -r" else [f"d/{name}" for name in names])
