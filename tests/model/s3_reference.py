"""S3 as a plain data structure: what a bucket holds and what each request changes, written from S3's documentation.

The code is simple and shares nothing with the emulator. Ids come from the endpoint: the caller passes them to the model.
"""

from __future__ import annotations

import hashlib
import zlib
from base64 import b64encode
from dataclasses import dataclass, field

MIN_PART = 5 * 1024**2
CRC64_LIMIT = 4096  # bytes: above, the model does not compute CRC64NVME


class Refused(Exception):
    """An S3 error: its code and status."""

    def __init__(self, status: int, code: str, **headers: str) -> None:
        super().__init__(f"{status} {code}")
        self.status, self.code, self.headers = status, code, headers


@dataclass
class Version:
    """A version of an object, or a delete marker."""

    id: str
    body: bytes = b""
    etag: str = ""
    marker: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    content_type: str = "binary/octet-stream"
    tags: dict[str, str] = field(default_factory=dict)
    algorithm: str = "CRC64NVME"
    composite: bool = False
    part_sizes: list[int] = field(default_factory=list)


@dataclass
class Upload:
    """A multipart upload in progress."""

    id: str
    key: str
    metadata: dict[str, str]
    content_type: str
    tags: dict[str, str]
    parts: dict[int, bytes] = field(default_factory=dict)
    base_etag: str | None = None  # the current object's ETag when it was created
    writes_seen: int = 0


@dataclass
class Bucket:
    """A bucket: versions newest first under each key, and uploads in order of initiation."""

    versioning: str = ""
    keys: dict[str, list[Version]] = field(default_factory=dict)
    uploads: list[Upload] = field(default_factory=list)
    completed: dict[str, tuple[str, list[tuple[int, str]], str]] = field(default_factory=dict)

    # -- finding

    def current(self, key: str) -> Version | None:
        """The newest version, unless it is a delete marker."""
        versions = self.keys.get(key)
        return None if not versions or versions[0].marker else versions[0]

    def find(self, key: str, version_id: str | None) -> Version:
        """The version that a GET returns.

        Raises:
            Refused: with S3's error, if there is none.
        """
        versions = self.keys.get(key, [])
        if version_id is None:
            if not versions:
                raise Refused(404, "NoSuchKey")
            if versions[0].marker:
                raise Refused(404, "NoSuchKey", **{"x-amz-delete-marker": "true", "x-amz-version-id": versions[0].id})
            return versions[0]
        for version in versions:
            if version.id == version_id:
                if version.marker:
                    raise Refused(405, "MethodNotAllowed", **{"x-amz-delete-marker": "true", "allow": "DELETE"})
                return version
        raise Refused(404, "NoSuchVersion")

    def shown_id(self, version: Version) -> str | None:
        """`x-amz-version-id` of a read: absent where versioning was never configured."""
        return version.id if self.versioning else None

    def is_empty(self) -> bool:
        """Whether DeleteBucket succeeds; uploads in progress do not matter."""
        return not any(self.keys.values())

    # -- writing

    def put(self, key: str, version: Version) -> None:
        """Adds a current version. While versioning is suspended or was never configured, it replaces the null version."""
        versions = self.keys.setdefault(key, [])
        if self.versioning != "Enabled":
            versions[:] = [old for old in versions if old.id != "null"]
        versions.insert(0, version)
        for upload in self.uploads:
            if upload.key == key:
                upload.writes_seen += 1

    def delete(self, key: str, version_id: str | None, new_id: str | None) -> tuple[str | None, bool]:
        """Deletes. Returns the id and the delete-marker flag of the response.

        Args:
            key: The key.
            version_id: Which version; None: the key.
            new_id: The id the endpoint gave to a new delete marker.
        """
        versions = self.keys.get(key, [])
        for upload in self.uploads:
            if upload.key == key:
                upload.writes_seen += 1
        if version_id is not None:
            gone = [version for version in versions if version.id == version_id]
            self.keys[key] = [version for version in versions if version.id != version_id]
            return version_id, bool(gone and gone[0].marker)
        if not self.versioning:
            self.keys.pop(key, None)
            return None, False
        marker = Version("null" if self.versioning == "Suspended" else new_id or "?", marker=True)
        self.put(key, marker)
        return marker.id, True

    def check_write(self, key: str, if_match: str | None, if_none_match: str | None) -> None:
        """The conditions of PUT, Copy and Complete."""
        current = self.current(key)
        if if_none_match is not None and current is not None:
            raise Refused(412, "PreconditionFailed")
        if if_match is not None:
            if current is None:
                raise Refused(404, "NoSuchKey")
            if current.etag != if_match:
                raise Refused(412, "PreconditionFailed")

    # -- uploads

    def upload(self, key: str, upload_id: str) -> Upload:
        """An upload in progress."""
        for upload in self.uploads:
            if upload.id == upload_id and upload.key == key:
                return upload
        raise Refused(404, "NoSuchUpload")

    def assemble(self, upload: Upload, parts: list[tuple[int, str]]) -> Version:
        """The object that completing with `parts` (number, ETag without quotes) makes."""
        if not parts:
            raise Refused(400, "InvalidRequest")
        numbers = [number for number, _ in parts]
        if numbers != sorted(set(numbers)):
            raise Refused(400, "InvalidPartOrder")
        for number, etag in parts:
            if number not in upload.parts or md5(upload.parts[number]) != etag:
                raise Refused(400, "InvalidPart")
        bodies = [upload.parts[number] for number in numbers]
        if any(len(body) < MIN_PART for body in bodies[:-1]):
            raise Refused(400, "EntityTooSmall")
        joined = hashlib.md5(b"".join(hashlib.md5(body).digest() for body in bodies)).hexdigest()
        return Version(
            "null", b"".join(bodies), f"{joined}-{len(bodies)}", metadata=upload.metadata, content_type=upload.content_type,
            tags=upload.tags, part_sizes=[len(body) for body in bodies],
        )  # fmt: skip


def md5(data: bytes) -> str:
    """Hexadecimal MD5."""
    return hashlib.md5(data).hexdigest()


def checksum(algorithm: str, data: bytes) -> str | None:
    """The FULL_OBJECT checksum in base64; None if the model does not compute it."""
    if algorithm == "CRC32":
        return b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()
    if algorithm == "SHA256":
        return b64encode(hashlib.sha256(data).digest()).decode()
    return b64encode(_crc64nvme(data).to_bytes(8, "big")).decode() if len(data) <= CRC64_LIMIT else None


def _crc64_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (0x9A6C9329AC4BC9B5 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc64_table()


def _crc64nvme(data: bytes) -> int:
    value = 0xFFFFFFFFFFFFFFFF
    for byte in data:
        value = (value >> 8) ^ _TABLE[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFFFFFFFFFF
