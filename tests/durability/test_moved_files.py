"""`penstock mv` from S3 and a power cut: an object is deleted only when its file is on the disk.

The target is on ext4 over a loop device, which is shut down right after the command, without a flush of its journal.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import penstock
import pytest
from ext4_disk import Disk, why_none

WHY_NONE = why_none()
pytestmark = pytest.mark.skipif(bool(WHY_NONE), reason=WHY_NONE)

SIZES = [0, 1, 4096, 100_000, 9 << 20]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(tmp_path, 256 << 20)
    try:
        yield disk
    finally:
        disk.unmount()


def test_moved_files_survive_a_power_cut(
    disk: Disk, start_emulator: Callable[..., AbstractContextManager[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = {f"{number % 3}/{number:02}": os.urandom(SIZES[number % len(SIZES)]) for number in range(30)}
    with start_emulator() as service:
        for name, value in {
            "AWS_ACCESS_KEY_ID": service.access_key, "AWS_SECRET_ACCESS_KEY": service.secret_key,
            "AWS_REGION": service.region, "AWS_ENDPOINT_URL": service.endpoint,
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        client = penstock.S3Client(service.region, endpoint=service.endpoint)
        client.create_bucket("moved")
        for name, data in contents.items():
            client.put("moved", f"d/{name}", data)
        (disk.mounted / "earlier").mkdir()
        disk.sync()
        target = disk.mounted / "earlier/new/target"
        subprocess.run([sys.executable, "-m", "penstock", "mv", "-r", "s3://moved/d", str(target)], check=True)
        disk.cut()
        disk.unmount()
        disk.mount()
        assert not [info for page in client.list_objects("moved") for info in page.object_info]
    found = {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    assert found == contents
