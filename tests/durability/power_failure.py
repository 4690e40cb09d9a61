"""Creates data directories as a power failure leaves them, from a recording of storage_recorder.cc.

Everything that was fsynced before the failure is kept. Of the later changes, a random generator selects which are kept:

- of the changes to directory entries (create, rename, unlink) a prefix, as in a file system's journal
- of the pages written to each file any subset
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import zlib
from dataclasses import dataclass, field
from pathlib import Path

RECORD = struct.Struct("<IIIIQQQ")
CREATE, WRITE, TRUNCATE, ALLOCATE, SYNC, RENAME, UNLINK, MAKE_DIRECTORY, REMOVE_DIRECTORY = range(1, 10)
PAGE = 4096
SLOTS = (0, 2048)  # of a commit mark (emulator/store/sqlite/commit_mark.cc)
SLOT_SIZE = 96
BOOT_ID = slice(52, 88)


def build_recorder(folder: Path) -> Path:
    """Compiles the library to preload. Returns its path."""
    library = folder / "storage_recorder.so"
    source = Path(__file__).with_name("storage_recorder.cc")
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return library


def recording_of(folder: Path) -> tuple[Path, Path, dict[str, str]]:
    """Returns paths in `folder` for a data directory and a log, and the environment in which an emulator records to the log."""
    data, log = folder / "data", folder / "record"
    return data, log, {"LD_PRELOAD": str(build_recorder(folder)), "RECORDED_DIRECTORY": str(data), "RECORDED_LOG": str(log)}


@dataclass(frozen=True)
class Change:
    kind: int
    inode: int
    offset: int
    path: str
    other: str
    data: bytes
    end: int  # offset of the end of its record in the log


def read_log(log: Path) -> list[Change]:
    content = log.read_bytes()
    changes = []
    at = 0
    while at + RECORD.size <= len(content):
        kind, path_size, other_size, _, inode, offset, size = RECORD.unpack_from(content, at)
        at += RECORD.size
        path = content[at : at + path_size].decode()
        other = content[at + path_size : at + path_size + other_size].decode()
        at += path_size + other_size
        data = content[at : at + size] if kind == WRITE else b""
        at += len(data)
        changes.append(Change(kind, inode, offset, path, other, data, at))
    return changes


@dataclass
class File:
    durable: bytearray = field(default_factory=bytearray)
    pending: list[Change] = field(default_factory=list)

    def sync(self) -> None:
        for change in self.pending:
            apply(self.durable, change)
        self.pending.clear()

    def after_failure(self, rng: random.Random, kept: float) -> bytes:
        """Returns the content after a failure. `kept`: the probability that an unsynced page is on the disk."""
        content = bytearray(self.durable)
        for change in self.pending:
            if change.kind == WRITE:
                for begin in range(0, len(change.data), PAGE):
                    if rng.random() < kept:
                        write(content, change.offset + begin, change.data[begin : begin + PAGE])
            elif rng.random() < kept:
                apply(content, change)
        return bytes(content)


def write(content: bytearray, offset: int, data: bytes) -> None:
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


def apply(content: bytearray, change: Change) -> None:
    if change.kind == WRITE:
        write(content, change.offset, change.data)
    elif change.kind == TRUNCATE:
        del content[change.offset :]
        content.extend(bytes(max(change.offset - len(content), 0)))
    elif change.kind == ALLOCATE:
        content.extend(bytes(max(change.offset - len(content), 0)))


@dataclass
class Disk:
    files: list[File] = field(default_factory=list)
    of_inode: dict[int, File] = field(default_factory=dict)
    # Changes to directory entries. The number is the index in `files` for CREATE, otherwise -1.
    names: list[tuple[Change, int]] = field(default_factory=list)
    durable_names: int = 0

    def record(self, change: Change) -> None:
        if change.kind == CREATE:
            self.files.append(File())
            self.of_inode[change.inode] = self.files[-1]
            self.names.append((change, len(self.files) - 1))
        elif change.kind in (RENAME, UNLINK, MAKE_DIRECTORY, REMOVE_DIRECTORY):
            self.names.append((change, -1))
        elif change.kind == SYNC:
            self.durable_names = len(self.names)
            if change.inode in self.of_inode:
                self.of_inode[change.inode].sync()
        elif change.inode in self.of_inode:
            self.of_inode[change.inode].pending.append(change)

    def write_image(self, recorded: Path, image: Path, rng: random.Random, *, restarts: bool = True) -> None:
        """Writes the state after a failure to `image`. `restarts`: whether the machine restarts before the image is used."""
        kept_names = rng.randint(self.durable_names, len(self.names))
        present: dict[str, int] = {}
        image.mkdir(parents=True)
        for change, number in self.names[:kept_names]:
            if change.kind == CREATE:
                present[change.path] = number
            elif change.kind == RENAME:
                present[change.other] = present.pop(change.path)
            elif change.kind == UNLINK:
                present.pop(change.path, None)
            elif change.kind == MAKE_DIRECTORY:
                (image / Path(change.path).relative_to(recorded)).mkdir(parents=True, exist_ok=True)
        kept = rng.choice([0.0, 0.3, 0.7, 0.95, 1.0])
        for path, number in present.items():
            if path.endswith("-shm"):
                continue
            target = image / Path(path).relative_to(recorded)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(self.files[number].after_failure(rng, kept))
            if restarts and path.endswith("-mark"):
                set_boot_id(target)


def set_boot_id(mark: Path) -> None:
    """Changes the boot id of a commit mark, as if the machine had restarted since."""
    content = bytearray(mark.read_bytes())
    for slot in SLOTS:
        body = content[slot : slot + SLOT_SIZE]
        if len(body) < SLOT_SIZE or zlib.crc32(body[:-4]) != int.from_bytes(body[-4:], "little"):
            continue
        body[BOOT_ID] = b"an earlier boot".ljust(36, b"\0")
        body[-4:] = zlib.crc32(body[:-4]).to_bytes(4, "little")
        content[slot : slot + SLOT_SIZE] = body
    mark.write_bytes(content)


def disk_at(changes: list[Change], end: int) -> Disk:
    """Returns the disk at the time when the log had `end` bytes."""
    disk = Disk()
    for change in changes:
        if change.end > end:
            break
        disk.record(change)
    return disk


def fail_at(changes: list[Change], end: int, recorded: Path, image: Path, rng: random.Random) -> None:
    """Writes `recorded` to `image` as a power failure leaves it when the log has `end` bytes."""
    shutil.rmtree(image, ignore_errors=True)
    disk_at(changes, end).write_image(recorded, image, rng)


def kill_at(changes: list[Change], end: int, recorded: Path, image: Path) -> None:
    """Writes `recorded` to `image` as a kill of the process leaves it when the log has `end` bytes: with all changes."""
    shutil.rmtree(image, ignore_errors=True)
    disk = disk_at(changes, end)
    for file in disk.files:
        file.sync()
    disk.durable_names = len(disk.names)
    disk.write_image(recorded, image, random.Random(0), restarts=False)
