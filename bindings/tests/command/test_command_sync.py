"""`penstock sync`."""

from __future__ import annotations

import os
import re
import time

import pytest
from bucket_io import get, keys, put
from command_runs import make_tree, tree
from penstock._commands import _sync


def changes(run) -> list[str]:
    """The operation and the name of each line."""
    return [f"{line.partition(':')[0]} {line.rpartition('/')[2]}" for line in run.lines]


@pytest.fixture
def synced(penstock_command, bucket, tmp_path):
    """A folder `t` and an equal prefix `p`."""
    make_tree(tmp_path / "t", "a", "a-b", "d/c")
    for name in tree(tmp_path / "t"):
        os.utime(tmp_path / "t" / name, (1, 1))  # S3's times have no fractions of a second
    penstock_command("sync", tmp_path / "t", f"s3://{bucket}/p")
    return tmp_path / "t"


def test_only_changes_are_uploaded(penstock_command, client, bucket, synced):
    assert keys(client, bucket) == ["p/a", "p/a-b", "p/d/c"]
    assert penstock_command("sync", synced, f"s3://{bucket}/p/").out == ""
    (synced / "a").write_text("longer")
    later = time.time() + 10
    (synced / "d/c").write_text("D/C")
    os.utime(synced / "d/c", (later, later))
    os.utime(synced / "a-b", (1, 1))
    assert changes(penstock_command("sync", synced, f"s3://{bucket}/p")) == ["upload a", "upload c"]
    assert get(client, bucket, "p/d/c") == b"D/C"
    os.utime(synced / "a", (later, later))
    assert penstock_command("sync", "--size-only", synced, f"s3://{bucket}/p").out == ""


def test_only_changes_are_downloaded(penstock_command, client, bucket, synced, tmp_path):
    back = tmp_path / "back"
    assert len(penstock_command("sync", f"s3://{bucket}/p", back).lines) == 3
    assert tree(back) == tree(synced)
    assert penstock_command("sync", f"s3://{bucket}/p", back).out == ""
    (back / "a").write_text("A")  # newer than the object
    os.utime(back / "d/c", (1, 1))  # older
    assert changes(penstock_command("sync", "--dryrun", "--exact-timestamps", f"s3://{bucket}/p", back)) == [
        "(dryrun) download a", "(dryrun) download c"
    ]  # fmt: skip
    assert penstock_command("sync", "--size-only", f"s3://{bucket}/p", back).out == ""
    assert changes(penstock_command("sync", f"s3://{bucket}/p", back)) == ["download a"]
    assert (back / "a").read_text() == "a"


def test_copies_inside_s3(penstock_command, client, bucket, synced):
    put(client, bucket, "p/folder/", b"")
    put(client, bucket, "q/old", b"")
    put(client, bucket, "q/marker/", b"")
    assert len(penstock_command("sync", f"s3://{bucket}/p", f"s3://{bucket}/q").lines) == 4
    assert penstock_command("sync", f"s3://{bucket}/p", f"s3://{bucket}/q").out == ""
    assert changes(penstock_command("sync", "--delete", f"s3://{bucket}/p", f"s3://{bucket}/q")) == ["delete old"]
    assert keys(client, bucket, "q/") == ["q/a", "q/a-b", "q/d/c", "q/folder/", "q/marker/"]
    for source, target in (("p", "p"), ("p", ""), ("", "p"), ("p", "p/x")):
        assert "overlap" in penstock_command("sync", f"s3://{bucket}/{source}", f"s3://{bucket}/{target}", status=2).err


def test_delete_never_deletes_what_a_filter_excludes(penstock_command, client, bucket, synced, tmp_path):
    for key in ("p/x", "p/x.keep", "p2", "other"):
        put(client, bucket, key, b"")
    (synced / "a").unlink()
    words = ["sync", synced, f"s3://{bucket}/p", "--exclude", "*.keep"]
    assert penstock_command(*words).out == "", "nothing is deleted without --delete"
    assert changes(penstock_command(*words, "--delete", "--dry-run")) == ["(dryrun) delete a", "(dryrun) delete x"]
    assert changes(penstock_command(*words, "--delete")) == ["delete a", "delete x"]
    assert keys(client, bucket) == ["other", "p/a-b", "p/d/c", "p/x.keep", "p2"]

    back = tmp_path / "back"
    make_tree(back, "x", "x.keep", "d/y", "outside/z")
    (back / "folder").symlink_to(tmp_path / "t")
    (back / "link").symlink_to(tmp_path / "t/a-b")
    run = penstock_command("sync", "--delete", f"s3://{bucket}/p", back, "--exclude", "*.keep", "--exclude", "outside/*")
    assert sorted(changes(run)) == ["delete link", "delete x", "delete y", "download a-b", "download c"]
    assert sorted(tree(back)) == ["a-b", "d/c", "outside/z", "x.keep"]
    assert sorted(tree(synced)) == ["a-b", "d/c"], "links are deleted, not what they refer to"
    assert (back / "folder").is_symlink()


def test_nothing_is_deleted_if_the_source_was_not_read(penstock_command, client, bucket, synced):
    (synced / "loop").symlink_to(".")
    put(client, bucket, "p/x", b"")
    run = penstock_command("sync", "--delete", synced, f"s3://{bucket}/p", status=1)
    assert "nothing was deleted" in run.err and "p/x" in keys(client, bucket)
    (synced / "loop").unlink()
    penstock_command("sync", "--delete", f"s3://{bucket}-missing/p", synced, status=1)
    assert sorted(tree(synced)) == ["a", "a-b", "d/c"]
    assert "does not exist" in penstock_command("sync", "--delete", f"{synced}-missing", f"s3://{bucket}/p", status=2).err
    assert len(keys(client, bucket)) == 4


def test_an_object_as_source_of_a_sync_deletes_nothing(penstock_command, client, bucket, synced):
    put(client, bucket, "q/kept", b"")
    for target in (synced, f"s3://{bucket}/q"):
        for source in (f"s3://{bucket}/p/a", f"s3://{bucket}/p/a/"):
            assert f"s3://{bucket}/p/a is an object" in penstock_command("sync", "--delete", source, target, status=2).err
    assert sorted(tree(synced)) == ["a", "a-b", "d/c"] and keys(client, bucket, "q/") == ["q/kept"]
    put(client, bucket, "p/a/below", b"")
    assert changes(penstock_command("sync", f"s3://{bucket}/p/a", f"s3://{bucket}/q")) == ["copy below"]
    assert len(penstock_command("sync", "--delete", f"s3://{bucket}/none", synced).lines) == 3


def test_a_failure_deletes_no_target_of_a_source(penstock_command, client, bucket, synced, tmp_path):
    put(client, bucket, "p/a/b", b"")  # a is a file already
    back = tmp_path / "back"
    make_tree(back, "old")
    run = penstock_command("sync", "--delete", f"s3://{bucket}/p", back, status=1)
    assert sorted(tree(back)) == ["a", "a-b", "d/c"] and "cannot be a folder" in run.err


def test_checksums(penstock_command, client, bucket, synced, tmp_path):
    later = time.time() + 10
    for name in ("a", "d/c"):
        os.utime(synced / name, (later, later))
    (synced / "d/c").write_text("D/C")
    os.utime(synced / "d/c", (1, 1))
    assert changes(penstock_command("sync", "--checksum", synced, f"s3://{bucket}/p")) == ["upload c"]
    assert changes(penstock_command("sync", "--checksum", synced, f"s3://{bucket}/p")) == []
    (synced / "d/c").write_text("d/c")
    assert changes(penstock_command("sync", "--checksum", f"s3://{bucket}/p", synced)) == ["download c"]
    client.put(bucket, "q/a", b"A")
    client.put(bucket, "q/a-b", b"a-b", checksum_algorithm="sha256")
    client.put(bucket, "q/d/c", b"D/C")
    assert changes(penstock_command("sync", "--checksum", f"s3://{bucket}/p", f"s3://{bucket}/q")) == ["copy a"]
    assert changes(penstock_command("sync", "--checksum", f"s3://{bucket}/q", synced)) == []


def test_a_dry_run_compares_checksums_as_the_sync_does(penstock_command, client, bucket, synced):
    (synced / "d/c").write_text("D/C")
    for words in ((synced, f"s3://{bucket}/p"), (f"s3://{bucket}/p", synced)):
        dry = penstock_command("sync", "--checksum", "--dry-run", *words)
        assert [line.rpartition("/")[2] for line in dry.lines] == ["c"]
        assert sorted(re.findall(r"(\S+): the contents are equal", dry.err)) == [
            str(below).rstrip("/") for below in (f"{words[1]}/a", f"{words[1]}/a-b")
        ]
    assert (synced / "d/c").read_text() == "D/C" and get(client, bucket, "p/d/c") == b"d/c"
    real = penstock_command("sync", "--checksum", *words)
    assert sorted(real.err.splitlines()) == sorted(dry.err.splitlines())
    assert [f"(dryrun) {line}" for line in real.lines] == dry.lines


def test_exclusive_rules(penstock_command, bucket, tmp_path):
    penstock_command("sync", "--checksum", "--size-only", tmp_path, f"s3://{bucket}", status=2)
    penstock_command("sync", tmp_path, tmp_path, status=2)
    penstock_command("sync", "-", f"s3://{bucket}", status=2)


def test_directory_buckets_are_synced_though_not_sorted(penstock_command, client, tmp_path):
    bucket = f"sync-{time.monotonic_ns()}--use1-az4--x-s3"
    client.create_bucket(bucket)
    names = ["b", "a/x", "a-b", "c/d/e", "a/b"]
    make_tree(tmp_path / "t", *names)
    for name in names:
        os.utime(tmp_path / "t" / name, (1, 1))
    assert len(penstock_command("sync", tmp_path / "t", f"s3://{bucket}/p").lines) == 5
    assert penstock_command("sync", "--delete", tmp_path / "t", f"s3://{bucket}/p").out == ""
    penstock_command("sync", f"s3://{bucket}/p", tmp_path / "back")
    assert tree(tmp_path / "back") == tree(tmp_path / "t")
    (tmp_path / "t/a-b").unlink()
    assert changes(penstock_command("sync", "--delete", tmp_path / "t", f"s3://{bucket}/p")) == ["delete a-b"]
    assert sorted(keys(client, bucket)) == ["p/a/b", "p/a/x", "p/b", "p/c/d/e"]


def test_an_unsorted_listing_deletes_nothing(penstock_command, client, bucket, synced, monkeypatch):
    listed = _sync.objects
    monkeypatch.setattr(_sync, "objects", lambda *words: reversed(list(listed(*words))))
    for words in ((synced, f"s3://{bucket}/p"), (f"s3://{bucket}/p", synced)):
        assert "not in ascending order" in penstock_command("sync", "--delete", *words, status=1).err
    assert sorted(tree(synced)) == ["a", "a-b", "d/c"] and len(keys(client, bucket)) == 3
