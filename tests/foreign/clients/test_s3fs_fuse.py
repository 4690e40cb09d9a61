"""s3fs-fuse mounts a bucket of the emulator; PyTorch saves and loads through the mount.

Skipped only where the machine cannot mount with FUSE: no /dev/fuse, or not allowed to open it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

TIMEOUT_S = 30


def why_no_mount() -> str:
    """Why this machine cannot mount; empty if it can."""
    device = Path("/dev/fuse")
    if not device.exists():
        return "no /dev/fuse on this machine"
    try:
        os.close(os.open(device, os.O_RDWR))
    except OSError as error:
        return f"/dev/fuse cannot be opened: {error.strerror}"
    return ""


pytestmark = pytest.mark.skipif(bool(why_no_mount()), reason=why_no_mount() or "mounts work")


@pytest.fixture
def mount(s3, bucket, tmp_path) -> Iterator[Path]:
    """A folder on which the bucket is mounted."""
    folder, password = tmp_path / "mount", tmp_path / "password"
    folder.mkdir()
    password.write_text(f"{s3.emulator.access_key_id}:{s3.emulator.secret_access_key}")
    password.chmod(0o600)
    options = [f"passwd_file={password}", f"url={s3.endpoint}", "use_path_request_style", "multipart_size=5", "retries=1"]
    if s3.ca:
        options += ["no_check_certificate", "ssl_verify_hostname=0"]  # GnuTLS accepts no self-signed leaf as an authority
    command = ["s3fs", bucket, str(folder), *(word for option in options for word in ("-o", option))]
    # s3fs returns once the folder is mounted. The first access waits until s3fs has connected to the endpoint.
    mounted = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert mounted.returncode == 0, mounted.stderr + mounted.stdout
    try:
        assert list(folder.iterdir()) == []
        yield folder
    finally:
        subprocess.run(["fusermount", "-u", str(folder)], check=True, timeout=TIMEOUT_S)


def test_torch_saves_and_loads_through_the_mount(mount, boto, bucket):
    checkpoint = {"weights": torch.randn(3_000_000), "step": 7}  # 12 MB: multipart
    (mount / "run 1").mkdir()
    torch.save(checkpoint, mount / "run 1/checkpoint.pt")
    loaded = torch.load(mount / "run 1/checkpoint.pt")
    assert loaded["step"] == 7
    assert torch.equal(loaded["weights"], checkpoint["weights"])
    assert boto.head_object(Bucket=bucket, Key="run 1/checkpoint.pt")["ETag"].endswith('-2"')


def test_folders_and_files_can_be_renamed_and_removed(mount, boto, bucket):
    (mount / "a").mkdir()
    (mount / "a/file.txt").write_text("one")
    with (mount / "a/file.txt").open("a") as file:
        file.write(" two")
    (mount / "a/file.txt").chmod(0o600)  # a copy onto itself
    (mount / "a/file.txt").rename(mount / "a/moved +ä.txt")
    (mount / "a").rename(mount / "b")
    assert sorted(path.name for path in (mount / "b").iterdir()) == ["moved +ä.txt"]
    assert (mount / "b/moved +ä.txt").read_text() == "one two"
    assert (mount / "b/moved +ä.txt").stat().st_mode & 0o777 == 0o600
    assert boto.get_object(Bucket=bucket, Key="b/moved +ä.txt")["Body"].read() == b"one two"
    (mount / "b/moved +ä.txt").unlink()
    (mount / "b").rmdir()
    assert list(mount.iterdir()) == []
    assert "Contents" not in boto.list_objects_v2(Bucket=bucket)


def test_an_edit_in_the_middle_of_a_large_file_is_stored(mount, boto, bucket):
    """s3fs copies the unchanged parts with UploadPartCopy and sends only the changed ones."""
    data = bytearray(os.urandom(26 * 1024**2))
    (mount / "big").write_bytes(data)
    data[13_000_000:13_000_010] = b"0123456789"
    with (mount / "big").open("r+b") as file:
        file.seek(13_000_000)
        file.write(b"0123456789")
    assert boto.get_object(Bucket=bucket, Key="big")["Body"].read() == bytes(data)
