"""The AWS CLI on the emulator."""

from __future__ import annotations

import filecmp
import os
import ssl
import subprocess
import sys
import urllib.request

import pytest


@pytest.fixture
def aws(s3, tmp_path):
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": s3.emulator.access_key_id,
        "AWS_SECRET_ACCESS_KEY": s3.emulator.secret_access_key,
        "AWS_DEFAULT_REGION": s3.emulator.region,
        "AWS_ENDPOINT_URL": s3.endpoint,
        **({"AWS_CA_BUNDLE": s3.ca} if s3.ca else {}),
    }

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "awscli", *words]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    return run


def send_and_fetch(aws, tmp_path, bucket: str) -> None:
    """64 MiB are uploaded and downloaded in parts."""
    (tmp_path / "big").write_bytes(os.urandom(1024**2) * 64)
    aws("s3", "mb", bucket)
    aws("s3", "cp", "big", f"{bucket}/big")
    aws("s3", "cp", f"{bucket}/big", "back")
    assert filecmp.cmp(tmp_path / "back", tmp_path / "big", shallow=False)


def fetch(url: str, ca: str | None) -> bytes:
    context = ssl.create_default_context(cafile=ca) if ca else None
    return urllib.request.urlopen(url, context=context, timeout=10).read()


@pytest.mark.parametrize("s3", ["https"], indirect=True)
def test_multipart_and_presigned_urls_over_https(aws, tmp_path, s3):
    """Over https the CLI sends its checksums in trailers; over http in headers."""
    bucket = "s3://cli-tls"
    send_and_fetch(aws, tmp_path, bucket)
    url = aws("s3", "presign", f"{bucket}/big").strip()
    assert fetch(url, s3.ca) == (tmp_path / "big").read_bytes()
    aws("s3", "rb", bucket, "--force")


@pytest.mark.parametrize("s3", ["http"], indirect=True)
def test_the_cli_syncs_moves_and_presigns(aws, tmp_path, s3):
    bucket = "s3://cli-plain"
    (tmp_path / "tree/sub").mkdir(parents=True)
    (tmp_path / "tree/one.txt").write_text("one")
    (tmp_path / "tree/sub/two words.txt").write_text("two")
    send_and_fetch(aws, tmp_path, bucket)
    aws("s3", "sync", "tree", f"{bucket}/tree")
    assert aws("s3", "sync", "tree", f"{bucket}/tree") == ""  # nothing has changed
    assert "PRE tree/" in aws("s3", "ls", bucket)
    aws("s3", "sync", f"{bucket}/tree", "down")
    assert (tmp_path / "down/sub/two words.txt").read_text() == "two"
    aws("s3", "mv", f"{bucket}/tree/one.txt", f"{bucket}/moved.txt")
    url = aws("s3", "presign", f"{bucket}/moved.txt").strip()  # signature version 2, the CLI's default
    assert fetch(url, s3.ca) == b"one"
    aws("s3", "mv", f"{bucket}/big", f"{bucket}/moved-big")  # UploadPartCopy
    (tmp_path / "tree/one.txt").unlink()
    aws("s3", "sync", "--delete", "tree", f"{bucket}/tree")
    aws("s3", "rm", f"{bucket}/moved.txt")
    listed = aws("s3", "ls", "--recursive", bucket)
    assert [line.split(maxsplit=3)[3] for line in listed.splitlines()] == ["moved-big", "tree/sub/two words.txt"]
    aws("s3", "rm", f"{bucket}/tree", "--recursive")
    aws("s3", "rb", bucket, "--force")
    assert "cli-" not in aws("s3", "ls")
