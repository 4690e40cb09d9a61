"""`penstock rm`, `mb`, `rb`, `ls`, `du`, `find`, `cat`, `stat` and `presign`."""

from __future__ import annotations

import json
import time
import urllib.request

import penstock
import pytest
from bucket_io import get, keys, put
from penstock._commands import _execution
from versioned_bucket import keep_versions

NAMES = ["a.gz", "d/b.gz", "d/c", "d2", "s*r"]


@pytest.fixture
def filled(client, bucket):
    for name in NAMES:
        put(client, bucket, name, name.encode())
    return bucket


# ---- rm, mb, rb


def test_rm_of_a_folder_needs_recursive(penstock_command, client, filled):
    root = f"s3://{filled}"
    for url in (root, f"{root}/", f"{root}/d/"):
        assert "--recursive" in penstock_command("rm", url, status=2).err
    assert "--recursive" in penstock_command("rm", f"{root}/d", status=1).err
    assert keys(client, filled) == NAMES
    assert penstock_command("rm", f"{root}/d2").out == f"delete: {root}/d2\n"
    assert penstock_command("rm", "-r", f"{root}/d").lines == [f"delete: {root}/d/b.gz", f"delete: {root}/d/c"]
    assert keys(client, filled) == ["a.gz", "s*r"]
    penstock_command("rm", "--recursive", root)
    assert keys(client, filled) == [], "the bucket itself is not deleted"
    assert penstock_command("rm", "--recursive", root).out == ""


def test_rm_with_wildcards_and_filters(penstock_command, client, filled):
    root = f"s3://{filled}"
    assert len(penstock_command("rm", "--dry-run", f"{root}/*.gz").lines) == 2
    assert keys(client, filled) == NAMES
    penstock_command("rm", "--raw", f"{root}/s*r")
    penstock_command("rm", f"{root}/*.gz", "--exclude", "d/*")
    assert keys(client, filled) == ["d/b.gz", "d/c", "d2"]
    penstock_command("rm", "-r", root, f"{root}/d2", "--exclude", "*", "--include", "d2")
    assert keys(client, filled) == ["d/b.gz", "d/c"]


def test_rm_deletes_more_than_one_request_can(penstock_command, client, emulator, bucket):
    for number in range(1001):
        client.put(bucket, f"k/{number:04}", b"")
    before = emulator.journal().last
    assert len(penstock_command("rm", "-r", f"s3://{bucket}").lines) == 1001
    assert emulator.journal().count(after=before, operations="DeleteObjects") == 2
    assert keys(client, bucket) == []


@pytest.mark.parametrize(
    ("code", "times", "requests", "failed", "attempts"),
    [("SlowDown", 3, 4, 0, ""), ("InternalError", 4, 4, 2, "9"), ("AccessDenied", 1, 1, 2, ""), ("SlowDown", 1, 1, 2, "1")],
)
def test_rm_tries_overloaded_keys_again(
    penstock_command, emulator, client, filled, monkeypatch, code, times, requests, failed, attempts
):
    if attempts:
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", attempts)
    monkeypatch.setattr(_execution, "DELETION_DELAYS_S", (0.0, 0.0, 0.0))
    before = emulator.journal().last
    fault = {"partial_failure": {"code": code, "key": "d/*"}}
    emulator.faults().set([{"when": {"operation": "DeleteObjects"}, "do": fault, "limit": {"times": times}}])
    run = penstock_command("rm", "-r", f"s3://{filled}", status=1 if failed else 0)
    emulator.faults().check()
    emulator.faults().clear()
    assert emulator.journal().count(after=before, operations="DeleteObjects") == requests
    assert (len(run.lines), run.err.count(f"({code})")) == (len(NAMES) - failed, failed)
    assert len(keys(client, filled)) == failed


def test_rm_of_versions(penstock_command, client, emulator, bucket):
    keep_versions(emulator, bucket)
    for text in (b"1", b"2"):
        put(client, bucket, "k", text)
        put(client, bucket, "kk", text)
    newest = client.head(bucket, "k").version_id
    penstock_command("rm", f"s3://{bucket}/k", "--version-id", newest)
    assert get(client, bucket, "k") == b"1"
    penstock_command("rm", f"s3://{bucket}/k")
    assert len(penstock_command("rm", f"s3://{bucket}/k", "--all-versions").lines) == 2
    found = [version.key for page in client.list_object_versions(bucket) for version in page.versions]
    assert found == ["kk", "kk"]
    page = next(iter(client.list_object_versions(bucket)))
    lines = [f"(dryrun) delete: s3://{bucket}/kk (version {each.version_id})" for each in page.versions]
    assert penstock_command("rm", f"s3://{bucket}/kk", "--all-versions", "--dry-run").lines == sorted(lines)
    run = penstock_command("rm", f"s3://{bucket}/k", "--version-id", "none", status=1)
    assert run.err.startswith(f"delete failed: s3://{bucket}/k (version none): ")
    penstock_command("rm", f"s3://{bucket}/k", f"s3://{bucket}/kk", "--version-id", newest, status=2)
    penstock_command("rb", f"s3://{bucket}", "--force", status=1)
    assert "--all-versions" in penstock_command("rb", f"s3://{bucket}", "--force", status=1).err
    penstock_command("rb", f"s3://{bucket}", "--force", "--all-versions")
    with pytest.raises(penstock.S3NotFoundError):
        client.head_bucket(bucket)


def test_failures_of_single_deletions(penstock_command, client, emulator, filled):
    run = penstock_command("rm", f"s3://{filled}/none", f"s3://{filled}/d2", f"s3://{filled}-none/k", status=1)
    assert "no such object" in run.err and "2 failures, 1 succeeded" in run.err
    client.put(filled, "locked", b"", object_lock_legal_hold=None)
    assert "d2" not in keys(client, filled)


def test_buckets_are_made_and_removed(penstock_command, client):
    name = f"made-{time.monotonic_ns()}"
    assert penstock_command("mb", f"s3://{name}").out == f"make_bucket: s3://{name}\n"
    assert name in penstock_command("ls").out
    put(client, name, "k", b"")
    assert "--force" in penstock_command("rb", f"s3://{name}", status=1).err
    penstock_command("rb", "--force", "--dry-run", f"s3://{name}")
    assert keys(client, name) == ["k"]
    assert penstock_command("rb", "--force", f"s3://{name}").lines == [f"delete: s3://{name}/k", f"remove_bucket: s3://{name}"]
    assert name not in penstock_command("ls").out
    penstock_command("rb", f"s3://{name}", status=1)
    penstock_command("mb", f"s3://{name}/k", status=2)


# ---- ls, du, find


def shown(run) -> list[str]:
    return [line.rsplit(maxsplit=1)[1] for line in run.out.splitlines()]


def test_ls(penstock_command, filled):
    root = f"s3://{filled}"
    run = penstock_command("ls", root)
    assert shown(run) == ["d/", "a.gz", "d2", "s*r"]
    assert run.out.splitlines()[0] == f"{'PRE':>30} d/"
    assert run.out.splitlines()[1][19:] == "          4 a.gz"
    assert shown(penstock_command("ls", f"{root}/d")) == ["d/", "d2"]
    assert shown(penstock_command("ls", f"{root}/d/")) == ["b.gz", "c"]
    assert shown(penstock_command("ls", "-r", f"{root}/d")) == ["d/b.gz", "d/c", "d2"]
    assert shown(penstock_command("ls", f"{root}/*.gz")) == ["a.gz", "d/b.gz"]
    assert shown(penstock_command("ls", "--raw", f"{root}/s*")) == ["s*r"]
    assert penstock_command("ls", f"{root}/none", status=1).out == ""
    assert penstock_command("ls", f"s3://{filled}-none", status=1).err.startswith("penstock ls: ")
    summary = penstock_command("ls", "-r", "--summarize", "--human-readable", root).out
    assert summary.endswith("\nTotal Objects: 5\n   Total Size: 18 B\n")
    penstock_command("ls", "a.txt", status=2)


def test_ls_as_json(penstock_command, client, filled):
    found = penstock_command("ls", "--json", f"s3://{filled}").documents
    assert found[0] == {"prefix": "d/", "uri": f"s3://{filled}/d/"}
    head = client.head(filled, "a.gz")
    assert found[1] | {"modified": ""} == {
        "key": "a.gz", "uri": f"s3://{filled}/a.gz", "size": 4, "modified": "", "etag": head.etag.strip('"'),
        "storage_class": "STANDARD",
    }  # fmt: skip
    assert {"bucket", "created"} == set(penstock_command("ls", "--json").documents[0])


def test_ls_of_versions(penstock_command, client, emulator, bucket):
    keep_versions(emulator, bucket)
    put(client, bucket, "k", b"1")
    client.delete(bucket, "k")
    assert penstock_command("ls", f"s3://{bucket}/k", status=1).out == ""
    marker, first = penstock_command("ls", "--versions", f"s3://{bucket}").out.splitlines()
    assert marker.split()[2] == "DELETED" and "latest" in marker and "latest" not in first
    found = penstock_command("ls", "--all-versions", "--json", f"s3://{bucket}").documents
    assert [(each["delete_marker"], each["latest"]) for each in found] == [(True, True), (False, False)]
    assert penstock_command("du", "--all-versions", f"s3://{bucket}").out == f"1 bytes in 2 objects: s3://{bucket}/\n"


def test_control_characters_of_keys_are_escaped(penstock_command, client, bucket):
    put(client, bucket, "a\n\x1b[31mb", b"")
    assert shown(penstock_command("ls", f"s3://{bucket}")) == ["a\\x0a\\x1b[31mb"]


def test_du(penstock_command, client, filled):
    root = f"s3://{filled}"
    assert penstock_command("du", root).out == f"18 bytes in 5 objects: {root}/\n"
    assert penstock_command("du", f"{root}/d", f"{root}/*.gz", "--exclude", "d2", "-H").lines == [
        f"10 B in 2 objects: {root}/*.gz", f"9 B in 2 objects: {root}/d"
    ]  # fmt: skip
    client.put(filled, "ia", b"123", storage_class="STANDARD_IA")
    assert penstock_command("du", "--group", root).lines == [
        f"18 bytes in 5 objects: {root}/ [STANDARD]", f"3 bytes in 1 object: {root}/ [STANDARD_IA]"
    ]  # fmt: skip
    assert penstock_command("du", "--json", root).documents == [{"uri": f"{root}/", "objects": 6, "size": 21}]
    penstock_command("du", f"{root}/none", status=1)


def test_find(penstock_command, client, filled):
    root = f"s3://{filled}"
    assert penstock_command("find", root, "--name", "*.gz").lines == [f"{root}/a.gz", f"{root}/d/b.gz"]
    assert penstock_command("find", f"{root}/d", "--smaller-than", "3").lines == [f"{root}/d2"]
    assert penstock_command("find", root, "--larger-than", "4").lines == [f"{root}/d/b.gz"]
    assert penstock_command("find", root, "--older-than", "1h").lines == []
    assert len(penstock_command("find", root, "--newer-than", "1h").lines) == 5
    assert penstock_command("find", root, "--storage-class", "GLACIER").lines == []
    assert penstock_command("find", root, "--json", "--name", "d2").documents[0]["key"] == "d2"
    penstock_command("find", root, "--larger-than", "x", status=2)


# ---- cat, stat, presign


def test_cat(penstock_command, filled):
    root = f"s3://{filled}"
    assert penstock_command("cat", f"{root}/d2", f"{root}/d/*").out == "d2d/b.gzd/c"
    penstock_command("cat", f"{root}/none*", status=1)
    penstock_command("cat", f"{root}/none", status=1)
    penstock_command("cat", root, status=2)
    assert "--raw" in penstock_command("cat", f"{root}/d/", status=2).err


def test_cat_of_a_key_that_ends_in_a_slash(penstock_command, client, bucket, tmp_path):
    put(client, bucket, "p/folder/", b"text")
    run = penstock_command("cp", "-r", f"s3://{bucket}/p", tmp_path, status=1)
    assert "penstock cat --raw" in run.err and list(tmp_path.iterdir()) == []
    assert penstock_command("cat", "--raw", f"s3://{bucket}/p/folder/").out == "text"


def test_cat_goes_on_after_a_failure(penstock_command, filled):
    root = f"s3://{filled}"
    run = penstock_command("cat", f"{root}/d2", f"{root}/none", f"{root}-none/*", f"{root}/d/*", f"{root}/gone", status=1)
    assert run.out == "d2d/b.gzd/c"
    failed = [line.split(" failed: ")[1].split(": ")[0] for line in run.err.splitlines()]
    assert failed == [f"{root}/none", f"{root}-none/*", f"{root}/gone"]


def test_a_damaged_object_is_not_written_whole(penstock_command, client, emulator, bucket):
    put(client, bucket, "k", bytes(12 << 20))
    emulator.faults().set([{"when": {"operation": "GetObject"}, "do": {"corrupt": {"mode": "flip-bit"}, "at": "body_out@5"}}])
    try:
        run = penstock_command("cat", f"s3://{bucket}/k", status=1)
    finally:
        emulator.faults().clear(forget=True)
    assert len(run.out) < 12 << 20


def test_stat(penstock_command, client, filled):
    client.put(filled, "k", b"123", metadata={"a": "b"}, tagging={"t": "1"}, content_type="x/y")
    lines = penstock_command("stat", f"s3://{filled}/k").lines
    for text in (
        "metadata:                a=b",
        "tags:                    t=1",
        "content_type:            x/y",
        "size:                    3 bytes",
    ):
        assert text in lines
    [found] = penstock_command("stat", "--json", f"s3://{filled}/k").documents
    assert (found["size"], found["metadata"], found["tags"], found["etag"]) == (
        3, {"a": "b"}, {"t": "1"}, client.head(filled, "k").etag.strip('"')
    )  # fmt: skip
    assert penstock_command("stat", "--json", f"s3://{filled}").documents[0]["uri"] == f"s3://{filled}"
    run = penstock_command("stat", f"s3://{filled}/none", f"s3://{filled}/k", status=1)
    assert "none" in run.err and "x/y" in run.out


def test_failures_as_json(penstock_command, filled):
    def failure(*words: str, status: int = 1) -> dict[str, str]:
        return json.loads(penstock_command(*words, "--json", status=status).err)

    missing = failure("stat", f"s3://{filled}/none")
    assert (missing["operation"], missing["source"]) == ("stat", f"s3://{filled}/none") and missing["error"]
    for command in ("ls", "du", "find"):
        found = failure(command, f"s3://{filled}-none")
        assert found.pop("error") and found == {"operation": command, "code": "NoSuchBucket"}
    assert failure("presign", f"s3://{filled}", status=2)["operation"] == "presign"


def test_presign(penstock_command, client, filled):
    for text in ("5400", "5400s", "90m", "1.5h"):
        assert "X-Amz-Expires=5400&" in penstock_command("presign", f"s3://{filled}/d/c", "--expires-in", text).out
    url = penstock_command("presign", f"s3://{filled}/d/c", "--expires-in", "60").out.strip()
    with urllib.request.urlopen(url, timeout=60) as response:
        assert response.read() == b"d/c"
    assert "X-Amz-Expires=60&" in url
    [found] = penstock_command("presign", "--json", "--method", "put", f"s3://{filled}/new", "--content-type", "x/y").documents
    request = urllib.request.Request(found["url"], b"put", dict(found["headers"]), method="PUT")
    urllib.request.urlopen(request, timeout=60).close()
    assert client.head(filled, "new").content_type == "x/y"
    for words in (
        ["--expires-in", "604801"],
        ["--expires-in", "8d"],
        ["--expires-in", "1500ms"],
        ["--method", "get", "--content-type", "x"],
        ["--method", "put", "--version-id", "x"],
    ):
        penstock_command("presign", f"s3://{filled}/k", *words, status=2)
    penstock_command("presign", f"s3://{filled}", status=2)
