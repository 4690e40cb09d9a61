"""A disk whose power can be cut: ext4 over a loop device. Needs root."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import tempfile
from pathlib import Path

SHUTDOWN = 2 << 30 | 4 << 16 | ord("X") << 8 | 125  # EXT4_IOC_SHUTDOWN of the kernel's fs/ext4/ext4.h
WITHOUT_JOURNAL_FLUSH = 2  # EXT4_GOING_FLAGS_NOLOGFLUSH


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


class Disk:
    """An image in the caller's `folder`, mounted at `mounted`. `options`: of mkfs.ext4."""

    def __init__(self, folder: Path, size: int, *options: str) -> None:
        self.image, self.mounted = folder / "image", folder / "disk"
        with self.image.open("wb") as image:
            image.truncate(size)
        run("mkfs.ext4", "-q", "-F", *options, str(self.image))
        self.mounted.mkdir()
        self.mount()

    def mount(self) -> None:
        run("mount", "-o", "loop", str(self.image), str(self.mounted))

    def unmount(self) -> None:
        run("umount", str(self.mounted))

    def sync(self) -> None:
        run("sync", "-f", str(self.mounted))

    def cut(self) -> None:
        """Discards unsynced data. Every later change of the file system fails until it is mounted again."""
        root = os.open(self.mounted, os.O_RDONLY)
        try:
            fcntl.ioctl(root, SHUTDOWN, struct.pack("I", WITHOUT_JOURNAL_FLUSH))
        finally:
            os.close(root)


def why_none() -> str:
    """Why this process cannot mount an ext4 image and shut it down; empty if it can."""
    if os.geteuid() != 0:
        return "a mount of ext4 over a loop device needs root"
    with tempfile.TemporaryDirectory() as folder:
        try:
            disk = Disk(Path(folder), 8 << 20)
        except (OSError, subprocess.CalledProcessError) as error:
            return f"ext4 over a loop device cannot be mounted: {error}"
        try:
            disk.cut()
        except OSError as error:
            return f"EXT4_IOC_SHUTDOWN fails: {error}"
        finally:
            disk.unmount()
    return ""
