"""A download to a partial file that the next run of the same command continues."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from typing import TYPE_CHECKING

from .. import _core
from .._exceptions import S3ConflictError, S3DataLossError
from .._objects import crc_text
from ..requests._parts import PARALLEL, in_parallel
from ._resumable_common import MIB, Done, Progress, Service, crc_of, discard, read_at
from ._state_files import State, naming, open_locked, sync_folder
from ._urls import S3Url, partial_name

if TYPE_CHECKING:
    from .._client import S3Client
    from ..requests import ObjectMetadata

DOWNLOAD_PART = 8 * MIB


class Download:
    """A download to a partial file, and its state: the ranges that the file has, with their CRC64NVME."""

    def __init__(
        self,
        client: S3Client,
        state: State,
        source: S3Url,
        head: ObjectMetadata,
        folder: str,
        name: str,
        version_id: str | None,
        sse_customer_key: bytes | None,
    ) -> None:
        self._client, self._state, self._source, self._head = client, state, source, head
        self._folder, self._version_id, self._key = folder, version_id, sse_customer_key
        self._target = os.path.join(folder, name)  # noqa: PTH118
        self._partial = os.path.join(folder, partial_name(name, state.identity))  # noqa: PTH118
        self._ranges: dict[int, tuple[int, int]] = {}  # begin: end and CRC
        self._fd = -1

    def run(self, progress: Progress, *, replace: bool) -> Done:
        head, mode = self._head, self._mode_of_target()
        wanted = {
            "operation": "download", "source": str(self._source), "version_id": self._version_id, "target": self._target,
            "etag": head.etag, "size": head.size, "partial": self._partial,
        } | Service.of(self._client)._asdict()  # fmt: skip
        self._fd = open_locked(self._partial, 0o666)
        try:
            if mode is not None:
                with contextlib.suppress(PermissionError):  # some file systems have no permissions
                    os.fchmod(self._fd, mode)
            if self._state.matches(wanted):
                self._verify(progress)
            else:
                os.ftruncate(self._fd, 0)
                self._state.begin(wanted | {"started": int(time.time())})
            with naming(self._partial):
                os.ftruncate(self._fd, head.size)
            resumed = sum(end - begin for begin, (end, _) in self._ranges.items())
            try:
                self._fetch(resumed, progress)
                self._check_whole()
            except S3DataLossError:
                discard(self._client, self._state)
                raise
            self._publish(replace=replace)
        finally:
            os.close(self._fd)
        return Done(head.etag, head.size, resumed, head.version_id)

    def _mode_of_target(self) -> int | None:
        """Returns the permissions of a file that is replaced; None: there is none.

        Raises:
            OSError: The target is a device, a FIFO or a socket.
        """
        try:
            found = os.stat(self._target).st_mode  # noqa: PTH116
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found):
            raise OSError(f"{self._target!r} is not a regular file, and a download would replace it; choose another path")
        return found & 0o777

    def _verify(self, progress: Progress) -> None:
        """Reads the ranges of earlier runs. Those whose bytes are not on the disk are fetched again."""
        for step in self._state.steps:
            begin, end, crc = step["begin"], step["end"], step["crc"]
            if crc is None:
                self._ranges.pop(begin, None)
            else:
                self._ranges[begin] = (end, crc)
        done = 0

        def count(checked: tuple[int, bool]) -> None:
            nonlocal done
            begin, is_good = checked
            end = self._ranges[begin][0]
            if is_good:
                done += end - begin
            else:
                self._state.add(begin=begin, end=end, crc=None)
                del self._ranges[begin]
            progress(done, self._head.size)

        def check(begin: int) -> tuple[int, bool]:
            end, crc = self._ranges[begin]
            data = read_at(self._fd, end - begin, begin)
            return begin, len(data) == end - begin and crc_of(data) == crc

        in_parallel(check, sorted(self._ranges), PARALLEL, count)

    def _missing(self) -> list[tuple[int, int]]:
        """Returns the ranges to fetch, each of at most one part."""
        found, at = [], 0
        for begin, end in [*sorted((begin, end) for begin, (end, _) in self._ranges.items()), (self._head.size,) * 2]:
            found += [(part, min(part + DOWNLOAD_PART, begin)) for part in range(at, begin, DOWNLOAD_PART)]
            at = end
        return found

    def _fetch(self, done: int, progress: Progress) -> None:
        def fetch(wanted: tuple[int, int]) -> tuple[int, int, int]:
            begin, end = wanted
            got = self._client.get(
                *self._source, range=wanted, version_id=self._version_id, if_match=self._head.etag,
                sse_customer_key=self._key,
            )  # fmt: skip
            data = got.body
            if len(data) != end - begin or got.metadata.etag != self._head.etag:
                raise S3DataLossError(
                    f"{self._source}: the response to a request for {end - begin} bytes has {len(data)} bytes of"
                    f" {got.metadata.etag} instead of {self._head.etag}"
                )
            if got.metadata.size != self._head.size:
                raise S3DataLossError(
                    f"{self._source}: a response for {got.metadata.etag} says that the object has {got.metadata.size} bytes,"
                    f" and the one to a HEAD request {self._head.size}"
                )
            crc, at = crc_of(data), 0
            with naming(self._partial):
                while at < len(data):
                    at += os.pwrite(self._fd, memoryview(data)[at:], begin + at)
            self._state.add(begin=begin, end=end, crc=crc)
            return begin, end, crc

        def count(fetched: tuple[int, int, int]) -> None:
            nonlocal done
            begin, end, crc = fetched
            self._ranges[begin] = (end, crc)
            done += end - begin
            progress(done, self._head.size)

        in_parallel(fetch, self._missing(), PARALLEL, count)

    def _check_whole(self) -> None:
        """Compares the file with the checksum of the object.

        Raises:
            S3DataLossError: They differ.
        """
        expected, found = self._checksums()
        if expected != found:
            raise S3DataLossError(
                f"{self._source}: the checksum of the object is {expected}, but that of the downloaded bytes is {found};"
                " nothing was written to the target"
            )

    def _checksums(self) -> tuple[str, str]:
        """Returns the checksum that the object must have, and that of the file; both empty: the object has none."""
        checksums = self._head.checksums
        if expected := checksums.get("crc64nvme"):
            crc = 0
            for begin, (end, part) in sorted(self._ranges.items()):
                crc = _core.crc64nvme_combine(crc, part, end - begin)
            return expected, crc_text(crc)
        if expected := checksums.get("crc32c") or checksums.get("crc32"):
            pairs, crc = list(checksums.items()), 0
            for begin in range(0, self._head.size, DOWNLOAD_PART):
                crc = _core.prefix_crc(pairs, read_at(self._fd, DOWNLOAD_PART, begin), crc)
            return expected, crc_text(crc, 4)
        return "", ""

    def _publish(self, *, replace: bool) -> None:
        """Gives the file its name, once its bytes are on the disk.

        Raises:
            S3ConflictError: The target exists, and `replace` is false.
        """
        modified = self._head.last_modified
        os.utime(self._fd, (modified, modified))
        with naming(self._partial):
            os.fsync(self._fd)
        if replace:
            os.replace(self._partial, self._target)  # noqa: PTH105
        else:
            try:
                _core.rename_new_file(self._partial, self._target)
            except S3ConflictError:
                discard(self._client, self._state)
                raise
        sync_folder(self._folder)
        self._state.remove()
