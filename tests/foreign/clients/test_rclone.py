"""Debian's rclone on the emulator: sync in both directions, check, and moves on the server."""

from __future__ import annotations

import os
import subprocess

import pytest


@pytest.fixture
def rclone(s3, tmp_path):
    """Runs rclone. Its remote `e:` is the emulator."""
    environment = {
        **os.environ,
        "RCLONE_CONFIG_E_TYPE": "s3",
        "RCLONE_CONFIG_E_PROVIDER": "Other",
        "RCLONE_CONFIG_E_ENDPOINT": s3.endpoint,
        "RCLONE_CONFIG_E_ACCESS_KEY_ID": s3.emulator.access_key_id,
        "RCLONE_CONFIG_E_SECRET_ACCESS_KEY": s3.emulator.secret_access_key,
        "RCLONE_CONFIG_E_REGION": s3.emulator.region,
        "RCLONE_CONFIG_E_UPLOAD_CUTOFF": "8M",
        "RCLONE_CONFIG_E_CHUNK_SIZE": "5M",
        **({"RCLONE_CA_CERT": s3.ca} if s3.ca else {}),
    }
    (tmp_path / "rclone.conf").touch()

    def run(*words: str, status: int = 0) -> str:
        command = ["rclone", "--config", str(tmp_path / "rclone.conf"), "--retries", "1", *words]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == status, done.stderr + done.stdout
        return done.stdout + done.stderr

    return run


def test_sync_and_check(rclone, tmp_path, s3):
    remote = f"e:rclone-{'tls' if s3.ca else 'plain'}"
    (tmp_path / "tree/sub").mkdir(parents=True)
    (tmp_path / "tree/one.txt").write_text("one")
    (tmp_path / "tree/sub/two words+ä.txt").write_text("two")
    (tmp_path / "tree/big.bin").write_bytes(os.urandom(12 * 1024**2))  # multipart
    rclone("mkdir", remote)
    rclone("sync", "tree", f"{remote}/tree")
    assert "0 differences found" in rclone("check", "tree", f"{remote}/tree")
    assert "There was nothing to transfer" in rclone("-v", "sync", "tree", f"{remote}/tree")
    rclone("sync", f"{remote}/tree", "back")
    assert (tmp_path / "back/big.bin").read_bytes() == (tmp_path / "tree/big.bin").read_bytes()
    assert (tmp_path / "back/sub/two words+ä.txt").read_text() == "two"
    (tmp_path / "tree/one.txt").write_text("changed")
    assert "1 differences found" in rclone("check", "tree", f"{remote}/tree", status=1)
    (tmp_path / "tree/one.txt").unlink()
    rclone("sync", "tree", f"{remote}/tree")
    rclone("moveto", f"{remote}/tree/big.bin", f"{remote}/moved.bin")
    assert sorted(rclone("lsf", "-R", "--files-only", remote).split("\n")) == ["", "moved.bin", "tree/sub/two words+ä.txt"]
    rclone("purge", remote)
    assert "rclone-" not in rclone("lsf", "e:")
