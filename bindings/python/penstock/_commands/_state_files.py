"""State files: what a resumable transfer has done, so that the next run of the same command continues it.

A file has one line per step. Its first line describes the transfer. Each line begins with its CRC-32, since a process that is
killed or a machine that loses its power may leave a part of a line. Everything after a damaged line is ignored.
"""

from __future__ import annotations

import binascii
import contextlib
import errno
import fcntl
import os
import stat
import threading
from collections.abc import Iterator
from typing import Any

_DIGITS = 8  # of a CRC-32


class Busy(OSError):
    """Another process makes the same transfer."""


def folder() -> str:
    """Returns the folder of the state files. The XDG specification ignores relative paths in the variable."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # noqa: PTH117
        base = os.path.expanduser("~/.local/state")  # noqa: PTH111
    return os.path.join(base, "penstock", "transfers")  # noqa: PTH118


def open_locked(path: str, mode: int) -> int:
    """Opens or creates a regular file of this user, and locks it for this process.

    Args:
        mode: Permissions of a new file.

    Returns:
        The descriptor. Closing it, also by the end of the process, unlocks the file.

    Raises:
        Busy: Another process has locked it.
    """
    while True:
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            os.unlink(path)  # noqa: PTH108
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            opened = os.fstat(fd)
            with contextlib.suppress(FileNotFoundError):  # renamed or removed before it was locked
                if os.path.samestat(opened, os.lstat(path)):
                    # Another user may have created the file, to read or change what is written to it.
                    if stat.S_ISREG(opened.st_mode) and opened.st_uid == os.geteuid() and opened.st_nlink == 1:
                        return fd
                    os.unlink(path)  # noqa: PTH108
        except BlockingIOError:
            os.close(fd)
            raise Busy(f"another process makes the same transfer and has locked {path!r}; wait until it has ended") from None
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _parse(data: bytes) -> tuple[list[dict[str, Any]], int]:
    """Returns the undamaged lines of a state file, and their length."""
    import json

    documents, length = [], 0
    for line in data.split(b"\n")[:-1]:
        if line[: _DIGITS + 1] != f"{binascii.crc32(line[_DIGITS + 1 :]):0{_DIGITS}x} ".encode():
            break
        documents.append(json.loads(line[_DIGITS + 1 :]))
        length += len(line) + 1
    return documents, length


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Adds a file's path to the errors of system calls on its descriptor."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


class State:
    """The state of one transfer. This process has locked its file. Safe from any thread.

    Attributes:
        identity: The transfer's identity, 32 hexadecimal digits.
        header: Describes the transfer; empty: nothing has been done yet.
        steps: What has been done since, in order.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.identity = os.path.basename(path)  # noqa: PTH119
        self._lock = threading.Lock()
        self._fd = open_locked(path, 0o600)
        with open(self._fd, "rb", closefd=False) as file:
            documents, length = _parse(file.read())
        os.ftruncate(self._fd, length)  # the next line must not continue a damaged one
        self.header: dict[str, Any] = documents[0] if documents else {}
        self.steps = documents[1:]

    @classmethod
    @contextlib.contextmanager
    def of(cls, *facts: str | None) -> Iterator[State]:
        """Opens the state of the transfer that `facts` identify, or creates it.

        Raises:
            Busy: Another process makes the same transfer.
            OSError: The folder of the states cannot be written.
        """
        import hashlib

        text = "\0".join(fact or "" for fact in facts)
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        os.makedirs(folder(), 0o700, exist_ok=True)  # noqa: PTH103
        state = cls(os.path.join(folder(), digest))  # noqa: PTH118
        try:
            yield state
        finally:
            if not state.header:
                state.remove()
            state.close()

    def matches(self, wanted: dict[str, Any]) -> bool:
        """Whether the header has these members."""
        return all(name in self.header and self.header[name] == value for name, value in wanted.items())

    def begin(self, header: dict[str, Any]) -> None:
        """Starts from nothing, and waits until the header is on the disk."""
        os.ftruncate(self._fd, 0)
        self.header, self.steps = {}, []
        self._write(header)
        with naming(self.path):
            os.fsync(self._fd)
        sync_folder(folder())
        self.header = header

    def add(self, **step: Any) -> None:
        """Appends a step. Not flushed: what a power failure loses is transferred again."""
        self._write(step)

    def _write(self, document: dict[str, Any]) -> None:
        import json

        line = json.dumps(document).encode()
        line = f"{binascii.crc32(line):0{_DIGITS}x} ".encode() + line + b"\n"
        with self._lock, naming(self.path):
            end = os.lseek(self._fd, 0, os.SEEK_END)
            if os.pwrite(self._fd, line, end) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def remove(self) -> None:
        """Removes the file: the transfer has ended."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)  # noqa: PTH108

    def close(self) -> None:
        os.close(self._fd)


def sync_folder(path: str) -> None:
    """Waits until the names in a folder are on the disk, if this user may read it and the file system can.

    Raises:
        OSError: The disk failed, or there is no such folder.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        return
    try:
        with naming(path):
            os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(fd)


def paths() -> list[str]:
    """Returns the paths of all state files, the oldest first."""
    try:
        found = [entry for entry in os.scandir(folder()) if entry.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    return [entry.path for entry in sorted(found, key=lambda entry: entry.stat().st_mtime)]


def peek(path: str) -> tuple[dict[str, Any], float]:
    """Returns the header of a state file, also if another process has locked it, and the time of its last change.

    The header is empty if there is none.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            documents, _ = _parse(file.read())
            changed = os.fstat(file.fileno()).st_mtime
    except FileNotFoundError:
        return {}, 0.0
    return (documents[0] if documents else {}), changed
