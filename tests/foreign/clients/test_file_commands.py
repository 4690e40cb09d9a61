"""`penstock cp`, `mv`, `sync`, `rm` and `ls` beside the AWS CLI, s5cmd and rclone on the emulator, and with moto as server.

Each test does the same with `penstock` and with another client, in a bucket or folder of its own, and compares the outcomes.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import awscli
import boto3
import pytest
from awscli.clidriver import create_clidriver
from botocore.config import Config
from penstock.__main__ import main

_numbers = itertools.count()
MIB = 1024**2
NAMES = ["a.txt", "a-b", "a/one.gz", "a/two words+ä.txt", "a/deep/er/x", "b/%20", "empty", "big.bin"]


class Client:
    """Runs one command-line client. Its output is text."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._command = command
        self._environment = {**os.environ, **environment}

    def __call__(self, *words: object, status: int = 0) -> str:
        command = [*self._command, *map(str, words)]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == status, (command, done.stderr, done.stdout)
        return done.stdout


@pytest.fixture
def environment(s3) -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": s3.emulator.access_key_id,
        "AWS_SECRET_ACCESS_KEY": s3.emulator.secret_access_key,
        "AWS_DEFAULT_REGION": s3.emulator.region,
        "AWS_REGION": s3.emulator.region,
        "AWS_ENDPOINT_URL": s3.endpoint,
        "S3_ENDPOINT_URL": s3.endpoint,
        "RCLONE_CONFIG_E_TYPE": "s3",
        "RCLONE_CONFIG_E_PROVIDER": "Other",
        "RCLONE_CONFIG_E_ENDPOINT": s3.endpoint,
        "RCLONE_CONFIG_E_ACCESS_KEY_ID": s3.emulator.access_key_id,
        "RCLONE_CONFIG_E_SECRET_ACCESS_KEY": s3.emulator.secret_access_key,
        "RCLONE_CONFIG_E_REGION": s3.emulator.region,
    }


class InProcess:
    """Runs a command line in this process, which saves its start. Its output is text."""

    def __init__(self, main: Callable[[list[str]], int]) -> None:
        self._main = main

    def __call__(self, *words: object, status: int = 0) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            found = self._main([str(word) for word in words])
        assert found == status, (words, out.getvalue())
        return out.getvalue()


@pytest.fixture
def ours(environment, monkeypatch) -> InProcess:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return InProcess(main)


@pytest.fixture
def aws(ours, monkeypatch) -> InProcess:
    monkeypatch.setenv("AWS_DATA_PATH", str(Path(awscli.__file__).parent / "data"))  # tests run without AWS_ variables
    return InProcess(lambda words: create_clidriver().main(["s3", *words]))


@pytest.fixture
def s5cmd(environment) -> Client:
    return Client([str(Path(os.environ["PENSTOCK_CLIENTS_PYTHON"]).parent / "s5cmd")], environment)


@pytest.fixture
def rclone(environment) -> Client:
    return Client(["rclone", "--config", os.devnull, "--retries", "1"], environment)


@pytest.fixture
def buckets(boto) -> list[str]:
    """A bucket for `penstock`, and one for the other client."""
    names = [f"commands-{next(_numbers)}-{who}" for who in ("ours", "theirs")]
    for name in names:
        boto.create_bucket(Bucket=name)
    return names


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "t"
    for name in NAMES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("" if name == "empty" else name)
        os.utime(root / name, (1e9, 1e9))
    (root / "big.bin").write_bytes(os.urandom(MIB) * 9)
    os.utime(root / "big.bin", (1e9, 1e9))
    (root / "empty folder").mkdir()
    (root / "link").symlink_to("a.txt")
    return root


def objects(boto, bucket: str) -> dict[str, bytes]:
    found = boto.list_objects_v2(Bucket=bucket).get("Contents", [])
    return {each["Key"]: boto.get_object(Bucket=bucket, Key=each["Key"])["Body"].read() for each in found}


def types(boto, bucket: str) -> dict[str, str]:
    return {key: boto.head_object(Bucket=bucket, Key=key)["ContentType"] for key in objects(boto, bucket)}


def files(root: Path) -> dict[str, tuple[bytes, float]]:
    """Contents and times of the files below a folder."""
    return {str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime) for path in root.rglob("*") if path.is_file()}


def contents(root: Path) -> dict[str, bytes]:
    return {name: data for name, (data, _) in files(root).items()}


plain = pytest.mark.parametrize("s3", ["http"], indirect=True)


@plain
def test_uploads_of_trees(boto, buckets, folder, ours, aws, s5cmd, rclone):
    mine, theirs = buckets
    ours("cp", "-r", folder, f"s3://{mine}/p")
    expected = objects(boto, mine)
    assert len(expected) == len(NAMES) + 1
    aws("cp", "--recursive", folder, f"s3://{theirs}/p")
    assert objects(boto, theirs) == expected and types(boto, theirs) == types(boto, mine)
    aws("rm", "--recursive", f"s3://{theirs}")
    s5cmd("cp", f"{folder}/", f"s3://{theirs}/p/")
    assert objects(boto, theirs) == expected
    aws("rm", "--recursive", f"s3://{theirs}")
    rclone("copy", "--copy-links", folder, f"e:{theirs}/p")
    assert objects(boto, theirs) == expected


@plain
def test_downloads_of_trees(boto, buckets, folder, tmp_path, ours, aws, s5cmd, rclone):
    mine, _ = buckets
    aws("cp", "--recursive", folder, f"s3://{mine}/p")
    boto.put_object(Bucket=mine, Key="p2", Body=b"not below the folder")
    boto.put_object(Bucket=mine, Key="p/marker/", Body=b"")
    ours("cp", "-r", f"s3://{mine}/p", tmp_path / "ours")
    aws("cp", "--recursive", f"s3://{mine}/p", tmp_path / "aws")
    assert files(tmp_path / "ours") == files(tmp_path / "aws"), "the times too"
    s5cmd("cp", f"s3://{mine}/p/*", f"{tmp_path}/s5cmd/")
    rclone("copy", f"e:{mine}/p", tmp_path / "rclone")
    assert contents(tmp_path / "ours") == contents(tmp_path / "s5cmd") == contents(tmp_path / "rclone")


@plain
def test_wildcards(boto, buckets, folder, tmp_path, ours, aws, s5cmd):
    mine, _ = buckets
    aws("cp", "--recursive", folder, f"s3://{mine}/p")
    for number, pattern in enumerate(("p/a*", "p/a/*.txt", "p/*/o*", "p/?.txt")):
        for name, client in (("ours", ours), ("s5cmd", s5cmd)):
            client("cp", f"s3://{mine}/{pattern}", f"{tmp_path}/{name}{number}/")
        assert contents(tmp_path / f"ours{number}") == contents(tmp_path / f"s5cmd{number}") != {}


@plain
@pytest.mark.parametrize("words", [
    [], ["--delete"], ["--delete", "--exclude", "a/*"], ["--exclude", "*", "--include", "*.txt"], ["--size-only"],
    ["--delete", "--exclude", "*", "--include", "*.gz", "--exclude", "a/*"], ["--exclude", "[ab]*"], ["--no-follow-symlinks"],
])  # fmt: skip
def test_syncs_beside_the_aws_cli(boto, buckets, folder, tmp_path, ours, aws, words):
    mine, theirs = buckets
    for client, bucket in ((ours, mine), (aws, theirs)):
        client("sync", folder, f"s3://{bucket}/p")
    assert objects(boto, mine) == objects(boto, theirs)
    (folder / "a.txt").write_text("A.TXT")  # the same size, but newer
    (folder / "a/one.gz").write_text("longer than before")
    os.utime(folder / "a/one.gz", (1, 1))
    (folder / "a/deep/er/x").unlink()
    (folder / "big.bin").unlink()
    (folder / "new.gz").write_text("new")
    lines = {}
    for client, bucket in ((ours, mine), (aws, theirs)):
        out = client("sync", "--dryrun", *words, folder, f"s3://{bucket}/p")
        lines[bucket] = sorted(
            line.replace(bucket, "B").split()[1] + line.rpartition("s3://")[2].partition("/")[2] for line in out.splitlines()
        )
        client("sync", *words, folder, f"s3://{bucket}/p")
    assert lines[mine] == lines[theirs]
    assert objects(boto, mine) == objects(boto, theirs)
    back = {}
    for client, name in ((ours, "ours"), (aws, "aws")):
        back[name] = tmp_path / name
        client("sync", f"s3://{mine}/p", back[name])
        (back[name] / "a.txt").write_text("a.TXT")  # newer than the object
        os.utime(back[name] / "a-b", (1, 1))
        (back[name] / "own").write_text("own")
        (back[name] / "empty").unlink()
        client("sync", *words, f"s3://{mine}/p", back[name])
    assert contents(back["ours"]) == contents(back["aws"])


@plain
def test_exact_timestamps_beside_the_aws_cli(boto, buckets, folder, tmp_path, ours, aws):
    mine, _ = buckets
    ours("sync", folder, f"s3://{mine}")
    for client, name in ((ours, "ours"), (aws, "aws")):
        client("sync", f"s3://{mine}", tmp_path / name)
        (tmp_path / name / "a.txt").write_text("A.TXT")
        os.utime(tmp_path / name / "a.txt", (1, 1))
        client("sync", f"s3://{mine}", tmp_path / name)
        assert (tmp_path / name / "a.txt").read_text() == "A.TXT"
        client("sync", "--exact-timestamps", f"s3://{mine}", tmp_path / name)
        assert (tmp_path / name / "a.txt").read_text() == "a.txt"


@plain
def test_syncs_with_delete_beside_s5cmd_and_rclone(boto, buckets, folder, ours, s5cmd, rclone):
    mine, theirs = buckets
    ours("sync", "--delete", folder, f"s3://{mine}")
    for key in ("old", "a/old"):
        for bucket in buckets:
            boto.put_object(Bucket=bucket, Key=key, Body=b"old")
    ours("sync", "--delete", folder, f"s3://{mine}")
    s5cmd("sync", "--delete", f"{folder}/", f"s3://{theirs}/")
    assert objects(boto, mine) == objects(boto, theirs)
    boto.put_object(Bucket=theirs, Key="old", Body=b"old")
    rclone("sync", "--copy-links", folder, f"e:{theirs}")
    assert objects(boto, mine) == objects(boto, theirs)


@plain
def test_copies_and_moves_inside_s3(boto, buckets, folder, ours, aws):
    mine, theirs = buckets
    for client, bucket in ((ours, mine), (aws, theirs)):
        client("cp", "--recursive", folder, f"s3://{bucket}/p")
        client("cp", f"s3://{bucket}/p/a.txt", f"s3://{bucket}/copy", "--metadata", "a=b")
        client("mv", "--recursive", f"s3://{bucket}/p/a", f"s3://{bucket}/q", "--exclude", "*.gz")
        client("mv", f"s3://{bucket}/p/a-b", f"s3://{bucket}/q/")
        client("sync", f"s3://{bucket}/p", f"s3://{bucket}/r", "--exclude", "big*")
    assert objects(boto, mine) == objects(boto, theirs)
    assert boto.head_object(Bucket=mine, Key="copy")["Metadata"] == {"a": "b"}


@plain
@pytest.mark.parametrize("words", [[], ["--exclude", "*.txt"], ["--exclude", "*", "--include", "a/*"]])
def test_deletions(boto, buckets, folder, ours, aws, s5cmd, words):
    mine, theirs = buckets
    for bucket in buckets:
        aws("cp", "--recursive", folder, f"s3://{bucket}/p")
        boto.put_object(Bucket=bucket, Key="p2", Body=b"")
    ours("rm", "--recursive", f"s3://{mine}/p", *words)
    aws("rm", "--recursive", f"s3://{theirs}/p", *words)
    assert objects(boto, mine) == objects(boto, theirs) != {}
    if "--include" in words:
        return  # s5cmd has another order of these
    aws("cp", "--recursive", folder, f"s3://{theirs}/p")
    s5cmd("rm", *words, f"s3://{theirs}/p/*")
    assert objects(boto, mine) == objects(boto, theirs)


@plain
def test_listings_are_those_of_the_aws_cli(boto, buckets, folder, ours, aws, s5cmd):
    mine, _ = buckets
    aws("cp", "--recursive", folder, f"s3://{mine}/p")
    for words in ([], ["p"], ["p/"], ["p/a"], ["p/a/", "--recursive"], ["", "--recursive", "--summarize"]):
        place = f"s3://{mine}/{words[0] if words else ''}"
        assert ours("ls", place, *words[1:]) == aws("ls", place, *words[1:]), words
    ours("ls", f"s3://{mine}/nothing", status=1)
    aws("ls", f"s3://{mine}/nothing", status=1)
    listed = [line.split(maxsplit=3)[3] for line in ours("ls", f"s3://{mine}/p/*.txt").splitlines()]
    assert [f"p/{line.split(maxsplit=3)[3]}" for line in s5cmd("ls", f"s3://{mine}/p/*.txt").splitlines()] == listed
    assert s5cmd("du", f"s3://{mine}/p/*") == ours("du", f"s3://{mine}/p/*")
    assert ours("ls").splitlines() == aws("ls").splitlines()


# ---- a foreign server


@pytest.fixture
def moto(moto_endpoint):
    config = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1})
    return boto3.client(
        "s3", endpoint_url=moto_endpoint, config=config, aws_access_key_id="testing", aws_secret_access_key="testing",
        region_name="us-east-1",
    )  # fmt: skip


def test_moto_as_server(moto, moto_endpoint, folder, tmp_path):
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}
    ours = Client([sys.executable, "-m", "penstock"], keys)

    def run(command: str, *words: object, status: int = 0) -> str:
        return ours(command, *words, "--endpoint-url", moto_endpoint, "--force-path-style", status=status)

    bucket = f"commands-moto-{next(_numbers)}"
    place = f"s3://{bucket}"
    run("mb", place)
    run("cp", "-r", folder, f"{place}/p")
    expected = {f"p/{name}": data for name, data in contents(folder).items()}
    assert objects(moto, bucket) == expected
    assert run("sync", "--delete", folder, f"{place}/p") == ""
    run("sync", f"{place}/p", tmp_path / "back")
    assert contents(tmp_path / "back") == contents(folder)
    (folder / "a-b").unlink()
    run("sync", "--delete", folder, f"{place}/p")
    del expected["p/a-b"]
    assert objects(moto, bucket) == expected
    run("cp", f"{place}/p/a.txt", f"{place}/c", "--metadata", "a=b")
    run("mv", f"{place}/c", f"{place}/m")
    assert moto.head_object(Bucket=bucket, Key="m")["Metadata"] == {"a": "b"}
    run("mv", f"{place}/m", tmp_path / "m")
    assert run("cat", f"{place}/p/a.txt") == "a.txt"
    assert run("ls", "-r", place).count("\n") == len(expected)
    run("rm", f"{place}/none", status=1)
    run("rm", "-r", f"{place}/p", "--exclude", "*.txt")
    assert sorted(objects(moto, bucket)) == ["p/a.txt", "p/a/two words+ä.txt"]
    run("rb", place, status=1)
    run("rb", "--force", place)
    assert bucket not in run("ls")


def test_interrupted_transfers_continue_with_moto_as_server(moto, moto_endpoint, tmp_path):
    bucket, data = f"commands-moto-{next(_numbers)}", os.urandom(21 * MIB)
    moto.create_bucket(Bucket=bucket)
    (tmp_path / "big").write_bytes(data)
    preamble = (
        "from penstock._commands import _resumable as r; r.LIMIT = 20 << 20; r.UPLOAD_PART = 5 << 20; r.DOWNLOAD_PART = 1 << 20"
    )
    program = f"{preamble}; import sys; from penstock.__main__ import main; sys.exit(main())"
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1"}
    environment = {**os.environ, **keys, "XDG_STATE_HOME": str(tmp_path / "states")}

    def begun() -> bool:
        return any(path.read_bytes().count(b"\n") > 1 for path in (tmp_path / "states/penstock/transfers").glob("*"))

    def kill_and_repeat(source: object, target: object) -> int:
        """Kills a slow transfer that has made progress, and repeats it. Returns the bytes that were not transferred again."""
        words = ["cp", "--resume", "--json", str(source), str(target), "--endpoint-url", moto_endpoint, "--force-path-style"]
        command = [sys.executable, "-c", program, *words]
        with subprocess.Popen([*command, "--max-bandwidth", "4MiB"], env=environment) as process:
            while not begun():
                assert process.poll() is None
                os.sched_yield()
            process.kill()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
        return json.loads(done.stdout)["resumed"]

    assert 0 < kill_and_repeat(tmp_path / "big", f"s3://{bucket}/k") < len(data)
    assert objects(moto, bucket) == {"k": data} and "Uploads" not in moto.list_multipart_uploads(Bucket=bucket)
    assert 0 < kill_and_repeat(f"s3://{bucket}/k", tmp_path / "back") < len(data)
    assert (tmp_path / "back").read_bytes() == data and not begun()
