"""Transfers of large files that an interruption does not lose: ``--resume``."""

from __future__ import annotations

import base64
import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._config import endpoint_of_environment
from .._exceptions import (
    S3AccessDeniedError,
    S3DataLossError,
    S3Exception,
    S3InvalidArgumentError,
    S3NotFoundError,
    S3PreconditionFailedError,
)
from ..requests._parts import MAX_PARTS, PARALLEL, in_parallel
from ._states import State, open_locked, sync_folder
from ._urls import S3Url, partial_name

if TYPE_CHECKING:
    from .._client import S3Client
    from ..requests import CompletedPart, ObjectMetadata

MIB = 1024**2
LIMIT = 64 * MIB  # smaller files and objects start again
UPLOAD_PART = 16 * MIB
DOWNLOAD_PART = 8 * MIB
_TRIES = 3  # of a part that arrives damaged

# The upload cannot succeed any more, or not with this source and target.
_FINAL = (S3DataLossError, S3InvalidArgumentError, S3PreconditionFailedError)
_CRC64NVME = (("crc64nvme", "AAAAAAAAAAA="),)

Progress = Callable[[int, "int | None"], None]


class Done(NamedTuple):
    """A transfer that has ended.

    Attributes:
        etag: ETag of the object, in quotes.
        size: Its size in bytes.
        resumed: Bytes of an earlier run that were not transferred again.
        version_id: Its version, of a download.
    """

    etag: str
    size: int
    resumed: int
    version_id: str | None = None


def _crc_of(data: bytes) -> int:
    return _core.prefix_crc(_CRC64NVME, data)


def _text(crc: int, size: int = 8) -> str:
    """Returns a CRC as S3 writes it."""
    return base64.b64encode(crc.to_bytes(size, "big")).decode()


class Service(NamedTuple):
    """Tells where the objects of a client are. A profile may have an endpoint and keys of its own."""

    endpoint: str
    profile: str

    @classmethod
    def of(cls, client: S3Client) -> Service:
        profile = client.s3client_config.profile or os.environ.get("AWS_PROFILE", "")
        return cls(client.endpoint or endpoint_of_environment(), profile)


class Resumer:
    """Makes resumable transfers. Safe from any thread.

    Args:
        client: Sends the requests.
    """

    def __init__(self, client: S3Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._creating = 0

    @property
    def busy(self) -> bool:
        """Whether the process must not end now: an upload is being created whose id is not in a state file yet."""
        return self._creating > 0

    def upload(self, path: str, target: S3Url, attributes: dict[str, Any], *, new_only: bool, progress: Progress) -> Done:
        """Uploads a file in parts. Parts of an earlier run are used if they are parts of this file.

        Args:
            attributes: Attributes of the object.
            new_only: Raise S3PreconditionFailedError if the target exists.
            progress: Called with the bytes done; an exception that it raises ends the transfer.

        Raises:
            Busy: Another process makes the same transfer.
            S3Exception, OSError: It failed. The next call continues, unless the upload cannot succeed any more.
        """
        path = os.path.realpath(path)
        with (
            open(path, "rb", buffering=0) as file,  # noqa: PTH123
            State.of("upload", *Service.of(self._client), *target, path) as state,
        ):
            upload = _Upload(self._client, state, file.fileno(), path, target, attributes)
            if done := upload.published_before():
                return done
            if upload.is_new:
                with self._creation():
                    upload.create()
            try:
                return upload.run(new_only, progress)
            except _FINAL:
                upload.discard()
                raise

    @contextlib.contextmanager
    def _creation(self) -> Iterator[None]:
        with self._lock:
            self._creating += 1
        try:
            yield
        finally:
            with self._lock:
                self._creating -= 1

    def download(
        self, source: S3Url, path: str, *, version_id: str | None, sse_customer_key: bytes | None, progress: Progress
    ) -> Done | None:
        """Downloads an object in parts of one version. Bytes of an earlier run are used if they are of this version.

        Args:
            path: The target. Only the complete file appears there.
            version_id: Version of the object; None: the current one.
            sse_customer_key: The key of an object with SSE-C.
            progress: As in :meth:`upload`.

        Returns:
            None: the service sends no ETag, by which the bytes of one version could be told from those of another.

        Raises:
            Busy: Another process makes the same transfer.
            S3Exception, OSError: It failed. The next call continues, unless the bytes do not match the object's checksum.
        """
        head = self._client.head(*source, version_id=version_id, sse_customer_key=sse_customer_key)
        if not head.etag.strip('"'):
            return None
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder)
        with State.of("download", *Service.of(self._client), *source, version_id, f"{folder}/{name}") as state:
            return _Download(self._client, state, source, head, folder, name, version_id, sse_customer_key).run(progress)


class _Upload:
    """An upload in parts, and its state."""

    def __init__(self, client: S3Client, state: State, fd: int, path: str, target: S3Url, attributes: dict[str, Any]) -> None:
        import hashlib

        self._client, self._state, self._fd, self._path = client, state, fd, path
        self._target, self._attributes = target, attributes
        self._key: bytes | None = attributes.get("sse_customer_key")
        self._file = self._facts()
        self._size = self._file[0]
        self._wanted = {
            "operation": "upload", "source": path, "target": str(target), "file": self._file,
            "attributes": hashlib.sha256(repr(sorted(attributes.items())).encode()).hexdigest(),
        } | Service.of(client)._asdict()  # fmt: skip
        self._listed: dict[int, CompletedPart] | None = None

    def _facts(self) -> list[int]:
        """Returns what changes if the file is replaced or written to."""
        status = os.fstat(self._fd)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{self._path!r} is not a regular file")
        return [status.st_size, status.st_mtime_ns, status.st_ino]

    def published_before(self) -> Done | None:
        """Finds the upload of the state. Returns the object if an earlier run was killed after it had published it."""
        header = self._state.header
        if not header:
            return None
        if not self._state.matches(self._wanted):
            self.discard()
            return None
        try:
            self._listed = self._list(header["upload_id"])
        except S3NotFoundError:
            for step in self._state.steps:
                if "completing" in step and (found := self._published(step["completing"])):
                    self._state.remove()
                    return Done(found.etag, found.size, found.size)
        return None

    def _list(self, upload_id: str) -> dict[int, CompletedPart]:
        found: dict[int, CompletedPart] = {}
        marker: int | None = None
        while marker != 0:
            page = self._client.list_parts(*self._target, upload_id, part_number_marker=marker or 0, sse_customer_key=self._key)
            found.update((part.part_number, part) for part in page.parts)
            marker = page.next_part_number_marker
        return found

    @property
    def is_new(self) -> bool:
        return self._listed is None

    def create(self) -> None:
        """Creates the upload and its state."""
        part_bytes = max(self._client.part_size or UPLOAD_PART, -(-self._size // MAX_PARTS))
        upload_id = self._client.create_multipart_upload(*self._target, **self._attributes)
        self._listed = {}
        try:
            self._state.begin(self._wanted | {"upload_id": upload_id, "part_bytes": part_bytes, "started": int(time.time())})
        except BaseException:
            self._client.abort_multipart_upload(*self._target, upload_id)
            raise

    def discard(self) -> None:
        """Aborts the upload of the state, and removes the state."""
        discard(self._client, self._state)

    def run(self, new_only: bool, progress: Progress) -> Done:
        """Sends what is missing and publishes the object."""
        part_bytes = self._state.header["part_bytes"]
        begins = range(0, self._size, part_bytes)
        known = {step["part"]: step for step in self._state.steps if "part" in step}
        done = resumed = crc = 0

        def count(sent: tuple[CompletedPart, int, bool]) -> None:
            nonlocal done, resumed, crc
            part, part_crc, was_there = sent
            size = part.size or 0
            done, resumed = done + size, resumed + (size if was_there else 0)
            crc = _core.crc64nvme_combine(crc, part_crc, size)
            progress(done, self._size)

        def send(begin: int) -> tuple[CompletedPart, int, bool]:
            number = begin // part_bytes + 1
            return self._send(number, begin, min(part_bytes, self._size - begin), known.get(number, {}))

        parts = [part for part, _, _ in in_parallel(send, begins, PARALLEL, count)]
        self._check_unchanged()
        return self._publish(parts, crc, new_only, resumed)

    def _send(self, number: int, begin: int, size: int, known: dict[str, Any]) -> tuple[CompletedPart, int, bool]:
        """Sends a part unless S3 has it. Returns it with its CRC, and whether S3 had it."""
        from ..requests import CompletedPart

        data = os.pread(self._fd, size, begin)
        if len(data) < size:
            self._check_unchanged()
            raise S3DataLossError(f"{self._path!r} was truncated while it was uploaded; nothing was published")
        crc = _crc_of(data)
        assert self._listed is not None
        listed = self._listed.get(number)
        if listed is not None and listed.size == size:
            checksum = known.get("checksum")
            if known.get("etag") == listed.etag and known.get("crc") == _text(crc):
                return CompletedPart(number, listed.etag, size, checksum, checksum and _text(crc)), crc, True
            if listed.etag == _md5_etag(data):
                return listed, crc, True
        for _ in range(_TRIES):
            part = self._client.upload_part(
                *self._target, self._state.header["upload_id"], number, data, sse_customer_key=self._key
            )
            if part.checksum_algorithm != "crc64nvme" or part.checksum_value == _text(crc):
                self._state.add(part=number, etag=part.etag, crc=_text(crc), checksum=part.checksum_algorithm)
                return part, crc, False
        raise S3Exception(
            f"part {number} arrived damaged: its CRC64NVME is {_text(crc)}, but the service received {part.checksum_value}"
        )

    def _check_unchanged(self) -> None:
        now = self._facts()
        if now != self._file:
            raise S3DataLossError(
                f"{self._path!r} changed while it was uploaded ({self._size} bytes at first, {now[0]} now); nothing was published"
            )

    def _publish(self, parts: list[CompletedPart], crc: int, new_only: bool, resumed: int) -> Done:
        facts = self._published_facts(parts, crc)
        self._state.add(completing=facts)
        checked = any(part.checksum_algorithm == "crc64nvme" for part in parts)
        try:
            etag = self._client.complete_multipart_upload(
                *self._target, self._state.header["upload_id"], parts, object_size=self._size, if_none_match=new_only,
                checksum_algorithm="crc64nvme" if checked else None, checksum_value=_text(crc) if checked else None,
                sse_customer_key=self._key,
            ).etag  # fmt: skip
        except S3NotFoundError:
            # An earlier attempt may have succeeded without a response.
            found = self._published(facts)
            if found is None:
                raise
            etag = found.etag
        self._state.remove()
        return Done(etag, self._size, resumed)

    def _published_facts(self, parts: list[CompletedPart], crc: int) -> dict[str, Any] | None:
        """Returns by what the object will be known that these parts make; None: the credentials do not allow to see it."""
        earlier: list[Any] | None = None
        try:
            with contextlib.suppress(S3NotFoundError):
                earlier = _version_of(self._client.head(*self._target, sse_customer_key=self._key))
        except S3AccessDeniedError:
            return None
        return {"etag": _etag_of(parts), "crc": _text(crc), "earlier": earlier}

    def _published(self, facts: dict[str, Any] | None) -> ObjectMetadata | None:
        """Returns the object if it is the one of this upload, and not an earlier one with the same content."""
        if facts is None:
            return None
        try:
            head = self._client.head(*self._target, sse_customer_key=self._key)
        except S3NotFoundError:
            return None
        same = head.size == self._size and (head.etag == facts["etag"] or head.checksums.get("crc64nvme") == facts["crc"])
        return head if same and _version_of(head) != facts["earlier"] else None


def _version_of(head: ObjectMetadata) -> list[Any]:
    """Returns what tells an object from another one of the same key."""
    return [head.etag, head.last_modified, head.version_id]


def _md5_etag(data: bytes) -> str:
    import hashlib

    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


def _etag_of(parts: list[CompletedPart]) -> str:
    """Returns the ETag of the object that these parts make; empty: theirs are no MD5s, for example with SSE-KMS."""
    import hashlib

    try:
        digests = b"".join(bytes.fromhex(part.etag.strip('"')) for part in parts)
    except ValueError:
        return ""
    return f'"{hashlib.md5(digests, usedforsecurity=False).hexdigest()}-{len(parts)}"'


def discard(client: S3Client, state: State) -> None:
    """Gives up the transfer of a state: aborts its upload or removes its partial file, then removes the state."""
    from ._urls import parse_s3

    header = state.header
    if header.get("operation") == "upload":
        with contextlib.suppress(S3NotFoundError):
            client.abort_multipart_upload(*parse_s3(header["target"]), header["upload_id"])
    elif header.get("operation") == "download":
        with contextlib.suppress(FileNotFoundError):
            os.unlink(header["partial"])  # noqa: PTH108
    state.header = {}  # its file is removed at the end


class _Download:
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

    def run(self, progress: Progress) -> Done:
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
            os.ftruncate(self._fd, head.size)
            resumed = sum(end - begin for begin, (end, _) in self._ranges.items())
            self._fetch(resumed, progress)
            try:
                self._check_whole()
            except S3DataLossError:
                discard(self._client, self._state)
                raise
            self._publish()
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
            data = os.pread(self._fd, end - begin, begin)
            return begin, len(data) == end - begin and _crc_of(data) == crc

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
            crc, at = _crc_of(data), 0
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
            return expected, _text(crc)
        if expected := checksums.get("crc32c") or checksums.get("crc32"):
            pairs, crc = list(checksums.items()), 0
            for begin in range(0, self._head.size, DOWNLOAD_PART):
                crc = _core.prefix_crc(pairs, os.pread(self._fd, DOWNLOAD_PART, begin), crc)
            return expected, _text(crc, 4)
        return "", ""

    def _publish(self) -> None:
        """Gives the file its name, once its bytes are on the disk."""
        modified = self._head.last_modified
        os.utime(self._fd, (modified, modified))
        os.fsync(self._fd)
        os.replace(self._partial, self._target)  # noqa: PTH105
        sync_folder(self._folder)
        self._state.remove()
