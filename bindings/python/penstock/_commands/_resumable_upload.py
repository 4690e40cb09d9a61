"""An upload in parts that the next run of the same command continues."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from typing import TYPE_CHECKING, Any

from .. import _core
from .._exceptions import (
    S3AccessDeniedError,
    S3DataLossError,
    S3InvalidArgumentError,
    S3NotFoundError,
    S3PreconditionFailedError,
)
from .._objects import crc_text
from ..requests._parts import MAX_PARTS, PARALLEL, in_parallel
from ._resumable_common import MIB, Done, Progress, Service, crc_of, discard, read_at
from ._state_files import State
from ._urls import S3Url

if TYPE_CHECKING:
    from .._client import S3Client
    from ..requests import CompletedPart, ObjectMetadata

UPLOAD_PART = 16 * MIB

# S3 refuses to complete the upload, and would again.
_FINAL = (S3DataLossError, S3InvalidArgumentError, S3PreconditionFailedError)


class _Changed(S3DataLossError):
    """The file changed, so that its parts are not those of one version."""


class Upload:
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
            discard(self._client, self._state)
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

        try:
            parts = [part for part, _, _ in in_parallel(send, begins, PARALLEL, count)]
            self._check_unchanged()
        except _Changed:
            discard(self._client, self._state)
            raise
        return self._publish(parts, crc, new_only, resumed)

    def _send(self, number: int, begin: int, size: int, known: dict[str, Any]) -> tuple[CompletedPart, int, bool]:
        """Sends a part unless S3 has it. Returns it with its CRC, and whether S3 had it."""
        from ..requests import CompletedPart

        data = read_at(self._fd, size, begin)
        if len(data) < size:
            self._check_unchanged()
            raise _Changed(f"{self._path!r} was truncated while it was uploaded; nothing was published")
        crc = crc_of(data)
        assert self._listed is not None
        listed = self._listed.get(number)
        if listed is not None and listed.size == size:
            checksum = known.get("checksum")
            if known.get("etag") == listed.etag and known.get("crc") == crc_text(crc):
                return CompletedPart(number, listed.etag, size, checksum, checksum and crc_text(crc)), crc, True
            if listed.etag == _md5_etag(data):
                return listed, crc, True
        part = self._client.upload_part(*self._target, self._state.header["upload_id"], number, data, sse_customer_key=self._key)
        self._state.add(part=number, etag=part.etag, crc=crc_text(crc), checksum=part.checksum_algorithm)
        return part, crc, False

    def _check_unchanged(self) -> None:
        now = self._facts()
        if now != self._file:
            raise _Changed(
                f"{self._path!r} changed while it was uploaded ({self._size} bytes at first, {now[0]} now); nothing was published"
            )

    def _publish(self, parts: list[CompletedPart], crc: int, new_only: bool, resumed: int) -> Done:
        facts = self._published_facts(parts, crc)
        self._state.add(completing=facts)
        checked = any(part.checksum_algorithm == "crc64nvme" for part in parts)
        try:
            etag = self._client.complete_multipart_upload(
                *self._target, self._state.header["upload_id"], parts, object_size=self._size, if_none_match=new_only,
                checksum_algorithm="crc64nvme" if checked else None, checksum_value=crc_text(crc) if checked else None,
                sse_customer_key=self._key,
            ).etag  # fmt: skip
        except (S3NotFoundError, *_FINAL) as error:
            # An earlier attempt may have succeeded without a response.
            found = self._published(facts)
            if found is None:
                if isinstance(error, _FINAL):
                    discard(self._client, self._state)
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
        return {"etag": _etag_of(parts), "crc": crc_text(crc), "earlier": earlier}

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
    """Returns the properties by which two objects of one key differ."""
    return [head.etag, head.last_modified, head.version_id]


def _md5_etag(data: bytes) -> str:
    import hashlib

    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


def _etag_of(parts: list[CompletedPart]) -> str:
    """Returns the ETag of the object that these parts make; empty if theirs are not MD5s, for example with SSE-KMS."""
    import hashlib

    try:
        digests = b"".join(bytes.fromhex(part.etag.strip('"')) for part in parts)
    except ValueError:
        return ""
    return f'"{hashlib.md5(digests, usedforsecurity=False).hexdigest()}-{len(parts)}"'
